//! An entry of the table of workloads.

use std::fmt;
use std::ops::Range;

use storebench_model::axis::Axis;
use storebench_model::result::{LeftOutReason, Measurements, TrialResult};

use super::case::{Case, SpaceEstimate, TimeEstimate};
use super::clients::link::ClientWire;
use super::spec::{TrialContext, TrialError};
use crate::measure::probe::Probe;

/// An entry of the table of workloads.
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
    /// Why a cell can't be run, whatever the location.
    pub reason: fn(&Case<'_>) -> Option<LeftOutReason>,
    /// The figures that decide, in the order in which a matrix has them.
    pub headline: &'static [Headline],
    /// The disk that a cell takes.
    pub space: fn(&Case<'_>) -> SpaceEstimate,
    /// Bytes of data in the store at its fullest.
    pub stored_bytes: fn(&Case<'_>) -> f64,
    /// A trial process's memory in bytes: what is made ahead, and what a store keeps in memory alone, without engines' caches.
    pub memory: fn(&Case<'_>) -> f64,
    /// The time that a trial takes, by what its location costs.
    pub time: fn(&Case<'_>, &Probe) -> TimeEstimate,
    /// The time that a trial takes by what a rehearsal of its cell took, in seconds, where that says more.
    pub time_by_rehearsal: Option<RehearsalEstimate>,
    /// Runs a trial.
    pub run: fn(&TrialContext<'_>) -> Result<Measurements, TrialError>,
    /// Does a client's part of a trial, with these threads; `None` if the work can't be spread over machines.
    pub serve: Option<Serve>,
}

pub(crate) type Serve = fn(&TrialContext<'_>, Range<u64>, &dyn ClientWire) -> Result<(), TrialError>;

/// Seconds of a trial, estimated from a rehearsal of its cell; `None` if that shows nothing.
pub(crate) type RehearsalEstimate = fn(&Case<'_>, &Probe, &TrialResult) -> Option<f64>;

/// The axes with these names: `axes!(STORE RECORDS)`.
macro_rules! axes {
    ($($name:ident)*) => { &[$(storebench_model::axis::Axis::$name),*] };
}
pub(crate) use axes;

/// A figure by which contestants are ranked wherever a report has room for a few.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Headline {
    /// Operations per second of all kinds together ([`storebench_model::result::OVERALL`]).
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
    /// The workload of an entry.
    pub const fn from_def(def: &'static WorkloadDef) -> Workload {
        Workload(def)
    }

    /// The entry.
    pub fn def(self) -> &'static WorkloadDef {
        self.0
    }

    /// Whether it has a parameter.
    pub fn has_parameter(self, parameter: &str) -> bool {
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
