//! The number of trials that a run should have, from its plan and the combinations that were left out.

use std::collections::BTreeSet;

use storebench_host::run::Run;
use storebench_model::result::LocationInfo;

/// A run with fewer trials than its plan asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnfinishedRun {
    /// The planned trials that it has.
    pub done: u64,
    /// Trials that are planned.
    pub planned: u64,
    /// Whether a precision is asked for, so that more may be needed.
    pub at_least: bool,
}

/// The trials that a run still lacks; `None` if it has all, or its plan can't be read.
pub fn unfinished(run: &Run) -> Option<UnfinishedRun> {
    let plan = run.plan()?;
    let places: BTreeSet<&str> = run.header.locations.iter().map(LocationInfo::location_name).collect();
    let combinations = match &run.header.shard {
        Some(parts) => parts.combinations,
        None => plan.combinations(places.len()),
    };
    let cells = combinations.checked_sub(run.header.left_out.len() as u64)?;
    let planned = cells.saturating_mul(plan.trials.into());
    // Trials beyond the plan's for a precision are not planned.
    let done = run.trials.iter().filter(|trial| trial.block < plan.trials).count() as u64;
    (done < planned).then_some(UnfinishedRun { done, planned, at_least: plan.precision.is_some() })
}

#[cfg(test)]
mod tests {
    use storebench_host::plan::Plan;
    use storebench_host::schedule::{self, LocationRoom};
    use storebench_model::axis::{Axis, Value};
    use storebench_model::result::{LeftOutCell, LeftOutReason, PlanParts};
    use storebench_samples::{Sample, blocks};

    use super::*;

    /// A run with this number of trials of a plan of two stores, two trials each.
    fn run(trials: usize, change: impl Fn(&mut Plan)) -> Run {
        let mut plan = storebench_host::plan::find("crud").unwrap();
        plan.axes.set(Axis::STORE, ["lmdb", "redb"].map(Value::word));
        plan.axes.cut(Axis::RECORD_SIZE, 1);
        plan.axes.cut(Axis::RECORDS, 1);
        plan.axes.cut(Axis::DATA, 1);
        plan.axes.cut(Axis::GUARANTEE, 1);
        plan.trials = 2;
        change(&mut plan);
        let block = [Sample::new("lmdb"), Sample::new("redb")];
        let mut run = blocks("box", &[block.clone().into(), block.into()]);
        run.trials.truncate(trials);
        run.header.plan = plan.to_toml().unwrap();
        run
    }

    #[test]
    fn what_is_planned_is_known_from_the_plan_and_what_was_left_out() {
        assert_eq!(unfinished(&run(4, |_| {})), None);
        let three_of_four = UnfinishedRun { done: 3, planned: 4, at_least: false };
        assert_eq!(unfinished(&run(3, |_| {})), Some(three_of_four));
        let mut left_out = run(2, |_| {});
        let (cell, reason) = (Sample::new("redb").cell(), LeftOutReason::Sentence("too large".into()));
        left_out.header.left_out.push(LeftOutCell { cell, reason });
        assert_eq!(unfinished(&left_out), None);
        let mut part = run(2, |_| {});
        part.header.shard = Some(PlanParts { parts: vec![1], of: 2, combinations: 1, split: String::new() });
        assert_eq!(unfinished(&part), None, "the other cell is another part's");
        let precise = run(3, |plan| plan.precision = Some(storebench_model::units::Percent(5.0)));
        assert_eq!(unfinished(&precise), Some(UnfinishedRun { at_least: true, ..three_of_four }));
        let mut unreadable = run(3, |_| {});
        unreadable.header.plan = "of another version".into();
        assert_eq!(unfinished(&unreadable), None);
    }

    #[test]
    fn combinations_are_those_of_the_schedule() {
        let plan = storebench_host::plan::find("crud").unwrap();
        let rooms = [LocationRoom::unbounded("here"), LocationRoom::unbounded("ssd")];
        let (cells, left_out) = schedule::cells(&plan, &[], &rooms, &|_| None).unwrap();
        assert_eq!(plan.combinations(2), (cells.len() + left_out.len()) as u64);
    }
}
