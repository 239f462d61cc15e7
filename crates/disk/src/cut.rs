//! States in which a power cut can leave a disk, by its log: all that was written before the last flush, and some of what came
//! after. A disk may write in any order what it has not flushed.

use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::io;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::log::{Entry, Reader, Writer};
use crate::random::Random;
use crate::request::{Kind, Request};

/// The bytes that most disks write as a whole.
pub const BLOCK: u64 = 4096;
/// The bytes that a disk writes as a whole which tears blocks.
pub const SECTOR: u64 = 512;

/// A part of a write that a disk writes as a whole, or not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Piece {
    /// The write's number in the log.
    pub entry: usize,
    /// The first of its bytes, counted from the write's own beginning, and their number.
    pub from: u64,
    /// The number of bytes.
    pub bytes: u64,
}

/// A state: the log up to a moment, without some pieces.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Cut {
    /// The entries of the log that came before it.
    pub at: usize,
    /// The pieces that were not written.
    pub lost: BTreeSet<Piece>,
}

/// The log of a disk up to now.
#[derive(Debug)]
pub struct Log {
    /// Its entries, in order of arrival.
    pub entries: Vec<Entry>,
}

impl Log {
    /// The first `count` entries of a log, whose end may be missing.
    pub fn first(count: usize, log: impl io::Read) -> io::Result<Log> {
        Ok(Log { entries: Reader::open(log)?.take(count).collect::<io::Result<_>>()? })
    }

    /// The flushes in it, by number.
    pub fn flushes(&self) -> impl Iterator<Item = usize> {
        (0..self.entries.len()).filter(|index| self.entries[*index].request.kind == Kind::Flush)
    }

    /// The entries after the last flush before a moment.
    pub fn since_flush(&self, moment: usize) -> Range<usize> {
        let flush = self.entries[..moment].iter().rposition(|entry| entry.request.kind == Kind::Flush);
        flush.map_or(0, |flush| flush + 1)..moment
    }

    /// The pieces that a cut at a moment can lose, each within `whole_bytes` bytes of the disk that are written as a whole.
    pub fn open(&self, moment: usize, whole_bytes: u64) -> Vec<Piece> {
        self.pieces(self.since_flush(moment), whole_bytes)
    }

