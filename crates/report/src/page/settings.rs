//! The settings of every store, as its engine reported them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use indexmap::{IndexMap, IndexSet};
use storebench_figures::data::builds;
use storebench_figures::data::merge::Merged;
use storebench_model::result::{RunHeader, TrialResult};
use storebench_model::store::{Setting, SettingSource};

use crate::markup::{Html, Tag, column, folded, p, row as table_row, scroll, small, table, tag};

/// One store's settings: by name, then by the guarantee given, the values and where each was seen.
type Table<'a> = IndexMap<&'a str, BTreeMap<&'static str, IndexSet<Cow<'a, str>>>>;

pub fn html(merged: &Merged<'_>) -> Html {
    let mut stores: IndexMap<Cow<'_, str>, Vec<&TrialResult>> = IndexMap::new();
    for trial in merged.runs.iter().flat_map(|run| &run.trials) {
        let name = match trial.cell.store() {
            "" => merged.layout.contestant(&trial.cell),
            store => Cow::Borrowed(store),
        };
        stores.entry(name).or_default().push(trial);
    }
    stores.sort_keys();
    Html::new(stores.iter().map(|(store, trials)| store_settings(merged, store, trials)).collect::<Vec<_>>())
}

fn store_settings(merged: &Merged<'_>, store: &str, trials: &[&TrialResult]) -> Tag {
    let versions = trials.iter().filter_map(|trial| Some(trial.ok()?.store_version.as_str()));
    let declared = merged.runs.iter().filter_map(|run| declared_version(&run.header, store));
    let versions: IndexSet<&str> = versions.chain(declared).collect();
    let versions: Vec<&str> = versions.into_iter().collect();
    let mut settings = Table::new();
    let mut unconfirmed: IndexSet<&str> = IndexSet::new();
    let mut tiers: BTreeSet<&'static str> = BTreeSet::new();
    for measured in trials.iter().filter_map(|trial| trial.ok()) {
        tiers.insert(measured.guarantee.name());
        for Setting { name, value, source } in &measured.settings {
            let value = merged.readable.value(name, value);
            settings.entry(name).or_default().entry(measured.guarantee.name()).or_default().insert(value);
            if *source != SettingSource::ReadBack {
                unconfirmed.insert(name);
            }
        }
    }
    let build = |trial: &&TrialResult| Some(builds::describe_build(trial.ok()?.store_build.as_ref()?));
    let builds: IndexSet<String> = trials.iter().filter_map(build).collect();
    let builds: Vec<Tag> = builds.into_iter().map(|words| p(("Build: ", words))).collect();
    let title = (store, " ", small(versions.join(", ")));
    if settings.is_empty() {
        return folded(title, (builds, p("No settings were recorded.")));
    }
    let heads = std::iter::once("setting").chain(tiers.iter().copied()).map(column).collect();
    let rows: Vec<Tag> =
        settings.iter().map(|(name, values)| row(name, values, &tiers, unconfirmed.contains(name))).collect();
    folded(title, (builds, scroll(table(heads, rows))))
}

fn declared_version<'h>(header: &'h RunHeader, store: &str) -> Option<&'h str> {
    header.stores.iter().find(|info| info.name == store).map(|info| info.version.as_str())
}

fn row(
    name: &str,
    values: &BTreeMap<&'static str, IndexSet<Cow<'_, str>>>,
    tiers: &BTreeSet<&'static str>,
    is_unconfirmed: bool,
) -> Tag {
    let mark = is_unconfirmed.then(|| (" ", small("(given; it can't be read back)")));
    let tier_cell = |tier: &&'static str| {
        let values: Vec<&str> = values.get(tier).into_iter().flatten().map(|value| &**value).collect();
        tag("td").with(values.join(" or "))
    };
    table_row((name, mark), tiers.iter().map(tier_cell).collect::<Vec<_>>())
}
