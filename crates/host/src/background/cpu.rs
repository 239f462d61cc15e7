//! A load that spins: threads that compute without end and without touching memory, pinned to no processor.

use std::convert::Infallible;
use std::hint::black_box;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::message::LoadStop;
use super::reporter::Reporter;

/// Spins on `threads` threads. Progress is their processor time.
pub fn run(threads: u32, reporter: &Arc<Reporter>) -> Result<Infallible, LoadStop> {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let description = format!("spun with {threads} threads, pinned to none of {processors} processors");
    reporter.send_ready(description, "CPU seconds", 1e9).map_err(LoadStop::failed("telling the parent"))?;
    for _ in 0..threads {
        let reporter = Arc::clone(reporter);
        let spin = move || spin(&reporter);
        let spinning = thread::Builder::new().name("spin".into()).spawn(spin);
        spinning.map_err(LoadStop::failed("starting a thread"))?;
    }
    loop {
        thread::sleep(Duration::MAX);
    }
}

fn spin(reporter: &Reporter) {
    let (mut state, mut counted) = (1_u64, 0);
    loop {
        for _ in 0..500_000 {
            state = black_box(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        }
        let now = own_cpu_ns();
        reporter.add(now - counted);
        counted = now;
    }
}

fn own_cpu_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
