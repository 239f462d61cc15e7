//! A server of the trial's own: its files, made once for all trials of a run and copied for each, and its process.

use std::fs::{self, DirBuilder, File};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use storebench_model::server::relay::Relay;
use storebench_model::server::{self, DATA, MARK, User, owner_of, user_of, users};
use storebench_model::store::{Guarantee, OpenOptions, Result, StoreError};

use super::installed::InstalledServer;
use super::kind::{Plan, Server};
use super::process::{
    LOG, ReachedFolder, ServerProcess, SocketFolder, closed_above, new_folder, unprivileged,
};

/// Makes the files in the store's folder, unless they are there. The error has the programs' messages.
pub fn prepare<S: Server>(options: &OpenOptions<'_>) -> Result<()> {
    let plan = (S::PLAN)(options)?;
    let installed = S::programs().find_chosen(options)?;
    // Two builds of one version need not have files of one form.
    let suffix_of_folder = plan.programs.as_ref().map_or_else(String::new, |folder| {
        folder.bytes().fold("-of-".to_owned(), |name, byte| name + &format!("{byte:02x}"))
    });
    let name = format!("{}-{}{suffix_of_folder}{}", S::STORE, installed.version, S::fixed_with_files(&plan));
    let make = |data: &Path| make_files::<S>(data, &plan, &installed);
    prepare_data(options, &name, S::SIGN, user_of(S::KNOWN.users), &make)
}

fn make_files<S: Server>(data: &Path, plan: &Plan, installed: &InstalledServer) -> Result<()> {
    make_folder(data, user_of(S::KNOWN.users))?;
    expect_user_can_open::<S>(data)?;
    let Some(maker) = &installed.maker else { return Ok(()) };
    let reached = ReachedFolder::open(data)?;
    let name = S::programs().maker.unwrap_or_default();
    let mut command = Command::new(maker);
    command.args(S::init_arguments(plan, &reached.path())).stdin(Stdio::null());
    unprivileged(&mut command, owner_of(data), &[&reached], S::OPENS_BY_PATH)?;
    let output = command.output().map_err(StoreError::io(format!("starting {name}")))?;
    if output.status.success() {
        return Ok(());
    }
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    let why = S::maker_error(&text).unwrap_or_else(|| format!("{}: {}", output.status, text.trim()));
    Err(StoreError::Engine(format!("{name} failed: {why}")))
}

pub struct Paths {
    pub data: PathBuf,
    pub socket: PathBuf,
    pub temporary: Option<PathBuf>,
    /// The number among a store's servers; 0 if it is the only one.
    pub member: usize,
}

pub struct OwnServer {
    processes: Vec<ServerProcess>,
    pub socket: ReachedFolder,
    _relay: Option<Relay>,
    /// Its folder for temporary files, held open as long as it may.
    temporary: Option<(PathBuf, ReachedFolder)>,
}

impl OwnServer {
    /// Starts a server on the data in the store's folder, made if missing, and waits until it is ready.
    pub fn open<S: Server>(options: &OpenOptions<'_>, plan: &Plan) -> Result<OwnServer> {
        prepare::<S>(options)?;
        OwnServer::start::<S>(options, plan).map_err(|error| match error {
            StoreError::Engine(why) => match S::missing_part(&why) {
                Some(part) => StoreError::Unsupported(format!("{part} ({why})")),
                None if !options.settings.is_empty() => StoreError::BadSetting(why),
                None => StoreError::Engine(why),
            },
            other => other,
        })
    }

    fn start<S: Server>(options: &OpenOptions<'_>, plan: &Plan) -> Result<OwnServer> {
        let installed = S::programs().find_chosen(options)?;
        let data = options.directory.join(DATA);
        let user = owner_of(&data);
        expect_user_can_open::<S>(&data)?;
        // A server of a process that was killed may still be about to end.
        server::end_in(options.directory).map_err(StoreError::io("ending the server of before"))?;
        S::clear(&data)?;
        let reached = ReachedFolder::open(&data)?;
        let temporary = if S::NEEDS_TEMPORARY_FOLDER {
            let path = new_folder(options.directory, "moment", user)?;
            let reached = ReachedFolder::open(&path)?;
            Some((path, reached))
        } else {
            None
        };
        let socket_folder = new_folder(options.run_folder.unwrap_or(options.directory), "socket", user)?;
        let socket = ReachedFolder::open(&socket_folder)?;
        let relay = S::relay(plan, &socket_folder)?;
        let mut paths = Paths {
            data: reached.path(),
            socket: socket.path(),
            temporary: temporary.as_ref().map(|(_, reached)| reached.path()),
            member: 0,
        };
        let inherited: Vec<&ReachedFolder> =
            [&reached, &socket].into_iter().chain(temporary.as_ref().map(|(_, reached)| reached)).collect();
        let socket_folder = Arc::new(SocketFolder(socket_folder));
        let mut processes = Vec::new();
        for member in S::members(plan, &data) {
            paths.member = member;
            let mut command = Command::new(&installed.server);
            command.args(S::arguments(plan, &paths, options.sessions));
            unprivileged(&mut command, user, &inherited, S::OPENS_BY_PATH)?;
            // Some name their socket without a folder.
            command.current_dir(socket.path());
            let log = if processes.is_empty() { LOG.to_owned() } else { format!("{LOG}-{member}") };
            processes.push(ServerProcess::start(S::programs(), &mut command, socket_folder.clone(), log)?);
        }
        ServerProcess::wait_for_all(&mut processes, |pid| S::is_ready(pid, &data, &paths.socket))?;
        S::set_up(&paths.socket)?;
        Ok(OwnServer { processes, socket, _relay: relay, temporary })
    }

