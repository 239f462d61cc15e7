//! The load of other programs: if it left too few processors, times depend on those programs, and no store is named the best.

use indexmap::IndexMap;
use storebench_model::result::RunHeader;
use storebench_model::units::{plural, three_digits};

use super::matrix::by_position;
use super::merge::{Entry, Merged};
use crate::judge::contention::{self, Contention};

impl Contention {
    pub fn describe(&self) -> String {
        let Contention { others, cores, threads } = self;
        let threads = plural(*threads, "thread");
        format!("Other programs kept {} of {cores} processors busy next to {threads}", three_digits(*others))
    }
}

/// The other programs during these trials, of runs with these headers, if they left too few processors.
pub fn find_contention<'e>(
    headers: &[&RunHeader],
    entries: impl Iterator<Item = &'e Entry<'e>>,
) -> Option<Contention> {
    let load = |Entry { run, trial }: &Entry<'_>| {
        let others = trial.others_processors.filter(|_| trial.ok().is_some())?;
        let cores = headers.get(*run).map_or(u32::MAX, |header| header.environment.cores);
        Some((Contention { others, cores, threads: trial.cell.threads() }, trial.wall_s))
    };
    contention::find_contention(entries.filter_map(load))
}

/// A line for each hardware: in how many combinations no store is named because of this, and the largest load.
pub fn describe_contention(merged: &Merged<'_>) -> Vec<String> {
    let headers: Vec<&RunHeader> = merged.runs.iter().map(|run| &run.header).collect();
    let mut worst_by_hardware: IndexMap<&str, (usize, Contention)> = IndexMap::new();
    for group in &merged.groups {
        for contestants in by_position(&merged.layout, group).values() {
            let Some(load) = find_contention(&headers, contestants.values().flatten()) else { continue };
            let (combinations, worst) = worst_by_hardware.entry(&group.key.hardware).or_insert((0, load));
            *combinations += 1;
            if load.others > worst.others {
                *worst = load;
            }
        }
    }
    let line = |(hardware, (combinations, load)): (&str, (usize, Contention))| {
        format!(
            "Not judged, unless twice as fast, in {} on {hardware}: {}. Measure again with nothing else running.",
            plural(combinations, "combination"),
            load.describe().replacen("Other", "other", 1)
        )
    };
    worst_by_hardware.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use storebench_host::run::Run;
    use storebench_samples::{Sample, blocks};

    use super::*;
    use crate::data::matrix::matrices;
    use crate::judge::Rule;

    /// Five blocks of two stores, one twice as fast, while others keep this number of two processors busy.
    fn run_next_to(others: Option<f64>) -> Run {
        let block = vec![Sample::new("lmdb"), Sample::new("redb").ns(2000.0)];
        let mut run = blocks("box", &vec![block; 5]);
        run.header.environment.cores = 2;
        run.trials.iter_mut().for_each(|trial| trial.others_processors = others);
        run
    }

    /// Whether the slower one does not win at an operation, by which rule, and the same for space.
    fn verdicts(run: &Run) -> [(bool, Option<Rule>); 2] {
        let merged = Merged::new(std::slice::from_ref(run), &[]);
        let matrices = matrices(&merged);
        let verdict_of = |name: &str| {
            let row = matrices[0].rows.iter().find(|row| row.figure.name == name).unwrap();
            let runner_up = &row.contests[0].contenders[1];
            (!runner_up.verdict.wins(), runner_up.verdict.rule())
        };
        ["get", "space"].map(verdict_of)
    }

    #[test]
    fn nobody_is_the_fastest_where_others_left_too_few_processors() {
        let interval = Some(Rule::Interval);
        for others in [None, Some(0.1), Some(1.2)] {
            assert_eq!(verdicts(&run_next_to(others)), [(true, interval), (true, interval)], "{others:?}");
        }
        // Others use one and a half of two processors: a thread has only a half. Disk space does not depend on it.
        assert_eq!(verdicts(&run_next_to(Some(1.5))), [(true, Some(Rule::Crowded)), (true, interval)]);
    }

    #[test]
    fn the_load_is_told_once() {
        let lines = |others| describe_contention(&Merged::new(&[run_next_to(others)], &[]));
        assert_eq!(lines(Some(1.2)), Vec::<String>::new());
        let line = "Not judged, unless twice as fast, in 1 combination on box: other programs kept 1.50 of 2 processors busy next to 1 \
                    thread. Measure again with nothing else running.";
        assert_eq!(lines(Some(1.5)), [line]);
    }
}
