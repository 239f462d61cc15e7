//! A load on memory: takes a share of what is available and keeps touching all of it, so that the kernel can't take it back. The kernel
//! kills this process first when memory runs out, and the load frees its memory before that: the machine must lose nothing but the
//! memory.

use std::convert::Infallible;
use std::fs;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::available;
use super::message::LoadStop;
use super::pace::RateLimiter;
use super::reporter::Reporter;
use storebench_model::units::rough_bytes;

/// Each page is touched once in this many seconds: often enough to stay resident, seldom enough to leave the processors alone.
const ROUND_S: f64 = 10.0;
/// How often the load checks whether memory runs short.
const WATCH_PERIOD: Duration = Duration::from_millis(100);
/// The load frees its memory if less than this is left, or less than a quarter of what was left at first.
const LEAST_LEFT_BYTES: u64 = 64 << 20;
/// Taken between two checks of what is left.
const STEP_BYTES: usize = 16 << 20;

/// Takes `percent` of available memory and touches it without end. Progress is the number of pages touched.
pub fn run(percent: u32, reporter: &Arc<Reporter>) -> Result<Infallible, LoadStop> {
    fs::write("/proc/self/oom_score_adj", "1000")
        .map_err(LoadStop::failed("asking to be the first to go when memory runs out"))?;
    let available = available::bytes().ok_or_else(|| LoadStop::Unsupported(available::UNKNOWN.into()))?;
    let share = available / 100 * u64::from(percent);
    let watch =
        Watch { least_left_bytes: LEAST_LEFT_BYTES.min((available - share) / 4), last_check: Instant::now() };
    let mut memory = take(share as usize, &watch, reporter)?;
    let description = format!(
        "held {}, {percent} % of the memory available, and touched each page every {ROUND_S} s",
        rough_bytes(share as f64)
    );
    reporter.send_ready(description, "pages", 1.0).map_err(LoadStop::failed("telling the parent"))?;
    touch(&mut memory, watch, reporter)
}

/// Takes memory and fills it with bytes that can't be compressed, no two pages alike.
fn take(bytes: usize, watch: &Watch, reporter: &Reporter) -> Result<Vec<u8>, LoadStop> {
    let mut page = vec![0; rustix::param::page_size()];
    Xoshiro256PlusPlus::seed_from_u64(1).fill_bytes(&mut page);
    let mut memory = Vec::new();
    memory.try_reserve_exact(bytes).map_err(LoadStop::failed("taking memory"))?;
    for number in 0..bytes / page.len() {
        page[..8].copy_from_slice(&number.to_le_bytes());
        memory.extend_from_slice(&page);
        if memory.len() % STEP_BYTES < page.len() {
            watch.check()?;
            reporter.add(1);
        }
    }
    Ok(memory)
}

fn touch(memory: &mut [u8], mut watch: Watch, reporter: &Reporter) -> Result<Infallible, LoadStop> {
    let page = rustix::param::page_size();
    let pages_per_s = (memory.len() / page) as f64 / ROUND_S;
    // A hundredth of a second's work at a time.
    let slice = ((pages_per_s / 100.0) as usize).max(1) * page;
    let mut pace = RateLimiter::new(pages_per_s.max(1.0));
    loop {
        for slice in memory.chunks_mut(slice) {
            let pages = slice.len().div_ceil(page);
            pace.wait(pages as f64);
            slice.iter_mut().skip(8).step_by(page).for_each(|byte| *byte = byte.wrapping_add(1));
            black_box(&*slice);
            reporter.add(pages as u64);
            watch.check_memory()?;
        }
    }
}

struct Watch {
    least_left_bytes: u64,
    last_check: Instant,
}

impl Watch {
    fn check_memory(&mut self) -> Result<(), LoadStop> {
        if self.last_check.elapsed() < WATCH_PERIOD {
            return Ok(());
        }
        self.last_check = Instant::now();
        self.check()
    }

    fn check(&self) -> Result<(), LoadStop> {
        match available::bytes() {
            Some(left_bytes) if left_bytes < self.least_left_bytes => Err(LoadStop::Failed(format!(
                "memory ran short ({} left), so that it was let go",
                rough_bytes(left_bytes as f64)
            ))),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch(least_left_bytes: u64) -> Watch {
        Watch { least_left_bytes, last_check: Instant::now() }
    }

    #[test]
    fn what_is_taken_is_full_of_pages_that_differ_and_let_go_when_memory_runs_short() {
        let reporter = Reporter::new(Box::new(std::io::sink()));
        let memory = take(40 << 20, &watch(0), &reporter).unwrap();
        assert_eq!(memory.len(), 40 << 20);
        let pages: std::collections::HashSet<&[u8]> = memory.chunks(rustix::param::page_size()).collect();
        assert_eq!(pages.len(), memory.len() / rustix::param::page_size());
        let stop = take(STEP_BYTES + (1 << 20), &watch(u64::MAX), &reporter).unwrap_err();
        assert!(matches!(&stop, LoadStop::Failed(why) if why.contains("memory ran short")), "{stop:?}");
        let mut memory = vec![0; 1 << 20];
        let stop = touch(&mut memory, watch(u64::MAX), &reporter).unwrap_err();
        assert!(matches!(&stop, LoadStop::Failed(why) if why.contains("memory ran short")), "{stop:?}");
    }
}
