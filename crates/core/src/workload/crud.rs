//! The workload `crud` of paper 000: load, then insert, get, update and remove single records with random keys.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use crate::cell::Rate;
use crate::measure::clock::Clock;
use crate::measure::counters::Snapshot;
use crate::measure::page_cache::Emptied;
use crate::measure::series::{QUANTUM_TIME, Seconds, Series};
use crate::record::{KEY_BYTES, Records};
use crate::result::{Load, OperationResult, Stored, Written};
use crate::store::{Session, Store};
use crate::units::CountRange;
use crate::workload::bench::Bench;
use crate::workload::choose::Chooser;
use crate::workload::driver::{
    Driver, Operation, QUANTUM_OPERATIONS, Quantum, Recorder, Stop, Untimed, Visit,
};
use crate::workload::pacer::Pacer;
use crate::workload::phase::{Goal, Phase};

/// What the workload is asked to do.
#[derive(Debug, Clone)]
pub struct Crud {
    /// How many records are loaded, and the number that inserts never pass.
    pub records: CountRange,
    /// How many of each operation are timed.
    pub operations: u64,
    /// Which operations, in this order.
    pub order: Vec<Operation>,
    /// Records in a batch of the loader, at most.
    pub batch: usize,
    /// What is done with a value that is read.
    pub visit: Visit,
    /// Chooses the records.
    pub seed: u64,
    /// Sessions at work at once.
    pub threads: u64,
    /// How operations follow one another.
    pub rate: Rate,
    /// How long each operation goes on, whatever the number of operations.
    pub duration: Option<Duration>,
    /// Operations of each kind that are done first and not measured, on all threads together.
    pub warm_up: u64,
    /// Whether the store is opened anew, with the page cache empty, before values are read.
    pub cold: bool,
}

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
}

/// Value bytes in a batch of the loader, at most: so that 500 records of 1 MiB do not take half a gigabyte of the harness.
const BATCH_BYTES: usize = 32 << 20;

/// The records that one thread works on: every `threads`th, so that threads never meet and each knows what it wrote.
struct Share<'a> {
    thread: u64,
    threads: u64,
    driver: Driver<'a>,
    /// The version of each record's value, by its position in the share.
    versions: Vec<u8>,
    quantum: Quantum,
    chooser: Chooser,
    written: Written,
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
            return self.quantum.plan(records, operation, index, 0, timed);
        }
        let index = self.index(chosen);
        let version = &mut self.versions[chosen as usize];
        if operation == Operation::Get {
            return self.quantum.plan(records, operation, index, *version, timed);
        }
        *version = version.wrapping_add(1);
        let version = *version;
        self.quantum.plan(records, operation, index, version, timed);
        if operation == Operation::Remove {
            self.quantum.plan(records, Operation::Insert, index, version, false);
        }
    }

    /// Does its part of a round.
    fn work(
        &mut self,
        session: &mut dyn Session,
        records: &Records,
        goal: &Goal,
        seconds: &mut Seconds<'_>,
    ) -> Result<(), Stop> {
        let start = Instant::now();
        let (mut done, mut limit) = (0, goal.first_quantum);
        while done < goal.operations && goal.until.is_none_or(|duration| start.elapsed() < duration) {
            let quantum_start = Instant::now();
            done += self.quantum(records, goal, done, limit);
            self.driver.run(session, &mut self.quantum)?;
            self.written = self.written.plus(self.quantum.written());
            self.driver.tell(goal.operation, seconds)?;
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

    /// Plans the next quantum: at most `limit` operations; returns how many.
    fn quantum(&mut self, records: &Records, goal: &Goal, done: u64, limit: u64) -> u64 {
        self.quantum.clear();
        let most = (goal.operations - done).min(limit);
        let mut chosen = [0; QUANTUM_OPERATIONS];
        if goal.operation != Operation::Insert {
            self.chooser.fill(&mut chosen[..most as usize], &self.versions);
        }
        let mut planned = 0;
        while planned < most && self.quantum.has_room_for(2) {
            self.plan(records, goal.operation, chosen[planned as usize], done + planned >= goal.warm_up);
            planned += 1;
        }
        planned
    }
}

/// A run of the workload.
struct Running<'a> {
    plan: &'a Crud,
    records: &'a Records,
    clock: &'a Clock,
    shares: Vec<Share<'a>>,
    batch: Batch,
    series: Series,
    /// All that was loaded.
    loaded: Written,
}

/// What was done, before it is summed up.
pub struct Ran {
    load: Load,
    phases: Vec<Phase>,
    cache_emptied_by: Option<Emptied>,
}

