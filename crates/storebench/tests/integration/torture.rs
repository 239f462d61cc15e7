//! Kills, races, injected errors, mutated input: a few tries of each in every test run, in about a minute; many more by `make torture`.

pub mod disk;
mod fuzz;
mod images;
mod kills;
mod mutations;
mod races;
mod storm;

use std::env;
use std::io::Write;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::tier;

/// The seconds that the storm is to last.
const STORM: &str = "STOREBENCH_STORM";
/// The seed of its first round; by default another one in each storm.
const STORM_FROM: &str = "STOREBENCH_STORM_FROM";
/// The factor by which more tries are made: 1 by default.
const TORTURE: &str = "STOREBENCH_TORTURE";
/// The seed of the one try that is to be made again.
const SEED: &str = "STOREBENCH_TORTURE_SEED";

/// The tries that one waits for.
const MOST_TRIES: u32 = 20;

/// Tries something `few` times, or many times that on request. Each try has separate random numbers: the same ones in
/// every test run, others on request. One that fails says how to make it again.
pub fn tries(few: u32, mut attempt: impl FnMut(&mut fastrand::Rng)) {
    let few = if tier::is_whole() { few } else { few.min(MOST_TRIES) };
    if let Some(seed) = number(SEED) {
        return attempt(&mut fastrand::Rng::with_seed(seed));
    }
    let (times, first) = match number(TORTURE) {
        None => (1, 1),
        // No two calls of `make torture` are alike.
        Some(times) => (times, SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros() as u64),
    };
    for seed in first..first + u64::from(few) * times {
        let _note = SeedNote(seed);
        attempt(&mut fastrand::Rng::with_seed(seed));
    }
}

/// The same for as many seconds as are asked for, if any are.
pub fn tries_for_a_while(few: u32, mut attempt: impl FnMut(&mut fastrand::Rng)) {
    let Some(seconds) = number(STORM).filter(|_| number(SEED).is_none()) else { return tries(few, attempt) };
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros() as u64;
    let (start, first) = (Instant::now(), number(STORM_FROM).unwrap_or_else(now));
    let mut seed = first;
    while start.elapsed() < Duration::from_secs(seconds) {
        let _note = SeedNote(seed);
        attempt(&mut fastrand::Rng::with_seed(seed));
        seed += 1;
    }
    let _ = writeln!(std::io::stderr(), "{} rounds in {seconds} s, from seed {first}", seed - first);
}

/// Whether a storm is asked for, during which there are no other tests.
pub fn storm_is_asked_for() -> bool {
    number(STORM).is_some()
}

#[track_caller]
fn number(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is {text:?}: a whole number was expected")))
}

struct SeedNote(u64);

impl Drop for SeedNote {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let note = format!("to make this try again: {SEED}={} cargo test ... NAME OF THE TEST", self.0);
            let _ = writeln!(std::io::stderr(), "{note}");
        }
    }
}
