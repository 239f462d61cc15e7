//! The timed loop of one thread: offsets are drawn in quanta before the operations on them run, one after the other, each
//! timed from just before the call to just after it; latencies are recorded when the quantum has ended.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::time::Instant;

use super::buffer::{Aligned, Pool};
use super::fault::{Doing, Error};
use super::route::{Route, split_mix};
use super::spec::Spec;
use super::transfer;
use crate::axis::device::values::{Sync, SyncCall};
use crate::measure::clock::Clock;
use crate::measure::latency::Latencies;
use crate::measure::series::{QUANTUM_TIME, Seconds};

/// Operations in a quantum at most.
const QUANTUM: usize = 128;
/// Operations in the first quantum: how slow they are is not known.
const FIRST_QUANTUM: usize = 8;

/// What one thread measured.
#[derive(Debug)]
pub(super) struct Record {
    /// Of operations, each with the sync that followed it.
    pub operations: Latencies,
    /// Of the reads or writes alone, where there are syncs besides.
    pub calls: Option<Latencies>,
    /// Of the syncs alone.
    pub syncs: Option<Latencies>,
}

impl Record {
    fn new(syncs: bool) -> Result<Record, String> {
        let more = || syncs.then(Latencies::new).transpose();
        Ok(Record { operations: Latencies::new()?, calls: more()?, syncs: more()? })
    }

    /// Adds what another thread measured.
    pub(super) fn merge(&mut self, other: &Record) -> Result<(), String> {
        let merge = |mine: &mut Option<Latencies>, theirs: &Option<Latencies>| match (mine, theirs) {
            (Some(mine), Some(theirs)) => mine.merge(theirs),
            _ => Ok(()),
        };
        merge(&mut self.calls, &other.calls)?;
        merge(&mut self.syncs, &other.syncs)?;
        self.operations.merge(&other.operations)
    }
}

/// What is done with a block.
#[derive(Debug)]
enum Work {
    Read(Aligned),
    Write { pool: Pool, syncs: Option<Syncs> },
}

/// The syncs between the writes.
#[derive(Debug, Clone, Copy)]
struct Syncs {
    call: SyncCall,
    each: u32,
    /// Writes until the next.
    left: u32,
}

/// When an operation began, when its read or write had ended, and when its sync had. Moments are the clock's.
#[derive(Clone, Copy)]
struct Moments {
    begin: u64,
    called: u64,
    end: u64,
}

/// One thread's part: its file, its memory, what it measured.
#[derive(Debug)]
pub(super) struct Lane<'a> {
    clock: &'a Clock,
    file: File,
    path: PathBuf,
    route: Route,
    work: Work,
    offsets: [u64; QUANTUM],
    /// The ticks that reads or writes took.
    calls: [u64; QUANTUM],
    /// The ticks that syncs took; 0 where there was none.
    syncs: [u64; QUANTUM],
    record: Record,
}

