//! The machines that runs are of: by what they are told apart, what is known of each, and which are of one type.

use std::collections::BTreeSet;

use storebench_core::axis::Role;
use storebench_core::cell::{Axis, HERE};
use storebench_core::result::{Environment, Limited, Run};
use storebench_core::units::{counted, rough_bytes};

use crate::data::merge::{Entry, Group, GroupKey, Merged};
use crate::data::method::Method;
use crate::data::names::and;

/// Memory of machines of one type may differ by this share of it: a kernel keeps more for itself than another does.
const SAME_MEMORY: f64 = 0.05;

/// Machines that are named before the rest is only counted.
const NAMED: usize = 6;

/// By what machines are told apart.
pub(crate) struct Machines<'m> {
    merged: &'m Merged<'m>,
    /// The own simulated disk of each run's machine, where each run has one machine that limits stand in for, or none, and these differ:
    /// there limits make the machine.
    disks: Option<Vec<String>>,
}

impl<'m> Machines<'m> {
    pub(crate) fn of(merged: &'m Merged<'m>) -> Machines<'m> {
        let of_run = |run: &Run| -> BTreeSet<String> {
            run.trials.iter().map(|trial| trial.cell.machine().to_owned()).collect()
        };
        let each: Vec<BTreeSet<String>> = merged.runs.iter().map(of_run).collect();
        let all: BTreeSet<&String> = each.iter().flatten().collect();
        let tells_apart = merged.layout.role(Axis::MACHINE) == Role::Group;
        let disk = |(run, own): (&Run, &BTreeSet<String>)| {
            let disk = own.first().and_then(|machine| Method::of(run)?.disk_of(machine).map(str::to_owned));
            disk.unwrap_or_else(|| HERE.to_owned())
        };
        let is_limited = tells_apart && all.len() > 1 && each.iter().all(|own| own.len() < 2);
        let disks = is_limited.then(|| merged.runs.iter().zip(&each).map(disk).collect());
        Machines { merged, disks }
    }

    /// The name of a group's machine, and the key that it shares with groups of other machines.
    pub(crate) fn shared(&self, group: &Group<'_>) -> (String, GroupKey) {
        let key = GroupKey { hardware: String::new(), ..group.key.clone() };
        let hardware = group.key.hardware.clone();
        let Some(Entry { run, trial }) = group.trials.first() else { return (hardware, key) };
        let (cell, methods) = (&trial.cell, &self.merged.methods);
        let disk = self.disks.as_ref().and_then(|disks| disks.get(*run));
        let has_disk = disk.is_some_and(|own| own == cell.disk());
        let is_own =
            |axis: Axis| (disk.is_some() && axis == Axis::MACHINE) || (has_disk && axis == Axis::DISK);
        let facets = key.facets.iter().filter(|(axis, _)| !is_own(*axis)).cloned().collect();
        let before = key.method.strip_suffix(&methods.of(*run, cell)).unwrap_or(&key.method);
        let kernel = &self.merged.runs[*run].header.environment.kernel;
        let method = format!("{before}{}", methods.beside_machine(*run, cell, kernel, has_disk));
        let method = method.trim_end_matches(", ").to_owned();
        let hardware = methods.identity(*run).map_or(hardware, str::to_owned);
        let name = match cell.machine() {
            limited if disk.is_some() && limited != HERE => format!("{hardware} as {limited}"),
            _ => hardware,
        };
        (name, GroupKey { facets, method, ..key })
    }

    /// When the newest run of a group was started: of a machine with several kernels, say, the newest counts, and once.
    pub(crate) fn started(&self, group: &Group<'_>) -> &'m str {
        let runs = group.trials.iter().filter_map(|entry| self.merged.runs.get(entry.run));
        runs.map(|run| run.header.started.as_str()).max().unwrap_or_default()
    }
}

/// The traits of a machine: those of the limits that stand in for one, where there are any, else those of the host.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Traits {
    pub(crate) processor: Option<String>,
    pub(crate) cores: u64,
    pub(crate) memory_bytes: Option<u64>,
}

impl Traits {
    /// Those of a host.
    pub(crate) fn of_host(environment: &Environment) -> Traits {
        Traits {
            processor: environment.cpu.clone(),
            cores: u64::from(environment.cores),
            memory_bytes: environment.memory_bytes,
        }
    }

    /// Those of a group's machine; `None` of one without trials.
    pub(crate) fn of(merged: &Merged<'_>, group: &Group<'_>) -> Option<Traits> {
        let host = Traits::of_host(&merged.runs.get(group.trials.first()?.run)?.header.environment);
        let reports = group.trials.iter().filter_map(|entry| entry.trial.machine.as_ref());
        let limits = reports.flat_map(|machine| &machine.limits);
        let held = |limited: Limited| {
            limits.clone().filter(|limit| limit.limit == limited).find_map(|limit| limit.in_force)
        };
        Some(Traits {
            cores: held(Limited::Processors).unwrap_or(host.cores),
            memory_bytes: held(Limited::Memory).or(host.memory_bytes),
            ..host
        })
    }

    /// Whether two are of one type, as far as processor, cores and memory tell. What is not known is like nothing.
    fn is_like(&self, other: &Traits) -> bool {
        let memory = self
            .memory_bytes
            .zip(other.memory_bytes)
            .is_some_and(|(one, other)| one.abs_diff(other) as f64 <= SAME_MEMORY * one.max(other) as f64);
        let processor = self.processor.is_some() && self.processor == other.processor;
        processor && self.cores == other.cores && memory
    }
}

/// A machine that was compared.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Known {
    pub(crate) name: String,
    pub(crate) hardware: String,
    pub(crate) traits: Traits,
}

/// The machines that are of one type, for each type that several are of, and that they count as so many: without a full stop.
pub(crate) fn of_one_type(machines: &[Known]) -> Vec<String> {
    let words = |alike: &Vec<&Known>| {
        let Traits { processor, cores, memory_bytes } = &alike[0].traits;
        format!(
            "{} are of one type ({}, {}, {}), and count as {}",
            named(alike),
            processor.as_deref().unwrap_or_default(),
            counted(*cores, "core"),
            rough_bytes(memory_bytes.unwrap_or_default() as f64),
            counted(alike.len(), "machine"),
        )
    };
    several(machines, |one, other| one.traits.is_like(&other.traits)).iter().map(words).collect()
}

/// The same of those that are one host under limits.
pub(crate) fn of_one_host(machines: &[Known]) -> Vec<String> {
    let words = |alike: &Vec<&Known>| {
        format!(
            "{} are one host under limits, which make it smaller and not different, and count as {}: intervals over them speak of \
             this host under limits",
            named(alike),
            counted(alike.len(), "machine")
        )
    };
    several(machines, |one, other| one.hardware == other.hardware).iter().map(words).collect()
}

/// The machines that are alike, where several are.
fn several(machines: &[Known], is_like: impl Fn(&Known, &Known) -> bool) -> Vec<Vec<&Known>> {
    let mut all: Vec<Vec<&Known>> = Vec::new();
    for machine in machines {
        match all.iter_mut().find(|alike| is_like(alike[0], machine)) {
            Some(alike) => alike.push(machine),
            None => all.push(vec![machine]),
        }
    }
    all.retain(|alike| alike.len() > 1);
    all
}

fn named(machines: &[&Known]) -> String {
    let mut names: Vec<String> = machines.iter().take(NAMED).map(|machine| machine.name.clone()).collect();
    let more = machines.len().saturating_sub(NAMED);
    names.extend((more > 0).then(|| format!("{more} more")));
    and(&names)
}
