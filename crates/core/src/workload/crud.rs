//! The workload `crud` of paper 000: load, then insert, get, update and remove single records with random keys.

mod cost;
mod crew;
mod trial;
pub mod work;

use std::sync::Mutex;
use std::time::Instant;

use crate::axis::Axis;
use crate::measure::clock::Clock;
use crate::measure::counters::Snapshot;
use crate::measure::page_cache::Emptied;
use crate::measure::series::{QUANTUM_TIME, Seconds, Series};
use crate::record::{KEY_BYTES, Records};
use crate::result::{Load, OperationResult, Stored, Written};
use crate::store::{Session, Store};
use crate::workload::audit::Expected;
use crate::workload::batch::{Batch, touched};
use crate::workload::bench::Bench;
use crate::workload::choose::Chooser;
use crate::workload::driver::{Driver, QUANTUM_OPERATIONS, Quantum, Stop};
use crate::workload::loader::load;
use crate::workload::mix::{Doing, Mix};
use crate::workload::operation::Operation;
use crate::workload::phase::{Goal, Phase};
use crate::workload::promise::Acknowledged;
use crate::workload::table::{Headline, WorkloadDef};
pub use crate::workload::task::Crud;
use crew::{Crew, Hall};

/// Inserts, gets, updates and removes single records.
pub static WORKLOAD: WorkloadDef = WorkloadDef {
    name: "crud",
    help: "insert, get, update and remove single records of a store",
    axes: &[
        Axis::STORE,
        Axis::RECORD_SIZE,
        Axis::RECORDS,
        Axis::DATA,
        Axis::GUARANTEE,
        Axis::PLACE,
        Axis::MACHINE,
        Axis::BACKGROUND,
        Axis::THREADS,
        Axis::RATE,
        Axis::TUNING,
        Axis::CACHE,
    ],
    parameters: &work::ALL,
    operations: &["insert", "get", "update", "remove"],
    reason: cost::reason,
    headline: &[Headline::Latency, Headline::Space, Headline::Memory],
    space: cost::space,
    memory: cost::memory,
    time: cost::time,
    time_by_rehearsal: None,
    run: trial::run,
};

/// What the workload measured.
#[derive(Debug)]
pub struct Done {
    /// The last loading.
    pub load: Load,
    /// The operations, in their order.
    pub operations: Vec<OperationResult>,
    /// What the store holds now.
    pub stored: Stored,
    /// What was handed to it.
    pub written: Written,
    /// How the page cache was emptied before the reads, if it was.
    pub cache_emptied_by: Option<Emptied>,
    /// What was acknowledged, and the syncs meanwhile: what a promise of `power` is held to.
    pub acknowledged: Vec<Acknowledged>,
    /// What the store is to hold, to be read back.
    pub expected: Expected,
}

/// The records that one thread works on: every `threads`th, so that threads never meet and each knows what it wrote.
struct Share<'a> {
    thread: u64,
    threads: u64,
    driver: Driver<'a>,
    /// The version of each record's value, by its position in the share.
    versions: Vec<u8>,
    quantum: Quantum,
    chooser: Chooser,
    /// Whose turn it is in a mix.
    turn: u64,
    written: Written,
    /// Writes that changed what the store holds, since the round began: an engine may see that a value stays as it was.
    writes: u64,
}

