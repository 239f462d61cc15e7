//! Work that loading leaves to do, on a thread of the store's own: as long as it lasts, writes and reads are slowed down.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The time for which it lasts after the last record was loaded.
const DURATION: Duration = Duration::from_secs(1);
/// The time that an operation takes longer meanwhile.
const DELAY: Duration = Duration::from_millis(20);

/// The end of the work; none where none was begun.
static END: Mutex<Option<Instant>> = Mutex::new(None);

static SLOWED: AtomicU64 = AtomicU64::new(0);

fn end() -> Option<Instant> {
    *END.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A record was loaded: work begins, or goes on for longer.
pub fn begin() {
    let new_end = Instant::now() + DURATION;
    let before = END.lock().unwrap_or_else(PoisonError::into_inner).replace(new_end);
    if before.is_none() {
        thread::spawn(|| {
            while end().is_some_and(|end| Instant::now() < end) {
                std::hint::spin_loop();
            }
        });
    }
}

/// An operation waits while there is work.
pub fn slow_down() {
    if end().is_some_and(|end| Instant::now() < end) {
        SLOWED.fetch_add(1, Ordering::Relaxed);
        thread::sleep(DELAY);
    }
}

pub fn slowed() -> u64 {
    SLOWED.load(Ordering::Relaxed)
}
