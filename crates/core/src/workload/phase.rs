//! A phase of a workload: one operation or a mix, done a number of times or for a while, in rounds between which the store may be
//! made anew.

use std::time::Duration;

use storebench_model::cell::Rate;
use storebench_model::result::{Counters, OperationResult, PhaseRequests, SeriesPoint};
use storebench_model::units::CountRange;

use crate::measure::counters;
use crate::workload::crud::Crud;
use crate::workload::driver::{Recorder, UntimedWork};
use crate::workload::elapsed::Elapsed;
use crate::workload::mix::{Mix, PhaseWork};
use crate::workload::operation::Operation;
use crate::workload::workload_error::WorkloadError;

/// What is left of a phase, and its results so far.
#[derive(Debug)]
pub struct Phase {
    doing: PhaseWork,
    records: CountRange,
    rate: Rate,
    threads: u64,
    operations_left: u64,
    warm_up_left: u64,
    time_left: Option<Duration>,
    elapsed: Elapsed,
    series: Vec<SeriesPoint>,
    counters: Option<Counters>,
    untimed: UntimedWork,
}

/// Inserts of a mix beyond their share that a thread may do in a round.
const MAX_EXTRA_INSERTS: u64 = 4;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PhaseGoal {
    pub doing: PhaseWork,
    /// The most operations, warm-up included; none when the store is full and must be made anew.
    pub operations: u64,
    pub warm_up: u64,
    /// The time limit of the timed part.
    pub until: Option<Duration>,
}

impl Phase {
    pub fn new(doing: PhaseWork, plan: &Crud) -> Phase {
        Phase {
            doing,
            records: plan.records,
            rate: plan.rate,
            threads: plan.threads,
            operations_left: if plan.duration.is_some() { u64::MAX } else { plan.operations + plan.warm_up },
            warm_up_left: plan.warm_up,
            time_left: plan.duration,
            elapsed: Elapsed::default(),
            series: Vec::new(),
            counters: None,
            untimed: UntimedWork::default(),
        }
    }

    pub fn is_over(&self) -> bool {
        self.operations_left == 0 || self.time_left == Some(Duration::ZERO)
    }

    /// The next work with a store that holds `live` records; `None` after the phase.
    pub fn goal(&self, live: u64) -> Option<PhaseGoal> {
        if self.is_over() {
            return None;
        }
        let room = self.records.to.saturating_sub(live);
        let room = match self.doing {
            PhaseWork::One(Operation::Insert) => room,
            PhaseWork::One(_) => u64::MAX,
            PhaseWork::Mix(mix) => self.room_for(&mix, room),
        };
        Some(PhaseGoal {
            doing: self.doing,
            operations: self.operations_left.min(room),
            warm_up: self.warm_up_left,
            until: self.time_left,
        })
    }

    /// How many operations of a mix insert at most `room` records, given what shares may be exceeded by on each thread; with
    /// little room, one after the other.
    fn room_for(&self, mix: &Mix, room: u64) -> u64 {
        let share = mix.share(Operation::Insert);
        if share == 0.0 {
            return u64::MAX;
        }
        let safe_inserts = room.saturating_sub(MAX_EXTRA_INSERTS * self.threads.max(1));
        ((safe_inserts as f64 / share) as u64).max(room.min(1))
    }

    pub fn add(&mut self, goal: PhaseGoal, elapsed: Elapsed, series: Vec<SeriesPoint>) {
        if self.time_left.is_none() {
            self.operations_left -= goal.operations;
        }
        self.warm_up_left = self.warm_up_left.saturating_sub(goal.operations);
        self.time_left = self.time_left.map(|left| left.saturating_sub(elapsed.wall));
        let offset_s = self.elapsed.wall.as_secs() as u32;
        self.series
            .extend(series.into_iter().map(|second| SeriesPoint { at_s: second.at_s + offset_s, ..second }));
        self.elapsed = self.elapsed.add_later(elapsed);
    }

    /// Adds a round's counters, and the part of them that is not measured.
    pub fn count(&mut self, counters: Counters, untimed: &UntimedWork) {
        let counters = counters::without_syncs(counters, &untimed.syncs);
        self.counters = Some(match self.counters.take() {
            Some(earlier) => earlier.plus(&counters),
            None => counters,
        });
        self.untimed.add(untimed);
    }

    pub fn results(self, recorder: &Recorder) -> Result<Vec<OperationResult>, WorkloadError> {
        self.operations().map(|operation| self.result(operation, recorder)).collect()
    }

    fn result(&self, operation: Operation, recorder: &Recorder) -> Result<OperationResult, WorkloadError> {
        // Each removed record is put back by an insert that is not timed.
        let put_back = match self.doing.includes(Operation::Remove) {
            true => self.count_of(Operation::Remove, recorder),
            false => 0,
        };
        let is_main = operation == self.doing.main();
        let is_single = matches!(self.doing, PhaseWork::One(_));
        let record = recorder.kind_record(operation as usize);
        let is_closed = self.rate == Rate::Closed;
        Ok(OperationResult {
            warm_up: match operation {
                Operation::Insert => self.untimed.count(operation).saturating_sub(put_back),
                _ => self.untimed.count(operation),
            },
            put_back: if operation == Operation::Remove { put_back } else { 0 },
            // Which of a mix's operations made a sync is not known.
            counters: self.counters.clone().filter(|_| is_single),
            phase_disk: self.disk_of_mix(recorder).filter(|_| is_main && !is_single),
            series: if is_main { self.series.clone() } else { Vec::new() },
            ..record.result(operation.name(), &self.elapsed, is_closed, self.threads)?
        })
    }

