//! Data against memory in the page: the lines of the charts, whose points are cells.

use indexmap::{IndexMap, IndexSet};
use serde::Serialize;
use storebench_figures::data::merge::Merged;
use storebench_figures::data::sizes::{Sizes, StoreFalls, has_several_sizes, sizes, times};
use storebench_figures::stats::cliff::Cliff;
use storebench_model::cell::Axis;

use super::cells::{Key, Row};
use super::numbers::rounded;
use crate::markup::{Html, Literal};

const DIGITS: i32 = 4;

#[derive(Debug, Serialize)]
pub struct DrawnSizes {
    lines: Vec<Line>,
}

#[derive(Debug, Serialize)]
struct Line {
    store: usize,
    /// The data over the memory, and the cells of each size.
    times: Vec<f64>,
    cells: Vec<usize>,
    /// The sizes between which throughput falls, by operation.
    cliffs: IndexMap<String, (f64, f64)>,
}

pub fn draw_sizes(merged: &Merged<'_>, rows: &[Row<'_>], names: &IndexSet<&str>) -> Vec<DrawnSizes> {
    sizes(merged).iter().map(|sizes| DrawnSizes { lines: store_lines(sizes, rows, names) }).collect()
}

fn store_lines(sizes: &Sizes, rows: &[Row<'_>], names: &IndexSet<&str>) -> Vec<Line> {
    let mut points: IndexMap<usize, Vec<(f64, usize)>> = IndexMap::new();
    for (cell, row) in rows.iter().enumerate() {
        let Key { group, position, .. } = &row.key;
        if !sizes.groups.contains(group) || position.without_axis(Axis::DATA_SIZE) != sizes.rest {
            continue;
        }
        let size = row.entries.iter().find_map(times);
        if let Some((store, size)) = names.get_index_of(&*row.key.store).zip(size) {
            points.entry(store).or_default().push((size, cell));
        }
    }
    let line = |(store, mut points): (usize, Vec<(f64, usize)>)| {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let name = names.get_index(store).copied().unwrap_or_default();
        let operation_cliff = |falls: &StoreFalls| {
            let fall = falls.stores.iter().find(|fall| fall.store == name)?;
            let Cliff::At { low, high } = fall.cliff else { return None };
            let digits = |value: f64| rounded(value, DIGITS);
            Some((falls.operation.clone(), (digits(low), digits(high))))
        };
        Line {
            store,
            times: points.iter().map(|(size, _)| *size).collect(),
            cells: points.iter().map(|(_, cell)| *cell).collect(),
            cliffs: sizes.operations.iter().filter_map(operation_cliff).collect(),
        }
    };
    points.into_iter().map(line).collect()
}

pub fn charts(merged: &Merged<'_>) -> Html {
    const SECTION: &str = "<section id=\"outgrown\" tabindex=\"-1\"><h2>Data against memory: charts</h2><p class=\"where\"></p><p class=\"note\">\
                           By data over memory. A bar marks the sizes between which throughput falls more steeply than elsewhere.</p>\
                           <div class=\"content\"></div></section>";
    Html::new(has_several_sizes(merged).then_some(Literal(SECTION)))
}

#[cfg(test)]
mod tests {
    use storebench_figures::data::matrix::matrix;
    use storebench_samples::outgrown;
    use storebench_samples::{Sample, run};

    use super::*;

    #[test]
    fn lines_lead_to_cells() {
        let runs = [outgrown()];
        let merged = Merged::new(&runs, &[]);
        assert!(charts(&merged).as_str().contains("id=\"outgrown\""));
        let matrices: Vec<_> = merged.groups.iter().map(|group| matrix(&merged, group)).collect();
        let rows = super::super::cells::rows(&merged, &matrices);
        let names: IndexSet<&str> = rows.iter().map(|row| &*row.key.store).collect();
        let [chart] = draw_sizes(&merged, &rows, &names).try_into().unwrap();
        assert_eq!(chart.lines.len(), 3);
        for line in &chart.lines {
            assert_eq!(line.times, [0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0]);
            let is_of_store = |cell: &usize| *rows[*cell].key.store == *names[line.store];
            assert!(line.cells.iter().all(is_of_store));
            assert_eq!(line.cliffs.contains_key("insert"), names[line.store] != "sqlite");
        }
    }

    #[test]
    fn other_work_has_no_such_section() {
        let runs = [run("box", &[Sample::new("lmdb")])];
        let merged = Merged::new(&runs, &[]);
        assert!(charts(&merged).is_empty());
    }
}