    fn pieces(&self, entries: Range<usize>, whole_bytes: u64) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for entry in entries {
            let request = &self.entries[entry].request;
            match request.kind {
                Kind::Write => {
                    let mut from = 0;
                    while from < request.bytes {
                        let bytes =
                            (whole_bytes - (request.at + from) % whole_bytes).min(request.bytes - from);
                        pieces.push(Piece { entry, from, bytes });
                        from += bytes;
                    }
                }
                Kind::Discard => pieces.push(Piece { entry, from: 0, bytes: request.bytes }),
                Kind::Read | Kind::Flush => {}
            }
        }
        pieces
    }

    /// One of the states in which a cut at a moment can leave a disk that may have written anything since an entry in any order.
    pub fn draw(&self, moment: usize, first: usize, whole_bytes: u64, random: &mut Random) -> Cut {
        let pieces = self.pieces(first..moment, whole_bytes);
        let lost = match (pieces.len() as u64, random.below(6)) {
            (0, _) => BTreeSet::new(),
            // In order up to one of them.
            (count, 0 | 1) => pieces[random.below(count + 1) as usize..].iter().copied().collect(),
            // Any of them.
            (_, 2 | 3) => pieces.into_iter().filter(|_| random.below(2) == 0).collect(),
            // All but one are there.
            (count, 4) => BTreeSet::from([pieces[random.below(count) as usize]]),
            // None of those is there that lie on one side of a place of the disk.
            (count, _) => {
                let position = self.position_of(&pieces[random.below(count) as usize]);
                let is_below = random.below(2) == 0;
                pieces.into_iter().filter(|piece| (self.position_of(piece) < position) == is_below).collect()
            }
        };
        Cut { at: moment, lost }
    }

    /// The first byte of a piece on the disk.
    pub fn position_of(&self, piece: &Piece) -> u64 {
        self.entries[piece.entry].request.at + piece.from
    }

    /// What makes states the same, however they were reached: the flush before, and the written pieces after it.
    pub fn identity(&self, cut: &Cut, whole_bytes: u64) -> (usize, Vec<Piece>) {
        let kept = self.open(cut.at, whole_bytes).into_iter().filter(|piece| !cut.lost.contains(piece));
        (self.since_flush(cut.at).start, kept.collect())
    }

    /// A state's writes as a log that ends with a flush, so that none can be lost.
    pub fn settled_log(&self, cut: &Cut) -> Log {
        let mut entries = Vec::new();
        let add_entry = |offset: u64, bytes: u64, data: Option<&[u8]>| {
            let request =
                if data.is_some() { Request::write(offset, bytes) } else { Request::discard(offset, bytes) };
            entries.push(Entry { request, arrived: 0, data: data.map(Vec::from).unwrap_or_default() });
            Ok(())
        };
        let _ = self.replay(cut, add_entry);
        entries.push(Entry { request: Request::flush(), arrived: 0, data: Vec::new() });
        Log { entries }
    }

    /// This one, and then another.
    #[must_use]
    pub fn followed_by(mut self, other: Log) -> Log {
        self.entries.extend(other.entries);
        self
    }

    /// Writes its entries as a log.
    pub fn write(&self, out: Box<dyn io::Write + Send>) -> io::Result<()> {
        let mut writer = Writer::new(out)?;
        for Entry { request, arrived, data } in &self.entries {
            writer.append(request, *arrived, data)?;
        }
        writer.flush()
    }

    /// Reports a state's writes in order: place on the disk and bytes; `None` for discards.
    pub fn replay(
        &self,
        cut: &Cut,
        write: impl FnMut(u64, u64, Option<&[u8]>) -> io::Result<()>,
    ) -> io::Result<()> {
        Log::replay_each(self.entries.iter().map(Ok), cut, write)
    }

    /// Replays entries that are read one after the other.
    pub fn replay_each<E: Borrow<Entry>>(
        entries: impl Iterator<Item = io::Result<E>>,
        cut: &Cut,
        mut write: impl FnMut(u64, u64, Option<&[u8]>) -> io::Result<()>,
    ) -> io::Result<()> {
        for (number, entry) in entries.take(cut.at).enumerate() {
            let entry = entry?;
            let Entry { request, data, .. } = entry.borrow();
            let data = match request.kind {
                Kind::Read | Kind::Flush => continue,
                Kind::Discard => None,
                Kind::Write => Some(data.as_slice()),
            };
            let start = Piece { entry: number, from: 0, bytes: 0 };
            let lost = cut.lost.range(start..Piece { entry: number + 1, ..start });
            let mut from = 0;
            for piece in lost.copied().chain([Piece { from: request.bytes, ..start }]) {
                if piece.from > from {
                    let kept_data = data.and_then(|data| data.get(from as usize..piece.from as usize));
                    write(request.at.saturating_add(from), piece.from - from, kept_data)?;
                }
                from = piece.from.saturating_add(piece.bytes);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(offset: u64, bytes: u64, byte: u8) -> Entry {
        Entry { request: Request::write(offset, bytes), arrived: 0, data: vec![byte; bytes as usize] }
    }

    fn empty_entry(request: Request) -> Entry {
        Entry { request, arrived: 0, data: Vec::new() }
    }

    fn log() -> Log {
        let entries = [
            write(0, 8192, 1),
            empty_entry(Request::flush()),
            write(2048, 8192, 2),
            empty_entry(Request::read(0, 4096)),
            empty_entry(Request::discard(0, 512)),
            write(8192, 4096, 3),
        ];
        Log { entries: entries.into() }
    }

    fn image(log: &Log, cut: &Cut) -> Vec<u8> {
        let mut image = vec![0; 16 << 10];
        let write = |offset: u64, bytes: u64, data: Option<&[u8]>| {
            let target = &mut image[offset as usize..(offset + bytes) as usize];
            match data {
                Some(data) => target.copy_from_slice(data),
                None => target.fill(0),
            }
            Ok(())
        };
        log.replay(cut, write).unwrap();
        image
    }

    /// An image that is full of some bytes, each up to an end.
    fn image_of(parts: &[(u8, usize)]) -> Vec<u8> {
        let mut image = Vec::new();
        parts.iter().for_each(|(byte, end)| image.resize(*end, *byte));
        image
    }

    #[test]
    fn a_cut_can_lose_what_came_after_the_flush_in_whole_blocks_of_the_disk() {
        let log = log();
        let pieces = [(2, 0, 2048), (2, 2048, 4096), (2, 6144, 2048), (4, 0, 512), (5, 0, 4096)];
        let pieces = pieces.map(|(entry, from, bytes)| Piece { entry, from, bytes });
        assert_eq!(log.open(6, BLOCK), pieces);
        assert_eq!(log.open(2, BLOCK), [], "just after a flush nothing can be lost");
        assert_eq!(log.open(1, BLOCK).len(), 2);
        assert_eq!(log.open(3, SECTOR).len(), 16);
        assert_eq!(log.flushes().collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn a_state_has_all_but_what_is_lost() {
        let log = log();
        let full_image = image(&log, &Cut { at: 6, lost: BTreeSet::new() });
        assert!(full_image == image_of(&[(0, 512), (1, 2048), (2, 8192), (3, 12_288), (0, 16_384)]));
        let lost = BTreeSet::from([
            Piece { entry: 2, from: 2048, bytes: 4096 },
            Piece { entry: 4, from: 0, bytes: 512 },
        ]);
        let cut_image = image(&log, &Cut { at: 6, lost });
        assert!(cut_image == image_of(&[(1, 2048), (2, 4096), (1, 8192), (3, 12_288), (0, 16_384)]));
        let early = image(&log, &Cut { at: 1, lost: BTreeSet::new() });
        assert!(early == image_of(&[(1, 8192), (0, 16_384)]));
    }

    #[test]
    fn a_state_that_is_settled_loses_nothing_of_what_it_has() {
        let log = log();
        let cut = Cut { at: 5, lost: BTreeSet::from([Piece { entry: 2, from: 2048, bytes: 4096 }]) };
        let later_log = Log { entries: vec![write(0, 4096, 7)] };
        let settled = log.settled_log(&cut);
        let count = settled.entries.len();
        assert_eq!(image(&settled, &Cut { at: count, lost: BTreeSet::new() }), image(&log, &cut));
        assert_eq!(settled.open(count, BLOCK), []);
        let joined_log = settled.followed_by(later_log);
        assert_eq!(joined_log.open(count + 1, BLOCK), [Piece { entry: count, from: 0, bytes: 4096 }]);
    }

    #[test]
    fn states_are_drawn_from_a_seed_and_reach_all_that_can_be() {
        let log = log();
        let mut random = Random::seeded(4);
        let drawn: Vec<Cut> = (0..2_000).map(|_| log.draw(6, 2, BLOCK, &mut random)).collect();
        let open: BTreeSet<Piece> = log.open(6, BLOCK).into_iter().collect();
        assert!(drawn.iter().all(|cut| cut.at == 6 && cut.lost.is_subset(&open)));
        let distinct: BTreeSet<_> = drawn.iter().map(|cut| log.identity(cut, BLOCK)).collect();
        assert_eq!(distinct.len(), 1 << open.len(), "each subset of five pieces");
        let mut same_random = Random::seeded(4);
        assert!(drawn.iter().all(|cut| *cut == log.draw(6, 2, BLOCK, &mut same_random)));
        assert!(log.draw(2, 2, BLOCK, &mut random).lost.is_empty());
    }
}
