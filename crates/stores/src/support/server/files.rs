//! The files of a server: made once for all trials of a run, and copied for each.

use std::fs::{self, DirBuilder, File};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use storebench_core::server::{DATA, MARK, User, users};
use storebench_core::store::{Guarantee, OpenOptions, Result, StoreError};

/// Makes the files of a server in the store's folder, unless the sign that every server's data has is there. In a run, `make` makes
/// those of one name once: it has product, version, and what is fixed with the files.
pub fn prepare_data(
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
    match options.beside {
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
