//! Where systems put the programs of servers.

use std::fs;
use std::path::{Path, PathBuf};

/// The folders of PATH.
pub fn in_path() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect()
}

/// The folders of programs of the versions in a folder.
pub fn newest_first(parent: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let version = |name: &str| name.strip_prefix(prefix)?.parse::<f64>().ok();
    let mut found: Vec<(f64, PathBuf)> = entries
        .filter_map(|entry| Some((version(entry.file_name().to_str()?)?, entry.path().join("bin"))))
        .collect();
    found.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    found.into_iter().map(|(_, path)| path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_comes_first_and_other_names_do_not_count() {
        let parent = tempfile::tempdir().unwrap();
        for name in ["pgsql-9.6", "pgsql-17", "pgsql-9", "pgsql-docs", "13"] {
            fs::create_dir(parent.path().join(name)).unwrap();
        }
        let found = newest_first(parent.path(), "pgsql-");
        let names: Vec<_> = found
            .iter()
            .map(|path| path.strip_prefix(parent.path()).unwrap().display().to_string())
            .collect();
        assert_eq!(names, ["pgsql-17/bin", "pgsql-9.6/bin", "pgsql-9/bin"]);
        assert!(newest_first(Path::new("/nowhere"), "").is_empty());
    }
}
