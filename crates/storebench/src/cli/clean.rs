//! `storebench clean`: deletes work folders and cgroups whose run was killed.

use std::path::{Path, PathBuf};

use storebench_core::measure::cgroup;
use storebench_host::location::abandoned::{self, AbandonedFolders};
use storebench_model::error::{Error, Exit, Result};
use storebench_model::server::running::ServerNamespace;
use storebench_model::store::StoreDef;

use super::output::{print, print_note};
use super::runs;

const RUNS: &str = "storebench-runs";

pub fn clean(directories: &[PathBuf]) -> Result<Exit> {
    let mut folders = AbandonedFolders::default();
    let mut clean_directory = |directory: &Path| -> Result<()> {
        let AbandonedFolders { deleted, kept, stuck } = abandoned::clean(directory)?;
        folders.deleted.extend(deleted);
        folders.kept.extend(kept.into_iter().chain(stuck));
        Ok(())
    };
    if directories.is_empty() && Path::new(RUNS).is_dir() {
        clean_directory(Path::new(RUNS))?;
    }
    for directory in directories {
        clean_directory(&runs::directory("looking in", directory)?)?;
    }
    for (path, why) in &folders.kept {
        print_note(&format!("left {}: {why}", path.display()));
    }
    folders.deleted.extend(cgroup::clean());
    let text = match folders.deleted.as_slice() {
        [] if folders.kept.is_empty() => "nothing was left behind\n".to_owned(),
        [] => "nothing was deleted\n".to_owned(),
        deleted => deleted.iter().map(|path| format!("deleted {}\n", path.display())).collect(),
    };
    print(&text)?;
    Ok(Exit::Success)
}

/// Drops what the store of a folder has made on a running server, if anything.
pub fn drop_namespace(stores: &[StoreDef], folder: &Path) -> Result<Exit> {
    let read_error = || Error::io("looking for what was made on a server in", folder);
    let Some(namespace) = ServerNamespace::read_note(folder).map_err(read_error())? else {
        return Ok(Exit::Success);
    };
    let store = stores.iter().find(|store| store.name == namespace.store);
    let server = store.and_then(|store| store.server).ok_or_else(|| {
        let message =
            format!("this build lacks the store {}, which has made {}", namespace.store, namespace.name);
        Error::new(Exit::UnknownStore, message)
    })?;
    (server.drop)(&namespace.url, &namespace.name)
        .map_err(|error| Error::new(Exit::Failure, error.to_string()))?;
    ServerNamespace::strike_note(folder).map_err(read_error())?;
    Ok(Exit::Success)
}
