//! `storebench clean`: deletes work folders and cgroups whose run was killed.

use std::path::{Path, PathBuf};

use super::{print, runs};
use crate::error::{Exit, Result};
use crate::measure::cgroup;
use crate::place::directory;

/// Where runs are put unless told otherwise.
const RUNS: &str = "storebench-runs";

/// Deletes abandoned work folders in `directories`.
pub fn clean(directories: &[PathBuf]) -> Result<Exit> {
    let mut cleaned = Vec::new();
    if directories.is_empty() && Path::new(RUNS).is_dir() {
        cleaned.extend(directory::clean(Path::new(RUNS))?);
    }
    for directory in directories {
        cleaned.extend(directory::clean(&runs::directory("looking in", directory)?)?);
    }
    cleaned.extend(cgroup::clean());
    let text = match cleaned.as_slice() {
        [] => "nothing was left behind\n".to_owned(),
        some => some.iter().map(|path| format!("deleted {}\n", path.display())).collect(),
    };
    print(&text)?;
    Ok(Exit::Success)
}
