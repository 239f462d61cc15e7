//! One thread's part: the records that it works on, and what it does to them.

use storebench_model::result::WrittenRecords;
use storebench_model::store::Session;

use super::Crud;
use super::shared::SharedRecords;
use crate::measure::clock::Clock;
use crate::measure::series::Seconds;
use crate::record::Records;
use crate::workload::batch::touched;
use crate::workload::choose::Chooser;
use crate::workload::driver::{Driver, Quantum};
use crate::workload::elapsed::TimedPart;
use crate::workload::mix::{Mix, PhaseWork};
use crate::workload::operation::Operation;
use crate::workload::phase::PhaseGoal;
use crate::workload::quanta::{QUANTUM_OPERATIONS, largest_quantum, run_in_quanta};
use crate::workload::start_barrier::BarrierGuard;
use crate::workload::worker_pool::Worker;
use crate::workload::workload_error::WorkloadError;

/// A round for all threads, in a store that holds `live` records.
#[derive(Clone, Copy)]
pub struct RoundOrder<'o> {
    pub shared: &'o SharedRecords<'o>,
    pub goal: PhaseGoal,
    pub live: u64,
}

/// One thread's records: every `threads`th, so that threads never meet and each knows what it wrote.
pub struct RecordShare<'a> {
    pub thread: u64,
    /// Those on other machines included.
    pub threads: u64,
    pub driver: Driver<'a>,
    /// By position in the share.
    pub versions: Vec<u8>,
    quantum: Quantum,
    chooser: Chooser,
    turn: u64,
    pub written: WrittenRecords,
    /// Writes since the round began that changed the store: an engine may notice that a value stays the same.
    pub writes: u64,
}

impl RecordShare<'_> {
    pub fn index(&self, position: u64) -> u64 {
        position * self.threads + self.thread
    }

    /// Plans one operation; `remove` puts the record back, untimed, so that keys can be chosen at random.
    fn plan(&mut self, records: &Records, operation: Operation, chosen: u64, timed: bool) {
        if operation == Operation::Insert {
            let index = self.index(self.versions.len() as u64);
            self.versions.push(0);
            self.writes += 1;
            return self.quantum.plan(records, operation, index, 0, timed);
        }
        let index = self.index(chosen);
        let version = &mut self.versions[chosen as usize];
        if operation == Operation::Get {
            return self.quantum.plan(records, operation, index, *version, timed);
        }
        let old_version = *version;
        *version = version.wrapping_add(1);
        let version = *version;
        self.quantum.plan(records, operation, index, version, timed);
        if operation == Operation::Remove {
            self.quantum.plan_put_back(records, index, version);
            self.writes += 2;
        } else {
            self.writes += u64::from(!records.is_same_value(index, old_version, version));
        }
    }

    /// Does at most `operations`, in quanta, while `can_continue`. They are timed if there are `seconds`.
    fn run_quanta(
        &mut self,
        session: &mut dyn Session,
        RoundOrder { shared, goal, .. }: RoundOrder<'_>,
        operations: u64,
        can_continue: impl Fn() -> bool,
        mut seconds: Option<&mut Seconds<'_>>,
    ) -> Result<(), WorkloadError> {
        run_in_quanta(operations, largest_quantum(shared.plan.rate), can_continue, |limit| {
            let done = self.fill_quantum(shared.records, goal.doing, limit, seconds.is_some());
            self.driver.run(session, &mut self.quantum)?;
            self.written = self.written.plus(self.quantum.written());
            if let Some(seconds) = &mut seconds {
                let latencies = self.driver.latencies(goal.doing.main());
                seconds.add_latencies(latencies).map_err(WorkloadError::harness)?;
            }
            Ok(done)
        })
    }

    /// Plans at most `limit` operations; gives their number.
    pub(crate) fn fill_quantum(
        &mut self,
        records: &Records,
        doing: PhaseWork,
        limit: u64,
        timed: bool,
    ) -> u64 {
        self.quantum.clear();
        let operation = match doing {
            PhaseWork::One(operation) => operation,
            PhaseWork::Mix(mix) => return self.fill_with(records, &mix, limit, timed),
        };
        if operation != Operation::Insert && self.versions.is_empty() {
            // There are fewer records than threads.
            return 0;
        }
        let mut chosen = [0; QUANTUM_OPERATIONS];
        let position = self.chooser.position();
        if operation != Operation::Insert {
            self.chooser.fill(&mut chosen[..limit as usize], &self.versions);
        }
        let mut planned = 0;
        while planned < limit && self.quantum.has_room_for(2) {
            self.plan(records, operation, chosen[planned as usize], timed);
            planned += 1;
        }
        if planned < limit && operation != Operation::Insert {
            // Those without room come next: the choice of records must not depend on how many fit, which depends on the store's speed.
            self.chooser.go_back(position);
            self.chooser.fill(&mut chosen[..planned as usize], &self.versions);
        }
        planned
    }

    /// Plans at most `limit` operations of a mix; gives their number. Each is chosen among all records that are there by then.
    fn fill_with(&mut self, records: &Records, mix: &Mix, limit: u64, timed: bool) -> u64 {
        let mut planned = 0;
        while planned < limit && self.quantum.has_room_for(2) {
            let operation = mix.operation_at(self.turn);
            let chosen = match operation {
                Operation::Insert => 0,
                _ if self.versions.is_empty() => break,
                _ => self.chooser.choose_below(self.versions.len() as u64),
            };
            self.turn += 1;
            self.plan(records, operation, chosen, timed);
            planned += 1;
        }
        planned
    }
}

