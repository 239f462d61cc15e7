//! Draws the states to check: from a seed, no two alike.

use std::collections::HashSet;
use std::ops::Range;

use storebench_disk::cut::{Cut, Log, Piece};
use storebench_disk::random::Random;

use super::history::History;
use storebench_model::result::{Control, Phase};

/// The draws without a new state after which there is none left.
const IN_VAIN: u32 = 200;

/// Draws of a control for each of its states.
const TRIES: u64 = 10;

/// A state to check.
#[derive(Debug, Clone, PartialEq)]
pub struct DrawnState {
    pub number: u64,
    pub phase: Phase,
    pub cut: Cut,
    /// Steps of each session that were acknowledged before the cut.
    pub acknowledged: Vec<u64>,
    /// Steps of each session that were begun before the cut.
    pub begun: Vec<u64>,
}

pub struct StateSource<'h> {
    history: &'h History,
    whole_bytes: u64,
    random: Random,
    number: u64,
    flushes: Vec<usize>,
    acknowledgements: Vec<usize>,
    seen: HashSet<(usize, Vec<Piece>)>,
}

impl<'h> StateSource<'h> {
    /// States of a history, on a disk that writes `whole_bytes` bytes at once.
    pub fn new(history: &'h History, whole_bytes: u64, seed: u64) -> StateSource<'h> {
        let random = Random::seeded(seed);
        let (flushes, acknowledgements) = (history.log.flushes().collect(), history.acknowledgements());
        let seen = HashSet::new();
        StateSource { history, whole_bytes, random, number: 0, flushes, acknowledgements, seen }
    }

    /// A moment within a range: half of them any, a quarter just before a flush, a quarter just after an acknowledgement.
    fn draw_moment(&mut self, range: &Range<usize>) -> usize {
        let marks = match self.random.below(4) {
            0 => &self.flushes[..],
            1 => &self.acknowledgements[..],
            _ => &[],
        };
        let first = marks.partition_point(|mark| *mark < range.start);
        let last = marks.partition_point(|mark| *mark < range.end);
        match (last - first) as u64 {
            0 => range.start + self.random.below(range.len() as u64) as usize,
            count => marks[first + self.random.below(count) as usize],
        }
    }

    fn next_number(&mut self) -> u64 {
        self.number += 1;
        self.number - 1
    }

    /// Up to `count` states: a tenth while the store is created, a fifth while it settles; or all of them while it settles.
    pub fn draw_states(&mut self, count: u64, settling_alone: bool) -> Vec<DrawnState> {
        let history = self.history;
        let settling = history.phase_ranges(Phase::Settling);
        let times = settling.len().max(1) as u64;
        if settling_alone {
            let mut states = self.draw_in(&settling, &[], count.div_ceil(times));
            states.truncate(count as usize);
            return states;
        }
        let mut states = self.draw_in(&history.phase_ranges(Phase::Creating), &[], count / 10);
        states.extend(self.draw_in(&settling, &[], (count / 5).div_ceil(times)));
        let wanted = count.saturating_sub(states.len() as u64);
        states.extend(self.draw_in(&history.phase_ranges(Phase::Writing), &settling, wanted));
        states
    }

    /// Up to `count` states within some parts and outside others.
    fn draw_in(&mut self, ranges: &[Range<usize>], skipped: &[Range<usize>], count: u64) -> Vec<DrawnState> {
        let mut states = Vec::new();
        for range in ranges {
            let cuts = self.draw_cuts(&self.history.log, range, skipped, count);
            states.extend(cuts.into_iter().map(|cut| {
                let number = self.next_number();
                self.history.draw_state(number, cut)
            }));
        }
        states
    }

    /// Cuts of a log at moments within some ranges and outside others.
    fn draw_cuts(
        &mut self,
        log: &Log,
        range: &Range<usize>,
        skipped: &[Range<usize>],
        count: u64,
    ) -> Vec<Cut> {
        let (mut cuts, mut in_vain) = (Vec::new(), 0);
        while (cuts.len() as u64) < count && in_vain < IN_VAIN && !range.is_empty() {
            let moment = self.draw_moment(range);
            in_vain += 1;
            if skipped.iter().any(|skip| skip.contains(&moment)) {
                continue;
            }
            let cut = log.draw(moment, log.since_flush(moment).start, self.whole_bytes, &mut self.random);
            if self.seen.insert(log.identity(&cut, self.whole_bytes)) {
                cuts.push(cut);
                in_vain = 0;
            }
        }
        cuts
    }

    /// Up to `count` states in which a cut can leave the recovery from another state; the recovery's log begins after some entries.
    pub fn draw_recovering(
        &mut self,
        state: &DrawnState,
        log: &Log,
        recovery_start: usize,
        count: u64,
    ) -> Vec<DrawnState> {
        let mut source = StateSource {
            history: self.history,
            whole_bytes: self.whole_bytes,
            random: Random::seeded(self.random.below(u64::MAX)),
            number: 0,
            flushes: log.flushes().collect(),
            acknowledgements: Vec::new(),
            seen: HashSet::new(),
        };
        let cuts = source.draw_cuts(log, &(recovery_start + 1..log.entries.len() + 1), &[], count);
        let phase = Phase::Recovering;
        let as_state = |cut| DrawnState { number: self.next_number(), phase, cut, ..state.clone() };
        cuts.into_iter().map(as_state).collect()
    }

    /// Up to `count` states of a control: a check must find a fault in most of them.
    pub fn draw_controls(&mut self, control: Control, count: u64) -> Vec<DrawnState> {
        // If no request was under way, nothing can be lost.
        let is_faulty =
            |drawn: &DrawnState| control == Control::EarlyAcknowledgement || !drawn.cut.lost.is_empty();
        let tries = 0..count * TRIES;
        tries.filter_map(|_| self.draw_control(control)).filter(is_faulty).take(count as usize).collect()
    }

    fn draw_control(&mut self, control: Control) -> Option<DrawnState> {
        match control {
            Control::NoFlush | Control::LastFlush => self.draw_unflushed(control),
            Control::EarlyAcknowledgement => self.draw_early(),
            Control::InPlace => self.draw_before_flush(),
        }
    }

    /// A disk that keeps its promises can't be left in such a state.
    fn draw_unflushed(&mut self, control: Control) -> Option<DrawnState> {
        let history = self.history;
        let opened = history.recording.opened as usize;
        // Just after an acknowledgement, so that something was promised.
        let count = self.acknowledgements.len() as u64;
        let moment = *self.acknowledgements.get(self.random.below(count.max(1)) as usize)?;
        let next_flush = self.flushes.partition_point(|flush| *flush < moment);
        let since = match control {
            Control::NoFlush => opened,
            _ => next_flush.checked_sub(2).map_or(opened, |index| self.flushes[index] + 1),
        };
        let cut = history.log.draw(moment, since.max(opened).min(moment), self.whole_bytes, &mut self.random);
        Some(history.draw_state(self.next_number(), cut))
    }

    /// A step counts as acknowledged while it is still being taken.
    fn draw_early(&mut self) -> Option<DrawnState> {
        let history = self.history;
        let session = self.random.below(history.recording.sessions.len() as u64) as usize;
        let marks = &history.recording.sessions[session];
        let step = self.random.below(marks.len() as u64) as usize;
        let mark = marks.get(step)?;
        let moment = (mark.before + self.random.below((mark.after - mark.before).max(1))) as usize;
        let first = history.log.since_flush(moment).start;
        let cut = history.log.draw(moment, first, self.whole_bytes, &mut self.random);
        let mut drawn = history.draw_state(self.next_number(), cut);
        drawn.acknowledged[session] = step as u64 + 1;
        drawn.begun[session] = drawn.begun[session].max(step as u64 + 1);
        Some(drawn)
    }

    /// Just before a flush, when most requests are under way.
    fn draw_before_flush(&mut self) -> Option<DrawnState> {
        let history = self.history;
        let opened = history.recording.opened as usize;
        let flushes = &self.flushes[self.flushes.partition_point(|flush| *flush < opened)..];
        let moment = *flushes.get(self.random.below(flushes.len().max(1) as u64) as usize)?;
        let first = history.log.since_flush(moment).start;
        let cut = history.log.draw(moment, first, self.whole_bytes, &mut self.random);
        Some(history.draw_state(self.next_number(), cut))
    }
}

#[cfg(test)]
mod tests {
    use storebench_disk::log::Entry;
    use storebench_disk::request::Request;

