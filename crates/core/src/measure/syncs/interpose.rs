//! The program's definitions of the calls that sync. Each passes on to the next definition, the C library's (or a preloaded
//! library's), and leaves result and `errno` as they were. Synchronous writes need more: files opened with `O_DSYNC` or `O_SYNC`
//! are remembered, and writes to them counted. LMDB writes its meta page so, half of each commit. Without such a file and a
//! journal (`unsynced.rs`), a call costs one more load and one more jump.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fs::File;
use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::time::Instant;

use libc::{iovec, mode_t, off_t, off64_t, size_t, ssize_t};

use super::unsynced::{self, SyncTarget};
use super::{SyncFunction, count, count_this_thread};

/// The next definition of a function, after this program's.
struct NextFunction {
    name: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl NextFunction {
    const fn new(name: &'static CStr) -> NextFunction {
        NextFunction { name, address: AtomicPtr::new(ptr::null_mut()) }
    }

    #[inline(always)]
    fn get(&self) -> *mut c_void {
        let address = self.address.load(Ordering::Relaxed);
        if address.is_null() { self.find() } else { address }
    }

    /// Threads may search at once; all find the same.
    #[cold]
    fn find(&self) -> *mut c_void {
        // SAFETY: the name ends with a zero.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        self.address.store(found, Ordering::Relaxed);
        found
    }
}

/// Times a sync, and keeps its `errno`.
#[inline(always)]
fn run_timed<T>(call: SyncFunction, action: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = action();
    // SAFETY: every thread has its own, at a fixed address.
    let errno = unsafe { *libc::__errno_location() };
    count(call, start.elapsed());
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
    result
}

/// What a function returns without a next definition, which every C library has.
trait Failure {
    const FAILED: Self;
}

impl Failure for c_int {
    const FAILED: c_int = -1;
}

impl Failure for ssize_t {
    const FAILED: ssize_t = -1;
}

impl Failure for () {
    const FAILED: () = ();
}

#[cold]
fn fail_as_missing<T: Failure>() -> T {
    // SAFETY: as in `run_timed`.
    unsafe { *libc::__errno_location() = libc::ENOSYS };
    T::FAILED
}

/// Defines a function that passes on to the next definition of its name: `$how` gets a closure for that. A type after `as` is the
/// C library's function type, if the arguments don't determine it.
macro_rules! hand_on {
    ($($name:ident, $text:literal, ($($argument:ident: $type:ty),*) -> $result:ty, as $pointer:ty, $how:expr;)*) => {
        $(
        #[doc = concat!("As the C library's `", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As the C library's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            static NEXT: NextFunction = NextFunction::new($text);
            let next = NEXT.get();
            if next.is_null() {
                return fail_as_missing();
            }
            // SAFETY: this is the type of the C library's function of this name.
            let next = unsafe { mem::transmute::<*mut c_void, $pointer>(next) };
            // SAFETY: the caller gives what the function asks for.
            $how(|| unsafe { next($($argument),*) })
        }
        )*

        fn own_functions() -> Vec<(&'static CStr, *const c_void)> {
            vec![$(($text, $name as *const c_void)),*]
        }
    };
}

