//! A phase of a workload: one operation, done a number of times or for a while, in rounds where the store must be made anew.

use std::time::Duration;

use crate::cell::Rate;
use crate::result::{Counters, OperationResult, Second};
use crate::units::CountRange;
use crate::workload::crud::Crud;
use crate::workload::driver::{Operation, QUANTUM_OPERATIONS, Recorder, Stop, Untimed};

/// What is left of a phase and what came of it.
#[derive(Debug)]
pub struct Phase {
    operation: Operation,
    records: CountRange,
    rate: Rate,
    threads: u64,
    operations_left: u64,
    warm_up_left: u64,
    time_left: Option<Duration>,
    wall: Duration,
    series: Vec<Second>,
    counters: Option<Counters>,
    untimed: Untimed,
}

/// What is to be done in one round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Goal {
    /// The operation.
    pub operation: Operation,
    /// How many of it at most, those of the warm-up included; none when the store is full and must be made anew.
    pub operations: u64,
    /// How many of them are not measured.
    pub warm_up: u64,
    /// For how long at most.
    pub until: Option<Duration>,
    /// Operations in the first quantum.
    pub first_quantum: u64,
    /// Operations in a quantum at most.
    pub largest_quantum: u64,
}

impl Phase {
    /// The phase of `operation` in a plan, before it begins.
    pub fn new(operation: Operation, plan: &Crud) -> Phase {
        Phase {
            operation,
            records: plan.records,
            rate: plan.rate,
            threads: plan.threads,
            operations_left: if plan.duration.is_some() { u64::MAX } else { plan.operations + plan.warm_up },
            warm_up_left: plan.warm_up,
            time_left: plan.duration,
            wall: Duration::ZERO,
            series: Vec::new(),
            counters: None,
            untimed: Untimed::default(),
        }
    }

    /// What to do next with a store that holds `live` records; `None` when the phase has ended.
    pub fn goal(&self, live: u64) -> Option<Goal> {
        if self.operations_left == 0 || self.time_left == Some(Duration::ZERO) {
            return None;
        }
        let room =
            if self.operation == Operation::Insert { self.records.to.saturating_sub(live) } else { u64::MAX };
        // In an open loop operations are prepared only so far ahead as half a millisecond holds.
        let largest_quantum = match self.rate {
            Rate::Closed => QUANTUM_OPERATIONS as u64,
            Rate::PerSecond(rate) => (u64::from(rate) / 2_000).clamp(1, QUANTUM_OPERATIONS as u64),
        };
        Some(Goal {
            operation: self.operation,
            operations: self.operations_left.min(room),
            warm_up: self.warm_up_left,
            until: self.time_left,
            first_quantum: largest_quantum.min(8),
            largest_quantum,
        })
    }

    /// Adds what a round did.
    pub fn add(&mut self, goal: Goal, wall: Duration, series: Vec<Second>) {
        if self.time_left.is_none() {
            self.operations_left -= goal.operations;
        }
        self.warm_up_left = self.warm_up_left.saturating_sub(goal.operations);
        self.time_left = self.time_left.map(|left| left.saturating_sub(wall));
        let offset_s = self.wall.as_secs() as u32;
        self.series
            .extend(series.into_iter().map(|second| Second { at_s: second.at_s + offset_s, ..second }));
        self.wall += wall;
    }

    /// Adds what the process did in a round, and what of that is not measured.
    pub fn count(&mut self, counters: Counters, untimed: &Untimed) {
        let counters = counters.without_syncs(&untimed.syncs);
        self.counters = Some(match self.counters.take() {
            Some(before) => before.plus(&counters),
            None => counters,
        });
        self.untimed.add(untimed);
    }

    /// The time that the number of timed operations is a rate over, where it is not the sum of their latencies. Threads in
    /// a closed loop take their latencies side by side. In an open loop it is wall time, less the warm-up's share.
    fn rate_over_ns(&self, count: u64, sum_ns: u64) -> Option<u64> {
        match self.rate {
            Rate::Closed if self.threads == 1 => None,
            Rate::Closed => Some(sum_ns / self.threads),
            Rate::PerSecond(_) => {
                let all = count + self.untimed.of(self.operation);
                let wall_ns = self.wall.as_nanos();
                (all > 0).then(|| (wall_ns * u128::from(count) / u128::from(all)) as u64)
            }
        }
    }

