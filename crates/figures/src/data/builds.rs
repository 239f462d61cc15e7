//! Stores whose engine was compiled differently from its authors' release: they have figures, but no rank.

use indexmap::IndexSet;
use storebench_model::store::StoreBuild;

use super::merge::{Entry, Merged};

/// One sentence or two for each such store of the runs.
pub fn not_ranked(merged: &Merged<'_>) -> Vec<String> {
    let trials = merged.runs.iter().flat_map(|run| &run.trials);
    let builds: IndexSet<(&str, &str, &str)> = trials
        .filter_map(|trial| {
            let measured = trial.ok()?;
            let build = measured.store_build.as_ref()?;
            let reason = build.not_ranked.as_deref()?;
            Some((trial.cell.store(), build.source.as_str(), reason))
        })
        .collect();
    let line = |(store, source, reason): (&str, &str, &str)| {
        format!(
            "Not ranked: {store} ({source}, {reason}). Its figures are shown, but such a build can't win; docs/building.md \
             says how to get one that can."
        )
    };
    builds.into_iter().map(line).collect()
}

/// Whether all of a store's successful trials used such builds.
pub fn is_unranked(entries: &[Entry<'_>]) -> bool {
    let mut successful = entries.iter().filter(|entry| entry.trial.ok().is_some()).peekable();
    successful.peek().is_some() && successful.all(|entry| entry.not_ranked().is_some())
}

pub fn describe_build(build: &StoreBuild) -> String {
    let assertions = match build.assertions {
        Some(true) => "with assertions",
        Some(false) => "without assertions",
        None => "whether with assertions is not known",
    };
    let flags = build.flags.as_deref().map_or_else(String::new, |flags| format!(", {flags}"));
    let ranking = build.not_ranked.as_deref().map_or_else(String::new, |why| format!("; not ranked: {why}"));
    format!("{}, {assertions}{flags}{ranking}", build.source)
}