impl Share<'_> {
    fn index(&self, position: u64) -> u64 {
        position * self.threads + self.thread
    }

    /// Plans one operation of the phase; `remove` puts the record back, untimed, so that keys can be chosen at random.
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
        let before = *version;
        *version = version.wrapping_add(1);
        let version = *version;
        self.quantum.plan(records, operation, index, version, timed);
        if operation == Operation::Remove {
            self.quantum.plan_put_back(records, index, version);
            self.writes += 2;
        } else {
            self.writes += u64::from(!records.is_same_value(index, before, version));
        }
    }

    /// Does `operations` of them at most, in quanta. Timed ones, which `seconds` hears of, end when `over` says so.
    fn stretch(
        &mut self,
        session: &mut dyn Session,
        records: &Records,
        goal: &Goal,
        operations: u64,
        mut timed: Option<Timed<'_, '_>>,
    ) -> Result<(), Stop> {
        let (mut done, mut limit) = (0, goal.first_quantum);
        while done < operations && !timed.as_ref().is_some_and(|timed| (timed.over)()) {
            let quantum_start = Instant::now();
            let most = (operations - done).min(limit);
            done += self.fill_quantum(records, goal.doing, most, timed.is_some());
            self.driver.run(session, &mut self.quantum)?;
            self.written = self.written.plus(self.quantum.written());
            if let Some(Timed { seconds, .. }) = &mut timed {
                self.driver.tell(goal.doing.main(), seconds)?;
            }
            // Quanta of slow operations are short, so that seconds and the end are met in time.
            limit = match quantum_start.elapsed() {
                took if took > QUANTUM_TIME => limit / 2,
                took if took < QUANTUM_TIME / 2 => limit * 2,
                _ => limit,
            }
            .clamp(1, goal.largest_quantum);
        }
        Ok(())
    }

    /// Plans the next quantum: at most `most` operations; returns how many.
    fn fill_quantum(&mut self, records: &Records, doing: Doing, most: u64, timed: bool) -> u64 {
        self.quantum.clear();
        let operation = match doing {
            Doing::One(operation) => operation,
            Doing::Mix(mix) => return self.fill_with(records, &mix, most, timed),
        };
        let mut chosen = [0; QUANTUM_OPERATIONS];
        let before = self.chooser.position();
        if operation != Operation::Insert {
            self.chooser.fill(&mut chosen[..most as usize], &self.versions);
        }
        let mut planned = 0;
        while planned < most && self.quantum.has_room_for(2) {
            self.plan(records, operation, chosen[planned as usize], timed);
            planned += 1;
        }
        if planned < most && operation != Operation::Insert {
            // Those that found no room come next: which records are chosen must not depend on how many were to fit, as that
            // follows from how quick the store is.
            self.chooser.go_back(before);
            self.chooser.fill(&mut chosen[..planned as usize], &self.versions);
        }
        planned
    }
}

impl Share<'_> {
    /// Plans the next operations of a mix: at most `most`; returns how many. Each is chosen among all records that are there
    /// by then.
    fn fill_with(&mut self, records: &Records, mix: &Mix, most: u64, timed: bool) -> u64 {
        let mut planned = 0;
        while planned < most && self.quantum.has_room_for(2) {
            let operation = mix.turn(self.turn);
            self.turn += 1;
            let chosen = match operation {
                Operation::Insert => 0,
                _ => self.chooser.below(self.versions.len() as u64),
            };
            self.plan(records, operation, chosen, timed);
            planned += 1;
        }
        planned
    }
}

/// What makes a stretch of operations a timed one.
struct Timed<'t, 's> {
    seconds: &'t mut Seconds<'s>,
    /// Whether the time for it has passed.
    over: &'t dyn Fn() -> bool,
}

/// What was done, before it is summed up.
pub struct Ran {
    load: Load,
    phases: Vec<Phase>,
    cache_emptied_by: Option<Emptied>,
}

/// How far a run is.
struct Progress {
    /// The last loading; none since the store was made anew.
    load: Option<Load>,
    /// What the phases have measured, the last one perhaps not to its end.
    phases: Vec<Phase>,
    cache_emptied_by: Option<Emptied>,
}

/// Why the sessions end.
enum Next {
    /// The store is full: it must be made anew.
    MakeAnew,
    /// The values are to be read from a store that was just opened.
    OpenCold,
    /// All is done.
    Finish,
}

/// What is ready before the store is opened: all of the harness's memory.
pub struct Prepared<'a> {
    hall: Hall<'a>,
    batch: Batch,
    /// All that was loaded.
    loaded: Written,
    acknowledged: Vec<Acknowledged>,
}

impl Crud {
    /// Takes all memory that the harness will need. `check` says whether the store keeps what it is given.
    ///
    /// # Errors
    /// As [`Driver::new`].
    pub fn prepare<'a>(
        &'a self,
        records: &'a Records,
        clock: &'a Clock,
        check: bool,
    ) -> Result<Prepared<'a>, String> {
        let share = |thread| self.share(thread, records, clock, check).map(Mutex::new);
        let shares = (0..self.threads).map(share).collect::<Result<_, String>>()?;
        let batch = Batch::new(self.batch, KEY_BYTES, records.largest_value());
        let series = Series::new(self.threads as usize)?;
        Ok(Prepared {
            hall: Hall::new(self, records, clock, shares, series),
            batch,
            loaded: Written::default(),
            acknowledged: Vec::with_capacity(1 + Operation::ALL.len()),
        })
    }
}

impl Crud {
    /// The share of one thread, with its memory.
    fn share<'a>(
        &self,
        thread: u64,
        records: &'a Records,
        clock: &'a Clock,
        check: bool,
    ) -> Result<Share<'a>, String> {
        Ok(Share {
            thread,
            threads: self.threads,
            driver: Driver::new(clock, records, self.visit, check)?,
            versions: touched(self.most_records() / self.threads + 1),
            quantum: Quantum::new(records.largest_value()),
            chooser: Chooser::uniform(self.seed ^ thread),
            turn: 0,
            written: Written::default(),
            writes: 0,
        })
    }

    /// The most records that there can be.
    fn most_records(&self) -> u64 {
        if self.duration.is_some() {
            self.records.to
        } else {
            self.records.to.min(self.records.from + self.operations + self.warm_up)
        }
    }
}

