//! A server of the trial's own: its files, and its process.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use storebench_core::server::{self, DATA};
use storebench_core::store::{OpenOptions, Result, StoreError};

use super::dialect::Dialect;
use super::files::{Template, make_folder};
use super::passing::{Way, closed_above};
use super::plan::Plan;
use super::process::{Process, Reached, new_folder, unprivileged};

/// Makes the files of a new server in the store's folder, unless they are there.
///
/// # Errors
/// The messages of the server's programs, or of the system.
pub fn prepare<D: Dialect>(options: &OpenOptions<'_>) -> Result<()> {
    let plan = D::plan(options)?;
    let version = &D::programs().needed()?.version;
    let template = Template {
        name: format!("{}-{version}{}", D::STORE, D::fixed_with_files(&plan)),
        sign: D::SIGN,
        make: &|data| make_files::<D>(data, &plan),
    };
    template.prepare(options)
}

/// Makes them in a folder that is not there yet.
fn make_files<D: Dialect>(data: &Path, plan: &Plan) -> Result<()> {
    let programs = D::programs();
    let found = programs.needed()?;
    make_folder(data)?;
    passes_to::<D>(data)?;
    let reached = Reached::open(data)?;
    let mut command = Command::new(&found.maker);
    command.args(D::making(plan, &reached.path())).stdin(Stdio::null());
    unprivileged(&mut command, &[&reached], D::WAY)?;
    let ended = command.output().map_err(StoreError::io(format!("starting {}", programs.maker)))?;
    if ended.status.success() {
        return Ok(());
    }
    let said = [ended.stdout, ended.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let why = D::why_not_made(&said).unwrap_or_else(|| format!("{}: {}", ended.status, said.trim()));
    Err(StoreError::Engine(format!("{} failed: {why}", programs.maker)))
}

/// The folders that a server is told of, by paths that it reaches.
pub struct Paths {
    /// That of its data.
    pub data: PathBuf,
    /// That of its socket, which is its alone.
    pub socket: PathBuf,
    /// That of what it keeps for a moment, where it has one.
    pub moment: Option<PathBuf>,
}

/// A server at work. Dropping it ends it.
pub struct Own {
    process: Process,
    socket: Reached,
    /// Where it puts what it keeps for a moment, held open as long as it may.
    moment: Option<(PathBuf, Reached)>,
}

impl Own {
    /// Starts a server on the data in the store's folder, which are made where they are not there, and waits until it is ready.
    ///
    /// # Errors
    /// The server's message; when it does not come up.
    pub fn open<D: Dialect>(options: &OpenOptions<'_>, plan: &Plan) -> Result<Own> {
        prepare::<D>(options)?;
        Own::start::<D>(options, plan).map_err(|error| match error {
            StoreError::Engine(why) => match D::lacks_part(&why) {
                Some(part) => StoreError::Unsupported(format!("{part} ({why})")),
                None if !options.settings.is_empty() => StoreError::BadSetting(why),
                None => StoreError::Engine(why),
            },
            other => other,
        })
    }

    fn start<D: Dialect>(options: &OpenOptions<'_>, plan: &Plan) -> Result<Own> {
        let found = D::programs().needed()?;
        let data = options.directory.join(DATA);
        passes_to::<D>(&data)?;
        // A server of a process that was killed may still be about to end.
        server::end_in(options.directory).map_err(StoreError::io("ending the server of before"))?;
        D::clear(&data)?;
        let reached = Reached::open(&data)?;
        let moment = if D::NEEDS_MOMENT {
            let path = new_folder(options.directory, "moment")?;
            let reached = Reached::open(&path)?;
            Some((path, reached))
        } else {
            None
        };
        let at = new_folder(options.beside.unwrap_or(options.directory), "socket")?;
        let socket = Reached::open(&at)?;
        let paths = Paths {
            data: reached.path(),
            socket: socket.path(),
            moment: moment.as_ref().map(|(_, reached)| reached.path()),
        };
        let mut command = Command::new(&found.server);
        command.args(D::arguments(plan, &paths, options.sessions));
        let held: Vec<&Reached> =
            [&reached, &socket].into_iter().chain(moment.as_ref().map(|(_, reached)| reached)).collect();
        unprivileged(&mut command, &held, D::WAY)?;
        let mut process = Process::start(D::SAYING, &mut command, at)?;
        process.wait_until(|pid| D::is_ready(pid, &data, &paths.socket))?;
        D::furnish(&paths.socket)?;
        Ok(Own { process, socket, moment })
    }

    /// A connection.
    ///
    /// # Errors
    /// The server's.
    pub fn connect<D: Dialect>(&self) -> Result<D::Client> {
        D::connect_own(&self.socket.path())
    }

    /// Ends it in order.
    ///
    /// # Errors
    /// When it ends otherwise, or not in time.
    pub fn stop(self) -> Result<()> {
        self.process.stop()?;
        // It is empty by now; where it is not, it goes with the store's folder.
        self.moment.into_iter().for_each(|(path, _)| drop(fs::remove_dir(path)));
        Ok(())
    }
}

/// Some servers open their files by their paths, even those that they were shown another way to.
fn passes_to<D: Dialect>(folder: &Path) -> Result<()> {
    let closed = if D::WAY == Way::Passed { closed_above(folder) } else { None };
    closed.map_or(Ok(()), |(closed, user)| {
        Err(StoreError::Unsupported(format!(
            "{} runs as the user {} here, who can't pass {}: run storebench as another user than root, or give this container \
             the capability DAC_READ_SEARCH",
            D::programs().product,
            user.name,
            closed.display()
        )))
    })
}
