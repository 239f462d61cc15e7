//! A journal of unsynced writes, file by file, to undo them: the files are then as a power cut could leave them if only synced
//! data reached the disk. A file is known by its device and inode, so a sync of one says nothing about another. Writes through
//! mappings, direct system calls or other processes are not seen and stay, as do changes of names and lengths: a disk may have
//! taken them before the cut. The journal is slow: no measured process keeps one.

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::fs::File;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{FileType, Mode, OFlags};

use super::interpose::watch_all_calls;

static JOURNALING: AtomicBool = AtomicBool::new(false);
static JOURNAL: Mutex<Option<Journal>> = Mutex::new(None);

/// Files that hold no store's data.
const NO_DATA: [&str; 3] = ["/proc/", "/sys/", "/memfd:"];

type Id = (u64, u64);

struct Journal {
    files: HashMap<Id, WrittenFile>,
    /// A folder with other files than the store's.
    excluded: PathBuf,
}

/// A written file. It stays open: closing it would release this process's locks on it.
struct WrittenFile {
    file: File,
    unsynced: Option<UnsyncedWrites>,
}

/// Writes to a file since its last sync.
struct UnsyncedWrites {
    /// At the last sync.
    length: u64,
    /// Overwritten bytes, by offset, in order.
    overwritten: Vec<(u64, Vec<u8>)>,
}

/// Starts the journal, except for files below `excluded`.
pub(super) fn start_journal(excluded: &Path) {
    let excluded = excluded.canonicalize().unwrap_or_else(|_| excluded.into());
    *journal() = Some(Journal { files: HashMap::new(), excluded });
    JOURNALING.store(true, Ordering::Release);
    watch_all_calls();
}

/// Undoes unsynced writes. No other thread may write or sync through the C library afterwards: the process is to end. Fails when
/// a file can't be restored; the journal ends in any case.
pub(super) fn undo() -> io::Result<()> {
    let mut guard = journal();
    let Some(journal) = guard.as_mut() else { return Ok(()) };
    let undone = journal.files.values_mut().try_for_each(WrittenFile::undo);
    match undone {
        // The lock is held for ever.
        Ok(()) => std::mem::forget(guard),
        Err(_) => *guard = None,
    }
    undone
}

fn journal() -> MutexGuard<'static, Option<Journal>> {
    JOURNAL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `write`, at an offset or the descriptor's position. A `synchronous` one is on the disk when it returns.
pub(super) fn around_write<T>(
    fd: c_int,
    bytes: u64,
    offset: Option<i64>,
    synchronous: bool,
    write: impl FnOnce() -> T,
) -> T {
    with_file(fd, write, |written_file, write| {
        let start = offset.map_or_else(|| position(fd), |offset| u64::try_from(offset).ok());
        if let Some(start) = start {
            written_file.note(start, bytes);
        }
        let result = write();
        if let Some(start) = start.filter(|_| synchronous) {
            written_file.note_synced_write(start, bytes);
        }
        result
    })
}

/// Runs `change` of a file's length.
pub(super) fn around_truncation(fd: c_int, length: i64, change: impl FnOnce() -> c_int) -> c_int {
    with_file(fd, change, |written_file, change| {
        let result = change();
        if let (0, Ok(length)) = (result, u64::try_from(length)) {
            written_file.note_truncation(length);
        }
        result
    })
}

/// Runs an action on a file, under the journal's lock if it belongs to the journal.
fn with_file<T, A: FnOnce() -> T>(fd: c_int, action: A, noted: impl FnOnce(&mut WrittenFile, A) -> T) -> T {
    let Some(id) = JOURNALING.load(Ordering::Acquire).then(|| id(fd)).flatten() else { return action() };
    let mut guard = journal();
    match guard.as_mut().and_then(|journal| journal.written_file(fd, id)) {
        Some(written_file) => noted(written_file, action),
        // A pipe that nobody reads must not hold the lock.
        None => {
            drop(guard);
            action()
        }
    }
}

pub(super) enum SyncTarget {
    File(c_int),
    /// All of its file system.
    FileSystem(c_int),
    Mapped(*const c_void),
    All,
}