impl Prepared<'_> {
    /// Loads the store and does all operations. What was measured can be told afterwards, which takes memory.
    ///
    /// # Errors
    /// At the first thing that goes wrong.
    pub fn run(&mut self, bench: &mut Bench<'_>) -> Result<Ran, Stop> {
        let mut progress = Progress { load: None, phases: Vec::new(), cache_emptied_by: None };
        loop {
            match self.while_open(bench.store()?, &mut progress)? {
                Next::MakeAnew => {
                    bench.fresh()?;
                    progress.load = None;
                }
                Next::OpenCold => progress.cache_emptied_by = Some(bench.reopen_cold()?),
                Next::Finish => break,
            }
        }
        let Progress { load, phases, cache_emptied_by } = progress;
        let load = load.ok_or_else(|| Stop::harness("nothing was loaded"))?;
        Ok(Ran { load, phases, cache_emptied_by })
    }

    /// Does what can be done while the store is open, with the same sessions all along.
    fn while_open(&mut self, store: &dyn Store, progress: &mut Progress) -> Result<Next, Stop> {
        let Prepared { hall, batch, loaded, acknowledged } = self;
        let (hall, plan) = (&*hall, hall.plan);
        crew::with(hall, store, |crew| {
            if progress.load.is_none() {
                let count = plan.records.from;
                hall.all_loaded(count);
                let records = hall.records;
                let add = |batch: &mut Batch, index| {
                    batch.add(&records.key(index), |values| records.append_value(index, 0, values));
                };
                let (load, written) = load(count, batch, crew.session(), acknowledged, add)?;
                (progress.load, *loaded) = (Some(load), loaded.plus(written));
            }
            loop {
                if progress.phases.last().is_none_or(Phase::is_over) {
                    let Some(doing) = plan.doing(progress.phases.len()) else {
                        return Ok(Next::Finish);
                    };
                    let reads = doing.does(Operation::Get);
                    if reads && plan.cold && progress.cache_emptied_by.is_none() {
                        return Ok(Next::OpenCold);
                    }
                    progress.phases.push(Phase::new(doing, plan));
                }
                let Some(phase) = progress.phases.last_mut() else { continue };
                match phase.goal(hall.live()) {
                    Some(goal) if goal.operations == 0 => return Ok(Next::MakeAnew),
                    Some(goal) => round(hall, crew, phase, goal, acknowledged)?,
                    None => continue,
                }
            }
        })
    }

    /// What was measured.
    ///
    /// # Errors
    /// When a histogram can't be written.
    pub fn done(self, ran: Ran) -> Result<Done, Stop> {
        let Ran { load, phases, cache_emptied_by } = ran;
        let (stored, written) = (self.hall.stored(), self.loaded.plus(self.hall.written()));
        let expected = self.hall.expected();
        let acknowledged = self.acknowledged;
        let recorder = self.hall.recorder()?;
        let operations: Vec<_> =
            phases.into_iter().map(|phase| phase.results(&recorder)).collect::<Result<_, Stop>>()?;
        let operations = operations.concat();
        Ok(Done { load, operations, stored, written, cache_emptied_by, acknowledged, expected })
    }
}

/// One round of a phase, on all threads together.
fn round(
    hall: &Hall<'_>,
    crew: &mut Crew<'_, '_>,
    phase: &mut Phase,
    goal: Goal,
    acknowledged: &mut Vec<Acknowledged>,
) -> Result<(), Stop> {
    hall.series.begin();
    let before = Snapshot::now();
    let took = crew.work(goal)?;
    let counters = Snapshot::now().since(&before);
    let (what, threads) = (written_by(goal.doing), hall.plan.threads);
    Acknowledged::new(what, hall.take_writes(), threads, &counters).note(acknowledged);
    phase.count(counters, &hall.take_untimed());
    phase.add(goal, took, hall.series.finish());
    Ok(())
}

/// The writes of a phase, in a word.
fn written_by(doing: Doing) -> &'static str {
    match doing {
        Doing::One(Operation::Insert) => "inserts",
        Doing::One(Operation::Get) => "writes beside gets",
        Doing::One(Operation::Update) => "updates",
        Doing::One(Operation::Remove) => "removals and records put back",
        Doing::Mix(_) => "writes of the mix",
    }
}

#[cfg(test)]
mod tests;