impl<'a> Lane<'a> {
    /// All memory that it will ever use is taken and touched here.
    pub(super) fn new(
        spec: &Spec,
        thread: u64,
        clock: &'a Clock,
        file: File,
        path: PathBuf,
    ) -> Result<Lane<'a>, String> {
        let (mut state, block) = (spec.seed.wrapping_add(thread), spec.block as usize);
        let seed = split_mix(&mut state);
        let syncs = match spec.sync {
            Sync::None => None,
            Sync::Each(call, writes) => Some(Syncs { call, each: writes.max(1), left: writes.max(1) }),
        };
        let work = if spec.pattern.writes() {
            Work::Write { pool: Pool::new(block, seed), syncs }
        } else {
            Work::Read(Aligned::random(block, seed))
        };
        Ok(Lane {
            clock,
            file,
            path,
            route: Route::new(spec, thread),
            work,
            offsets: [0; QUANTUM],
            calls: [0; QUANTUM],
            syncs: [0; QUANTUM],
            record: Record::new(syncs.is_some())?,
        })
    }

    /// Blocks that it reads or writes before one comes again.
    pub(super) fn lap(&self) -> u64 {
        self.route.lap()
    }

    /// Latencies of its operations so far.
    pub(super) fn latencies(&self) -> &Latencies {
        &self.record.operations
    }

    /// What it measured.
    pub(super) fn finish(self) -> Record {
        self.record
    }

    /// Does so many operations, or those that begin before the clock reads `deadline`.
    pub(super) fn run(
        &mut self,
        operations: u64,
        deadline: u64,
        seconds: &mut Seconds<'_>,
    ) -> Result<(), Error> {
        let (mut left, mut limit, mut over) = (operations, FIRST_QUANTUM, false);
        while left > 0 && !over {
            let start = Instant::now();
            let most = left.min(limit as u64) as usize;
            self.route.fill(&mut self.offsets[..most]);
            let done = self.quantum(most, deadline)?;
            over = done < most || self.clock.now() >= deadline;
            self.take_note(done);
            left -= done as u64;
            seconds.tell(&self.record.operations).map_err(Error::Harness)?;
            // Quanta of slow operations are short, so that they count in the right second.
            limit = match start.elapsed() {
                took if took > QUANTUM_TIME => limit / 2,
                took if took < QUANTUM_TIME / 2 => limit * 2,
                _ => limit,
            }
            .clamp(1, QUANTUM);
        }
        Ok(())
    }

    /// Does the operations of a quantum; how many there were when the time was over.
    fn quantum(&mut self, most: usize, deadline: u64) -> Result<usize, Error> {
        for position in 0..most {
            let offset = self.offsets[position];
            let done = match &mut self.work {
                Work::Read(memory) => read(self.clock, &self.file, memory, offset),
                Work::Write { pool, syncs } => write(self.clock, &self.file, pool, syncs.as_mut(), offset),
            };
            let moments = done.map_err(|(doing, error)| self.failed(doing, offset, error))?;
            self.calls[position] = moments.called.saturating_sub(moments.begin);
            self.syncs[position] = moments.end.saturating_sub(moments.called);
            if moments.end >= deadline {
                return Ok(position + 1);
            }
        }
        Ok(most)
    }

    /// Records the latencies of a quantum.
    fn take_note(&mut self, done: usize) {
        let ns = |ticks| self.clock.nanoseconds(0, ticks).max(1);
        for (call, sync) in self.calls.iter().zip(&self.syncs).take(done) {
            self.record.operations.record(ns(call + sync));
            if let Some(calls) = &mut self.record.calls {
                calls.record(ns(*call));
            }
            if let Some(syncs) = &mut self.record.syncs
                && *sync > 0
            {
                syncs.record(ns(*sync));
            }
        }
    }

    #[cold]
    fn failed(&self, doing: Doing, offset: u64, source: io::Error) -> Error {
        Error::Io { doing, path: self.path.clone(), offset: Some(offset), source }
    }
}

/// One read.
#[inline(always)]
fn read(
    clock: &Clock,
    file: &File,
    memory: &mut Aligned,
    offset: u64,
) -> Result<Moments, (Doing, io::Error)> {
    let bytes = memory.bytes_mut();
    let begin = clock.now();
    let result = transfer::read(file, bytes, offset);
    let end = clock.now();
    result.map_err(|error| (Doing::Read, error))?;
    Ok(Moments { begin, called: end, end })
}

/// One write, and the sync after it where one is due.
#[inline(always)]
fn write(
    clock: &Clock,
    file: &File,
    pool: &mut Pool,
    syncs: Option<&mut Syncs>,
    offset: u64,
) -> Result<Moments, (Doing, io::Error)> {
    pool.advance();
    let bytes = pool.block();
    let begin = clock.now();
    let result = transfer::write(file, bytes, offset);
    let called = clock.now();
    result.map_err(|error| (Doing::Write, error))?;
    let Some(syncs) = syncs else { return Ok(Moments { begin, called, end: called }) };
    syncs.left -= 1;
    if syncs.left > 0 {
        return Ok(Moments { begin, called, end: called });
    }
    syncs.left = syncs.each;
    let result = match syncs.call {
        SyncCall::Fsync => transfer::sync(|| rustix::fs::fsync(file)),
        SyncCall::Fdatasync => transfer::sync(|| rustix::fs::fdatasync(file)),
    };
    // A sync that took no tick of a coarse clock was one all the same.
    let end = clock.now().max(called + 1);
    result.map_err(|error| (Doing::Sync, error))?;
    Ok(Moments { begin, called, end })
}