/// What is ready before the store is opened: all of the harness's memory.
pub struct Prepared<'a> {
    running: Running<'a>,
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
        let share = |thread| {
            Ok(Share {
                thread,
                threads: self.threads,
                driver: Driver::new(clock, records, self.visit, check)?,
                versions: touched(self.most_records() / self.threads + 1),
                quantum: Quantum::new(records.largest_value()),
                chooser: Chooser::uniform(self.seed ^ thread),
                written: Written::default(),
            })
        };
        let shares = (0..self.threads).map(share).collect::<Result<_, String>>()?;
        let bytes = (records.largest_value() * self.batch).min(BATCH_BYTES + records.largest_value());
        let batch = Batch {
            arena: touched(bytes as u64),
            keys: Vec::with_capacity(self.batch),
            ends: Vec::with_capacity(self.batch),
        };
        let (series, loaded) = (Series::new(self.threads as usize)?, Written::default());
        Ok(Prepared { running: Running { plan: self, records, clock, shares, batch, series, loaded } })
    }
}

impl Crud {
    /// The most records that there can be.
    fn most_records(&self) -> u64 {
        if self.duration.is_some() {
            self.records.to
        } else {
            self.records.to.min(self.records.from + self.operations + self.warm_up)
        }
    }
}

/// An empty vector whose memory is resident.
fn touched(capacity: u64) -> Vec<u8> {
    let mut bytes = vec![1; capacity as usize];
    bytes.clear();
    bytes
}

impl Prepared<'_> {
    /// Loads the store and does all operations. What was measured can be told afterwards, which takes memory.
    ///
    /// # Errors
    /// At the first thing that goes wrong.
    pub fn run(&mut self, bench: &mut Bench<'_>) -> Result<Ran, Stop> {
        let running = &mut self.running;
        let mut load = running.load(bench.store()?)?;
        let mut cache_emptied_by = None;
        let mut phases = Vec::new();
        for operation in running.plan.order.clone() {
            if operation == Operation::Get && running.plan.cold {
                cache_emptied_by = Some(bench.reopen_cold()?);
            }
            let mut phase = Phase::new(operation, running.plan);
            while let Some(goal) = phase.goal(running.live()) {
                if goal.operations == 0 {
                    bench.fresh()?;
                    load = running.load(bench.store()?)?;
                } else {
                    running.round(bench.store()?, &mut phase, goal)?;
                }
            }
            phases.push(phase);
        }
        Ok(Ran { load, phases, cache_emptied_by })
    }

    /// What was measured.
    ///
    /// # Errors
    /// When a histogram can't be written.
    pub fn done(self, ran: Ran) -> Result<Done, Stop> {
        let Ran { load, phases, cache_emptied_by } = ran;
        let (stored, written) = (self.running.stored(), self.running.written());
        let recorder = self.recorder()?;
        let operations = phases.into_iter().map(|phase| phase.result(&recorder)).collect::<Result<_, _>>()?;
        Ok(Done { load, operations, stored, written, cache_emptied_by })
    }

    /// What all threads measured together.
    fn recorder(self) -> Result<Recorder, Stop> {
        let mut recorders = self.running.shares.into_iter().map(|share| share.driver.finish());
        let mut all = recorders.next().ok_or_else(|| Stop::harness("no thread was at work"))?;
        recorders.try_for_each(|recorder| all.merge(&recorder)).map_err(Stop::harness)?;
        Ok(all)
    }
}

