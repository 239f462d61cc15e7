//! Names and colours of stores.

use anstyle::{Ansi256Color, AnsiColor, Color, Style};
use storebench_model::units::plural;
use xxhash_rust::xxh3::xxh3_64;

/// The stores of paper 000: storebench's name, the paper's, and the colour (of the 256-colour palette) behind their cells.
const PAPER_STORES: [(&str, &str, u8); 6] = [
    ("sqlite", "SQLite3", 117),
    ("leveldb", "LevelDB", 150),
    ("rocksdb", "RocksDB", 215),
    ("berkeleydb", "BerkeleyDB", 183),
    ("flat-folder", "FlatFolder", 252),
    ("nested-folder", "NestedFolder", 248),
];

const MORE_STORES: [(&str, u8); 8] = [
    ("lmdb", 210),
    ("unqlite", 222),
    ("redb", 80),
    ("fjall", 229),
    ("one-file", 146),
    ("sled", 111),
    ("libmdbx", 203),
    // Only in results of earlier versions. It keeps its position, which determines the colours of other names.
    ("wiredtiger", 114),
];

/// The remaining colours, for other stores by their names.
const OTHER_COLOURS: [u8; 5] = [147, 158, 186, 218, 180];

/// The name of a store in paper 000's scripts; otherwise storebench's own.
pub fn paper_name(store: &str) -> &str {
    PAPER_STORES.iter().find(|(name, ..)| *name == store).map_or(store, |(_, name, _)| name)
}

/// A store's colour: the same in every report, black on a light ground, readable on dark and light terminals.
pub fn store_style(store: &str) -> Style {
    let colours = PAPER_STORES.iter().map(|(name, _, colour)| (*name, *colour)).chain(MORE_STORES);
    let other = OTHER_COLOURS[(xxh3_64(store.as_bytes()) % OTHER_COLOURS.len() as u64) as usize];
    let colour = colours.into_iter().find(|(name, _)| *name == store).map_or(other, |(_, colour)| colour);
    Style::new().fg_color(Some(Ansi256Color(16).into())).bg_color(Some(Ansi256Color(colour).into()))
}

/// A store's index in the palette of the HTML report, from 0 to 19: the same in every report.
pub fn palette_position(store: &str) -> usize {
    let names = PAPER_STORES.iter().map(|(name, ..)| *name).chain(MORE_STORES.map(|(name, _)| name));
    let names: Vec<&str> = names.chain(["null", "memory"]).collect();
    let position = names.iter().position(|name| *name == store);
    position.unwrap_or_else(|| names.len() + (xxh3_64(store.as_bytes()) % (20 - names.len() as u64)) as usize)
}

pub fn join_parts<'p>(parts: impl IntoIterator<Item = &'p str>) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// A list in a sentence: `a, b and c`.
pub fn join_with_and<S: std::borrow::Borrow<str>>(parts: &[S]) -> String {
    match parts.split_last() {
        Some((last, [])) => last.borrow().to_owned(),
        Some((last, rest)) => format!("{} and {}", rest.join(", "), last.borrow()),
        None => String::new(),
    }
}

/// The first of some names, the rest counted: `a, b and 3 more`.
pub fn join_first<S: std::borrow::Borrow<str>>(names: &[S], most: usize) -> String {
    let more = names.len().saturating_sub(most);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", names[..names.len().min(most)].join(", "))
}

/// Kinds of failure and the like that are listed; the rest is counted.
pub const LISTED: usize = 10;

pub const HEADING: Style = Style::new().bold();

pub const FAILURE: Style = Style::new().bold().fg_color(Some(Color::Ansi(AnsiColor::Red)));

/// The style of changes for the better.
pub const GOOD: Style = Style::new().bold().fg_color(Some(Color::Ansi(AnsiColor::Green)));

/// The share of machines: `on most machines (7 of 9)`.
pub fn describe_share(count: usize, total: usize) -> String {
    let quantity = match count {
        count if count == total => "all",
        count if 2 * count > total => "most",
        0 => return format!("on none of {}", plural(total, "machine")),
        _ => "some",
    };
    format!("on {quantity} machines ({count} of {total})")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn known_stores_have_distinct_colours() {
        let known = PAPER_STORES.map(|(_, _, colour)| colour).into_iter().chain(MORE_STORES.map(|(_, c)| c));
        assert_eq!(known.chain(OTHER_COLOURS).collect::<BTreeSet<u8>>().len(), 19);
        assert_eq!(store_style("someone-elses"), store_style("someone-elses"));
    }
}
