//! Forces the kernel's write-back early: pushes out pages of a store's files in some order during the steps, as a machine that
//! needs memory would. In a thread of the parent: in the store's process, closing a file would give up its locks.

use std::cmp::Reverse;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use storebench_disk::random::Random;

use storebench_core::kernel::system;

const PAUSE: Duration = Duration::from_millis(3);
/// Pushes in one order, after which the files are listed again.
const TURNS: u64 = 16;
const LIST_EVERY: u64 = 4;
/// The number of files that are pushed out: the newest.
const NEWEST: usize = 12;
const PUSH_BYTES: u64 = 64 << 10;

/// Pushes pages out until it is dropped.
pub struct WriteBack {
    stop_flag: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl WriteBack {
    /// Starts on the files in a folder; the seed decides the orders: any, forward, backward, and none for a while.
    pub fn start(folder: &Path, seed: u64) -> WriteBack {
        let stop_flag = Arc::new(AtomicBool::new(false));
        let (folder, thread_flag) = (folder.to_path_buf(), stop_flag.clone());
        let work = move || push(&folder, seed, &thread_flag);
        // Without the thread the kernel writes back when it likes.
        let thread = thread::Builder::new().name("write-back".into()).spawn(work).ok();
        WriteBack { stop_flag, thread }
    }
}

impl Drop for WriteBack {
    fn drop(&mut self) {
        self.stop_flag.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[derive(Clone, Copy)]
enum Order {
    Any,
    Forward,
    Backward,
    /// No pages are pushed: the kernel has enough memory.
    None,
}

fn push(folder: &Path, seed: u64, stop_flag: &AtomicBool) {
    let mut random = Random::seeded(seed);
    let (mut order, mut files) = (Order::Any, Vec::new());
    for turn in 0_u64.. {
        if stop_flag.load(Ordering::Relaxed) {
            return;
        }
        if turn.is_multiple_of(TURNS) {
            let orders = [Order::Any, Order::Forward, Order::Backward, Order::None];
            order = orders[random.below(orders.len() as u64) as usize];
        }
        if turn.is_multiple_of(LIST_EVERY) {
            files = newest(folder);
        }
        if !matches!(order, Order::None) && !files.is_empty() {
            let index = random.below(files.len() as u64) as usize;
            // A file may be gone by now.
            let _ = push_out(&files[index], order, turn % TURNS, &mut random);
        }
        thread::sleep(PAUSE);
    }
}

fn push_out(path: &Path, order: Order, turn: u64, random: &mut Random) -> io::Result<()> {
    let file = File::open(path)?;
    let pieces = file.metadata()?.len().div_ceil(PUSH_BYTES).max(1);
    let piece = match order {
        Order::Forward => turn % pieces,
        Order::Backward => pieces - 1 - turn % pieces,
        Order::Any | Order::None => random.below(pieces),
    };
    let (start, bytes) = ((piece * PUSH_BYTES).cast_signed(), PUSH_BYTES.cast_signed());
    system::begin_writing(&file, start, bytes);
    Ok(())
}

/// The newest files below a folder: a server has a thousand others.
fn newest(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    list(folder, &mut files);
    let modified_time = |path: &PathBuf| fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    files.sort_by_cached_key(|path| Reverse(modified_time(path)));
    files.truncate(NEWEST);
    files
}

/// The files below a folder, as far as they are visible.
fn list(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => list(&entry.path(), files),
            Ok(kind) if kind.is_file() => files.push(entry.path()),
            _ => {}
        }
    }
}