/// Runs `sync`. Writes to the same files wait meanwhile.
pub(super) fn around_sync<T: PartialEq + Default>(synced: &SyncTarget, sync: impl FnOnce() -> T) -> T {
    if !JOURNALING.load(Ordering::Acquire) {
        return sync();
    }
    let id = match synced {
        SyncTarget::File(fd) | SyncTarget::FileSystem(fd) => id_of_any(*fd),
        SyncTarget::Mapped(address) => id_of_mapping(*address as usize),
        SyncTarget::All => None,
    };
    let mut guard = journal();
    let Some(journal) = guard.as_mut() else {
        drop(guard);
        return sync();
    };
    let result = sync();
    if result == T::default() {
        for ((device, inode), written_file) in &mut journal.files {
            let is_synced = match synced {
                SyncTarget::All => true,
                SyncTarget::FileSystem(_) => id.is_some_and(|(synced_device, _)| synced_device == *device),
                SyncTarget::File(_) | SyncTarget::Mapped(_) => id == Some((*device, *inode)),
            };
            if is_synced {
                written_file.unsynced = None;
            }
        }
    }
    result
}

impl Journal {
    /// The descriptor's file; `None` if it is not the store's or can't be read.
    fn written_file(&mut self, fd: c_int, id: Id) -> Option<&mut WrittenFile> {
        if !self.files.contains_key(&id) {
            let path = format!("/proc/self/fd/{fd}");
            let name = rustix::fs::readlink(&path, Vec::new()).ok()?.into_string().ok()?;
            let has_no_data = NO_DATA.iter().any(|start| name.starts_with(start));
            if has_no_data || Path::new(&name).starts_with(&self.excluded) {
                return None;
            }
            // The store may have opened it to be written alone.
            let file = rustix::fs::open(&path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).ok()?;
            self.files.insert(id, WrittenFile { file: file.into(), unsynced: None });
        }
        self.files.get_mut(&id)
    }
}

impl WrittenFile {
    fn length(&self) -> Option<u64> {
        rustix::fs::fstat(&self.file).ok()?.st_size.try_into().ok()
    }

    /// Keeps what is about to be overwritten.
    fn note(&mut self, offset: u64, bytes: u64) {
        let Some(length) = self.length() else { return };
        // It may have been cut short in other ways than the visible ones.
        self.note_truncation(length);
        let unsynced =
            self.unsynced.get_or_insert_with(|| UnsyncedWrites { length, overwritten: Vec::new() });
        let end = offset.saturating_add(bytes).min(unsynced.length);
        let mut old = vec![0; usize::try_from(end.saturating_sub(offset)).unwrap_or(0)];
        if read_at(&self.file, offset, &mut old).is_ok() && !old.is_empty() {
            unsynced.overwritten.push((offset, old));
        }
    }

    /// Notes that bytes just written are on the disk, whatever was unsynced there.
    fn note_synced_write(&mut self, offset: u64, bytes: u64) {
        let Some(unsynced) = &mut self.unsynced else { return };
        let end = offset.saturating_add(bytes);
        unsynced.length = unsynced.length.max(end);
        for (start, old) in &mut unsynced.overwritten {
            let (from, to) = (offset.max(*start), end.min(*start + old.len() as u64));
            if from < to {
                let overlap = &mut old[(from - *start) as usize..(to - *start) as usize];
                // Bytes that can't be read stay as they were.
                let _ = read_at(&self.file, from, overlap);
            }
        }
    }

    /// Notes a file's new, perhaps shorter, length.
    fn note_truncation(&mut self, length: u64) {
        let Some(unsynced) = &mut self.unsynced else { return };
        unsynced.length = unsynced.length.min(length);
        for (start, old) in &mut unsynced.overwritten {
            old.truncate(usize::try_from(length.saturating_sub(*start)).unwrap_or(usize::MAX));
        }
    }

    fn undo(&mut self) -> io::Result<()> {
        let Some(current_length) = self.length() else {
            return Err(io::Error::other("a file has no length"));
        };
        self.note_truncation(current_length);
        let Some(UnsyncedWrites { length, overwritten }) = self.unsynced.take() else { return Ok(()) };
        for (offset, old) in overwritten.iter().rev() {
            write_at(&self.file, *offset, old)?;
        }
        if current_length > length {
            rustix::fs::ftruncate(&self.file, length)?;
        }
        Ok(())
    }
}

// These make system calls directly: they must neither be noted nor change what a call has left in `errno`.

fn read_at(file: &File, mut offset: u64, mut bytes: &mut [u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::pread(file, &mut *bytes, offset)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => (offset, bytes) = (offset + read as u64, &mut bytes[read..]),
        }
    }
    Ok(())
}

