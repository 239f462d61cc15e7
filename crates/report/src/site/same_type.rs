//! Finds machines of the same type.

use storebench_core::result::RunHeader;
use storebench_core::units::{plural, rough_bytes};

use crate::data::names::join_with_and;

/// Memory of machines of one type may differ by this share: kernels reserve different amounts.
const SAME_MEMORY: f64 = 0.05;

/// Machines that are named; the rest is counted.
const NAMED: usize = 6;

/// A sentence without a full stop for each type of several machines, which count separately. Each
/// machine has one header.
pub fn describe_types(machines: &[&RunHeader]) -> Vec<String> {
    let mut all: Vec<Vec<&RunHeader>> = Vec::new();
    for machine in machines {
        match all.iter_mut().find(|alike| are_alike(alike[0], machine)) {
            Some(alike) => alike.push(machine),
            None => all.push(vec![machine]),
        }
    }
    let words = |alike: &Vec<&RunHeader>| {
        let environment = &alike[0].environment;
        format!(
            "{} are of one type ({}, {}, {}), and count as {}",
            machine_names(alike),
            environment.cpu.as_deref().unwrap_or_default(),
            plural(environment.cores, "core"),
            rough_bytes(environment.memory_bytes.unwrap_or_default() as f64),
            plural(alike.len(), "machine"),
        )
    };
    all.iter().filter(|alike| alike.len() > 1).map(words).collect()
}

/// Whether two machines have the same type by processor, cores and memory. Unknown values differ from everything.
fn are_alike(one: &RunHeader, other: &RunHeader) -> bool {
    let (one, other) = (&one.environment, &other.environment);
    let memory = one
        .memory_bytes
        .zip(other.memory_bytes)
        .is_some_and(|(one, other)| one.abs_diff(other) as f64 <= SAME_MEMORY * one.max(other) as f64);
    let processor = one.cpu.is_some() && one.cpu == other.cpu;
    processor && one.cores == other.cores && memory
}

fn machine_names(machines: &[&RunHeader]) -> String {
    let mut names: Vec<String> =
        machines.iter().take(NAMED).map(|machine| machine.hardware.clone()).collect();
    let more = machines.len().saturating_sub(NAMED);
    names.extend((more > 0).then(|| format!("{more} more")));
    join_with_and(&names)
}
