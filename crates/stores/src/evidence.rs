//! The findings of power cuts that come with the program: what its authors' runs of the study `crash` found, by version.
//! `scripts/evidence.py` makes evidence.csv from these runs.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use storebench_model::store::Evidence;

pub fn find(store: &str) -> &'static [Evidence] {
    static BY_STORE: LazyLock<BTreeMap<String, Vec<Evidence>>> = LazyLock::new(|| {
        let mut by_store = BTreeMap::<_, Vec<_>>::new();
        // A test reads every row.
        for (store, evidence) in rows().flatten() {
            by_store.entry(store).or_default().push(evidence);
        }
        by_store
    });
    BY_STORE.get(store).map_or(&[], Vec::as_slice)
}

fn rows() -> impl Iterator<Item = csv::Result<(String, Evidence)>> {
    let records = csv::Reader::from_reader(include_bytes!("evidence.csv").as_slice()).into_records();
    // By position: a nested struct does not find its columns by name.
    records.map(|record| record?.deserialize(None))
}

#[cfg(test)]
mod tests {
    use storebench_model::result::Harm;

    use super::*;

    #[test]
    fn every_row_is_of_a_store_that_there_is_and_stands_in_the_guarantees() {
        let page = include_str!("../../../docs/guarantees.md");
        for row in rows() {
            let (store, evidence) = row.unwrap();
            let def = crate::STORES.iter().find(|def| def.name == store).expect(&store);
            assert!(def.evidence().contains(&evidence), "{store}: the table of stores lacks {evidence:?}");
            assert!(evidence.states > 0);
            assert!(Harm::ALL.into_iter().all(|harm| evidence.count(harm) <= evidence.states));
            let Evidence { version, guarantee, torn, file_systems, states, harms } = evidence.clone();
            let disk = if torn { "tears pages" } else { "whole blocks" };
            let harms = harms.map(|states| states.map_or("unknown".to_owned(), |states| states.to_string()));
            let row = [version, guarantee.to_string(), disk.into(), file_systems, states.to_string()];
            let row = format!("| {store} {} | {} |", row.join(" | "), harms.join(" | "));
            assert!(page.contains(&row), "docs/guarantees.md lacks {row}");
            let label = def.offer(guarantee).and_then(|offer| offer.danger(&[])).unwrap();
            for harm in evidence.dangers() {
                let is_told = label.covers(harm, guarantee);
                assert!(is_told, "{store} at {guarantee}: {label} says nothing of {harm:?}");
            }
        }
    }
}
