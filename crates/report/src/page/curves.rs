//! Axes outside the matrix for curves: those that separate groups, ranked ones, and cluster sizes. Only numbers have a place on a curve.

use std::collections::BTreeSet;

use serde::Serialize;
use storebench_host::run::Run;
use storebench_model::axis::Value;
use storebench_model::axis::file_system::FileSystem;
use storebench_model::cell::{Axis, Cell};
use storebench_model::units::parse_bytes;

use storebench_figures::data::merge::Merged;
use storebench_figures::layout::words;

/// An axis that distinguishes contestants, such as a setting of a store.
#[derive(Debug, Serialize)]
pub struct Variants {
    id: &'static str,
    name: String,
    one: String,
    /// The values for people, with their positions on a scale; empty for cells that do not name it.
    values: Vec<(String, Option<f64>)>,
    /// The value for cells that do not name it, in words: the engine's or the plan's, if known.
    unnamed: String,
    of: Vec<Option<usize>>,
    /// For each contestant its name without this axis: contestants with the same name are one line.
    line: Vec<String>,
}

/// The axes on which at least two contestants have different numbers.
pub fn variants(merged: &Merged<'_>, contestants: &[&str]) -> Vec<Variants> {
    let mut cells: Vec<Option<&Cell>> = vec![None; contestants.len()];
    for cell in merged.cells() {
        let name = merged.layout.contestant(cell);
        if let Some(index) = contestants.iter().position(|contestant| *contestant == name) {
            cells[index].get_or_insert(cell);
        }
    }
    let axes = cells.iter().flatten().flat_map(|cell| cell.values()).map(|(axis, _)| axis);
    let is_curve = |axis: &Axis| *axis != Axis::STORE && merged.layout.is_ranked(*axis);
    let axes: BTreeSet<Axis> = axes.filter(is_curve).collect();
    let build_variants =
        |axis: Axis| if axis == Axis::PLACE { clusters(&cells) } else { axis_variants(merged, axis, &cells) };
    axes.into_iter().map(build_variants).filter(|variants| variants.are_numbers()).collect()
}

/// Places by cluster size: places of one file system with the same options are one line.
fn clusters(cells: &[Option<&Cell>]) -> Variants {
    let system = |cell: &Cell| cell.text(Axis::PLACE).parse::<FileSystem>().ok();
    let size = |cell: &Cell| system(cell).map(|system| system.cluster).filter(|size| *size > 0);
    let sizes: BTreeSet<u32> = cells.iter().flatten().filter_map(|cell| size(cell)).collect();
    let line = |cell: &Cell| match system(cell) {
        Some(system) => system.without_cluster(),
        None => cell.text(Axis::PLACE).to_owned(),
    };
    Variants {
        id: "cluster",
        name: "cluster size".into(),
        one: "cluster size".into(),
        unnamed: String::new(),
        of: cells.iter().map(|cell| sizes.iter().position(|s| Some(*s) == cell.and_then(size))).collect(),
        line: cells.iter().map(|cell| cell.map(line).unwrap_or_default()).collect(),
        values: sizes.iter().map(|size| (size.to_string(), Some(f64::from(*size)))).collect(),
    }
}

