//! Does storebench show what an engine can do? The same work through storebench's timed loop and through a minimal loop over each
//! engine's interface (C, C++, or the system's files), in pairs, and the ratio of operations per second.
//!
//! - Both have the same keys and values in the same order and the same settings: the cheapest guarantee, and caches larger than
//!   the data, so that nothing hides what storebench itself costs.
//! - Both prepare the keys and values of up to 128 operations before a clock starts. storebench then times each call, as in every
//!   trial: operations over the sum of latencies. In every other turn the other side does so, too; the first ratio holds the
//!   adapter and the call through a trait object. In the others it reads the clock once before 128 calls and once after; the
//!   second ratio holds what reading the clock costs, and hides: calls overlap if no clock is read between them, and the
//!   time-stamp counter does not wait for memory that a call's last instructions still read.
//! - The third ratio is of wall time around the loop: choosing, preparing, and on storebench's side checking values and recording
//!   latencies. It says how much longer a trial takes; no figure is made of it.
//! - A pair is two fresh stores, loaded alike, which take turns of 640 operations, in alternating order. A side's time is the
//!   median of its turns, so that short disturbances do not count; what is shown is the geometric mean of the pairs' ratios, with
//!   its 95 % interval.
//! - A value that is read ends in the application's buffer, by the fewest copies that the interface allows.
//! - The counting of syncs, which intercepts the C library's `write` and `fsync`, is in both (1 to 2 ns a call: benchmark
//!   `syncs`).
//!
//! Arguments: names of stores, else all. `STOREBENCH_BENCH_DIRECTORY` names the folder for the files, else the system's temporary
//! one; `STOREBENCH_BENCH_PAIRS` the number of pairs.

#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark prints, and may give up"
)]

#[cfg(rocksdb_linked)]
mod db_bench;
mod direct;
mod pair;
mod shown;

use std::env;
use std::path::PathBuf;

use storebench_core::measure::clock::Clock;
use storebench_model::store::{Guarantee, StoreDef};
use storebench_model::units::SizeRange;
use storebench_stores::STORES;

use crate::direct::Engine;
use crate::pair::Measured;

const RECORDS: u64 = 10_000;
const SIZES: [u64; 2] = [100, 1024];
/// Several times the data.
const CACHE_BYTES: u64 = 64 << 20;
const PAIRS: usize = 15;

struct Bench {
    clock: Clock,
    folder: PathBuf,
    pairs: usize,
}

/// A store, and what drives its engine without storebench.
struct Contest {
    store: &'static str,
    measure: fn(&Bench, &StoreDef, SizeRange) -> Measured,
}

const fn contest<D: Engine>(store: &'static str) -> Contest {
    Contest { store, measure: pair::measure::<D> }
}

const CONTESTS: &[Contest] = &[
    #[cfg(feature = "sqlite")]
    contest::<direct::sqlite::Sqlite>("sqlite"),
    #[cfg(feature = "leveldb")]
    contest::<direct::leveldb::LevelDb>("leveldb"),
    #[cfg(rocksdb_linked)]
    contest::<direct::rocksdb::RocksDb>("rocksdb"),
    #[cfg(feature = "berkeleydb")]
    contest::<direct::berkeleydb::BerkeleyDb>("berkeleydb"),
    #[cfg(feature = "lmdb")]
    contest::<direct::lmdb::Lmdb>("lmdb"),
    #[cfg(feature = "libmdbx")]
    contest::<direct::libmdbx::Libmdbx>("libmdbx"),
    #[cfg(feature = "unqlite")]
    contest::<direct::unqlite::UnQLite>("unqlite"),
    #[cfg(feature = "redb")]
    contest::<direct::redb::Redb>("redb"),
    #[cfg(feature = "fjall")]
    contest::<direct::fjall::Fjall>("fjall"),
    #[cfg(feature = "sled")]
    contest::<direct::sled::Sled>("sled"),
    contest::<direct::folder::Folder>("flat-folder"),
];

fn main() {
    // Cargo itself hands over `--bench`.
    let chosen: Vec<String> = env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_known = |name: &String| CONTESTS.iter().any(|contest| contest.store == name);
    if let Some(unknown) = chosen.iter().find(|name| !is_known(name)) {
        let names: Vec<&str> = CONTESTS.iter().map(|contest| contest.store).collect();
        panic!("there is no direct loop for {unknown}; there are: {}", names.join(", "));
    }
    let pairs = env::var("STOREBENCH_BENCH_PAIRS").ok();
    let pairs = pairs.map(|text| text.parse().expect("STOREBENCH_BENCH_PAIRS is a whole number"));
    let folder = env::var_os("STOREBENCH_BENCH_DIRECTORY").map_or_else(env::temp_dir, PathBuf::from);
    let bench = Bench { clock: Clock::new(), folder, pairs: pairs.unwrap_or(PAIRS) };
    shown::heading(&bench);
    for contest in
        CONTESTS.iter().filter(|contest| chosen.is_empty() || chosen.iter().any(|n| n == contest.store))
    {
        let store = STORES.iter().find(|store| store.name == contest.store).expect("the table has it");
        for bytes in SIZES {
            let size = SizeRange { from: bytes, to: bytes + 1 };
            shown::rows(store.name, bytes, &(contest.measure)(&bench, store, size));
            #[cfg(rocksdb_linked)]
            if store.name == "rocksdb" {
                db_bench::compare(&bench, store, size);
            }
        }
    }
    shown::footing();
}

/// A store's weakest tier, which is the cheapest.
fn cheapest(store: &StoreDef) -> Guarantee {
    store.offers.iter().map(|offer| offer.guarantee).min().expect("every store offers one")
}