    /// Fails when it ends with an error, or not in time.
    pub fn stop(self) -> Result<()> {
        // One after the other, so that each that leads finds one to hand that to.
        self.processes.into_iter().try_for_each(|mut process| process.end())?;
        // It is empty by now; otherwise it goes with the store's folder.
        self.temporary.into_iter().for_each(|(path, _)| drop(fs::remove_dir(path)));
        Ok(())
    }
}

/// Some servers open their files by path, even if they were given another way.
fn expect_user_can_open<S: Server>(folder: &Path) -> Result<()> {
    let closed = if S::OPENS_BY_PATH { closed_above(folder) } else { None };
    closed.map_or(Ok(()), |(closed, user)| {
        Err(StoreError::Unsupported(format!(
            "{} runs as the user {} here, who can't pass {}: run storebench as another user than root, or give this container \
             the capability DAC_READ_SEARCH",
            S::programs().product,
            user.name,
            closed.display()
        )))
    })
}

/// Makes the files of a server in the store's folder, unless the sign that every server's data has is there. In a run, `make` makes
/// those of one name once: it has product, version, and what is fixed with the files.
fn prepare_data(
    options: &OpenOptions<'_>,
    name: &str,
    sign: &str,
    user: Option<&User>,
    make: &dyn Fn(&Path) -> Result<()>,
) -> Result<()> {
    let data = options.directory.join(DATA);
    if data.join(sign).exists() {
        return Ok(());
    }
    mark(options.directory)?;
    match options.run_folder {
        Some(run_folder) => copy(&find_or_make(run_folder, name, make)?, &data, user)?,
        None => make(&data)?,
    }
    // Neither the server's program nor the copy has synced all.
    match options.guarantee {
        Some(Guarantee::None | Guarantee::Process) => Ok(()),
        Some(Guarantee::Power | Guarantee::Node) | None => sync_file_system(&data),
    }
}

fn find_or_make(run_folder: &Path, name: &str, make: &dyn Fn(&Path) -> Result<()>) -> Result<PathBuf> {
    let template = run_folder.join(name);
    if template.exists() {
        return Ok(template);
    }
    mark(run_folder)?;
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let unfinished = run_folder.join(format!("making-{}-{number}", std::process::id()));
    make(&unfinished)?;
    match fs::rename(&unfinished, &template) {
        // Another process was quicker.
        Err(error) if matches!(error.kind(), ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists) => {}
        renamed => renamed.map_err(StoreError::io(format!("making {}", template.display())))?,
    }
    Ok(template)
}

/// Notes that a server may be at work in a folder, before there is one.
fn mark(folder: &Path) -> Result<()> {
    let mark = folder.join(MARK);
    File::create(&mark).map(drop).map_err(StoreError::io(format!("making {}", mark.display())))
}

/// A folder for the server alone. Fails also when it can't be given to the server's user.
pub fn make_folder(path: &Path, user: Option<&User>) -> Result<()> {
    let context = || format!("making {}", path.display());
    DirBuilder::new().mode(0o700).create(path).map_err(StoreError::io(context()))?;
    give_to_user(path, user)
}

/// Gives a new file or folder to the server's user, if that is another.
fn give_to_user(path: &Path, user: Option<&User>) -> Result<()> {
    let Some(user) = user else { return Ok(()) };
    let context = |what: &str| format!("{what} {}", path.display());
    let metadata = fs::symlink_metadata(path).map_err(StoreError::io(context("looking at")))?;
    if users().iter().any(|known| known.uid == metadata.uid()) {
        // A file system that knows no owners names one for all.
        return Ok(());
    }
    let result = std::os::unix::fs::lchown(path, Some(user.uid), Some(user.gid));
    result.map_err(|error| match error.kind() {
        // Some file systems know no owners, and let nobody but their own in.
        ErrorKind::PermissionDenied | ErrorKind::Unsupported | ErrorKind::InvalidInput => {
            StoreError::Unsupported(format!(
                "servers refuse to run as root, and {} can't be given to the user {} ({error}): run storebench as another user",
                path.display(),
                user.name
            ))
        }
        _ => StoreError::io(context(&format!("giving to {}", user.name)))(error),
    })
}

fn copy(from: &Path, to: &Path, user: Option<&User>) -> Result<()> {
    make_folder(to, user)?;
    let context = || format!("copying {}", from.display());
    for entry in fs::read_dir(from).map_err(StoreError::io(context()))? {
        let entry = entry.map_err(StoreError::io(context()))?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(StoreError::io(context()))?;
        if kind.is_dir() {
            copy(&source, &target, user)?;
        } else {
            fs::copy(&source, &target).map_err(StoreError::io(format!("copying {}", source.display())))?;
            give_to_user(&target, user)?;
        }
    }
    Ok(())
}

fn sync_file_system(folder: &Path) -> Result<()> {
    let context = || format!("synchronising {}", folder.display());
    let folder_file = File::open(folder).map_err(StoreError::io(context()))?;
    #[cfg(target_os = "linux")]
    rustix::fs::syncfs(&folder_file).map_err(StoreError::io(context()))?;
    #[cfg(not(target_os = "linux"))]
    {
        drop(folder_file);
        rustix::fs::sync();
    }
    Ok(())
}
