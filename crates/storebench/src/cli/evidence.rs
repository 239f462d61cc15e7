//! The findings of power cuts that come with the program, as `storebench stores` shows them.

use storebench_core::store::StoreDef;

/// A line for each store of which there is something: at each guarantee the states in which it lost more than that allows, and
/// the version with which that was seen, where this build has another.
pub fn lines(stores: &[StoreDef]) -> Vec<String> {
    let line = |store: &StoreDef| {
        let found: Vec<String> = store.evidence.iter().map(|one| one.in_words()).collect();
        let first = store.evidence.first()?;
        let here = store.open.is_ok().then(|| (store.version)());
        let of = match here {
            Some(here) if first.is_of(&here) => String::new(),
            _ => format!(" (of version {})", first.version),
        };
        Some(format!("{}{of}: {}", store.name, found.join("; ")))
    };
    stores.iter().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_comes_with_the_program_stands_in_the_guarantees() {
        let page = include_str!("../../../../docs/guarantees.md");
        for store in crate::STORES {
            for one in store.evidence {
                assert!(one.states > 0 && one.broken <= one.states, "{one:?}");
                let disk = if one.torn { "tears pages" } else { "whole blocks" };
                let row = format!(
                    "| {} {} | {} | {disk} | {} | {} | {} |",
                    store.name,
                    one.version,
                    one.guarantee,
                    one.file_systems.join(" "),
                    one.states,
                    one.broken
                );
                assert!(page.contains(&row), "docs/guarantees.md lacks {row}");
            }
        }
    }
}