    fn disk_of_mix(&self, recorder: &Recorder) -> Option<PhaseRequests> {
        let requests = self.counters.as_ref()?.disk.clone()?;
        let operations = self.operations().map(|operation| self.count_of(operation, recorder)).sum();
        Some(PhaseRequests { operations, requests })
    }

    /// How often it was done, timed and untimed.
    fn count_of(&self, operation: Operation, recorder: &Recorder) -> u64 {
        recorder.latencies(operation as usize).count() + self.untimed.count(operation)
    }

    fn operations(&self) -> impl Iterator<Item = Operation> {
        Operation::ALL.into_iter().filter(move |operation| self.doing.includes(*operation))
    }
}

impl PhaseGoal {
    /// The share of one thread. Inserts go to the threads in turn, from the one whose turn it is, so that indexes have no gap;
    /// other operations are divided evenly.
    pub(crate) fn for_thread(self, thread: u64, threads: u64, live: u64) -> PhaseGoal {
        let turn = if self.doing == PhaseWork::One(Operation::Insert) {
            (thread + threads - live % threads) % threads
        } else {
            thread
        };
        let share = |count: u64| (count / threads) + u64::from(turn < count % threads);
        PhaseGoal { operations: share(self.operations), warm_up: share(self.warm_up), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::crud::tests as crud_tests;

    fn crud(records: &str, operations: u64) -> Crud {
        Crud { records: records.parse().unwrap(), operations, ..crud_tests::crud(1) }
    }

    fn wall(wall: Duration) -> Elapsed {
        Elapsed { wall, ..Elapsed::default() }
    }

    #[test]
    fn inserts_come_in_rounds_that_never_pass_the_upper_bound() {
        let mut phase = Phase::new(PhaseWork::One(Operation::Insert), &crud("100..500", 1000));
        let mut live = 100;
        let mut rounds = Vec::new();
        while let Some(goal) = phase.goal(live) {
            if goal.operations == 0 {
                live = 100;
                continue;
            }
            rounds.push(goal.operations);
            live += goal.operations;
            assert!(live <= 500);
            phase.add(goal, wall(Duration::from_secs(1)), Vec::new());
        }
        assert_eq!(rounds, [400, 400, 200]);
        assert_eq!(phase.elapsed.wall, Duration::from_secs(3));
    }

    #[test]
    fn operations_per_second_of_several_threads_or_of_an_open_loop_are_over_time_passed() {
        let us = Duration::from_micros;
        let rate_and_share = |threads: u64, is_closed| {
            let (wall, at_work) = (us(60), us(60) * threads as u32);
            let (between_calls, put_back, stood_still) = (us(30), us(40), us(8));
            let elapsed = Elapsed { wall, at_work, between_calls, put_back, stood_still };
            (elapsed.rate_over_ns(is_closed, threads), elapsed.harness_share(is_closed))
        };
        assert_eq!(rate_and_share(1, true), (None, Some(0.5)));
        assert_eq!(rate_and_share(4, true), (Some(50_000), Some(0.125)));
        assert_eq!(rate_and_share(1, false), (Some(52_000), None));
        assert_eq!(rate_and_share(4, false), (Some(58_000), None));
    }

    #[test]
    fn a_warm_up_is_done_once_and_a_duration_ends_a_phase_whatever_was_done() {
        let until = Some(Duration::from_secs(2));
        let warmed_up = Crud { warm_up: 50, ..crud("100..500", 200) };
        let timed = Crud { duration: until, ..crud("100..500", 1) };
        for (plan, goal, took_ms) in
            [(warmed_up, (250, 50, None), 1_000), (timed, (u64::MAX, 0, until), 2_001)]
        {
            let mut phase = Phase::new(PhaseWork::One(Operation::Get), &plan);
            let first = phase.goal(100).unwrap();
            assert_eq!((first.operations, first.warm_up, first.until), goal);
            phase.add(first, wall(Duration::from_millis(took_ms)), Vec::new());
            assert_eq!(phase.goal(100), None);
        }
    }

    #[test]
    fn threads_share_all_operations_and_inserts_leave_no_gap() {
        for (count, live, threads) in [(1000, 100, 3), (7, 5, 4), (1, 0, 8), (0, 9, 2)] {
            let phase = Phase::new(PhaseWork::One(Operation::Insert), &crud("1000..100000", count.max(1)));
            let goal = PhaseGoal { operations: count, ..phase.goal(live).unwrap() };
            let shares: Vec<u64> =
                (0..threads).map(|thread| goal.for_thread(thread, threads, live).operations).collect();
            assert_eq!(shares.iter().sum::<u64>(), count);
            for thread in 0..threads {
                let expected = (live..live + count).filter(|index| index % threads == thread).count() as u64;
                assert_eq!(shares[thread as usize], expected, "{count} {live} {threads}");
            }
        }
    }
}
