//! Notes on machine profiles: the effect of each limit.

use indexmap::{IndexMap, IndexSet};
use storebench_model::result::{LimitKind, LimitReport};
use storebench_model::units::{exact_bytes, three_digits, with_commas};

use super::merge::Merged;

/// A note for each profile: the limits of its trials, how they were enforced, and which were not.
pub fn notes(merged: &Merged<'_>) -> Vec<String> {
    let mut machines: IndexMap<(&str, &str), IndexSet<String>> = IndexMap::new();
    for run in merged.runs {
        for machine in run.trials.iter().filter_map(|trial| trial.machine.as_ref()) {
            let words = machines.entry((&run.header.hardware, &machine.name)).or_default();
            let limits = machine.limits.iter().filter(|limit| limit.in_force.is_some() || limit.by.is_none());
            words.extend(limits.map(describe_limit));
        }
    }
    let note = |((hardware, name), limits): ((&str, &str), IndexSet<String>)| {
        let limits = match limits.is_empty() {
            true => "no trial came to be limited".to_owned(),
            false => Vec::from_iter(limits).join("; "),
        };
        format!("Machine {name} on {hardware}: {limits}.")
    };
    machines.into_iter().map(note).collect()
}

/// The outcome of one limit, in words: the amount in force, or that there was none.
fn describe_limit(limit: &LimitReport) -> String {
    let remark = limit.remark.as_ref().map_or(String::new(), |remark| format!(" ({remark})"));
    match (limit.in_force, &limit.by) {
        (Some(value), Some(mechanism)) => {
            format!("{} {} by {mechanism}{remark}", limit.limit.describe(), amount(limit.limit, value))
        }
        _ => format!("{} not limited{remark}", limit.limit.describe()),
    }
}

pub fn amount(limit: LimitKind, value: u64) -> String {
    match limit {
        LimitKind::Memory => exact_bytes(value),
        LimitKind::Processors => with_commas(value),
        LimitKind::Share => format!("{} % of one processor's", three_digits(value as f64 / 1e4)),
        LimitKind::ReadBandwidth | LimitKind::WriteBandwidth if value.is_multiple_of(1_000_000) => {
            format!("{} MB/s", with_commas(value / 1_000_000))
        }
        LimitKind::ReadBandwidth | LimitKind::WriteBandwidth => format!("{}/s", exact_bytes(value)),
        LimitKind::ReadOperations | LimitKind::WriteOperations => format!("{}/s", with_commas(value)),
    }
}

#[cfg(test)]
mod tests {
    use storebench_samples::{Sample, machine, run};

    use super::*;

    fn limit(
        limit: LimitKind,
        asked: u64,
        in_force: Option<u64>,
        by: Option<&str>,
        remark: Option<&str>,
    ) -> LimitReport {
        LimitReport { limit, asked, in_force, by: by.map(str::to_owned), remark: remark.map(str::to_owned) }
    }

    #[test]
    fn each_machine_says_once_what_held_it() {
        let mut run = run("box", &[Sample::new("lmdb"), Sample::new("redb")]);
        let limits = [
            limit(LimitKind::Memory, 64 << 20, Some(64 << 20), Some("cgroup v2"), None),
            limit(LimitKind::Share, 45_000, Some(44_998), Some("cgroup v2"), None),
            limit(LimitKind::WriteBandwidth, 10 << 20, Some(10_000_000), Some("cgroup v1"), Some("in part")),
            limit(LimitKind::ReadOperations, 1500, None, None, Some("no disk")),
        ];
        for trial in &mut run.trials {
            trial.machine = Some(machine(limits.to_vec()));
        }
        let expected = "Machine small on box: memory 64MiB by cgroup v2; processor time 4.50 % of one processor's by cgroup v2; \
                        write bandwidth 10 MB/s by cgroup v1 (in part); read operations not limited (no disk).";
        assert_eq!(notes(&Merged::new(&[run], &[])), [expected]);
    }

    #[test]
    fn a_trial_that_ended_before_it_was_held_says_so() {
        let mut run = run("box", &[Sample::new("lmdb").failed("no")]);
        let unknown = limit(LimitKind::Memory, 1, None, Some("cgroup v2"), None);
        run.trials[0].machine = Some(machine(vec![unknown]));
        assert_eq!(notes(&Merged::new(&[run], &[])), ["Machine small on box: no trial came to be limited."]);
    }
}
