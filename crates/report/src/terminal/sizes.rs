//! Data against memory, in the terminal: where stores fall, and by how much.

use super::grid::{Grid, Item, Style, wrap};
use crate::column::Unit;
use crate::data::merge::Merged;
use crate::data::names::{HEADING, store_style};
use crate::data::sizes::words::{LEGEND, TITLE, cliff, falls_by, sentences, size};
use crate::data::sizes::{Fall, Falls, Sizes, sizes_for_people};
use crate::stats::Summary;

/// Tables that are shown where not all are.
const SHOWN: usize = 4;

/// The falls of all operations together, of the first tables; or of every operation, of all. Empty where data were not of several
/// sizes. Each line is ended.
pub fn text(merged: &Merged<'_>, style: Style, all: bool) -> String {
    let found = sizes_for_people(merged);
    if found.is_empty() {
        return String::new();
    }
    let shown = if all { found.len() } else { found.len().min(SHOWN) };
    let tables: Vec<String> = found[..shown].iter().map(|one| table(one, style, all)).collect();
    let mut note = LEGEND.to_owned();
    match (all, shown < found.len()) {
        (true, _) => {}
        (_, true) => note.push_str(&format!(
            " --table shows all {} tables, with every operation; here are {shown}.",
            found.len()
        )),
        (_, false) => note.push_str(" --table shows every operation."),
    }
    let title = style.paint(HEADING, &format!("{TITLE}: where throughput falls"));
    format!("\n{title}\n{}{}", tables.join("\n"), wrap(&note, style.width, "  "))
}

fn table(one: &Sizes, style: Style, all: bool) -> String {
    let mut grid = Grid::new(1);
    let end = |times: Option<f64>| {
        Item::new(times.map_or_else(String::new, |times| format!("at {}", size(times)))).right()
    };
    grid.head(vec![
        Item::new(""),
        Item::new("cliff"),
        end(one.inside),
        end(one.outside),
        Item::new("falls by"),
    ]);
    let mut said = String::new();
    let operations: Vec<&Falls> =
        if all { one.operations.iter().collect() } else { one.headline().into_iter().collect() };
    for falls in operations {
        let rows = falls.stores.iter().map(|fall| row(one, fall)).collect();
        if all {
            grid.titled_group(falls.operation.clone(), rows)
        } else {
            grid.group(rows)
        }
        let words = sentences(one, falls).join(" ");
        let words = if all { format!("{}: {words}", falls.operation) } else { words };
        said.push_str(&wrap(&words, style.width, "  "));
    }
    format!("{}\n{}{said}", wrap(&one.name(), style.width, "  ").trim_end(), grid.render(style))
}

fn row(one: &Sizes, fall: &Fall) -> Vec<Item> {
    let speed = |summary: Option<&Summary>| {
        Item::new(summary.map_or_else(|| "-".into(), |of| Unit::PerSecond.show(of.mean.value))).right()
    };
    vec![
        Item::new(&fall.store).painted(store_style(&fall.store)),
        Item::new(cliff(fall.cliff)),
        speed(fall.at(one.inside)),
        speed(fall.at(one.outside)),
        Item::new(fall.kept.as_ref().map_or_else(|| "-".into(), falls_by)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::samples::{Sample, blocks};
    use crate::data::sizes::tests::outgrown;

    #[test]
    fn stores_stand_by_where_they_fall() {
        let runs = [outgrown()];
        let merged = Merged::new(&runs, &[]);
        let style = Style { width: 80, colour: false };
        let some = text(&merged, style, false);
        let first: Vec<&str> = some.lines().filter_map(|line| line.split_whitespace().next()).collect();
        let order =
            ["sqlite", "redb", "lmdb"].map(|store| first.iter().position(|word| *word == store).unwrap());
        assert!(order.is_sorted(), "{some}");
        let head = some.lines().find(|line| line.contains("falls by")).unwrap();
        assert!(head.contains("at 0.25x") && head.contains("at 4x"), "{some}");
        assert!(
            some.contains("Falls last: redb. Falls least: sqlite.") && some.contains("--table"),
            "{some}"
        );
        let all = text(&merged, style, true);
        assert!(all.contains("remove: No cliff") && !all.contains("--table"), "{all}");
        assert!(all.lines().chain(some.lines()).all(|line| line.chars().count() <= 80), "{some}{all}");
        let none = [blocks("box", &[vec![Sample::new("lmdb")]])];
        assert_eq!(text(&Merged::new(&none, &[]), style, true), "");
    }
}
