//! File systems by cluster size, in the terminal.

use anstyle::{AnsiColor, Style as Paint};

use super::grid::{Grid, Item, Style, wrap};
use crate::data::clusters::{Clusters, Found, Map, Spot, clusters, heading};
use crate::data::merge::Merged;
use crate::data::names::HEADING;

/// Stores that are shown where not all are.
const SHOWN: usize = 4;

/// The maps for people: of all stores, or of the first ones. Empty where no store ran on several file systems. Each line is ended.
pub fn text(merged: &Merged<'_>, style: Style, all: bool) -> String {
    let found = clusters(merged);
    if found.is_empty() {
        return String::new();
    }
    let shown = if all { found.len() } else { found.len().min(SHOWN) };
    let title =
        style.paint(HEADING, "File systems by cluster size in bytes: mean latency, space beyond lengths");
    let grids: Vec<String> = found[..shown].iter().map(|one| of_store(one, style)).collect();
    let combinations = found.iter().flat_map(|one| &one.maps).map(|map| map.combinations).max().unwrap_or(1);
    let mut note = String::from("*: the best of its map, or too close to call with it");
    if combinations > 1 {
        note.push_str(", in half of the combinations or more. Figures are means over the combinations that all places have");
    }
    note.push('.');
    if shown < found.len() {
        note.push_str(&format!(" --table shows all {} maps; here are {shown}.", found.len()));
    }
    format!("\n{title}\n{}{}", grids.join("\n"), wrap(&note, style.width, "  "))
}

fn of_store(one: &Clusters, style: Style) -> String {
    let mut grid = Grid::new(1);
    let heads = one.columns.iter().map(|cluster| Item::new(format!("{} ", heading(*cluster))).right());
    grid.head([Item::new("")].into_iter().chain(heads).collect());
    for map in &one.maps {
        grid.titled_group(map.name.clone(), rows(one, map));
    }
    let reasons: String =
        one.left_out.iter().map(|reason| wrap(&format!("Left out: {reason}"), style.width, "  ")).collect();
    format!("{}\n{}{reasons}", one.title, grid.render(style))
}

fn rows(one: &Clusters, map: &Map) -> Vec<Vec<Item>> {
    let line = |(name, spots): (&String, &Vec<Option<Spot>>)| {
        [Item::new(name)].into_iter().chain(spots.iter().map(|spot| item(map, *spot))).collect()
    };
    one.rows.iter().zip(&map.spots).map(line).collect()
}

fn item(map: &Map, spot: Option<Spot>) -> Item {
    match spot {
        None => Item::new(""),
        Some(Spot::Missing(why)) => {
            Item::new(format!("{} ", why.name())).right().painted(Paint::new().dimmed())
        }
        Some(Spot::Found(found)) => {
            let best = if found.wins { "*" } else { " " };
            Item::new(format!("{}{best}", map.unit.show(found.mean))).right().painted(paint(found))
        }
    }
}

/// Green near the best, yellow from a quarter more on, red from twice as much on.
fn paint(found: Found) -> Paint {
    let colour = match found.times {
        times if times < 1.25 => AnsiColor::Green,
        times if times < 2.0 => AnsiColor::Yellow,
        _ => AnsiColor::Red,
    };
    Paint::new().fg_color(Some(colour.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::samples::{Sample, blocks};

    #[test]
    fn places_are_a_table_for_each_store() {
        let stores = ["sqlite", "lmdb", "redb", "fjall", "leveldb"];
        let of = |store: &str| {
            [("ext4:1024", 1e4), ("ntfs:65536", 4e6)]
                .map(|(place, ns)| Sample::new(store).place(place).ns(ns))
        };
        let runs = [blocks("box", &[stores.iter().flat_map(|store| of(store)).collect()])];
        let merged = Merged::new(&runs, &[]);
        let style = Style { width: 80, colour: false };
        let some = text(&merged, style, false);
        assert!(some.contains("box, process, sqlite") && !some.contains("leveldb"), "{some}");
        let words = some.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("--table shows all 5 maps; here are 4."), "{some}");
        assert!(some.lines().any(|line| line.split_whitespace().eq(["ext4", "10.0", "µs*"])), "{some}");
        let all = text(&merged, style, true);
        assert!(all.contains("leveldb") && !all.contains("--table"), "{all}");
        assert!(all.lines().all(|line| line.chars().count() <= 80), "{all}");
        let one = [blocks("box", &[vec![Sample::new("sqlite")]])];
        assert_eq!(text(&Merged::new(&one, &[]), style, true), "");
    }
}