    /// What was measured.
    ///
    /// # Errors
    /// When the histogram can't be written.
    pub fn result(self, recorder: &Recorder) -> Result<OperationResult, Stop> {
        let record = recorder.of(self.operation);
        let rate_over_ns = self.rate_over_ns(record.latencies.count(), record.latencies.sum_ns());
        Ok(OperationResult {
            operation: self.operation.name().into(),
            count: record.latencies.count(),
            errors: record.errors,
            wall_ns: self.wall.as_nanos() as u64,
            sum_ns: record.latencies.sum_ns(),
            rate_over_ns,
            value_bytes: record.value_bytes,
            warm_up: self.untimed.of(self.operation),
            put_back: match self.operation {
                Operation::Remove => self.untimed.of(Operation::Insert),
                _ => 0,
            },
            latency: record.latencies.summary().map_err(Stop::harness)?,
            counters: self.counters,
            series: self.series,
        })
    }
}

impl Goal {
    /// What falls to one thread. Inserts go to the threads in turn, from the one whose turn it is, so that indexes stay
    /// without a gap; other operations are divided evenly.
    pub fn for_thread(self, thread: u64, threads: u64, live: u64) -> Goal {
        let turn = if self.operation == Operation::Insert {
            (thread + threads - live % threads) % threads
        } else {
            thread
        };
        let share = |count: u64| (count / threads) + u64::from(turn < count % threads);
        Goal { operations: share(self.operations), warm_up: share(self.warm_up), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::driver::Visit;

    fn crud(records: &str, operations: u64) -> Crud {
        Crud {
            records: records.parse().unwrap(),
            operations,
            order: vec![Operation::Insert],
            batch: 10,
            visit: Visit::Copy,
            seed: 1,
            threads: 1,
            rate: Rate::Closed,
            duration: None,
            warm_up: 0,
            cold: false,
        }
    }

    #[test]
    fn inserts_come_in_rounds_that_never_pass_the_upper_bound() {
        let mut phase = Phase::new(Operation::Insert, &crud("100..500", 1000));
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
            phase.add(goal, Duration::from_secs(1), Vec::new());
        }
        assert_eq!(rounds, [400, 400, 200]);
        assert_eq!(phase.wall, Duration::from_secs(3));
    }

    #[test]
    fn operations_per_second_count_threads_and_in_an_open_loop_time_passed() {
        let over = |threads, rate, warm_up| {
            let mut phase = Phase::new(Operation::Get, &Crud { threads, rate, ..crud("100..500", 10) });
            phase.wall = Duration::from_nanos(3_000);
            phase.untimed = Untimed::default();
            for _ in 0..warm_up {
                phase.untimed.note(Operation::Get);
            }
            phase.rate_over_ns(10, 8_000)
        };
        assert_eq!(over(1, Rate::Closed, 0), None);
        assert_eq!(over(4, Rate::Closed, 5), Some(2_000));
        assert_eq!(over(1, Rate::PerSecond(9), 0), Some(3_000));
        assert_eq!(over(4, Rate::PerSecond(9), 5), Some(2_000));
    }

    #[test]
    fn a_warm_up_comes_first_and_is_done_once() {
        let mut phase = Phase::new(Operation::Get, &Crud { warm_up: 50, ..crud("100..500", 200) });
        let goal = phase.goal(100).unwrap();
        assert_eq!((goal.operations, goal.warm_up), (250, 50));
        phase.add(goal, Duration::from_secs(1), Vec::new());
        assert_eq!(phase.goal(100), None);
    }

    #[test]
    fn a_duration_ends_a_phase_whatever_was_done() {
        let mut phase = Phase::new(
            Operation::Get,
            &Crud { duration: Some(Duration::from_secs(2)), ..crud("100..500", 1) },
        );
        let goal = phase.goal(100).unwrap();
        assert_eq!((goal.operations, goal.until), (u64::MAX, Some(Duration::from_secs(2))));
        phase.add(goal, Duration::from_millis(2_001), Vec::new());
        assert_eq!(phase.goal(100), None);
    }

    #[test]
    fn threads_share_all_operations_and_inserts_leave_no_gap() {
        for (count, live, threads) in [(1000, 100, 3), (7, 5, 4), (1, 0, 8), (0, 9, 2)] {
            let phase = Phase::new(Operation::Insert, &crud("1000..100000", count.max(1)));
            let goal = Goal { operations: count, ..phase.goal(live).unwrap() };
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