impl Running<'_> {
    /// How many records the store holds.
    fn live(&self) -> u64 {
        self.shares.iter().map(|share| share.versions.len() as u64).sum()
    }

    /// Loads the first records in batches, in the order of their indexes.
    fn load(&mut self, store: &dyn Store) -> Result<Load, Stop> {
        let count = self.plan.records.from;
        let threads = self.shares.len() as u64;
        for share in &mut self.shares {
            share.versions.clear();
            share.versions.resize(((count + threads - 1 - share.thread) / threads) as usize, 0);
        }
        let mut session = store.session().map_err(|error| Stop::store("opening a session", &error))?;
        let mut load = Load { records: count, value_bytes: 0, store_ns: 0, counters: None };
        let mut next = 0;
        let before = Snapshot::now();
        while next < count {
            next = self.batch.fill(self.records, next..count, self.plan.batch);
            let batch = self.batch.records();
            let start = Instant::now();
            session.insert_batch(&batch).map_err(|error| Stop::store("loading a batch", &error))?;
            load.store_ns += start.elapsed().as_nanos() as u64;
            load.value_bytes += batch.iter().map(|(_, value)| value.len() as u64).sum::<u64>();
        }
        load.counters = Some(Snapshot::now().since(&before));
        let (key_bytes, value_bytes) = (count * KEY_BYTES as u64, load.value_bytes);
        self.loaded = self.loaded.plus(Written { records: count, key_bytes, value_bytes });
        Ok(load)
    }

    /// One round of a phase, on all threads together.
    fn round(&mut self, store: &dyn Store, phase: &mut Phase, goal: Goal) -> Result<(), Stop> {
        let (records, clock, live) = (self.records, self.clock, self.live());
        let (threads, rate) = (self.shares.len() as u64, self.plan.rate);
        let barrier = Barrier::new(self.shares.len());
        self.series.begin();
        let series = &self.series;
        let before = Snapshot::now();
        let work = |share: &mut Share<'_>| -> Result<(Instant, Instant), Stop> {
            let session = store.session().map_err(|error| Stop::store("opening a session", &error));
            barrier.wait();
            let mut session = session?;
            let before = share.driver.latencies(goal.operation);
            let mut seconds = series.thread(share.thread as usize, before).map_err(Stop::harness)?;
            let goal = goal.for_thread(share.thread, threads, live);
            share.driver.set_pacer(match rate {
                Rate::Closed => None,
                Rate::PerSecond(rate) => Some(Pacer::new(clock, rate, share.thread, threads)),
            });
            let start = Instant::now();
            share.work(session.as_mut(), records, &goal, &mut seconds)?;
            let end = Instant::now();
            seconds.finish(share.driver.latencies(goal.operation)).map_err(Stop::harness)?;
            Ok((start, end))
        };
        let spans: Vec<_> = if let [share] = self.shares.as_mut_slice() {
            vec![work(share)]
        } else {
            std::thread::scope(|scope| {
                let workers: Vec<_> =
                    self.shares.iter_mut().map(|share| scope.spawn(|| work(share))).collect();
                let join = |worker: std::thread::ScopedJoinHandle<'_, _>| {
                    worker.join().unwrap_or_else(|_| Err(Stop::harness("a thread panicked")))
                };
                workers.into_iter().map(join).collect()
            })
        };
        let counters = Snapshot::now().since(&before);
        let spans = spans.into_iter().collect::<Result<Vec<_>, _>>()?;
        let first = spans.iter().map(|(start, _)| *start).min();
        let last = spans.iter().map(|(_, end)| *end).max();
        let wall = first.zip(last).map_or(Duration::ZERO, |(first, last)| last - first);
        let mut untimed = Untimed::default();
        self.shares.iter_mut().for_each(|share| untimed.add(&share.driver.take_untimed()));
        phase.count(counters, &untimed);
        phase.add(goal, wall, self.series.finish());
        Ok(())
    }

    /// What the store holds, from what was written to it.
    fn stored(&self) -> Stored {
        let records = self.live();
        let value_bytes =
            self.shares.iter().flat_map(|share| {
                share.versions.iter().zip(0..).map(|(version, position)| {
                    self.records.value_length(share.index(position), *version) as u64
                })
            });
        Stored { records, key_bytes: records * KEY_BYTES as u64, value_bytes: value_bytes.sum() }
    }

    /// What was handed to the store.
    fn written(&self) -> Written {
        self.shares.iter().fold(self.loaded, |sum, share| sum.plus(share.written))
    }
}

/// A batch of the loader. Its memory is taken once and kept.
struct Batch {
    arena: Vec<u8>,
    keys: Vec<[u8; KEY_BYTES]>,
    ends: Vec<usize>,
}

impl Batch {
    /// Fills it with records from the start of `indexes`, up to `most` of them; returns the index after the last.
    fn fill(&mut self, records: &Records, indexes: std::ops::Range<u64>, most: usize) -> u64 {
        self.arena.clear();
        self.keys.clear();
        self.ends.clear();
        let mut next = indexes.start;
        while next < indexes.end && self.keys.len() < most && self.arena.len() < BATCH_BYTES {
            records.append_value(next, 0, &mut self.arena);
            self.keys.push(records.key(next));
            self.ends.push(self.arena.len());
            next += 1;
        }
        next
    }

    fn records(&self) -> Vec<(&[u8], &[u8])> {
        let starts = std::iter::once(&0).chain(&self.ends);
        self.keys
            .iter()
            .zip(starts.zip(&self.ends))
            .map(|(key, (start, end))| (key.as_slice(), &self.arena[*start..*end]))
            .collect()
    }
}

#[cfg(test)]
mod tests;