fn write_at(file: &File, mut offset: u64, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::pwrite(file, bytes, offset)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            written => (offset, bytes) = (offset + written as u64, &bytes[written..]),
        }
    }
    Ok(())
}

/// A descriptor that is the caller's to have open: otherwise calls fail.
fn borrow_descriptor(fd: c_int) -> Option<BorrowedFd<'static>> {
    // SAFETY: the number is not -1, and the descriptor is used within the call that it was handed to alone.
    (fd >= 0).then(|| unsafe { BorrowedFd::borrow_raw(fd) })
}

/// The id of a plain file or block device.
fn id(fd: c_int) -> Option<Id> {
    let stat = rustix::fs::fstat(borrow_descriptor(fd)?).ok()?;
    (FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile).then_some((stat.st_dev, stat.st_ino))
}

fn id_of_any(fd: c_int) -> Option<Id> {
    let stat = rustix::fs::fstat(borrow_descriptor(fd)?).ok()?;
    Some((stat.st_dev, stat.st_ino))
}

fn position(fd: c_int) -> Option<u64> {
    let fd = borrow_descriptor(fd)?;
    if rustix::fs::fcntl_getfl(fd).ok()?.contains(OFlags::APPEND) {
        return rustix::fs::fstat(fd).ok()?.st_size.try_into().ok();
    }
    rustix::fs::tell(fd).ok()
}

fn id_of_mapping(address: usize) -> Option<Id> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let path = maps.lines().find_map(|line| {
        let mut words = line.splitn(6, ' ');
        let (from, to) = words.next()?.split_once('-')?;
        let number = |text| usize::from_str_radix(text, 16).ok();
        (number(from)? <= address && address < number(to)?).then(|| words.last().map(str::trim_start))?
    })?;
    let stat = rustix::fs::stat(path).ok()?;
    Some((stat.st_dev, stat.st_ino))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek, Write};
    use std::os::unix::fs::FileExt;

    use super::*;

    fn digits() -> WrittenFile {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        WrittenFile { file, unsynced: None }
    }

    fn write(file: &mut WrittenFile, offset: u64, bytes: &[u8]) {
        file.note(offset, bytes.len() as u64);
        file.file.write_all_at(bytes, offset).unwrap();
    }

    fn undo_and_read(mut file: WrittenFile) -> String {
        file.undo().unwrap();
        let mut text = String::new();
        file.file.rewind().unwrap();
        file.file.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn what_was_overwritten_comes_back_what_was_appended_goes_and_what_was_synced_stays() {
        assert_eq!(undo_and_read(digits()), "0123456789");
        let mut file = digits();
        write(&mut file, 2, b"abc");
        write(&mut file, 8, b"VWXYZ");
        write(&mut file, 3, b"twice");
        write(&mut file, 40, b"beyond");
        assert_eq!(undo_and_read(file), "0123456789");
        let mut file = digits();
        write(&mut file, 2, b"abc");
        file.unsynced = None;
        write(&mut file, 4, b"def");
        assert_eq!(undo_and_read(file), "01abc56789");
    }

    #[test]
    fn a_write_that_is_synchronous_stays_where_others_go() {
        let mut file = digits();
        write(&mut file, 0, b"aaaa");
        write(&mut file, 2, b"bb");
        file.note_synced_write(2, 2);
        assert_eq!(undo_and_read(file), "01bb456789");
        let mut file = digits();
        write(&mut file, 0, b"a");
        write(&mut file, 10, b"new");
        file.note_synced_write(10, 3);
        assert_eq!(undo_and_read(file), "0123456789new");
    }

    #[test]
    fn a_file_that_was_cut_short_does_not_grow_again() {
        let mut file = digits();
        write(&mut file, 6, b"xx");
        file.file.set_len(4).unwrap();
        file.note_truncation(4);
        file.file.set_len(8).unwrap();
        assert_eq!(undo_and_read(file), "0123");
        let mut file = digits();
        write(&mut file, 0, b"xx");
        file.file.set_len(0).unwrap();
        write(&mut file, 0, b"all is new");
        assert_eq!(undo_and_read(file), "");
    }

    #[test]
    fn a_mapped_file_is_found_by_its_address() {
        let name = std::env::current_exe().unwrap();
        let stat = rustix::fs::stat(&name).unwrap();
        assert_eq!(id_of_mapping(digits as *const () as usize), Some((stat.st_dev, stat.st_ino)));
        assert_eq!(id_of_mapping(0), None);
    }
}
