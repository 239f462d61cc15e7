//! Finds machines of the same type.

use storebench_model::result::RunHeader;
use storebench_model::units::{plural, rough_bytes};

use storebench_figures::data::names::join_with_and;

/// Memory of machines of one type may differ by this share: kernels reserve different amounts.
const SAME_MEMORY: f64 = 0.05;

const MAX_NAMED: usize = 6;

/// A sentence without a full stop for each type of several machines, which count separately. Each machine has one header.
pub fn describe_types(machines: &[&RunHeader]) -> Vec<String> {
    let mut types: Vec<Vec<&RunHeader>> = Vec::new();
    for machine in machines {
        match types.iter_mut().find(|group| are_alike(group[0], machine)) {
            Some(group) => group.push(machine),
            None => types.push(vec![machine]),
        }
    }
    let describe_type = |group: &Vec<&RunHeader>| {
        let environment = &group[0].environment;
        format!(
            "{} are of one type ({}, {}, {}), and count as {}",
            machine_names(group),
            environment.cpu.as_deref().unwrap_or_default(),
            plural(environment.cores, "core"),
            rough_bytes(environment.memory_bytes.unwrap_or_default() as f64),
            plural(group.len(), "machine"),
        )
    };
    types.iter().filter(|group| group.len() > 1).map(describe_type).collect()
}

/// Whether two machines have the same type by processor, cores and memory. Unknown values differ from everything.
fn are_alike(a: &RunHeader, b: &RunHeader) -> bool {
    let (a, b) = (&a.environment, &b.environment);
    let memory = a.memory_bytes.zip(b.memory_bytes);
    let memory = memory.is_some_and(|(a, b)| a.abs_diff(b) as f64 <= SAME_MEMORY * a.max(b) as f64);
    let processor = a.cpu.is_some() && a.cpu == b.cpu;
    processor && a.cores == b.cores && memory
}

fn machine_names(machines: &[&RunHeader]) -> String {
    let mut names: Vec<String> =
        machines.iter().take(MAX_NAMED).map(|machine| machine.hardware.clone()).collect();
    let more = machines.len().saturating_sub(MAX_NAMED);
    names.extend((more > 0).then(|| format!("{more} more")));
    join_with_and(&names)
}
