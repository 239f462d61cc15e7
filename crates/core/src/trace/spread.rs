//! Times finer than the trace's. Twitter's traces have whole seconds: played as they are, all operations of a second
//! would be due at once. So the operations of one second are spread evenly over it. Their number comes from a second reader
//! that goes ahead; nothing is held.

use std::path::Path;

use super::entry::Entry;
use super::reader::{Reader, ReaderOptions};

const SECOND_NS: u64 = 1_000_000_000;

/// A trace whose operations each have a separate time.
pub struct Spread {
    /// Its digest can be asked for.
    pub(crate) reader: Reader,
    scout: Option<LookaheadReader>,
    /// The time of the operations at hand, how many there are, and how many of them are past.
    group_ns: u64,
    count: u64,
    position_in_group: u64,
}

/// A reader that goes ahead.
struct LookaheadReader {
    reader: Reader,
    /// The time of the first operation that it has not counted.
    next_ns: Option<u64>,
}

impl LookaheadReader {
    /// The number of operations at the next time.
    fn count(&mut self) -> Result<u64, String> {
        let group_ns = self.next_ns;
        let mut count = 0;
        while self.next_ns == group_ns && group_ns.is_some() {
            count += 1;
            self.next_ns = self.reader.next_entry()?.map(|entry| entry.time_ns);
        }
        Ok(count)
    }
}

impl Spread {
    /// Opens a trace, from its beginning; `whole_seconds` says that its times are no finer.
    pub fn open(path: &Path, options: ReaderOptions, whole_seconds: bool) -> Result<Spread, String> {
        let reader = Reader::open(path, options)?.warmed_up()?;
        let open_scout = || {
            let mut reader = Reader::open(path, options)?.warmed_up()?;
            let next_ns = reader.next_entry()?.map(|entry| entry.time_ns);
            Ok::<_, String>(LookaheadReader { reader, next_ns })
        };
        let scout = whole_seconds.then(open_scout).transpose()?;
        Ok(Spread { reader, scout, group_ns: 0, count: 0, position_in_group: 0 })
    }

    /// The next operation.
    pub fn next_entry(&mut self) -> Result<Option<Entry<'_>>, String> {
        let Spread { reader, scout, group_ns, count, position_in_group } = self;
        let Some(entry) = reader.next_entry()? else { return Ok(None) };
        let Some(scout) = scout else { return Ok(Some(entry)) };
        if position_in_group == count || entry.time_ns != *group_ns {
            (*group_ns, *count, *position_in_group) = (entry.time_ns, scout.count()?, 0);
        }
        let offset_ns =
            (u128::from(SECOND_NS) * u128::from(*position_in_group) / u128::from((*count).max(1))) as u64;
        *position_in_group += 1;
        Ok(Some(Entry { time_ns: entry.time_ns + offset_ns, ..entry }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(text: &str, whole_seconds: bool) -> Vec<u64> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        std::fs::write(&path, text).unwrap();
        let mut spread = Spread::open(&path, ReaderOptions::default(), whole_seconds).unwrap();
        let mut found = Vec::new();
        while let Some(entry) = spread.next_entry().unwrap() {
            found.push(entry.time_ns / 1_000_000);
        }
        found
    }

    #[test]
    fn operations_of_one_second_are_spread_over_it() {
        let text = "7,get,a,\n7,get,b,\n7,get,c,\n7,get,d,\n9,get,a,\n10,get,a,\n10,get,b,\n";
        assert_eq!(times(text, true), [0, 250, 500, 750, 2000, 3000, 3500]);
        assert_eq!(times(text, false), [0, 0, 0, 0, 2000, 3000, 3000]);
    }
}