impl<'o> Worker<dyn Session + '_, RoundOrder<'o>> for RecordShare<'_> {
    type Failed = WorkloadError;

    /// Warms up; then, with all others, does the timed part.
    fn round(
        &mut self,
        session: &mut (dyn Session + '_),
        order: RoundOrder<'o>,
        approach: BarrierGuard<'_>,
    ) -> Result<TimedPart, WorkloadError> {
        let RoundOrder { shared, goal, live } = order;
        let goal = goal.for_thread(self.thread, self.threads, live);
        let order = RoundOrder { goal, ..order };
        let latencies = self.driver.latencies(goal.doing.main());
        let seconds = shared.series.thread((self.thread - shared.first) as usize, latencies);
        let mut seconds = seconds.map_err(WorkloadError::harness)?;
        let warm_up = goal.warm_up.min(goal.operations);
        self.run_quanta(session, order, warm_up, || approach.can_continue(), None)?;
        let (calls_before, untimed_before) = (self.driver.recorder.calls_ns(), self.driver.untimed.ticks);
        let started = approach.cross()?;
        seconds.restart();
        let (begin, pacer) = started.start_work(shared.plan.rate);
        self.driver.set_pacer(pacer);
        let can_continue = || started.can_continue(begin, goal.until);
        let result =
            self.run_quanta(session, order, goal.operations - warm_up, can_continue, Some(&mut seconds));
        let end = shared.clock.now();
        let pacer = self.driver.set_pacer(None);
        let behind_ticks = pacer.as_ref().map_or(0, |pacer| pacer.ticks_late(end));
        result?;
        seconds.finish(self.driver.latencies(goal.doing.main())).map_err(WorkloadError::harness)?;
        Ok(TimedPart {
            begin,
            end,
            calls_ns: self.driver.recorder.calls_ns() - calls_before,
            put_back_ticks: self.driver.untimed.ticks - untimed_before,
            stood_still_ticks: pacer.map_or(0, |pacer| pacer.standstill_ticks),
            behind_ticks,
        })
    }
}

impl Crud {
    pub fn share<'a>(
        &self,
        thread: u64,
        records: &'a Records,
        clock: &'a Clock,
        check: bool,
    ) -> Result<RecordShare<'a>, String> {
        let most_records = match self.duration {
            Some(_) => self.records.to,
            None => self.records.to.min(self.records.from + self.operations + self.warm_up),
        };
        Ok(RecordShare {
            thread,
            threads: self.threads,
            driver: Driver::new(clock, records, self.visit, check)?,
            versions: touched(most_records / self.threads + 1),
            quantum: Quantum::new(records.largest_value()),
            chooser: Chooser::uniform(self.seed ^ thread),
            turn: 0,
            written: WrittenRecords::default(),
            writes: 0,
        })
    }
}

#[cfg(test)]
mod tests;
