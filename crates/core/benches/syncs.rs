//! The cost of counting syncs: calls through this program's definitions compared with the C library's own, and with a real
//! sync in the current directory or the one in `STOREBENCH_BENCH_DIRECTORY`.

#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a benchmark prints, and may give up"
)]

use std::ffi::{CStr, c_int, c_void};
use std::fs::File;
use std::io::Write;
use std::mem;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::time::Instant;

use storebench_core::measure::syncs;

const ROUNDS: usize = 101;
const CALLS: u32 = 10_000;
const SYNCS: usize = 200;

type Sync = unsafe extern "C" fn(c_int) -> c_int;
type WriteTo = unsafe extern "C" fn(c_int, *const c_void, usize) -> isize;

fn main() {
    if let Err(reason) = syncs::check_counting() {
        println!("syncs are not counted here: {reason}");
        return;
    }
    // SAFETY: these are the types of the C library's functions.
    let (theirs, their_write) = unsafe {
        (
            mem::transmute::<*mut c_void, Sync>(c_library_function(c"fdatasync")),
            mem::transmute::<*mut c_void, WriteTo>(c_library_function(c"write")),
        )
    };
    // SAFETY: -1 is no descriptor, which the call only reports.
    let sync = time_in_turns(|| unsafe { libc::fdatasync(-1) }, || unsafe { theirs(-1) });
    let nowhere = File::create("/dev/null").expect("/dev/null can be written");
    let (fd, byte) = (nowhere.as_raw_fd(), [0_u8]);
    let bytes: *const c_void = byte.as_ptr().cast();
    // SAFETY: the descriptor is open, and the byte lives.
    let write = time_in_turns(
        || unsafe { libc::write(fd, bytes, 1) as c_int },
        || unsafe { their_write(fd, bytes, 1) as c_int },
    );
    let real_ns = real_sync_ns();
    println!("{:34} {:>12} {:>12} {:>12}", "", "counted", "not counted", "more");
    show("fdatasync that fails at once", sync);
    show("write of 1 byte to /dev/null", write);
    println!("{:34} {:>9.0} ns", "real fdatasync of 4 KiB appended", real_ns);
    println!("counting costs {:.3} % of a sync here", 100.0 * (sync.0 - sync.1) / real_ns);
}

fn show(call: &str, (ours, theirs): (f64, f64)) {
    println!("{call:34} {ours:>9.1} ns {theirs:>9.1} ns {:>9.1} ns", ours - theirs);
}

/// The C library's own function.
fn c_library_function(name: &CStr) -> *mut c_void {
    // SAFETY: the name ends with a zero.
    let function = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    assert!(!function.is_null(), "the C library has {name:?}");
    function
}

/// Medians of both in nanoseconds a call; they take turns, so that disturbances meet both alike.
fn time_in_turns(mut ours: impl FnMut() -> c_int, mut theirs: impl FnMut() -> c_int) -> (f64, f64) {
    let rounds: Vec<(f64, f64)> = (0..ROUNDS).map(|_| (time(&mut ours), time(&mut theirs))).collect();
    (median(rounds.iter().map(|round| round.0)), median(rounds.iter().map(|round| round.1)))
}

fn time(call: &mut impl FnMut() -> c_int) -> f64 {
    let start = Instant::now();
    for _ in 0..CALLS {
        std::hint::black_box(call());
    }
    start.elapsed().as_nanos() as f64 / f64::from(CALLS)
}

fn real_sync_ns() -> f64 {
    let directory = std::env::var_os("STOREBENCH_BENCH_DIRECTORY").map_or_else(|| ".".into(), PathBuf::from);
    let name = directory.join(format!("storebench-bench-syncs-{}", std::process::id()));
    let mut file = File::create(&name).expect("a file can be made in the directory");
    let times: Vec<f64> = (0..SYNCS)
        .map(|_| {
            file.write_all(&[1; 4096]).expect("the file can be written");
            let start = Instant::now();
            file.sync_data().expect("the file can be synced");
            start.elapsed().as_nanos() as f64
        })
        .collect();
    std::fs::remove_file(&name).expect("the file can be deleted");
    median(times.into_iter())
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
