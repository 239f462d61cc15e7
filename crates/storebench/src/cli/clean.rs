//! `storebench clean`: deletes work folders and cgroups whose run was killed.

use std::path::{Path, PathBuf};

use storebench_core::error::{Error, Exit, Result};
use storebench_core::measure::cgroup;
use storebench_core::server::running::ServerNamespace;
use storebench_core::store::StoreDef;
use storebench_host::location::abandoned::{self, AbandonedFolders};

use super::output::{print, print_note};
use super::runs;

/// The default directory of runs.
const RUNS: &str = "storebench-runs";

/// Deletes abandoned work folders in `directories`.
pub fn clean(directories: &[PathBuf]) -> Result<Exit> {
    let mut found = AbandonedFolders::default();
    let mut look = |directory: &Path| -> Result<()> {
        let AbandonedFolders { deleted, kept, stuck } = abandoned::clean(directory)?;
        found.deleted.extend(deleted);
        found.kept.extend(kept.into_iter().chain(stuck));
        Ok(())
    };
    if directories.is_empty() && Path::new(RUNS).is_dir() {
        look(Path::new(RUNS))?;
    }
    for directory in directories {
        look(&runs::directory("looking in", directory)?)?;
    }
    for (path, why) in &found.kept {
        print_note(&format!("left {}: {why}", path.display()));
    }
    found.deleted.extend(cgroup::clean());
    let text = match found.deleted.as_slice() {
        [] if found.kept.is_empty() => "nothing was left behind\n".to_owned(),
        [] => "nothing was deleted\n".to_owned(),
        some => some.iter().map(|path| format!("deleted {}\n", path.display())).collect(),
    };
    print(&text)?;
    Ok(Exit::Success)
}

/// Drops what the store of a folder has made on a running server, if anything.
pub fn drop_made(stores: &[StoreDef], folder: &Path) -> Result<Exit> {
    let looking = || Error::io("looking for what was made on a server in", folder);
    let Some(made) = ServerNamespace::read_note(folder).map_err(looking())? else { return Ok(Exit::Success) };
    let store = stores.iter().find(|store| store.name == made.store);
    let server = store.and_then(|store| store.server).ok_or_else(|| {
        let message = format!("this build lacks the store {}, which has made {}", made.store, made.name);
        Error::new(Exit::UnknownStore, message)
    })?;
    (server.drop)(&made.url, &made.name).map_err(|error| Error::new(Exit::Failure, error.to_string()))?;
    ServerNamespace::strike_note(folder).map_err(looking())?;
    Ok(Exit::Success)
}
