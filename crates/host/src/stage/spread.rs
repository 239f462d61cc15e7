//! Folders of trials far from those that were deleted lately: a trial must not pay for the deletions of the one before it. ext4 reuses no
//! number of a file that was deleted in the last minutes (`recently_deleted` in Linux's fs/ext4/ialloc.c), and passes all those numbers
//! when it makes a file near them: after 10,000 files were deleted, the next ones took ten times as long.

use std::ffi::OsStr;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use storebench_core::guard::Folder;

/// How long ext4 passes the numbers of deleted files: 60 s, and 300 s more until they are written back.
const LATELY: Duration = Duration::from_secs(360);
/// The numbers of a flexible group of ext4, within which a folder's files get theirs.
const FAR: u64 = 16 * 8192;
/// The most folders that are made to choose one from.
const MOST_TRIES: u32 = 16;
/// A folder of this many bytes, or with as many folders in it as the second, held many files.
const LARGE: (u64, u64) = (16 << 10, 16);

/// The numbers (inodes) of folders that held many files, and when they were deleted.
#[derive(Debug, Default)]
pub(super) struct Spread {
    deleted: Vec<(Instant, u64)>,
    folder_count: u32,
    run_start: Option<i128>,
}

impl Spread {
    /// Makes a folder that is open to all, less the umask, as far from deleted ones as a few tries get.
    pub fn make(&mut self, work: &Folder, name: &str) -> io::Result<Folder> {
        self.deleted.retain(|(deletion, _)| deletion.elapsed() < LATELY);
        let mut nearer = Vec::new();
        let mut farthest: Option<(u64, String)> = None;
        for _ in 0..MOST_TRIES {
            self.folder_count += 1;
            // ext4 places a folder by a hash of its name. So no name is that of an earlier run, which may have deleted its files lately.
            let run_start = self.run_start.get_or_insert_with(|| jiff::Timestamp::now().as_nanosecond());
            let candidate = format!("{name}-{run_start}-{}", self.folder_count);
            let distance =
                self.distance(work.make(OsStr::new(&candidate), 0o777)?.handle().metadata()?.ino());
            let is_farther = farthest.as_ref().is_none_or(|(best, _)| distance > *best);
            nearer.extend(if is_farther {
                farthest.replace((distance, candidate)).map(|(_, name)| name)
            } else {
                Some(candidate)
            });
            if distance > FAR {
                break;
            }
        }
        // Those that are too near stay until here: the file system puts the next one where there are fewer.
        for candidate in &nearer {
            work.remove_empty(OsStr::new(candidate))?;
        }
        if let Some((_, chosen)) = farthest {
            work.rename(OsStr::new(&chosen), OsStr::new(name))?;
        }
        work.open_subfolder(OsStr::new(name))
    }

    /// Notes a folder that is to be deleted, if it holds many files.
    pub fn note_deletion(&mut self, work: &Folder, name: &OsStr) {
        let Ok(metadata) = work.open_subfolder(name).and_then(|folder| folder.handle().metadata()) else {
            return;
        };
        if metadata.len() > LARGE.0 || metadata.nlink() > LARGE.1 {
            self.deleted.push((Instant::now(), metadata.ino()));
        }
    }

    fn distance(&self, inode: u64) -> u64 {
        self.deleted.iter().map(|(_, deleted)| deleted.abs_diff(inode)).min().unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_folder_is_made_once_under_its_name_and_as_far_from_deleted_ones_as_any_tried() {
        let top = tempfile::tempdir().unwrap();
        let work = Folder::open(top.path()).unwrap();
        let mut spread = Spread::default();
        let inode_of = |spread: &mut Spread| {
            let folder = spread.make(&work, "trial").unwrap();
            assert_eq!(fs::read_dir(top.path()).unwrap().count(), 1, "the others have gone");
            folder.handle().metadata().unwrap().ino()
        };
        let first = inode_of(&mut spread);
        for file in 0..2_000 {
            fs::write(top.path().join(format!("trial/{file:0>64}")), "").unwrap();
        }
        spread.note_deletion(&work, OsStr::new("trial"));
        let is_known_by_size = fs::metadata(top.path().join("trial")).unwrap().len() > LARGE.0;
        assert_eq!(spread.deleted.len(), usize::from(is_known_by_size));
        work.remove(OsStr::new("trial")).unwrap();
        spread.deleted = vec![(Instant::now(), first)];
        let second = inode_of(&mut spread);
        let is_far = second.abs_diff(first) > FAR;
        assert!(is_far || spread.folder_count == 1 + MOST_TRIES, "it was given up early");
    }
}
