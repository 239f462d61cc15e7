//! `storebench clean`: deletes work folders and cgroups whose run was killed.

use std::path::{Path, PathBuf};

use storebench_core::error::{Exit, Result};
use storebench_core::measure::cgroup;
use storebench_core::place::abandoned::{self, Found};

use super::{print, runs, tell};

/// Where runs are put unless told otherwise.
const RUNS: &str = "storebench-runs";

/// Deletes abandoned work folders in `directories`.
pub fn clean(directories: &[PathBuf]) -> Result<Exit> {
    let mut found = Found::default();
    let mut look = |directory: &Path| -> Result<()> {
        let Found { deleted, kept } = abandoned::clean(directory)?;
        found.deleted.extend(deleted);
        found.kept.extend(kept);
        Ok(())
    };
    if directories.is_empty() && Path::new(RUNS).is_dir() {
        look(Path::new(RUNS))?;
    }
    for directory in directories {
        look(&runs::directory("looking in", directory)?)?;
    }
    for (path, why) in &found.kept {
        tell(&format!("left {}: {why}", path.display()));
    }
    found.deleted.extend(cgroup::clean());
    let text = match found.deleted.as_slice() {
        [] => "nothing was left behind\n".to_owned(),
        some => some.iter().map(|path| format!("deleted {}\n", path.display())).collect(),
    };
    print(&text)?;
    Ok(Exit::Success)
}
