//! Counts and times the calls of this process that make written data durable, whoever makes them: engines linked as C, as Rust or
//! as shared libraries, in their own threads too. On Linux with the GNU C library, this program defines these calls itself and
//! passes each on to the C library (`interpose.rs`); the dynamic linker gives every part of the process the program's definition.
//! System calls made directly, `io_uring`, and `pwritev2` with `RWF_DSYNC` are not seen; no engine here uses these, as `strace`
//! shows. [`check_counting`] checks whether the definitions are in effect.

#![cfg_attr(
    target_os = "android",
    allow(clippy::missing_const_for_thread_local, reason = "it is const, which clippy does not see there")
)]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

#[cfg(all(target_os = "linux", target_env = "gnu", not(target_feature = "crt-static")))]
mod interpose;
#[cfg(all(target_os = "linux", target_env = "gnu", not(target_feature = "crt-static")))]
mod unsynced;
#[cfg(not(all(target_os = "linux", target_env = "gnu", not(target_feature = "crt-static"))))]
mod interpose {
    //! Other systems bind an engine's calls to the C library before the program has a say.

    pub(super) fn check() -> Result<(), String> {
        Err("calls that sync can be counted on Linux with a shared GNU C library only".into())
    }
}
#[cfg(not(all(target_os = "linux", target_env = "gnu", not(target_feature = "crt-static"))))]
mod unsynced {
    //! The stub without a journal.

    pub(super) fn start_journal(_: &std::path::Path) {}
    pub(super) fn undo() -> std::io::Result<()> {
        Ok(())
    }
}

/// A call that makes written data durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "counted on Linux only"))]
enum SyncFunction {
    Fsync,
    Fdatasync,
    /// With `MS_SYNC`; otherwise it does not wait.
    Msync,
    /// When it waits for the disk. It does not reach the device's cache, so alone it makes nothing durable.
    SyncFileRange,
    Syncfs,
    Sync,
    /// To a file opened with `O_DSYNC` or `O_SYNC`: durable when it returns.
    Write,
}

/// In the order of [`SyncFunction`].
const NAMES: [&str; 7] =
    ["fsync", "fdatasync", "msync", "sync_file_range", "syncfs", "sync", "synchronous write"];

/// The number of calls of each kind, and the time within them all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Syncs {
    calls: [u64; NAMES.len()],
    /// Time within them, added over the threads, in nanoseconds.
    pub(crate) ns: u64,
}

impl Syncs {
    const NONE: Syncs = Syncs { calls: [0; NAMES.len()], ns: 0 };

    /// Calls, all kinds together.
    pub fn calls(&self) -> u64 {
        self.calls.iter().sum()
    }

    /// The calls that were made at all, by name.
    pub fn by_call(&self) -> BTreeMap<String, u64> {
        let counted = NAMES.iter().zip(self.calls).filter(|(_, calls)| *calls > 0);
        counted.map(|(name, calls)| ((*name).to_owned(), calls)).collect()
    }

    /// The syncs since `earlier`.
    pub fn since(&self, earlier: &Syncs) -> Syncs {
        Syncs {
            calls: std::array::from_fn(|call| self.calls[call].saturating_sub(earlier.calls[call])),
            ns: self.ns.saturating_sub(earlier.ns),
        }
    }

    /// Both together.
    pub fn plus(&self, other: &Syncs) -> Syncs {
        Syncs {
            calls: std::array::from_fn(|call| self.calls[call] + other.calls[call]),
            ns: self.ns + other.ns,
        }
    }
}

static CALLS: [AtomicU64; NAMES.len()] = [const { AtomicU64::new(0) }; NAMES.len()];
static NS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    // Nothing to build and nothing to drop: usable at any time, in threads of any origin.
    static THREAD_SYNCS: Cell<Syncs> = const { Cell::new(Syncs::NONE) };
}

#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "counted on Linux only"))]
fn count(call: SyncFunction, time: Duration) {
    let ns = time.as_nanos() as u64;
    CALLS[call as usize].fetch_add(1, Ordering::Relaxed);
    NS.fetch_add(ns, Ordering::Relaxed);
    let mut thread_syncs = THREAD_SYNCS.get();
    thread_syncs.calls[call as usize] += 1;
    thread_syncs.ns += ns;
    THREAD_SYNCS.set(thread_syncs);
}

/// The syncs of all threads since the process was started.
pub(crate) fn count_all_threads() -> Syncs {
    Syncs {
        calls: std::array::from_fn(|call| CALLS[call].load(Ordering::Relaxed)),
        ns: NS.load(Ordering::Relaxed),
    }
}

/// The syncs of the calling thread since it was started.
pub(crate) fn count_this_thread() -> Syncs {
    THREAD_SYNCS.get()
}

/// Whether the store's calls bypass the C library.
static NOT_SEEN: AtomicBool = AtomicBool::new(false);

/// Tells that the store of this process makes system calls that don't pass the C library.
pub fn are_not_seen() {
    NOT_SEEN.store(true, Ordering::Relaxed);
}

/// Whether every call is counted in this process; otherwise the counts mean nothing. Looked at once.
pub fn check_counting() -> Result<(), &'static str> {
    if NOT_SEEN.load(Ordering::Relaxed) {
        return Err(
            "the library makes system calls past the C library, where they can't be counted; what it counts itself is \
                    among its statistics",
        );
    }
    static CHECKED: OnceLock<Result<(), String>> = OnceLock::new();
    CHECKED.get_or_init(interpose::check).as_ref().copied().map_err(String::as_str)
}

