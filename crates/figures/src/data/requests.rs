//! The requests of each store's operations to a simulated disk, from the disk's own counts, and which of them take the time.

use storebench_model::result::{Counters, Measurements, OVERALL, OperationResult, Requests};

use super::merge::Entry;

/// The requests of an operation, or of another part of a trial, over all trials of a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct PartRequests {
    pub part: Part,
    /// The number of executions: operations, loaded records, or trials.
    pub times: u64,
    pub requests: Requests,
    /// The mean latency of an operation, in nanoseconds.
    pub latency_ns: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    Loading,
    /// An operation; whether the requests are of a mix with it as the main one, and whether each includes an insert that puts a record back.
    Operation {
        name: String,
        mixed: bool,
        puts_back: bool,
    },
    Settling,
    /// The rest of a trial, such as opening the store, closing it and reading it back.
    Rest,
}

impl Part {
    fn from_operation(operation: &OperationResult) -> Part {
        Part::Operation {
            name: operation.operation.clone(),
            mixed: operation.phase_disk.as_ref().is_some_and(|phase| phase.operations > operation.count),
            puts_back: operation.put_back > 0,
        }
    }

    /// Its name for people.
    pub fn name(&self) -> String {
        match self {
            Part::Loading => "loading, a record".into(),
            Part::Operation { name, mixed: true, .. } => format!("{name} and the rest of its mix"),
            Part::Operation { name, puts_back: true, .. } => format!("{name} + insert"),
            Part::Operation { name, .. } if name == OVERALL => "an operation of the mix".into(),
            Part::Operation { name, .. } => name.clone(),
            Part::Settling => "settling, a trial".into(),
            Part::Rest => "rest of a trial".into(),
        }
    }

    /// Its name in files.
    pub fn id(&self) -> &str {
        match self {
            Part::Loading => "loading",
            Part::Operation { name, .. } => name,
            Part::Settling => "settling",
            Part::Rest => "rest",
        }
    }

    pub fn is_operation(&self) -> bool {
        matches!(self, Part::Operation { .. })
    }
}

/// What takes most of a disk's time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cause {
    pub name: &'static str,
    pub share: f64,
}

fn greatest_cause(causes: impl IntoIterator<Item = (&'static str, u64)> + Clone) -> Option<Cause> {
    let sum: u64 = causes.clone().into_iter().map(|(_, ns)| ns).sum();
    let (name, ns) = causes.into_iter().max_by_key(|(_, ns)| *ns).filter(|(_, ns)| *ns > 0)?;
    Some(Cause { name, share: ns as f64 / sum as f64 })
}

impl PartRequests {
    pub fn per_operation(&self, number: u64) -> f64 {
        number as f64 / self.times.max(1) as f64
    }

    /// The kind of request that takes most of the model's time.
    pub fn kind(&self) -> Option<Cause> {
        let Requests { reads, writes, discards, flush_ns, .. } = &self.requests;
        greatest_cause([
            ("flushes", *flush_ns),
            ("writes", writes.modelled_ns),
            ("reads", reads.modelled_ns),
            ("discards", discards.modelled_ns),
        ])
    }

    /// The kind of work that takes most of the device's time, if its model reports it.
    pub fn work(&self) -> Option<Cause> {
        let tally = &self.requests.tally;
        greatest_cause([
            ("seeks and turns", tally.seek_ns),
            ("copied units", tally.merge_ns),
            ("transferred bytes", tally.transfer_ns),
        ])
    }

    fn add(parts: &mut Vec<PartRequests>, part: PartRequests) {
        match parts.iter_mut().find(|known| known.part == part.part) {
            None => parts.push(part),
            Some(known) => {
                let sum = |known: &PartRequests| Some(known.latency_ns? * known.times as f64);
                let latency_ns = sum(known).zip(sum(&part)).map(|(known_sum, new_sum)| known_sum + new_sum);
                known.times += part.times;
                known.latency_ns = latency_ns.map(|sum| sum / known.times.max(1) as f64);
                known.requests = known.requests.plus(&part.requests);
            }
        }
    }
}

/// The requests of a cell's trials, part by part in order; empty if they were not counted by part.
pub fn requests_by_part(entries: &[Entry<'_>]) -> Vec<PartRequests> {
    let mut sums = Vec::new();
    for trial in entries.iter().map(|entry| entry.trial) {
        let (Some(measured), Some(disk)) = (trial.ok(), &trial.disk) else { continue };
        let parts = parts(measured);
        if !parts.iter().any(|part| part.part.is_operation()) {
            continue;
        }
        let counted = parts.iter().fold(Requests::default(), |sum, part| sum.plus(&part.requests));
        let disk_total = &disk.counts.requests;
        let requests = Requests { journal: None, ..disk_total.since(&counted) };
        let rest = PartRequests { part: Part::Rest, times: 1, requests, latency_ns: None };
        parts.into_iter().chain([rest]).for_each(|part| PartRequests::add(&mut sums, part));
    }
    sums
}

/// The parts of a trial whose requests were counted separately. The sum over all operations includes each of them.
fn parts(measured: &Measurements) -> Vec<PartRequests> {
    let part_of = |part: Part, times: u64, counters: Option<&Counters>| {
        let requests = counters?.disk.clone()?;
        (times > 0).then_some(PartRequests { part, times, requests, latency_ns: None })
    };
    let load = &measured.load;
    let mut parts: Vec<PartRequests> =
        part_of(Part::Loading, load.records, load.counters.as_ref()).into_iter().collect();
    let overall = measured.operation(OVERALL).filter(|overall| overall.disk_requests().is_some());
    for operation in &measured.operations {
        if overall.is_some_and(|overall| overall.operation != operation.operation) {
            continue;
        }
        let Some((requests, times)) = operation.disk_requests() else { continue };
        parts.push(PartRequests {
            part: Part::from_operation(operation),
            times,
            requests: requests.clone(),
            latency_ns: (operation.count > 0).then(|| operation.sum_ns as f64 / operation.count as f64),
        });
    }
    parts.extend(part_of(Part::Settling, 1, measured.settle_counters.as_ref()));
    parts
}
