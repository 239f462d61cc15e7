//! The states that are looked at: drawn from a seed, no two alike.

use std::collections::HashSet;

use storebench_disk::cut::{Cut, Log, Piece};
use storebench_disk::random::Random;

use crate::result::Control;
use crate::workload::cut::Mark;

/// Draws in vain, one after the other, after which there are no other states.
const IN_VAIN: u32 = 200;

/// A state that is to be looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawn {
    /// Its number among all that were drawn.
    pub number: u64,
    /// The control that it is of, if it is of one.
    pub of: Option<Control>,
    /// The state.
    pub cut: Cut,
    /// Steps that were acknowledged before the cut.
    pub acknowledged: u64,
    /// Steps that were begun before it.
    pub begun: u64,
}

/// The source of states.
pub struct Draw<'h> {
    log: &'h Log,
    marks: &'h [Mark],
    whole: u64,
    random: Random,
    number: u64,
    flushes: Vec<usize>,
    seen: HashSet<(usize, Vec<Piece>)>,
}

impl<'h> Draw<'h> {
    /// From a history, on a disk that writes so many bytes as a whole.
    pub fn new(log: &'h Log, marks: &'h [Mark], whole: u64, seed: u64) -> Draw<'h> {
        let end = marks.last().map_or(0, |mark| mark.after as usize);
        let flushes = log.flushes().filter(|flush| *flush < end).collect();
        Draw { log, marks, whole, random: Random::seeded(seed), number: 0, flushes, seen: HashSet::new() }
    }

    /// A moment: half of them any, a quarter just before a flush, a quarter just after an acknowledgement.
    fn moment(&mut self) -> usize {
        let end = self.marks.last().map_or(0, |mark| mark.after);
        let any = |random: &mut Random, count: usize| random.below(count.max(1) as u64) as usize;
        match self.random.below(4) {
            0 if !self.flushes.is_empty() => self.flushes[any(&mut self.random, self.flushes.len())],
            1 if !self.marks.is_empty() => self.marks[any(&mut self.random, self.marks.len())].after as usize,
            _ => self.random.below(end + 1) as usize,
        }
    }

    fn drawn(&mut self, of: Option<Control>, cut: Cut) -> Drawn {
        let number = self.number;
        self.number += 1;
        let at = cut.at as u64;
        let acknowledged = self.marks.partition_point(|mark| mark.after <= at) as u64;
        let begun = self.marks.partition_point(|mark| mark.before < at) as u64;
        Drawn { number, of, cut, acknowledged, begun: begun.max(acknowledged) }
    }

    /// So many states that could be, if there are as many.
    pub fn states(&mut self, count: u64) -> Vec<Drawn> {
        let (mut states, mut in_vain) = (Vec::new(), 0);
        while (states.len() as u64) < count && in_vain < IN_VAIN {
            let at = self.moment();
            let cut = self.log.draw(at, self.log.since_flush(at).start, self.whole, &mut self.random);
            match self.seen.insert(self.log.identity(&cut, self.whole)) {
                true => {
                    states.push(self.drawn(None, cut));
                    in_vain = 0;
                }
                false => in_vain += 1,
            }
        }
        states
    }

    /// So many states of each control. A disk that does what it says can't be left in any of them: whoever looks must see that
    /// something is wrong in most.
    pub fn controls(&mut self, count: u64) -> Vec<Drawn> {
        let begin = self.marks.first().map_or(0, |mark| mark.before as usize);
        let mut all = Vec::new();
        for of in Control::ALL {
            for _ in 0..count {
                // Just after an acknowledgement, so that something was promised.
                let mark = self.random.below(self.marks.len().max(1) as u64) as usize;
                let Some(after) = self.marks.get(mark).map(|mark| mark.after as usize) else { continue };
                let last = self.flushes.partition_point(|flush| *flush < after);
                let since = match of {
                    Control::NoFlush => begin,
                    _ => match last.checked_sub(2) {
                        Some(before) => self.flushes[before] + 1,
                        None => begin,
                    },
                };
                let cut = self.log.draw(after, since.max(begin).min(after), self.whole, &mut self.random);
                if !cut.lost.is_empty() {
                    all.push(self.drawn(Some(of), cut));
                }
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use storebench_disk::log::Entry;
    use storebench_disk::request::Request;

    use super::*;

    /// Ten steps of two writes and a flush each.
    fn history() -> (Log, Vec<Mark>) {
        let entry = |request: Request| Entry { request, arrived: 0, data: vec![1; request.bytes as usize] };
        let entries = (0..10_u64).flat_map(|step| {
            let write = |at: u64| entry(Request::write((step * 2 + at) * 4096, 4096));
            [write(0), write(1), entry(Request::flush())]
        });
        let marks = (0..10).map(|step| Mark { before: step * 3, after: step * 3 + 3, at_ns: step });
        (Log::of(entries.map(Ok)).unwrap(), marks.collect())
    }

    #[test]
    fn states_differ_and_know_what_was_acknowledged() {
        let (log, marks) = history();
        let states = Draw::new(&log, &marks, 4096, 7).states(1_000);
        // Of each step none, one or both writes, and all at the end.
        assert_eq!(states.len(), 41);
        for state in &states {
            assert_eq!(state.acknowledged, state.cut.at as u64 / 3, "{state:?}");
            assert_eq!(state.begun, (state.cut.at as u64).div_ceil(3), "{state:?}");
        }
        assert_eq!(states, Draw::new(&log, &marks, 4096, 7).states(1_000));
    }

    #[test]
    fn controls_lose_what_was_flushed() {
        let (log, marks) = history();
        let controls = Draw::new(&log, &marks, 4096, 7).controls(20);
        for of in Control::ALL {
            let of_it: Vec<&Drawn> = controls.iter().filter(|drawn| drawn.of == Some(of)).collect();
            assert!(of_it.len() > 10, "{of:?}");
            let flushed = |drawn: &&Drawn| {
                let last = log.flushes().filter(|flush| *flush < drawn.cut.at).last().unwrap();
                drawn.cut.lost.iter().any(|piece| piece.entry < last)
            };
            assert!(of_it.iter().all(|drawn| flushed(drawn) && drawn.acknowledged > 0), "{of:?}");
        }
    }
}
