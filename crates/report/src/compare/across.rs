//! Compares two values of an axis, which is removed from the cells: those of BASE at the first with those of NEW at the second.

use std::collections::BTreeSet;
use std::str::FromStr;

use serde::Serialize;
use storebench_host::run::Run;
use storebench_model::axis::Value;
use storebench_model::cell::{Axis, Cell};
use storebench_model::sanitize::quoted;
use storebench_model::units::parse_bytes;

use storebench_figures::data::method;

/// An axis, and its value on each side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Across {
    /// The axis.
    pub axis: Axis,
    /// The value in BASE.
    pub base: String,
    /// The value in NEW.
    pub new: String,
}

impl FromStr for Across {
    type Err = String;

    fn from_str(text: &str) -> Result<Across, String> {
        let wrong =
            || format!("{} is no axis with two values: write it like guarantee=process,power", quoted(text));
        let (axis, values) = text.split_once('=').ok_or_else(wrong)?;
        let axis: Axis = axis.trim().parse()?;
        let values = match axis.def().split {
            Some(split) => split(values),
            None => values.split(',').map(str::to_owned).collect(),
        };
        let [base, new] = values.as_slice() else { return Err(wrong()) };
        let read = |value: &String| axis.read(value.trim()).map(|value| value.to_string());
        let (base, new) = (read(base)?, read(new)?);
        match base == new {
            true => Err(format!("{axis} is {base} on both sides: name two values")),
            false => Ok(Across { axis, base, new }),
        }
    }
}

impl Across {
    /// The values on both sides, in words: `mariadb.engine: innodb in BASE, rocksdb in NEW`.
    pub fn describe(&self) -> String {
        format!("{}: {} in BASE, {} in NEW", self.axis, self.base, self.new)
    }

    /// Keeps the cells with a side's value, without the axis. The runs are those of BASE if `is_base`.
    ///
    /// # Errors
    /// A sentence, if none remain.
    pub fn narrow(&self, runs: &mut [Run], is_base: bool) -> Result<(), String> {
        let mut others = BTreeSet::new();
        let mut has_cells = false;
        let (side, wanted) = if is_base { ("BASE", &self.base) } else { ("NEW", &self.new) };
        for run in runs.iter_mut() {
            let plan_value = self.plan_value(run);
            let mut keep = |cell: &mut Cell| {
                let value = self.value(cell, plan_value.as_deref());
                let is_kept = value.as_deref().is_some_and(|value| is_same(value, wanted));
                if is_kept {
                    self.remove_axis(cell);
                } else {
                    others.extend(value);
                }
                is_kept
            };
            run.trials.retain_mut(|trial| keep(&mut trial.cell));
            run.header.left_out.retain_mut(|left_out| keep(&mut left_out.cell));
            has_cells |= !run.trials.is_empty();
        }
        if has_cells {
            return Ok(());
        }
        let others = others.into_iter().filter(|other| !is_same(other, wanted)).collect::<Vec<_>>();
        let available = if others.is_empty() { "none".to_owned() } else { others.join(", ") };
        Err(format!(
            "no cell of {side} was run at {}={wanted}; values that are there: {available}",
            self.axis
        ))
    }

    /// The value that a run's plan sets for all cells, if the axis is a store's setting.
    fn plan_value(&self, run: &Run) -> Option<String> {
        let (store, name) = self.axis.setting()?;
        run.plan_keys()?.get("settings")?.get(store)?.get(name)?.as_str().map(str::to_owned)
    }

    /// A cell's value; `None` if its store has no such setting, or nothing sets it.
    fn value(&self, cell: &Cell, plan_value: Option<&str>) -> Option<String> {
        let read_value = || cell.value(self.axis).map(Value::to_string);
        match self.axis.setting() {
            Some((store, _)) if store != cell.store() => None,
            Some(_) => read_value().or_else(|| plan_value.map(str::to_owned)),
            None => Some(cell.text(self.axis).to_owned()),
        }
    }

    /// A cell without the axis; compared stores get both names, as in reports.
    fn remove_axis(&self, cell: &mut Cell) {
        if self.axis == Axis::STORE {
            cell.set(Axis::STORE, Value::word(&format!("{} → {}", self.base, self.new)));
        } else {
            cell.remove(self.axis);
        }
    }

    /// Whether a difference at a key of plans is what is compared.
    pub(super) fn covers_key(&self, key: Option<&str>) -> bool {
        key.is_some_and(|key| key == method::key_of(self.axis))
    }
}

