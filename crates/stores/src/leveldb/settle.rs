//! Waits until LevelDB's background compactions have nothing left to do, for which the engine has no call. A compaction is due
//! while level 0 has four files or more, or a later level but the last holds more than its share: 10 MiB for level 1, ten times
//! more for each further one (LevelDB, doc/impl.md).

use std::thread;
use std::time::{Duration, Instant};

use storebench_core::store::{Result, StoreError};

const LEVEL_0_FILES: usize = 4;
const LEVEL_1_BYTES: u64 = 10 << 20;
const LAST_LEVEL: usize = 6;
const PAUSE: Duration = Duration::from_millis(10);
/// Equal looks in a row before the files count as settled: old files are removed after a compaction is noted.
const QUIET_LOOKS: u32 = 3;
/// A compaction writes at most a few dozen MiB before the list of tables changes.
const PATIENCE: Duration = Duration::from_secs(120);

/// `tables` gives the property `leveldb.sstables`. Fails if a compaction is due and nothing happens for two minutes.
pub fn wait_for_compactions(tables: impl Fn() -> Option<String>) -> Result<()> {
    let mut previous = String::new();
    let mut equal_looks = 0;
    let mut last_change = Instant::now();
    loop {
        let Some(listing) = tables() else {
            return Err(StoreError::Engine("LevelDB does not list its tables (leveldb.sstables)".into()));
        };
        if listing == previous {
            equal_looks += 1;
        } else {
            (equal_looks, last_change) = (0, Instant::now());
        }
        if equal_looks >= QUIET_LOOKS && !compaction_is_due(&listing) {
            return Ok(());
        }
        if last_change.elapsed() > PATIENCE {
            return Err(StoreError::Engine("LevelDB's compaction is due and does not happen".into()));
        }
        previous = listing;
        thread::sleep(PAUSE);
    }
}

/// Reads lines such as `--- level 1 ---` and ` 17:2048['a' .. 'd']` (number and bytes of a table).
fn compaction_is_due(tables: &str) -> bool {
    let mut level = 0;
    let (mut files, mut bytes) = ([0_usize; LAST_LEVEL + 1], [0_u64; LAST_LEVEL + 1]);
    for line in tables.lines() {
        if let Some(number) = line.strip_prefix("--- level ").and_then(|rest| rest.strip_suffix(" ---")) {
            level = number.trim().parse().unwrap_or(0).min(LAST_LEVEL);
        } else if let Some(size) = line.split(['[', ':']).nth(1).and_then(|size| size.parse::<u64>().ok()) {
            files[level] += 1;
            bytes[level] += size;
        }
    }
    let shares = std::iter::successors(Some(LEVEL_1_BYTES), |share| share.checked_mul(10));
    files[0] >= LEVEL_0_FILES || bytes[1..LAST_LEVEL].iter().zip(shares).any(|(bytes, share)| *bytes > share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_level_is_due() {
        let table = |level: usize, count: usize, bytes: u64| {
            let lines = (0..count).map(|number| format!(" {number}:{bytes}['a' @ 1 : 1 .. 'b' @ 2 : 1]\n"));
            format!("--- level {level} ---\n{}", lines.collect::<String>())
        };
        assert!(!compaction_is_due(""));
        assert!(!compaction_is_due(&table(0, 3, 4 << 20)));
        assert!(compaction_is_due(&table(0, 4, 1)));
        assert!(!compaction_is_due(&table(1, 5, 2 << 20)));
        assert!(compaction_is_due(&table(1, 6, 2 << 20)));
        assert!(!compaction_is_due(&table(2, 6, 2 << 20)));
        assert!(!compaction_is_due(&table(6, 1, 1 << 62)));
    }
}
