//! `storebench settings`: the settings of each store, and their effects.

use storebench_model::error::{Exit, Result};
use storebench_model::store::{SettingDef, StoreDef};
use storebench_report::terminal::grid::wrap;

use super::output::{WIDTH, print};
use super::plan;

pub fn list(stores: &[StoreDef], name: Option<&str>) -> Result<Exit> {
    let text = match name {
        Some(name) => describe_store(plan::store(stores, name)?),
        None => list_all(stores),
    };
    print(&fitted(&text))?;
    Ok(Exit::Success)
}

/// Lines that fit a terminal, with wrapped text indented by two more.
fn fitted(text: &str) -> String {
    let indent = |line: &str| " ".repeat(line.len() - line.trim_start().len() + 2);
    text.lines().map(|line| wrap(line, WIDTH, &indent(line))).collect()
}

fn list_all(stores: &[StoreDef]) -> String {
    let (adjustable, fixed): (Vec<&StoreDef>, Vec<&StoreDef>) =
        stores.iter().partition(|store| !store.settings.is_empty());
    let mut text: String = adjustable.into_iter().map(|store| describe_store(store) + "\n").collect();
    let names: Vec<&str> = fixed.into_iter().map(|store| store.name).collect();
    if !names.is_empty() {
        text.push_str(&format!("Without settings: {}\n\n", names.join(", ")));
    }
    text.push_str(
        "Set one with --set STORE.NAME=VALUE; compare values with --set STORE.NAME=VALUE,VALUE.\n\
         Bytes can be written as a size: --set rocksdb.block_size=16KiB.\n\
         A value that the engine ignores or changes is refused before the run.\n",
    );
    text
}

fn describe_store(store: &StoreDef) -> String {
    let mut text = format!("{}: {}\n", store.name, store.summary);
    if let Err(why) = store.open {
        text.push_str(&format!("  {why}\n"));
        return text;
    }
    for offer in store.offers {
        let shipped = if offer.guarantee == store.shipped { ", as shipped" } else { "" };
        text.push_str(&format!("  guarantee {}{shipped}: {}\n", offer.guarantee, offer.settings));
    }
    text.extend(store.settings.iter().map(describe_setting));
    if store.shares().next().is_none() {
        text.push_str("\n  With tuning=share it stays as shipped: it has no cache whose size can be set.\n");
    }
    if store.settings.is_empty() {
        text.push_str("  It has no settings.\n");
    }
    text
}

fn describe_setting(setting: &SettingDef) -> String {
    let SettingDef { name, values, default, help, guarantee, read_by, tune, cost, share, .. } = setting;
    let default = setting.describe_value(default);
    let mut text = format!("\n  {name}\n    {help}\n    values: {values}; default: {default}\n");
    if !guarantee.is_empty() {
        text.push_str(&format!("    guarantee: {guarantee}\n"));
    }
    let read_by =
        if read_by.is_empty() { "the engine can't be asked: results hold what was given" } else { read_by };
    text.push_str(&format!("    read back: {read_by}\n"));
    if let Some(share) = share {
        text.push_str(&format!("    with tuning=share: {}\n", share.describe()));
    }
    if !tune.is_empty() {
        let tune: Vec<String> = tune.iter().map(|value| setting.describe_value(value)).collect();
        text.push_str(&format!("    tune tries: {}\n", tune.join(", ")));
    }
    if !cost.is_empty() {
        text.push_str(&format!("    what no figure shows: {cost}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use storebench_model::store::Unit;
    use storebench_model::stores::MEMORY;

    use super::*;

    #[test]
    fn every_setting_says_its_values_its_default_and_how_it_is_read_back() {
        for store in crate::STORES {
            let text = describe_store(store);
            for setting in store.settings {
                assert!(text.contains(&format!("\n  {}\n", setting.name)), "{}", store.name);
                for (field, text) in
                    [("values", setting.values), ("default", setting.default), ("help", setting.help)]
                {
                    assert!(!text.is_empty(), "{}.{} has no {field}", store.name, setting.name);
                }
                let takes_sizes = setting.values.starts_with("a size");
                assert_eq!(setting.unit == Unit::Bytes, takes_sizes, "{}.{}", store.name, setting.name);
            }
        }
    }

    #[test]
    fn a_store_is_found_by_its_name_and_one_without_settings_says_so() {
        assert!(describe_store(&MEMORY).contains("It has no settings."));
        let error = plan::store(&[MEMORY], "memroy").unwrap_err();
        assert_eq!(error.exit, Exit::UnknownStore);
        assert!(error.message.contains("did you mean memory?"), "{}", error.message);
        let setting = SettingDef::new("size", "a size", "1024", "how large").bytes().guarantee("none at 0");
        let setting = setting.tune(&["2048", "4096"]).costing("its colour");
        let text = describe_setting(&setting);
        assert!(text.contains("values: a size; default: 1 KiB"), "{text}");
        assert!(text.contains("tune tries: 2 KiB, 4 KiB\n    what no figure shows: its colour"), "{text}");
        assert!(text.contains("guarantee: none at 0") && text.contains("can't be asked"), "{text}");
    }
}
