//! The threads of a replay: one that reads the trace, and those that play it, each with a session.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, Mutex, PoisonError};
use std::thread;

use crate::measure::clock::Clock;
use crate::measure::series::Series;
use crate::store::Store;
use crate::workload::driver::Stop;

use super::chunk::Incoming;
use super::feed::{Fed, Feed};
use super::player::{Part, Player};

/// The schedule starts so long after all threads have arrived: until then they have woken up, and the first chunks are there.
const LEAD_NS: f64 = 5_000_000.0;

/// Where the threads wait for one another.
struct Line<'c> {
    clock: &'c Clock,
    barrier: Barrier,
    start: AtomicU64,
}

impl Line<'_> {
    /// Waits for the others; all get the same moment.
    fn cross(&self) -> u64 {
        if self.barrier.wait().is_leader() {
            let start = self.clock.now() + self.clock.ticks(LEAD_NS) as u64;
            self.start.store(start, Ordering::Relaxed);
        }
        self.barrier.wait();
        self.start.load(Ordering::Relaxed)
    }
}

/// Plays the whole trace; says how each thread's time was spent. `timed`: at the trace's times.
///
/// # Errors
/// At the first thing that goes wrong, on any thread.
pub fn play(
    store: &dyn Store,
    feed: Feed<'_>,
    players: &[Mutex<Player<'_>>],
    incoming: Vec<Incoming>,
    series: &Series,
    (clock, timed): (&Clock, bool),
) -> Result<(Fed, Vec<Part>), Stop> {
    let line = Line { clock, barrier: Barrier::new(players.len()), start: AtomicU64::new(0) };
    thread::scope(|scope| {
        let reading = scope.spawn(|| feed.run());
        let threads: Vec<_> = incoming
            .into_iter()
            .zip(players)
            .enumerate()
            .map(|(number, (incoming, player))| {
                let line = &line;
                scope.spawn(move || one(store, number, player, incoming, series, (line, timed)))
            })
            .collect();
        let parts: Vec<_> =
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(panicked()))).collect();
        let fed = reading.join().unwrap_or_else(|_| Err("the thread that reads the trace panicked".into()));
        // A store that failed ends the reading, too: its own error comes first.
        let parts = parts.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok((fed.map_err(Stop::harness)?, parts))
    })
}

fn panicked() -> Stop {
    Stop::harness("a thread panicked")
}

/// What one thread does.
fn one(
    store: &dyn Store,
    number: usize,
    player: &Mutex<Player<'_>>,
    incoming: Incoming,
    series: &Series,
    (line, timed): (&Line<'_>, bool),
) -> Result<Part, Stop> {
    let session = store.session().map_err(|error| Stop::store("opening a session", &error));
    // The others wait for this thread also if it can do nothing.
    let start = line.cross();
    let mut session = session?;
    let mut player = player.lock().unwrap_or_else(PoisonError::into_inner);
    let mut seconds = series.thread(number, player.main_latencies()).map_err(Stop::harness)?;
    let part = player.play(session.as_mut(), &incoming, (start, timed), &mut seconds)?;
    seconds.finish(player.main_latencies()).map_err(Stop::harness)?;
    Ok(part)
}