    use super::*;
    use storebench_core::workload::cut::{RecordedHistory, StepMark};

    /// An opening of one write and ten steps of two writes and a flush each.
    fn history() -> History {
        let entry = |request: Request| Entry { request, arrived: 0, data: vec![1; request.bytes as usize] };
        let entries = (0..10_u64).flat_map(|step| {
            let write = |index: u64| entry(Request::write((step * 2 + index) * 4096, 4096));
            [write(0), write(1), entry(Request::flush())]
        });
        let mark =
            |step: u64| StepMark { before: step * 3, after: step * 3 + 3, began_ns: step, ended_ns: step };
        let sessions = vec![(0..10).map(mark).collect()];
        let recording = RecordedHistory { sessions, began: 0, opened: 0, settling: Vec::new() };
        History { log: Log { entries: entries.collect() }, recording }
    }

    #[test]
    fn states_differ_and_know_what_was_acknowledged() {
        let history = history();
        let states = StateSource::new(&history, 4096, 7).draw_states(1_000, false);
        // Of each step none, one or both writes, and all at the end.
        assert_eq!(states.len(), 41);
        for state in &states {
            assert_eq!(state.acknowledged, [state.cut.at as u64 / 3], "{state:?}");
            assert_eq!(state.begun, [(state.cut.at as u64).div_ceil(3)], "{state:?}");
        }
        assert_eq!(states, StateSource::new(&history, 4096, 7).draw_states(1_000, false));
    }

