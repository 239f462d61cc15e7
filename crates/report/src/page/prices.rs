//! The price of a guarantee, or of a background load: a cell's mean latency over the same cell's in another group, paired by block.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::{IndexMap, IndexSet};
use rayon::prelude::*;
use serde::Serialize;
use storebench_figures::column::MEAN_LATENCY;
use storebench_figures::data::matrix::series;
use storebench_figures::data::merge::{GroupKey, Merged};
use storebench_figures::stats::{Ratio, compare};
use storebench_model::cell::{Axis, Background};

use super::cells::{Key, Row};
use super::numbers::rounded;

#[derive(Debug, Default, Serialize)]
pub struct Prices {
    cell: Vec<usize>,
    beside: Vec<usize>,
    of: IndexMap<String, Times>,
}

/// In the order of the pairs; `null` without a ratio.
#[derive(Debug, Default, Serialize)]
struct Times {
    times: Vec<Option<f64>>,
    /// The interval is from `times / (1 + spread)` to `times * (1 + spread)`; for two blocks, the range.
    spread: Vec<Option<f64>>,
    blocks: Vec<usize>,
}

impl Prices {
    pub fn new(merged: &Merged<'_>, rows: &[Row<'_>], operations: &IndexSet<String>) -> Prices {
        let numbers: BTreeMap<&Key<'_>, usize> =
            rows.iter().enumerate().map(|(number, row)| (&row.key, number)).collect();
        let groups: Vec<&GroupKey> = merged.groups.iter().map(|group| &group.key).collect();
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for (number, row) in rows.iter().enumerate().filter(|(_, row)| row.succeeded() > 0) {
            let others = (0..groups.len()).filter(|other| are_shown((row.key.group, *other), &groups));
            let cells = others.filter_map(|group| numbers.get(&Key { group, ..row.key.clone() }).copied());
            pairs.extend(cells.filter(|other| rows[*other].succeeded() > 0).map(|other| (number, other)));
        }
        if pairs.is_empty() {
            return Prices::default();
        }
        let operation_times = |operation: &String| {
            let figures = |cell: usize| series(&rows[cell].entries, operation, &MEAN_LATENCY);
            let ratio = |(cell, other): &(usize, usize)| compare(&figures(*cell), &figures(*other));
            (operation.clone(), Times::from_ratios(&pairs.par_iter().map(ratio).collect::<Vec<_>>()))
        };
        Prices {
            of: operations.iter().map(operation_times).collect(),
            cell: pairs.iter().map(|(cell, _)| *cell).collect(),
            beside: pairs.iter().map(|(_, other)| *other).collect(),
        }
    }
}

impl Times {
    fn from_ratios(ratios: &[Option<Ratio>]) -> Times {
        let spread = |ratio: &Ratio| Some(rounded(ratio.ratio.interval?.high / ratio.ratio.value - 1.0, 3));
        Times {
            times: ratios.iter().map(|ratio| Some(rounded(ratio.as_ref()?.ratio.value, 4))).collect(),
            spread: ratios.iter().map(|ratio| spread(ratio.as_ref()?)).collect(),
            blocks: ratios.iter().map(|ratio| ratio.as_ref().map_or(0, |ratio| ratio.blocks)).collect(),
        }
    }
}

/// Whether the page compares two groups: they differ only in the guarantee, the first coming later, or in the load that the second lacks.
fn are_shown((group, other): (usize, usize), groups: &[&GroupKey]) -> bool {
    let (key, base) = (groups[group], groups[other]);
    let axes: BTreeSet<Axis> = key.facets.iter().chain(&base.facets).map(|(axis, _)| *axis).collect();
    let differ: Vec<Axis> = axes.into_iter().filter(|axis| key.facet(*axis) != base.facet(*axis)).collect();
    let is_same_hardware = key.hardware == base.hardware;
    let is_same_guarantee = (key.asked, key.tier) == (base.asked, base.tier);
    match differ.as_slice() {
        [] => is_same_hardware && !is_same_guarantee && other < group,
        [axis] if *axis == Axis::BACKGROUND => {
            let idle = Background::None.to_string();
            is_same_hardware && is_same_guarantee && base.facets.contains(&(Axis::BACKGROUND, idle))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use storebench_figures::data::matrix::matrix;
    use storebench_samples::{Sample, blocks};

    use super::*;

    /// Mean latencies of the groups by block, and what the page knows of them.
    fn prices(samples: impl Fn(f64) -> Vec<Sample>, weather: &[f64]) -> serde_json::Value {
        let runs = [blocks("box", &weather.iter().map(|weather| samples(*weather)).collect::<Vec<_>>())];
        let merged = Merged::new(&runs, &[]);
        let matrices: Vec<_> = merged.groups.iter().map(|group| matrix(&merged, group)).collect();
        let rows = super::super::cells::rows(&merged, &matrices);
        let operations = ["insert".to_owned()].into();
        serde_json::to_value(Prices::new(&merged, &rows, &operations)).unwrap()
    }

    #[test]
    fn ratios_are_paired_by_block() {
        // Blocks differ a hundredfold, and the load makes all of them twice as slow: independent means would show nothing.
        let samples = |weather: f64| {
            let sample = Sample::new("lmdb").ns(1e3 * weather);
            vec![sample, Sample::new("lmdb").ns(2e3 * weather).background(Background::Cpu(1))]
        };
        let data = prices(samples, &[1.0, 100.0, 10.0]);
        assert_eq!(data["of"]["insert"], json!({"times": [2.0], "spread": [0.0], "blocks": [3]}));
        assert_ne!(data["cell"], data["beside"]);
    }

    #[test]
    fn guarantees_are_paired_and_other_differences_are_not() {
        let samples = |_| {
            vec![
                Sample::new("lmdb").guarantee("process"),
                Sample::new("lmdb").guarantee("power").ns(5e3),
                Sample::new("redb").guarantee("power"),
                Sample::new("lmdb").guarantee("power").place("ssd").background(Background::Cpu(1)),
            ]
        };
        let data = prices(samples, &[1.0, 1.0, 1.0]);
        assert_eq!(data["cell"].as_array().unwrap().len(), 1, "{data}");
        let times = data["of"]["insert"]["times"][0].as_f64().unwrap();
        assert!((times - 5.0).abs() < 1e-6 || (times - 0.2).abs() < 1e-6);
    }

    #[test]
    fn scripts_do_no_statistics() {
        let scripts = [
            include_str!("js/data.js"),
            include_str!("js/charts.js"),
            include_str!("js/matrix.js"),
            include_str!("js/table.js"),
        ];
        for script in scripts {
            for word in ["Math.hypot", "Math.sqrt", "Math.log(", "variance", "independent"] {
                assert!(!script.contains(word), "{word}");
            }
        }
    }
}
