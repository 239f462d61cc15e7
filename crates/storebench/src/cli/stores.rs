//! `storebench stores`: the table of stores.

use storebench_core::error::{Exit, Result};
use storebench_core::store::{Guarantee, StoreDef};

use super::print;

/// Prints the table.
pub fn list(stores: &[StoreDef]) -> Result<Exit> {
    print(&table(stores))?;
    Ok(Exit::Success)
}

fn table(stores: &[StoreDef]) -> String {
    let head = ["store", "kind", "version", "guarantees", "order", "threads", "compression", "built"]
        .map(String::from);
    let rows: Vec<[String; 8]> = std::iter::once(head).chain(stores.iter().map(row)).collect();
    let widths: Vec<usize> =
        (0..8).map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text.push_str("\nA star marks the guarantee that the store gives as shipped. none: survives nothing; process: a killed\n");
    text.push_str("process; power: a power cut. Stores of the kind harness run only when named. Settings: storebench settings\n");
    for store in stores {
        if let Err(why) = store.open {
            text.push_str(&format!("{} is not built: {why}\n", store.name));
        }
    }
    text
}

fn row(store: &StoreDef) -> [String; 8] {
    if store.open.is_err() {
        let unknown = || String::from("-");
        let (name, kind) = (store.name.into(), store.kind.name().into());
        return [name, kind, unknown(), unknown(), unknown(), unknown(), unknown(), "no".into()];
    }
    let tiers = Guarantee::ALL.into_iter().filter(|tier| store.offer(*tier).is_some());
    let starred = tiers.map(|tier| format!("{tier}{}", if tier == store.shipped { "*" } else { "" }));
    let can = &store.capabilities;
    [
        store.name.into(),
        store.kind.name().into(),
        (store.version)(),
        starred.collect::<Vec<_>>().join(" "),
        if can.order { "yes" } else { "no" }.into(),
        can.threads.name().into(),
        can.compression.unwrap_or("no").into(),
        "yes".into(),
    ]
}

#[cfg(test)]
mod tests {
    use storebench_core::store::Kind;
    use storebench_core::stores::{MEMORY, NULL};

    use super::*;

    #[test]
    fn every_store_has_a_line_and_what_is_not_built_says_why() {
        let absent = StoreDef::not_built("tape", Kind::Engine, "a tape", "build with --features tape");
        let text = table(&[NULL, MEMORY, absent]);
        assert!(text.contains("\nmemory  harness  "), "{text}");
        assert!(text.contains("tape is not built: build with --features tape"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 110), "{text}");
    }
}