/// Whether two values are equal, as text or as numbers of bytes.
fn is_same(value: &str, other: &str) -> bool {
    let bytes = |text: &str| parse_bytes(text).ok();
    value == other || bytes(value).is_some_and(|value| bytes(other) == Some(value))
}

#[cfg(test)]
mod tests {
    use storebench_figures::column::MEAN_LATENCY;
    use storebench_model::store::Guarantee;
    use storebench_samples::{Sample, run};

    use super::*;
    use crate::compare::{Comparison, FigureChange, Side};

    #[test]
    fn it_is_an_axis_and_two_values() {
        let read = |text: &str| text.parse::<Across>();
        let tiers = read("guarantee=process,power").unwrap().describe();
        assert_eq!(tiers, "guarantee: process in BASE, power in NEW");
        assert_eq!(read("place=ext4:4096,ntfs:4096").unwrap().new, "ntfs:4096");
        let engines = read("mariadb.engine=innodb,rocksdb").unwrap();
        assert_eq!(engines.axis.setting(), Some(("mariadb", "engine")));
        for (text, expected) in [
            ("threads", "two values"),
            ("threads=1", "two values"),
            ("threads=1,2,4", "two values"),
            ("threads=2,2", "on both sides"),
            ("threads=1,many", "not a number of threads"),
            ("colour=red,blue", "is not an axis"),
        ] {
            assert!(read(text).unwrap_err().contains(expected), "{text}");
        }
    }

    /// Compares across an axis what was narrowed by a text.
    fn compare_across(runs: [Run; 2], text: &str, axis: Axis, check: impl FnOnce(&Comparison<'_>)) {
        let narrowed: Across = text.parse().unwrap();
        let [mut base, mut new] = runs.map(|run| [run]);
        narrowed.narrow(&mut base, true).unwrap();
        narrowed.narrow(&mut new, false).unwrap();
        let names = ["a".to_owned()];
        let [base, new] = [&base, &new].map(|runs| Side { names: &names, runs });
        check(&Comparison::new(base, new, &[&MEAN_LATENCY], &[], &[Across { axis, ..narrowed }]));
    }

    /// Fails unless all figures are of this contestant, with NEW over BASE this whole number.
    fn all_are(comparison: &Comparison<'_>, contestant: &str, ratio: f64) {
        let value = |figure: &FigureChange| figure.change.map_or(0.0, |change| change.ratio.value.round());
        let is_so = |figure: &FigureChange| figure.contestant == contestant && value(figure) == ratio;
        let figures = &comparison.figures;
        assert!(!figures.is_empty() && figures.iter().all(is_so), "{figures:?}");
    }

    #[test]
    fn cells_at_one_value_meet_those_at_the_other_and_no_others_do() {
        let two_stores = || run("box", &[Sample::new("lmdb").ns(1e4), Sample::new("sqlite").ns(2e4)]);
        compare_across([two_stores(), two_stores()], "store=lmdb,sqlite", Axis::STORE, |found| {
            all_are(found, "lmdb → sqlite", 2.0);
        });
        let error =
            "store=lmdb,redb".parse::<Across>().unwrap().narrow(&mut [two_stores()], false).unwrap_err();
        assert_eq!(error, "no cell of NEW was run at store=redb; values that are there: lmdb, sqlite");
    }

    #[test]
    fn tiers_meet_where_they_are_what_is_compared() {
        let run_at =
            |choice: &str, tier, ns| run("box", &[Sample::new("lmdb").guarantee(choice).tier(tier).ns(ns)]);
        let sides = || [run_at("process", Guarantee::Process, 1e4), run_at("power", Guarantee::Power, 9e4)];
        let tiers = "guarantee=process,power";
        compare_across(sides(), tiers, Axis::GUARANTEE, |found| all_are(found, "lmdb", 9.0));
        // Across anything else they are not.
        compare_across(sides(), tiers, Axis::THREADS, |apart| {
            assert!(apart.figures.is_empty() && apart.only.len() == 2);
        });
    }

    #[test]
    fn a_setting_of_the_plan_counts_as_the_cells_own() {
        let run_with_size = |size: &str| {
            let mut run = run("box", &[Sample::new("sqlite"), Sample::new("lmdb")]);
            run.header.plan = format!("[settings.sqlite]\npage_size = \"{size}\"\n");
            run
        };
        let page_size = Axis::find("sqlite.page_size").unwrap();
        let sides = ["4096", "8192"].map(run_with_size);
        compare_across(sides, "sqlite.page_size=4KiB,8192", page_size, |found| {
            all_are(found, "sqlite", 1.0);
            let differences = &found.differences;
            assert!(differences.iter().all(|difference| !difference.refuses), "{differences:?}");
        });
    }
}