    #[test]
    fn controls_lose_what_was_flushed() {
        let history = history();
        let mut source = StateSource::new(&history, 4096, 7);
        for control in [Control::NoFlush, Control::LastFlush] {
            let drawn_states = source.draw_controls(control, 20);
            assert!(drawn_states.len() > 10, "{control:?}");
            for drawn in drawn_states {
                let last = history.log.flushes().filter(|flush| *flush < drawn.cut.at).last().unwrap();
                assert!(drawn.cut.lost.iter().any(|piece| piece.entry < last), "{control:?}");
                assert!(drawn.acknowledged[0] > 0, "{control:?}");
            }
        }
    }

    #[test]
    fn an_early_acknowledgement_promises_a_step_that_is_under_way() {
        let history = history();
        let early = StateSource::new(&history, 4096, 7).draw_controls(Control::EarlyAcknowledgement, 20);
        assert!(early.len() > 5);
        for drawn in early {
            assert_eq!(drawn.acknowledged, [drawn.cut.at as u64 / 3 + 1], "{drawn:?}");
            assert_eq!(drawn.begun, drawn.acknowledged, "{drawn:?}");
        }
    }

    #[test]
    fn a_recovery_loses_nothing_that_was_there_before_it() {
        let history = history();
        let mut source = StateSource::new(&history, 4096, 7);
        let state =
            history.draw_state(0, Cut { at: 8, lost: [Piece { entry: 6, from: 0, bytes: 4096 }].into() });
        let settled_log = history.log.settled_log(&state.cut);
        let recovery_start = settled_log.entries.len();
        let requests = [0, 1].map(|index| Request::write(index * 4096, 4096));
        let entries = requests.map(|request| Entry { request, arrived: 0, data: vec![9; 4096] });
        let log = settled_log.followed_by(Log { entries: entries.into() });
        let states = source.draw_recovering(&state, &log, recovery_start, 10);
        assert_eq!(states.len(), 4, "each subset of two writes");
        for drawn in states {
            assert_eq!((drawn.phase, &drawn.acknowledged), (Phase::Recovering, &state.acknowledged));
            assert!(drawn.cut.lost.iter().all(|piece| piece.entry >= recovery_start));
        }
    }
}
