//! Round by round, in the terminal: what becomes of speed and files when a workload runs again and again on one database.

use storebench_core::units::three_digits;

use super::grid::{Grid, Item, Style, wrap};
use super::table::in_full;
use crate::column::Unit;
use crate::data::matrix::Sorted;
use crate::data::merge::{Entry, Merged};
use crate::data::names::{HEADING, joined, store_style};
use crate::data::rounds::{Figure, last_over_first, most, values};
use crate::stats::Summary;

/// Rounds that are shown where not all are.
const SHOWN: usize = 5;

/// Speed and files of the rounds, for people: of all, or of some from the first to the last. Empty where no trial has several.
/// Each line is ended.
pub fn text(merged: &Merged<'_>, style: Style, all: bool) -> String {
    let rounds = most(merged.groups.iter().flat_map(|group| &group.trials));
    if rounds < 2 {
        return String::new();
    }
    let shown = picked(rounds, all);
    let mut grid = Grid::new(2);
    let heads = shown.iter().map(|round| Item::new(format!("round {}", round + 1)).right());
    let labels = [Item::new(""), Item::new("")];
    grid.head(labels.into_iter().chain(heads).chain([Item::new("last/first").right()]).collect());
    for group in &merged.groups {
        let sorted = Sorted::new(merged, group);
        for (position, here) in &sorted.entries {
            let with_rounds = here.iter().filter(|(_, entries)| most(*entries) > 1);
            let rows: Vec<_> = with_rounds
                .flat_map(|(store, entries)| {
                    Figure::ALL.map(|figure| row(merged, store, entries, figure, &shown))
                })
                .collect();
            if !rows.is_empty() {
                let of = joined([group.key.hardware.as_str(), &merged.label(&group.key)]);
                grid.titled_group(joined([of.as_str(), &in_full(position)]), rows);
            }
        }
    }
    let title =
        style.paint(HEADING, "Round by round: operations per second, and the length of the files after each");
    let more = if shown.len() < rounds { " --table shows all rounds." } else { "" };
    let note = format!(
        "Geometric means over trials. last/first: how many times the last round's figure is the first's.{more}"
    );
    format!("\n{title}\n{}\n{}", grid.render(style), wrap(&note, style.width, "  "))
}

/// Which of so many rounds are shown, from 0: the first, the last, and some evenly between them.
fn picked(rounds: usize, all: bool) -> Vec<usize> {
    if all || rounds <= SHOWN {
        return (0..rounds).collect();
    }
    (0..SHOWN).map(|step| step * (rounds - 1) / (SHOWN - 1)).collect()
}

fn row(
    merged: &Merged<'_>,
    store: &str,
    entries: &[Entry<'_>],
    figure: Figure,
    shown: &[usize],
) -> Vec<Item> {
    let (name, unit) = match figure {
        Figure::Speed => ("ops/s", Unit::PerSecond),
        Figure::Files => ("files", Unit::Bytes),
    };
    // Once is enough.
    let label = if figure == Figure::ALL[0] { merged.readable.name(store) } else { "".into() };
    let of_round = |round: &usize| {
        let mean = Summary::of(&values(entries, figure, *round)).map(|summary| summary.mean.value);
        Item::new(mean.map_or_else(|| "-".into(), |mean| unit.show(mean))).right()
    };
    let growth = last_over_first(entries, figure).map(|growth| growth.mean.value);
    let growth = Item::new(growth.map_or_else(|| "-".into(), |growth| format!("×{}", three_digits(growth))));
    let labels = [Item::new(label).painted(store_style(store)), Item::new(name)];
    labels.into_iter().chain(shown.iter().map(of_round)).chain([growth.right()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::samples::{Sample, blocks};

    #[test]
    fn rounds_are_shown_from_the_first_to_the_last() {
        assert_eq!(picked(10, false), [0, 2, 4, 6, 9]);
        assert_eq!((picked(3, false), picked(7, true)), (vec![0, 1, 2], (0..7).collect()));
        let block = || vec![Sample::new("lmdb").rounds(10), Sample::new("redb").ns(2000.0)];
        let runs = [blocks("box", &[block(), block()])];
        let merged = Merged::new(&runs, &[]);
        let style = Style { width: 100, colour: false };
        let some = text(&merged, style, false);
        let lines: Vec<Vec<&str>> = some.lines().map(|line| line.split_whitespace().collect()).collect();
        let files = lines.iter().find(|line| line.first() == Some(&"files")).unwrap();
        assert_eq!((&files[1..3], files.last()), (&["58.6", "KiB"][..], Some(&"×4.00")), "{some}");
        assert!(lines.iter().any(|line| line.starts_with(&["lmdb", "ops/s"])), "{some}");
        assert!(!some.contains("redb") && some.contains("--table"), "{some}");
        let all = text(&merged, style, true);
        assert!(all.contains("round 2 ") && all.lines().all(|line| line.chars().count() <= 100), "{all}");
        assert!(!all.contains("--table"), "{all}");
        let none = [blocks("box", &[vec![Sample::new("lmdb")]])];
        assert_eq!(text(&Merged::new(&none, &[]), style, true), "");
    }
}
