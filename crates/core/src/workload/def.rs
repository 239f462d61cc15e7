//! An entry of the table of workloads.

use std::fmt;
use std::ops::Range;

use super::case::{Case, Space, Time};
use super::clients::link::Wire;
use super::spec::{Asked, Ended};
use crate::axis::Axis;
use crate::measure::probe::Probe;
use crate::result::{Measured, Reason, TrialResult};

/// All that is said of a workload.
#[derive(Debug)]
pub struct WorkloadDef {
    /// The word used in plans and results.
    pub name: &'static str,
    /// A line of help: what is done, to what.
    pub help: &'static str,
    /// The axes that its cells have.
    pub axes: &'static [Axis],
    /// Its parameters, by name ([`Parameters`](super::parameter::Parameters)).
    pub parameters: &'static [&'static str],
    /// Its operations, by name, in the order in which reports show them.
    pub operations: &'static [&'static str],
    /// Why a cell can't be run, whatever the place.
    pub reason: fn(&Case<'_>) -> Option<Reason>,
    /// The figures that decide, in the order in which a matrix has them.
    pub headline: &'static [Headline],
    /// The disk that a cell takes.
    pub space: fn(&Case<'_>) -> Space,
    /// Bytes of data in the store at its fullest.
    pub held: fn(&Case<'_>) -> f64,
    /// The memory that a trial's process takes, in bytes: what is made ahead of the work, and what a store keeps in memory alone;
    /// engines' caches aside.
    pub memory: fn(&Case<'_>) -> f64,
    /// The time that a trial takes, by what its place costs.
    pub time: fn(&Case<'_>, &Probe) -> Time,
    /// The time that a trial takes by what a rehearsal of its cell took, in seconds, where that says more.
    pub time_by_rehearsal: Option<ByRehearsal>,
    /// Runs a trial, in a process of its own.
    pub run: fn(&Asked<'_>) -> Result<Measured, Ended>,
    /// Does what a trial's process asks of one of its clients, which has these of its threads; `None` where the work can't be spread
    /// over several machines.
    pub serve: Option<Serve>,
}

/// Does the part of a client.
pub(crate) type Serve = fn(&Asked<'_>, Range<u64>, &dyn Wire) -> Result<(), Ended>;

/// The time that a trial takes by what a rehearsal of its cell took, in seconds; `None` where that tells nothing.
pub(crate) type ByRehearsal = fn(&Case<'_>, &Probe, &TrialResult) -> Option<f64>;

/// A figure by which contestants are ranked wherever a report has room for a few.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Headline {
    /// Operations per second of all kinds together ([`crate::result::OVERALL`]).
    Throughput,
    /// The mean latency of each operation.
    Latency,
    /// Bytes on disk per byte of values.
    Space,
    /// Peak memory.
    Memory,
}

/// A workload: what is done, and to what.
#[derive(Clone, Copy)]
pub struct Workload(&'static WorkloadDef);

impl Workload {
    /// That of an entry.
    pub const fn of(def: &'static WorkloadDef) -> Workload {
        Workload(def)
    }

    /// All that is said of it.
    pub fn def(self) -> &'static WorkloadDef {
        self.0
    }

    /// Whether it has a parameter.
    pub fn has(self, parameter: &str) -> bool {
        self.0.parameters.contains(&parameter)
    }
}

impl PartialEq for Workload {
    fn eq(&self, other: &Workload) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for Workload {}

impl fmt::Debug for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0.name)
    }
}
