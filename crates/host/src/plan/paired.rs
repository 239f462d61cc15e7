//! Paired axes: their values are taken in step, not combined.

use std::collections::BTreeSet;

use super::{ALWAYS_CROSSED, Plan};
use storebench_model::axis::{Axis, Value};
use storebench_model::result::{LeftOutCell, LeftOutReason};
use storebench_model::sanitize::piece;
use storebench_model::units::CountRange;

/// The fewest records that a count is reduced to.
const FEWEST: u64 = 100;

/// A value for each axis of a list, set together; a single axis is a list of one.
pub type Step = Vec<(Axis, Value)>;

/// The steps of each of these axes, in their order. Paired axes are at the position of the first.
pub fn steps(
    paired: &[Vec<Axis>],
    axes: impl IntoIterator<Item = Axis>,
    values: impl Fn(Axis) -> Vec<Value>,
) -> Vec<Vec<Step>> {
    let (mut step_lists, mut done_axes): (Vec<Vec<Step>>, Vec<Axis>) = (Vec::new(), Vec::new());
    for axis in axes {
        if done_axes.contains(&axis) {
            continue;
        }
        let single_axis = vec![axis];
        let paired_axes = paired.iter().find(|pair| pair.contains(&axis)).unwrap_or(&single_axis);
        let mut steps: Vec<Step> = values(axis).into_iter().map(|value| vec![(axis, value)]).collect();
        for other_axis in paired_axes.iter().filter(|other_axis| **other_axis != axis) {
            let in_step = steps.iter_mut().zip(values(*other_axis));
            in_step.for_each(|(step, value)| step.push((*other_axis, value)));
        }
        done_axes.extend(paired_axes);
        step_lists.push(steps);
    }
    step_lists
}

impl Plan {
    /// Whether an axis is paired with an earlier one, and counted there.
    pub(super) fn is_counted_elsewhere(&self, axis: Axis) -> bool {
        self.paired.iter().any(|pair| pair.contains(&axis) && pair.first() != Some(&axis))
    }

    /// The plan with a tenth of the records, for paired counts that do not fit onto the disk; `None` if no count can be reduced.
    pub fn with_fewer_records(&self, left_out: &[LeftOutCell]) -> Option<Plan> {
        let is_paired = self.paired.iter().any(|pair| pair.contains(&Axis::RECORDS));
        let counts: Vec<CountRange> = self.axes.list(Axis::RECORDS);
        let lacks_room = |count: &CountRange| {
            let cells_of_count = left_out.iter().filter(|left| left.cell.records() == *count);
            cells_of_count.into_iter().any(|left| matches!(left.reason, LeftOutReason::NoRoom { .. }))
        };
        let reduce_count = |count: CountRange| match count.from / 10 >= FEWEST && lacks_room(&count) {
            true => CountRange { from: count.from / 10, to: count.to / 10 },
            false => count,
        };
        let reduced: Vec<CountRange> = counts.iter().copied().map(reduce_count).collect();
        let mut plan = Plan { fewer_records: true, ..self.clone() };
        let is_fewer = is_paired && reduced != counts;
        plan.axes.set(Axis::RECORDS, reduced);
        (is_fewer && plan.check().is_ok()).then_some(plan)
    }

