//! Room that is reserved for results, in a file that is emptied when a store has filled the disk.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rustix::fs::FallocateFlags;

use super::NOFOLLOW;
use storebench_model::error::{Exit, Result};

pub const NAME: &str = ".reserve";
/// The size of the file in bytes: many times the report and the result of a trial.
const BYTES: u64 = 1 << 20;
/// The unit in which the system counts a file's space, in bytes.
const BLOCK_BYTES: u64 = 512;

/// Reserves room in a run's folder if the disk and the file system can; otherwise results are saved without. Dropping it frees the room.
#[derive(Debug)]
pub struct SpaceReserve {
    path: PathBuf,
}

impl SpaceReserve {
    pub fn keep(folder: &Path) -> SpaceReserve {
        let room = SpaceReserve { path: folder.join(NAME) };
        room.take_again();
        room
    }

    pub fn take_again(&self) {
        let is_reserved = |file: fs::Metadata| file.is_file() && file.blocks() * BLOCK_BYTES >= BYTES;
        if !fs::symlink_metadata(&self.path).is_ok_and(is_reserved) && reserve(&self.path).is_err() {
            self.remove();
        }
    }

    fn remove(&self) {
        // Harmless if it fails: the run that is resumed uses or removes the file.
        let _ = fs::remove_file(&self.path);
    }
}

impl Drop for SpaceReserve {
    fn drop(&mut self) {
        self.remove();
    }
}

fn reserve(path: &Path) -> io::Result<()> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true).custom_flags(NOFOLLOW).mode(0o600);
    let mut file = options.open(path)?;
    match rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, BYTES) {
        Err(rustix::io::Errno::NOSPC | rustix::io::Errno::DQUOT) => Err(rustix::io::Errno::NOSPC.into()),
        Err(_) => write(&mut file),
        Ok(()) => Ok(()),
    }
}

/// Fills a file with bytes that can't be compressed, for file systems that can't set space aside.
fn write(file: &mut File) -> io::Result<()> {
    let mut bytes = vec![0; BYTES as usize];
    Xoshiro256PlusPlus::seed_from_u64(BYTES).fill_bytes(&mut bytes);
    file.write_all(&bytes)?;
    file.sync_all()
}

/// Writes to a run's folder; if the disk is full, gives up the reserved room and tries once more.
pub fn with_room<T>(folder: &Path, mut write: impl FnMut() -> Result<T>) -> Result<T> {
    match write() {
        Err(error) if error.exit == Exit::DiskFull && give_up(&folder.join(NAME)).is_ok() => write(),
        result => result,
    }
}

/// Whether an error says that there is no room.
pub fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

fn give_up(path: &Path) -> io::Result<()> {
    File::options().write(true).truncate(true).custom_flags(NOFOLLOW).open(path).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use storebench_model::error::Error;

    #[test]
    fn room_is_kept_given_up_once_and_taken_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        let reserved_bytes = || fs::metadata(&path).unwrap().blocks() * BLOCK_BYTES;
        let room = SpaceReserve::keep(folder.path());
        assert!(reserved_bytes() >= BYTES);
        let mut attempts = 0;
        let error = with_room(folder.path(), || {
            attempts += 1;
            Err::<(), _>(Error::new(Exit::DiskFull, "full"))
        });
        assert_eq!((error.unwrap_err().exit, attempts, reserved_bytes()), (Exit::DiskFull, 2, 0));
        room.take_again();
        assert!(reserved_bytes() >= BYTES);
        let broken = with_room(folder.path(), || Err::<(), _>(Error::new(Exit::Failure, "a fault")));
        assert!(broken.is_err() && reserved_bytes() >= BYTES, "it is for full disks");
        drop(room);
        assert!(!path.exists());
    }

    #[test]
    fn where_space_cannot_be_set_aside_it_is_written() {
        let mut file = tempfile::tempfile().unwrap();
        write(&mut file).unwrap();
        assert!(file.metadata().unwrap().blocks() * BLOCK_BYTES >= BYTES);
    }

    #[test]
    fn a_link_in_its_place_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let theirs = folder.path().join("theirs");
        fs::write(&theirs, "text").unwrap();
        std::os::unix::fs::symlink(&theirs, folder.path().join(NAME)).unwrap();
        let full = || Err::<(), _>(Error::new(Exit::DiskFull, "full"));
        assert!(with_room(folder.path(), full).is_err());
        drop(SpaceReserve::keep(folder.path()));
        assert_eq!(fs::read_to_string(&theirs).unwrap(), "text");
    }
}
