//! The progress of a trial's loading. Its process tells the run by a file that is in memory alone and that both have open:
//! that costs no disk any time.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The interval at which it is told.
const EVERY: Duration = Duration::from_millis(500);
/// The bytes of the file's content: records loaded, records in all, nanoseconds since the first.
const BYTES: usize = 24;

/// The progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loading {
    /// Records, or rows, that are loaded.
    pub done: u64,
    /// All that will be.
    pub all: u64,
    /// The time so far.
    pub took: Duration,
}

impl Loading {
    /// Records a second, so far.
    pub fn rate_per_s(&self) -> f64 {
        self.done as f64 / self.took.as_secs_f64().max(1e-9)
    }

    /// The time that the rest takes at that rate; `None` before the first.
    pub fn left(&self) -> Option<Duration> {
        Duration::try_from_secs_f64(self.all.saturating_sub(self.done) as f64 / self.rate_per_s()).ok()
    }

    fn bytes(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        let numbers = [self.done, self.all, self.took.as_nanos() as u64];
        for (place, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    /// The progress that was told last; `None` where nothing is being loaded.
    pub fn read(file: &File) -> Option<Loading> {
        let mut bytes = [0; BYTES];
        file.read_exact_at(&mut bytes, 0).ok()?;
        let mut numbers =
            bytes.chunks_exact(8).filter_map(|place| place.try_into().ok()).map(u64::from_le_bytes);
        let (done, all, took_ns) = (numbers.next()?, numbers.next()?, numbers.next()?);
        (all > 0).then(|| Loading { done, all, took: Duration::from_nanos(took_ns) })
    }
}

/// A file to tell it by; `None` where the system has none that is in memory alone.
pub fn file() -> Option<File> {
    #[cfg(target_os = "linux")]
    return rustix::fs::memfd_create("loading", rustix::fs::MemfdFlags::CLOEXEC).ok().map(File::from);
    #[cfg(not(target_os = "linux"))]
    return None;
}

/// Where this process tells it, if anywhere.
static TOLD: OnceLock<File> = OnceLock::new();

/// From here on this process, a trial's, tells it by its input, which its run has made for that.
///
/// # Errors
/// When its input can't be used.
pub fn tell_by_input() -> io::Result<()> {
    let input = io::stdin().as_fd().try_clone_to_owned()?;
    // The first one stays.
    let _ = TOLD.set(input.into());
    Ok(())
}

/// Tells it now and then.
#[derive(Debug)]
pub struct Teller {
    all: u64,
    start: Instant,
    due: Duration,
}

impl Teller {
    /// Before the first of so many records.
    pub fn new(all: u64) -> Teller {
        Teller { all, start: Instant::now(), due: EVERY }
    }

    /// So many are loaded.
    pub fn loaded(&mut self, done: u64) {
        let took = self.start.elapsed();
        if took >= self.due {
            self.due = took + EVERY;
            tell(&Loading { done, all: self.all, took });
        }
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        tell(&Loading { done: 0, all: 0, took: Duration::ZERO });
    }
}

/// A run that does not hear it goes on all the same.
fn tell(loading: &Loading) {
    if let Some(file) = TOLD.get() {
        let _ = file.write_all_at(&loading.bytes(), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_last_is_read_and_its_rate_tells_the_rest() {
        let Some(file) = file() else { return };
        assert_eq!(Loading::read(&file), None, "nothing was told");
        let told = Loading { done: 300, all: 1000, took: Duration::from_secs(3) };
        file.write_all_at(&told.bytes(), 0).unwrap();
        assert_eq!(Loading::read(&file), Some(told));
        assert_eq!((told.rate_per_s(), told.left()), (100.0, Some(Duration::from_secs(7))));
        let over = Loading { done: 0, all: 0, took: Duration::ZERO };
        file.write_all_at(&over.bytes(), 0).unwrap();
        assert_eq!(Loading::read(&file), None, "it is over");
    }

    #[test]
    fn nothing_loaded_yet_has_no_end_in_sight() {
        let first = Loading { done: 0, all: 10, took: Duration::from_secs(1) };
        assert_eq!((first.rate_per_s(), first.left()), (0.0, None));
    }
}
