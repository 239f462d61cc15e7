//! `storebench stores`: the table of stores.

use storebench_model::error::{Exit, Result};
use storebench_model::result::Harm;
use storebench_model::store::evidence::numbers;
use storebench_model::store::{Evidence, Guarantee, Loss, StoreDef, Threads};
use storebench_report::terminal::grid::wrap;

use super::output::{WIDTH, print};
use super::plan;

pub fn list(stores: &[StoreDef], name: Option<&str>) -> Result<Exit> {
    let stores = match name {
        Some(name) => std::slice::from_ref(plan::store(stores, name)?),
        None => stores,
    };
    print(&(table(stores) + &evidence(stores)))?;
    Ok(Exit::Success)
}

const LEGEND: &str = "
guarantees: what an acknowledged write survives. process: a killed process;
  power: a power cut; none: neither. A star marks the store's default.
order: whether the store returns keys in order.
sessions: how many threads can use the store at once.
kind: a folder is plain files, and its version is the kernel's; a harness store
  has no disk, tests storebench itself, and runs only when named.
For the settings behind each guarantee see docs/guarantees.md.
";

/// The findings on power cuts.
fn evidence(stores: &[StoreDef]) -> String {
    const HEAD: &str = "\nafter power cuts: states in which a store lost more than its guarantee allows, or did not open or work \
                        any more, as the study crash found them on its authors' machine:";
    let lines = stores.iter().filter_map(describe_findings);
    let lines: String = lines.map(|line| wrap(&format!("  {line}"), WIDTH, "    ")).collect();
    if lines.is_empty() { lines } else { wrap(HEAD, WIDTH, "  ") + &lines }
}

/// The findings on a store at each guarantee; `None` without checks.
fn describe_findings(store: &StoreDef) -> Option<String> {
    let sums = Guarantee::ALL.into_iter().filter_map(|tier| Evidence::sum_torn(store.evidence(), tier));
    let texts: Vec<String> = sums.map(|sum| sum.describe() + &describe_unseen_danger(store, &sum)).collect();
    (!texts.is_empty()).then(|| format!("{}, {}", store.name, texts.join(" ")))
}

/// A danger that is known, though no state showed it.
fn describe_unseen_danger(store: &StoreDef, found: &Evidence) -> String {
    let danger = store.offer(found.guarantee).and_then(|offer| offer.danger(&[]));
    let is_unseen = Harm::ALL.into_iter().all(|harm| harm == Harm::Created || found.count(harm) == 0);
    match danger.filter(|danger| danger.power_cut <= Loss::ByHand && is_unseen) {
        Some(danger) => {
            let why = if danger.why.is_empty() { String::new() } else { format!(" ({})", danger.why) };
            format!(" Known, though not seen: a power cut {}{why}.", danger.power_cut)
        }
        None => String::new(),
    }
}

fn table(stores: &[StoreDef]) -> String {
    let head = ["store", "kind", "version", "guarantees", "order", "sessions", "codec"].map(String::from);
    let built = stores.iter().filter(|store| store.open.is_ok());
    let rows: Vec<[String; 7]> = std::iter::once(head).chain(built.map(row)).collect();
    let widths: Vec<usize> =
        (0..7).map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text.push_str(LEGEND);
    for store in stores {
        if let Err(why) = store.open {
            text.push_str(&wrap(&format!("{} is not built: {why}", store.name), WIDTH, "  "));
        }
    }
    text
}

/// A store's name, kind, version, guarantees, order, sessions and codec.
pub fn row(store: &StoreDef) -> [String; 7] {
    let tiers = Guarantee::ALL.into_iter().filter(|tier| store.offer(*tier).is_some());
    let starred = tiers.map(|tier| format!("{tier}{}", if tier == store.shipped { "*" } else { "" }));
    let capabilities = &store.capabilities;
    let sessions = match capabilities.threads {
        Threads::One => "one",
        Threads::ManyReadersOneWriter => "1 writer",
        Threads::Many => "many",
    };
    [
        store.name.into(),
        store.kind.name().into(),
        numbers(&(store.version)()).to_owned(),
        starred.collect::<Vec<_>>().join(" "),
        if capabilities.order { "yes" } else { "no" }.into(),
        sessions.into(),
        capabilities.compression.unwrap_or("none").into(),
    ]
}

#[cfg(test)]
mod tests {
    use storebench_model::store::StoreKind;
    use storebench_model::stores::{MEMORY, NULL};

    use super::*;

    #[test]
    fn every_store_has_a_line_and_what_is_not_built_says_why() {
        let absent = StoreDef::not_built("tape", StoreKind::Engine, "a tape", "build with --features tape");
        let text = table(&[NULL, MEMORY, absent]);
        assert!(text.contains("\nmemory  harness  "), "{text}");
        assert!(text.contains("tape is not built: build with --features tape"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
    }
    #[test]
    fn a_danger_that_no_state_showed_is_named_and_no_other() {
        let findings = |name: &str| {
            let def = crate::STORES.iter().find(|def| def.name == name);
            def.map(|def| describe_findings(def).unwrap())
        };
        let (seen, unseen) = (findings("postgres"), findings("sled"));
        assert!(seen.is_none_or(|text| text.contains("22 needed a hand") && !text.contains("not seen")));
        assert!(
            unseen.is_none_or(
                |text| text.contains("none did harm") && text.contains("Known, though not seen: ")
            )
        );
    }
}