hand_on! {
    fsync, c"fsync", (fd: c_int) -> c_int, as OfFile, |next| run_sync(SyncFunction::Fsync, SyncTarget::File(fd), next);
    fdatasync, c"fdatasync", (fd: c_int) -> c_int, as OfFile,
        |next| run_sync(SyncFunction::Fdatasync, SyncTarget::File(fd), next);
    syncfs, c"syncfs", (fd: c_int) -> c_int, as OfFile,
        |next| run_sync(SyncFunction::Syncfs, SyncTarget::FileSystem(fd), next);
    sync, c"sync", () -> (), as unsafe extern "C" fn(), |next| run_sync(SyncFunction::Sync, SyncTarget::All, next);
    msync, c"msync", (address: *mut c_void, length: size_t, flags: c_int) -> c_int,
        as unsafe extern "C" fn(*mut c_void, size_t, c_int) -> c_int,
        |next| run_sync_if(flags & libc::MS_SYNC != 0, SyncFunction::Msync, SyncTarget::Mapped(address), next);
    sync_file_range, c"sync_file_range", (fd: c_int, offset: off64_t, bytes: off64_t, flags: c_uint) -> c_int,
        as unsafe extern "C" fn(c_int, off64_t, off64_t, c_uint) -> c_int,
        |next| run_timed_if(flags & WAITS != 0, SyncFunction::SyncFileRange, next);

    write, c"write", (fd: c_int, bytes: *const c_void, count: size_t) -> ssize_t,
        as unsafe extern "C" fn(c_int, *const c_void, size_t) -> ssize_t,
        |next| run_write(fd, || count, None::<i64>, next);
    pwrite, c"pwrite", (fd: c_int, bytes: *const c_void, count: size_t, offset: off_t) -> ssize_t,
        as unsafe extern "C" fn(c_int, *const c_void, size_t, off_t) -> ssize_t,
        |next| run_write(fd, || count, Some(offset), next);
    pwrite64, c"pwrite64", (fd: c_int, bytes: *const c_void, count: size_t, offset: off64_t) -> ssize_t,
        as unsafe extern "C" fn(c_int, *const c_void, size_t, off64_t) -> ssize_t,
        |next| run_write(fd, || count, Some(offset), next);
    writev, c"writev", (fd: c_int, parts: *const iovec, count: c_int) -> ssize_t,
        as unsafe extern "C" fn(c_int, *const iovec, c_int) -> ssize_t,
        |next| run_write(fd, || length(parts, count), None::<i64>, next);
    pwritev, c"pwritev", (fd: c_int, parts: *const iovec, count: c_int, offset: off_t) -> ssize_t,
        as unsafe extern "C" fn(c_int, *const iovec, c_int, off_t) -> ssize_t,
        |next| run_write(fd, || length(parts, count), Some(offset), next);
    pwritev64, c"pwritev64", (fd: c_int, parts: *const iovec, count: c_int, offset: off64_t) -> ssize_t,
        as unsafe extern "C" fn(c_int, *const iovec, c_int, off64_t) -> ssize_t,
        |next| run_write(fd, || length(parts, count), Some(offset), next);
    ftruncate, c"ftruncate", (fd: c_int, length: off_t) -> c_int,
        as unsafe extern "C" fn(c_int, off_t) -> c_int, |next| run_truncation(fd, length, next);
    ftruncate64, c"ftruncate64", (fd: c_int, length: off64_t) -> c_int,
        as unsafe extern "C" fn(c_int, off64_t) -> c_int, |next| run_truncation(fd, length, next);

    // The mode is variable in C; Linux hands it over like a fixed one, and a missing one is not read.
    open, c"open", (path: *const c_char, flags: c_int, mode: mode_t) -> c_int,
        as unsafe extern "C" fn(*const c_char, c_int, ...) -> c_int, |next| open_and_remember(flags, next);
    open64, c"open64", (path: *const c_char, flags: c_int, mode: mode_t) -> c_int,
        as unsafe extern "C" fn(*const c_char, c_int, ...) -> c_int, |next| open_and_remember(flags, next);
    openat, c"openat", (folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int,
        as unsafe extern "C" fn(c_int, *const c_char, c_int, ...) -> c_int, |next| open_and_remember(flags, next);
    openat64, c"openat64", (folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int,
        as unsafe extern "C" fn(c_int, *const c_char, c_int, ...) -> c_int, |next| open_and_remember(flags, next);
}

type OfFile = unsafe extern "C" fn(c_int) -> c_int;

/// With these, `sync_file_range` waits for the disk.
const WAITS: c_uint = libc::SYNC_FILE_RANGE_WAIT_BEFORE | libc::SYNC_FILE_RANGE_WAIT_AFTER;

#[inline(always)]
fn run_timed_if<T>(is_sync: bool, call: SyncFunction, action: impl FnOnce() -> T) -> T {
    if is_sync { run_timed(call, action) } else { action() }
}

/// Whether calls need a closer look: a file was opened for synchronous writes, or a journal is kept.
static WATCHING: AtomicBool = AtomicBool::new(false);

pub(super) fn watch_all_calls() {
    WATCHING.store(true, Ordering::Release);
}

#[inline(always)]
fn run_sync<T: PartialEq + Default>(call: SyncFunction, synced: SyncTarget, next: impl FnOnce() -> T) -> T {
    if WATCHING.load(Ordering::Acquire) {
        return unsynced::around_sync(&synced, || run_timed(call, next));
    }
    run_timed(call, next)
}

#[inline(always)]
fn run_sync_if(is_sync: bool, call: SyncFunction, synced: SyncTarget, next: impl FnOnce() -> c_int) -> c_int {
    if is_sync { run_sync(call, synced, next) } else { next() }
}

/// A write at an offset or the descriptor's position.
#[inline(always)]
fn run_write(
    fd: c_int,
    bytes: impl FnOnce() -> usize,
    offset: Option<impl Into<i64>>,
    next: impl FnOnce() -> ssize_t,
) -> ssize_t {
    if WATCHING.load(Ordering::Acquire) {
        return watch_write(fd, bytes(), offset.map(Into::into), next);
    }
    next()
}

#[cold]
fn watch_write(fd: c_int, bytes: usize, offset: Option<i64>, next: impl FnOnce() -> ssize_t) -> ssize_t {
    let synchronous = is_synchronous(fd);
    unsynced::around_write(fd, bytes as u64, offset, synchronous, || {
        run_timed_if(synchronous, SyncFunction::Write, next)
    })
}

#[inline(always)]
fn run_truncation(fd: c_int, length: impl Into<i64>, next: impl FnOnce() -> c_int) -> c_int {
    if WATCHING.load(Ordering::Acquire) {
        return unsynced::around_truncation(fd, length.into(), next);
    }
    next()
}

fn length(parts: *const iovec, count: c_int) -> usize {
    // SAFETY: the caller of `writev` and its like gives this number of parts.
    (0..usize::try_from(count).unwrap_or(0)).map(|part| unsafe { (*parts.add(part)).iov_len }).sum()
}

/// Descriptor numbers, modulo their count here, once opened for synchronous writes: their files need a closer look.
static SYNCHRONOUS: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];

fn bit_of_descriptor(fd: c_int) -> (usize, u64) {
    let number = fd as usize % (SYNCHRONOUS.len() * 64);
    (number / 64, 1 << (number % 64))
}

/// Remembers a descriptor opened for synchronous writes.
#[inline(always)]
fn open_and_remember(flags: c_int, open: impl FnOnce() -> c_int) -> c_int {
    let fd = open();
    if flags & (libc::O_DSYNC | libc::O_SYNC) != 0 && fd >= 0 {
        let (word, bit) = bit_of_descriptor(fd);
        SYNCHRONOUS[word].fetch_or(bit, Ordering::Relaxed);
        watch_all_calls();
    }
    fd
}

/// Whether writes to the descriptor sync. Asks the system if its number was once such a file's: it may be another's by now.
fn is_synchronous(fd: c_int) -> bool {
    let (word, bit) = bit_of_descriptor(fd);
    if SYNCHRONOUS[word].load(Ordering::Relaxed) & bit == 0 {
        return false;
    }
    // SAFETY: the call only reads.
    let flags = unsafe { libc::fcntl(fd, libc::F_GETFL) };
    flags >= 0 && flags & libc::O_DSYNC != 0
}

/// Whether shared libraries and the standard library's calls use our definitions.
pub(super) fn check() -> Result<(), String> {
    for (name, own) in own_functions() {
        // SAFETY: the name ends with a zero.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
        if !ptr::eq(found, own) {
            let definition = format!("another definition of {}", name.to_string_lossy());
            return Err(format!("{definition} is in this program's way: its calls are not counted"));
        }
    }
    // A device that can't be synced says so at once.
    let file = File::open("/dev/null").map_err(|error| format!("/dev/null: {error}"))?;
    let before = count_this_thread();
    let _ = file.sync_all();
    match count_this_thread().since(&before).calls() {
        1 => Ok(()),
        calls => Err(format!("a call of fsync was counted {calls} times")),
    }
}