fn axis_variants(merged: &Merged<'_>, axis: Axis, cells: &[Option<&Cell>]) -> Variants {
    let texts: BTreeSet<&str> = cells.iter().flatten().map(|cell| cell.text(axis)).collect();
    let unnamed =
        if texts.contains("") { UnnamedValue::from_trials(merged, axis) } else { UnnamedValue::default() };
    let position = |text: &str| number(axis, if text.is_empty() { &unnamed.value } else { text });
    let mut values: Vec<(String, Option<f64>)> =
        texts.into_iter().map(|text| (text.to_owned(), position(text))).collect();
    values.sort_by(|(_, a), (_, b)| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    let value_index = |cell: &Cell| values.iter().position(|(text, _)| text == cell.text(axis));
    let line = |cell: &Cell| {
        let others = cell.values().filter(|(other, _)| *other != axis);
        let without = others.fold(Cell::default(), |cell, (axis, value)| cell.with(axis, value.clone()));
        merged.readable.name(&merged.layout.contestant(&without)).into_owned()
    };
    let readable_value = |text: &str| match axis.setting() {
        Some((_, name)) => merged.readable.value(name, text).into_owned(),
        None => text.to_owned(),
    };
    let name = axis.setting().map_or_else(|| words::heading(axis), |(_, name)| name.to_owned());
    Variants {
        id: axis.name(),
        one: axis.setting().map_or_else(|| words::value_noun(axis), |(_, name)| format!("value of {name}")),
        of: cells.iter().map(|cell| value_index((*cell)?)).collect(),
        line: cells.iter().map(|cell| cell.map(line).unwrap_or_default()).collect(),
        unnamed: UnnamedValue { value: readable_value(&unnamed.value), ..unnamed }.describe(),
        name,
        values: values.iter().map(|(text, position)| (readable_value(text), *position)).collect(),
    }
}

#[derive(Default)]
struct UnnamedValue {
    /// Empty if unknown, or not unique.
    value: String,
    /// Whether plans set it, rather than the engine.
    is_planned: bool,
}

impl UnnamedValue {
    fn from_trials(merged: &Merged<'_>, axis: Axis) -> UnnamedValue {
        let Some((store, name)) = axis.setting() else { return UnnamedValue::default() };
        let planned = |run: &Run| run.plan()?.settings.get(store)?.get(name).cloned();
        let is_planned = merged.runs.iter().any(|run| planned(run).is_some());
        let trials = merged.runs.iter().flat_map(|run| {
            let trials = run.trials.iter().filter(|trial| trial.cell.store() == store);
            let unnamed = trials.filter(|trial| trial.cell.text(axis).is_empty());
            unnamed.filter_map(move |trial| {
                let setting = trial.ok()?.settings.iter().find(|setting| setting.name == name);
                setting.map(|setting| setting.value.clone()).or_else(|| planned(run))
            })
        });
        let values: BTreeSet<String> = trials.collect();
        let value = values.first().filter(|_| values.len() == 1).cloned().unwrap_or_default();
        UnnamedValue { value, is_planned }
    }

    fn describe(&self) -> String {
        match (self.value.as_str(), self.is_planned) {
            ("", true) => "the base".to_owned(),
            ("", false) => "as shipped".to_owned(),
            (value, true) => format!("{value} (the base)"),
            (value, false) => format!("{value} (as shipped)"),
        }
    }
}

impl Variants {
    fn are_numbers(&self) -> bool {
        self.values.iter().filter(|(_, position)| position.is_some()).count() > 1
    }
}

/// The position of a value on a scale: a setting's text may be a number or a size.
pub fn number(axis: Axis, text: &str) -> Option<f64> {
    let above_zero = |number: &f64| *number > 0.0;
    if axis.setting().is_some() {
        let size = || parse_bytes(text).ok().map(|bytes| bytes as f64);
        return text.parse().ok().or_else(size).filter(above_zero);
    }
    let value = |value: Value| words::number(axis, &value);
    axis.read(text).ok().and_then(value).filter(above_zero)
}

#[cfg(test)]
mod tests {
    use storebench_samples::{Sample, run};

    use super::*;

    #[test]
    fn file_systems_are_lines_across_their_cluster_sizes() {
        let sample_at = |place: &str| Sample::new("sqlite").place(place);
        let mut runs =
            [run("box", &["ext4:4096", "ext4:1024", "ext4:4096,noatime", "ntfs:512", "ssd"].map(sample_at))];
        runs[0].header.plan = format!("compare = [\"place\"]\n{}", runs[0].header.plan);
        let names: Vec<String> =
            runs[0].trials.iter().map(|trial| format!("place {}", trial.cell.text(Axis::PLACE))).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let [clusters] = variants(&Merged::new(&runs, &[]), &names).try_into().unwrap();
        let sizes: Vec<Option<f64>> = clusters.values.iter().map(|(_, position)| *position).collect();
        assert_eq!(sizes, [Some(512.0), Some(1024.0), Some(4096.0)]);
        assert_eq!(clusters.of, [Some(2), Some(1), Some(2), Some(0), None]);
        assert_eq!(clusters.line, ["ext4", "ext4", "ext4, noatime", "ntfs", "ssd"]);
    }

    #[test]
    fn settings_make_lines_and_values() {
        let page_size = Axis::find("sqlite.page_size").unwrap();
        let mut run = run("box", &["sqlite", "sqlite", "sqlite", "lmdb"].map(Sample::new));
        for (trial, text) in run.trials.iter_mut().skip(1).take(2).zip(["8192", "512"]) {
            trial.cell.set(page_size, page_size.read(text).unwrap());
        }
        let runs = [run];
        let merged = Merged::new(&runs, &[]);
        let names = ["lmdb", "sqlite", "sqlite page_size=512", "sqlite page_size=8192"];
        let axes = variants(&merged, &names);
        assert_eq!(axes.len(), 1);
        let values: Vec<_> =
            axes[0].values.iter().map(|(text, position)| (text.as_str(), *position)).collect();
        // The engine's own value counts if the plan sets none.
        assert_eq!(values, [("512", Some(512.0)), ("", Some(4096.0)), ("8192", Some(8192.0))]);
        assert_eq!(axes[0].unnamed, "4096 (as shipped)");
        assert_eq!(axes[0].of, [Some(1), Some(1), Some(0), Some(2)]);
        assert_eq!(axes[0].line, ["lmdb", "sqlite", "sqlite", "sqlite"]);
        assert_eq!(variants(&merged, &names[..2]).len(), 0, "one value is no curve");
    }

    #[test]
    fn numbers_are_read_from_words() {
        let setting = Axis::find("rocksdb.block_cache").unwrap();
        assert_eq!(number(setting, "64MiB"), Some(f64::from(64 << 20)));
        assert_eq!(number(setting, "2.5"), Some(2.5));
        assert_eq!((number(setting, "wal"), number(setting, "0")), (None, None));
        assert_eq!((number(Axis::RATE, "5000/s"), number(Axis::RATE, "closed")), (Some(5000.0), None));
        assert_eq!((number(Axis::THREADS, "4"), number(Axis::PLACE, "ssd")), (Some(4.0), None));
    }
}
