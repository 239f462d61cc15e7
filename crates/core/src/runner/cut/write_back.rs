//! The kernel's write-back, forced early: pages of a store's files are pushed out in some order while it is at work, as a machine in
//! need of memory would. By a thread of the parent: in the store's own process, closing a file would give up its locks.

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use storebench_disk::random::Random;

/// The time between two pushes.
const PAUSE: Duration = Duration::from_millis(3);
/// The bytes that are pushed out at once.
const PUSHED: u64 = 64 << 10;

/// Pushes pages out until it is dropped.
pub struct WriteBack {
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl WriteBack {
    /// Of the files in a folder; the order follows from the seed: any, forward, backward, or none at all.
    pub fn start(folder: &Path, seed: u64) -> WriteBack {
        let ends = Arc::new(AtomicBool::new(false));
        let (folder, stop) = (folder.to_path_buf(), ends.clone());
        let work = move || push(&folder, seed, &stop);
        // Without the thread the kernel writes back when it likes.
        let thread = thread::Builder::new().name("write-back".into()).spawn(work).ok();
        WriteBack { ends, thread }
    }
}

impl Drop for WriteBack {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // It has nothing to say.
            let _ = thread.join();
        }
    }
}

fn push(folder: &Path, seed: u64, ends: &AtomicBool) {
    let mut random = Random::seeded(seed);
    let order = random.below(4);
    let mut turn = 0;
    while order < 3 && !ends.load(Ordering::Relaxed) {
        let mut files = Vec::new();
        list(folder, &mut files);
        if !files.is_empty() {
            let some = random.below(files.len() as u64) as usize;
            let file = File::open(&files[some]);
            if let Ok((file, metadata)) =
                file.and_then(|file| file.metadata().map(|metadata| (file, metadata)))
            {
                let pieces = metadata.len().div_ceil(PUSHED).max(1);
                let piece = match order {
                    0 => random.below(pieces),
                    1 => turn % pieces,
                    _ => pieces - 1 - turn % pieces,
                };
                turn += 1;
                // SAFETY: the file is open, and the call takes numbers alone.
                unsafe {
                    libc::sync_file_range(
                        file.as_raw_fd(),
                        (piece * PUSHED).cast_signed(),
                        PUSHED.cast_signed(),
                        libc::SYNC_FILE_RANGE_WRITE,
                    );
                }
            }
        }
        thread::sleep(PAUSE);
    }
}

/// The files below a folder, as far as they can be seen.
fn list(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => list(&entry.path(), files),
            Ok(kind) if kind.is_file() => files.push(entry.path()),
            _ => {}
        }
    }
}
