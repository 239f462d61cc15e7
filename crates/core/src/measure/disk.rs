//! The space that a store's files take on disk.

use std::collections::HashSet;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use storebench_model::result::Disk;

/// Sums up everything below `directory`: blocks as `du` counts them (folders included, hard links once), lengths, files. An open
/// store may delete files meanwhile: what is gone counts nothing.
pub fn usage(directory: &Path) -> io::Result<Disk> {
    usage_without(directory, None)
}

/// As [`usage`], without the folder of this name in it.
pub(crate) fn usage_without(directory: &Path, left_out: Option<&str>) -> io::Result<Disk> {
    let left_out = left_out.map(|name| directory.join(name));
    let mut disk = Disk { allocated_bytes: 0, apparent_bytes: 0, files: 0 };
    let mut linked = HashSet::new();
    let mut pending = vec![directory.to_path_buf()];
    while let Some(folder) = pending.pop() {
        let describe_error = |error: io::Error| {
            io::Error::new(error.kind(), format!("reading sizes in {}: {error}", folder.display()))
        };
        let listing = std::fs::symlink_metadata(&folder)
            .and_then(|folder_metadata| Ok((folder_metadata, std::fs::read_dir(&folder)?)));
        // Without `directory` itself there is nothing to sum up.
        let may_be_gone = folder != directory;
        let Some((folder_metadata, entries)) = unless_gone(listing, may_be_gone).map_err(describe_error)?
        else {
            continue;
        };
        disk.allocated_bytes += folder_metadata.blocks() * 512;
        for entry in entries {
            let Some(entry) = unless_gone(entry, may_be_gone).map_err(describe_error)? else { break };
            let Some(metadata) = unless_gone(entry.metadata(), true).map_err(describe_error)? else {
                continue;
            };
            if metadata.is_dir() {
                pending.extend(Some(entry.path()).filter(|path| left_out.as_ref() != Some(path)));
            } else if metadata.nlink() == 1 || linked.insert((metadata.dev(), metadata.ino())) {
                disk.allocated_bytes += metadata.blocks() * 512;
                disk.apparent_bytes += metadata.len();
                disk.files += 1;
            }
        }
    }
    Ok(disk)
}

/// `None` if it was deleted meanwhile, and may have been.
fn unless_gone<T>(result: io::Result<T>, may_be_gone: bool) -> io::Result<Option<T>> {
    match result {
        Err(error) if may_be_gone && error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn what_is_deleted_meanwhile_counts_nothing() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("stays"), "12345").unwrap();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let deleter = scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let temporary = folder.path().join("within");
                    fs::create_dir(&temporary).unwrap();
                    (0..20).for_each(|name| fs::write(temporary.join(name.to_string()), "").unwrap());
                    fs::remove_dir_all(temporary).unwrap();
                }
            });
            let usages: Vec<io::Result<Disk>> = (0..500).map(|_| usage(folder.path())).collect();
            is_over.store(true, Ordering::Relaxed);
            deleter.join().unwrap();
            assert!(usages.into_iter().all(|usage| usage.unwrap().apparent_bytes == 5));
        });
    }

    #[test]
    fn what_can_t_be_read_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let gone = folder.path().join("gone");
        let error = usage(&gone).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().starts_with(&format!("reading sizes in {}: ", gone.display())), "{error}");
    }

    #[test]
    fn sparse_files_linked_files_and_folders_are_counted_right() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let empty = usage(folder.path()).unwrap();
        std::fs::create_dir(folder.path().join("left-out")).unwrap();
        std::fs::write(folder.path().join("left-out/full"), vec![1; 100_000]).unwrap();
        assert_eq!(usage_without(folder.path(), Some("left-out")).unwrap().files, 0);
        std::fs::remove_dir_all(folder.path().join("left-out")).unwrap();
        let sparse = std::fs::File::create(folder.path().join("sparse")).unwrap();
        sparse.set_len(1 << 30).unwrap();
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        std::fs::write(folder.path().join("sub/full"), vec![1; 100_000]).unwrap();
        std::fs::hard_link(folder.path().join("sub/full"), folder.path().join("again")).unwrap();
        std::fs::File::open(folder.path().join("sub/full")).unwrap().sync_all().unwrap();
        let found = usage(folder.path()).unwrap();
        assert_eq!((found.files, found.apparent_bytes), (2, (1 << 30) + 100_000));
        let allocated = found.allocated_bytes - empty.allocated_bytes;
        assert!((100_000..1_000_000).contains(&allocated), "{allocated}");
    }
}
