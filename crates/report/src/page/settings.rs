//! The settings of every store, as its engine read them back.

use std::borrow::Cow;
use std::collections::BTreeMap;

use indexmap::{IndexMap, IndexSet};
use storebench_core::result::{RunHeader, TrialResult};
use storebench_core::store::{Setting, SettingSource};

use super::markup::escape;
use crate::data::builds;
use crate::data::merge::Merged;

/// One store's settings: by name, then by the guarantee given, the values and where each was seen.
type Table<'a> = IndexMap<&'a str, BTreeMap<&'static str, IndexSet<&'a str>>>;

/// The section's content.
pub fn html(merged: &Merged<'_>) -> String {
    let mut stores: IndexMap<Cow<'_, str>, Vec<&TrialResult>> = IndexMap::new();
    for trial in merged.runs.iter().flat_map(|run| &run.trials) {
        let name = match trial.cell.store() {
            "" => merged.layout.contestant(&trial.cell),
            store => Cow::Borrowed(store),
        };
        stores.entry(name).or_default().push(trial);
    }
    stores.sort_keys();
    stores.iter().map(|(store, trials)| of_store(merged, store, trials)).collect()
}

fn of_store(merged: &Merged<'_>, store: &str, trials: &[&TrialResult]) -> String {
    let versions: IndexSet<&str> = trials
        .iter()
        .filter_map(|trial| trial.ok())
        .map(|measured| measured.store_version.as_str())
        .chain(merged.runs.iter().filter_map(|run| declared(&run.header, store)))
        .collect();
    let versions: Vec<&str> = versions.into_iter().collect();
    let mut table = Table::new();
    let mut given: IndexSet<&str> = IndexSet::new();
    let mut tiers: BTreeMap<&'static str, ()> = BTreeMap::new();
    for measured in trials.iter().filter_map(|trial| trial.ok()) {
        tiers.insert(measured.guarantee.name(), ());
        for Setting { name, value, source } in &measured.settings {
            table.entry(name).or_default().entry(measured.guarantee.name()).or_default().insert(value);
            if *source == SettingSource::Given {
                given.insert(name);
            }
        }
    }
    let builds: IndexSet<String> = trials
        .iter()
        .filter_map(|trial| Some(builds::words(trial.ok()?.store_build.as_ref()?)))
        .map(|words| format!("<p>Build: {}</p>", escape(&words)))
        .collect();
    let builds: String = builds.into_iter().collect();
    let title = format!("{} <small>{}</small>", escape(store), escape(&versions.join(", ")));
    if table.is_empty() {
        return format!(
            "<details><summary>{title}</summary>{builds}<p>No settings were recorded.</p></details>"
        );
    }
    let heads: String = tiers.keys().map(|tier| format!("<th scope=\"col\">{tier}</th>")).collect();
    let rows: String =
        table.iter().map(|(name, values)| row(name, values, &tiers, given.contains(name))).collect();
    format!(
        "<details><summary>{title}</summary>{builds}<div class=\"scroll\"><table><thead><tr><th scope=\"col\">setting</th>{heads}\
         </tr></thead><tbody>{rows}</tbody></table></div></details>"
    )
}

fn declared<'h>(header: &'h RunHeader, store: &str) -> Option<&'h str> {
    header.stores.iter().find(|info| info.name == store).map(|info| info.version.as_str())
}

fn row(
    name: &str,
    values: &BTreeMap<&'static str, IndexSet<&str>>,
    tiers: &BTreeMap<&'static str, ()>,
    given: bool,
) -> String {
    let mark = if given { " <small>(given; it can't be read back)</small>" } else { "" };
    let items: String = tiers
        .keys()
        .map(|tier| {
            let values: Vec<&str> = values.get(tier).into_iter().flatten().copied().collect();
            format!("<td>{}</td>", escape(&values.join(" or ")))
        })
        .collect();
    format!("<tr><th scope=\"row\">{}{mark}</th>{items}</tr>", escape(name))
}