    /// Checks that the paired axes can be paired.
    pub(super) fn check_paired(&self) -> Result<(), String> {
        let mut seen: Vec<Axis> = Vec::new();
        for pair in &self.paired {
            let [first, other_axes @ ..] = pair.as_slice() else {
                return Err("paired has an empty list: name two axes or more in it".into());
            };
            if other_axes.is_empty() {
                return Err(format!("paired names {first} alone: name the axes that go with it, too"));
            }
            for axis in pair {
                if !self.workload.def().axes.contains(axis) {
                    return Err(format!(
                        "paired names {axis}, which is not an axis of the workload {}",
                        self.workload
                    ));
                }
                if ALWAYS_CROSSED.contains(axis) || *axis == Axis::PLACE {
                    return Err(format!("paired names {axis}, of which all values are always combined"));
                }
                if seen.contains(axis) {
                    return Err(format!("paired names {axis} twice"));
                }
                seen.push(*axis);
                let (count, expected) = (self.axes.values(*axis).len(), self.axes.values(*first).len());
                if count != expected {
                    return Err(format!(
                        "paired names {first} with {expected} values and {axis} with {count}: they need as many"
                    ));
                }
            }
            let steps = steps(&self.paired, [*first], |axis| self.axes.values(axis).into_owned());
            let mut known = BTreeSet::new();
            if let Some(repeated_step) = steps.iter().flatten().find(|step| !known.insert(*step)) {
                let texts: Vec<&str> = repeated_step.iter().map(|(_, value)| value.text()).collect();
                return Err(format!("paired takes {} together twice", piece(&texts.join(", "))));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Changes, find};
    use crate::schedule::{self, LocationRoom};
    use storebench_model::cell::Cell;
    use storebench_model::stores::{FLAT_FOLDER, NULL};

    const SIZES: [&str; 2] = ["100B..1KiB", "10KiB..100KiB"];

    fn quick() -> Plan {
        let mut plan = find("crud").unwrap();
        plan.apply_preset("quick").unwrap();
        plan.axes.set(Axis::STORE, [Value::word("null")]);
        plan
    }

    /// The sizes and counts of a plan's cells, at one guarantee.
    fn pairs(plan: &Plan) -> Vec<String> {
        let mut plan = plan.clone();
        plan.axes.cut(Axis::GUARANTEE, 1);
        let (cells, left_out) =
            schedule::cells(&plan, &[NULL], &[LocationRoom::unbounded("here")], &|_| None).unwrap();
        let all_cells = || cells.iter().chain(left_out.iter().map(|left| &left.cell));
        assert_eq!(plan.combinations(1), all_cells().count() as u64, "as many as are made");
        all_cells().map(|cell: &Cell| format!("{}/{}", cell.record_size(), cell.records())).collect()
    }

    #[test]
    fn a_quick_run_has_many_small_records_and_fewer_large_ones() {
        let mut plan = quick();
        let expected = ["100B..1KiB/10000..50000", "10KiB..100KiB/1000..5000"];
        assert_eq!(pairs(&plan), expected);
        let again = Plan::parse(&plan.to_toml().unwrap(), "again").unwrap();
        assert_eq!((&again.paired, pairs(&again)), (&plan.paired, expected.map(str::to_owned).into()));
        plan.axes_one_at_a_time = true;
        assert_eq!(pairs(&plan), expected, "a pair is varied as one axis");
    }

    #[test]
    fn a_count_that_does_not_fit_becomes_a_tenth_until_it_does() {
        let shrink = |free_bytes: u64, mut plan: Plan| {
            plan.axes.set(Axis::STORE, [Value::word("flat-folder")]);
            let rooms = [LocationRoom { free_bytes, ..LocationRoom::unbounded("here") }];
            let left_out = |plan: &Plan| schedule::cells(plan, &[FLAT_FOLDER], &rooms, &|_| None).unwrap().1;
            while let Some(fewer) = plan.with_fewer_records(&left_out(&plan)) {
                plan = fewer;
            }
            let again = Plan::parse(&plan.to_toml().unwrap(), "again").unwrap();
            assert_eq!(again.fewer_records, plan.fewer_records);
            (plan.axes.texts(Axis::RECORDS).join(" "), plan.fewer_records, left_out(&plan).is_empty())
        };
        assert_eq!(shrink(1 << 40, quick()), ("10000..50000 1000..5000".into(), false, true));
        assert_eq!(shrink(100 << 20, quick()), ("10000..50000 100..500".into(), true, true));
        let (counts, ..) = shrink(10 << 20, quick());
        assert_eq!(counts, "1000..5000 100..500", "never fewer than 100");
        let mut named = quick();
        named.apply(Changes::single(Axis::RECORDS, [Axis::RECORDS.read("10000..50000").unwrap()])).unwrap();
        assert_eq!(shrink(10 << 20, named), ("10000..50000".into(), false, false), "what a user named stays");
    }

    #[test]
    fn who_names_an_axis_combines_it_again() {
        let mut plan = quick();
        plan.apply(Changes::single(Axis::RECORDS, [Axis::RECORDS.read("100..500").unwrap()])).unwrap();
        assert_eq!(pairs(&plan), SIZES.map(|size| format!("{size}/100..500")));
        let mut plan = quick();
        plan.apply(Changes::single(Axis::DATA, [Value::word("compressible")])).unwrap();
        assert_eq!(pairs(&plan).len(), 2, "another axis leaves them paired");
    }

    #[test]
    fn axes_that_cannot_go_together_are_refused() {
        let error_of = |paired: &[&[Axis]], change: fn(&mut Plan)| {
            let mut plan = quick();
            plan.paired = paired.iter().map(|pair| pair.to_vec()).collect();
            change(&mut plan);
            Plan::parse(&plan.to_toml().unwrap(), "x").unwrap_err().message
        };
        let (records, size) = (Axis::RECORDS, Axis::RECORD_SIZE);
        for (paired, reason) in [
            (&[&[][..]][..], "paired has an empty list"),
            (&[&[records]], "paired names records alone"),
            (
                &[&[records, Axis::GUARANTEE]],
                "paired names guarantee, of which all values are always combined",
            ),
            (&[&[records, Axis::CHURN]], "paired names churn, which is not an axis of the workload crud"),
            (&[&[records, size], &[size, records]], "paired names record_size twice"),
            (
                &[&[records, Axis::DATA]],
                "paired names records with 2 values and data with 1: they need as many",
            ),
        ] {
            let message = error_of(paired, |_| {});
            assert!(message.contains(reason), "{message}");
        }
        let error = error_of(&[&[records, size]], |plan| plan.axes.cut(Axis::RECORD_SIZE, 1));
        assert!(error.contains("they need as many"), "{error}");
        let error = error_of(&[&[records, size]], |plan| {
            for (axis, text) in [(Axis::RECORDS, "5..9"), (Axis::RECORD_SIZE, "1KiB")] {
                plan.axes.set(axis, [text; 2].map(|text| axis.read(text).unwrap()));
            }
        });
        assert!(error.contains("paired takes 5..9, 1KiB together twice"), "{error}");
    }

    #[test]
    fn a_value_may_stand_in_several_steps_and_who_combines_them_has_it_once() {
        let mut plan = quick();
        plan.axes.set(Axis::RECORDS, ["10..20"; 2].map(|count| Axis::RECORDS.read(count).unwrap()));
        let mut plan = Plan::parse(&plan.to_toml().unwrap(), "x").unwrap();
        assert_eq!(pairs(&plan), SIZES.map(|size| format!("{size}/10..20")));
        plan.apply(Changes::single(Axis::RECORD_SIZE, [Axis::RECORD_SIZE.read("1KiB").unwrap()])).unwrap();
        assert_eq!(pairs(&plan), ["1KiB/10..20"]);
    }
}