/// Starts a journal of unsynced writes, except to files below `excluded`, which slows every write. Fails when calls don't pass this program.
pub(crate) fn keep_journal(excluded: &Path) -> Result<(), &'static str> {
    check_counting()?;
    unsynced::start_journal(excluded);
    Ok(())
}

/// Undoes unsynced writes. No other thread may write or sync afterwards: this process is to end. Fails when a file can't be restored.
pub(crate) fn undo_unsynced() -> io::Result<()> {
    unsynced::undo()
}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use std::fs::{File, OpenOptions};
    use std::io::{Seek, Write};
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::OpenOptionsExt;

    use super::*;

    fn syncs_of(action: impl FnOnce()) -> Vec<(String, u64)> {
        let before = count_this_thread();
        action();
        count_this_thread().since(&before).by_call().into_iter().collect()
    }

    fn one_call(name: &str) -> Vec<(String, u64)> {
        vec![(name.into(), 1)]
    }

    #[test]
    fn every_call_is_counted_once_under_its_name() {
        assert_eq!(check_counting(), Ok(()));
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[1; 4096]).unwrap();
        let fd = file.as_raw_fd();
        assert_eq!(syncs_of(|| file.sync_all().unwrap()), one_call("fsync"));
        assert_eq!(syncs_of(|| file.sync_data().unwrap()), one_call("fdatasync"));
        // SAFETY: the descriptor is open.
        assert_eq!(syncs_of(|| assert_eq!(unsafe { libc::syncfs(fd) }, 0)), one_call("syncfs"));
        // SAFETY: it touches no memory of ours.
        assert_eq!(syncs_of(|| unsafe { libc::sync() }), one_call("sync"));
        let range = |flags| {
            // SAFETY: the descriptor is open.
            syncs_of(|| assert_eq!(unsafe { libc::sync_file_range(fd, 0, 0, flags) }, 0))
        };
        let write_and_wait = libc::SYNC_FILE_RANGE_WRITE | libc::SYNC_FILE_RANGE_WAIT_AFTER;
        assert_eq!(range(write_and_wait), one_call("sync_file_range"));
        assert_eq!(range(libc::SYNC_FILE_RANGE_WRITE), []);
    }

    #[test]
    fn msync_counts_when_it_waits() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(4096).unwrap();
        let (access, fd) = (libc::PROT_READ | libc::PROT_WRITE, file.as_raw_fd());
        // SAFETY: a new mapping, of a file that is as long.
        let page = unsafe { libc::mmap(std::ptr::null_mut(), 4096, access, libc::MAP_SHARED, fd, 0) };
        assert_ne!(page, libc::MAP_FAILED);
        // SAFETY: the page is mapped.
        let sync = |flags| syncs_of(|| assert_eq!(unsafe { libc::msync(page, 4096, flags) }, 0));
        assert_eq!(sync(libc::MS_SYNC), one_call("msync"));
        assert_eq!(sync(libc::MS_ASYNC), []);
        // SAFETY: nobody uses the page any more.
        assert_eq!(unsafe { libc::munmap(page, 4096) }, 0);
    }

    #[test]
    fn writes_to_files_opened_to_be_synchronous_are_counted_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for flag in [libc::O_DSYNC, libc::O_SYNC] {
            let open = |flag| {
                OpenOptions::new().write(true).create(true).truncate(true).custom_flags(flag).open(&path)
            };
            let mut synchronous = open(flag).unwrap();
            assert_eq!(syncs_of(|| synchronous.write_all(b"x").unwrap()), one_call("synchronous write"));
            let number = synchronous.as_raw_fd();
            drop(synchronous);
            let mut plain = open(0).unwrap();
            // The descriptor's number may be the same again.
            assert!(plain.as_raw_fd() == number || cfg!(test));
            assert_eq!(syncs_of(|| plain.write_all(b"x").unwrap()), []);
            plain.rewind().unwrap();
        }
    }

    #[test]
    fn results_and_error_numbers_pass_through() {
        let with_errno = |result: libc::c_int| (result, std::io::Error::last_os_error().raw_os_error());
        // SAFETY: -1 is no descriptor, and the calls only report that.
        unsafe {
            let written = with_errno(libc::write(-1, [0_u8].as_ptr().cast(), 1) as libc::c_int);
            let synced = [libc::fsync, libc::fdatasync, libc::syncfs].map(|sync| with_errno(sync(-1)));
            assert_eq!((written, synced), ((-1, Some(libc::EBADF)), [(-1, Some(libc::EBADF)); 3]));
            let opened = with_errno(libc::open(c"/nonexistent".as_ptr(), libc::O_DSYNC));
            assert_eq!(opened, (-1, Some(libc::ENOENT)));
        }
        let error = File::open("/dev/null").unwrap().sync_all().unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EINVAL));
    }

    #[test]
    fn time_is_added_up_and_all_threads_are_seen() {
        let before = count_all_threads();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mine = count_this_thread();
                assert_eq!(mine, Syncs::NONE, "a thread begins with nothing");
                tempfile::tempfile().unwrap().sync_all().unwrap();
                assert!(count_this_thread().ns > 0);
            });
        });
        let total = count_all_threads().since(&before);
        assert!(total.calls() >= 1 && total.ns > 0, "{total:?}");
    }
}
