//! The settings of the recommended store, in words: first those that differ from the shipped ones, then the rest in short.

use storebench_model::store::{Setting, SettingDef, SettingSource, StoreDef};

use super::candidate::Candidate;

/// Settings that are named among those that are as shipped or unknown.
const MOST_NAMED: usize = 5;

/// The settings that were read back, and those that an engine does not report, in two lines.
pub fn settings(table: &[StoreDef], store: &Candidate) -> Vec<String> {
    let def = table.iter().find(|def| def.name == store.store);
    let defs = def.map_or(&[][..], |def| def.settings);
    let find_def = |setting: &Setting| defs.iter().find(|def| def.name == setting.name);
    let (shipped, set): (Vec<&Setting>, Vec<&Setting>) =
        store.settings.iter().partition(|setting| setting.is_as_shipped());
    let (changed, rest): (Vec<&Setting>, Vec<&Setting>) = set
        .into_iter()
        .partition(|setting| find_def(setting).is_some_and(|def| differs(def, &setting.value)));
    let join_settings = |settings: &[&Setting]| {
        let describe = |setting: &&Setting| describe_setting(setting, find_def(setting));
        settings.iter().map(describe).collect::<Vec<_>>().join("; ")
    };
    let more = rest.len().saturating_sub(MOST_NAMED) + shipped.len();
    let mut parts = vec![join_settings(&rest[..rest.len().min(MOST_NAMED)])];
    match more {
        0 => {}
        _ if rest.is_empty() => parts[0] = "all as shipped".to_owned(),
        _ => parts.push(format!("and {more} more")),
    }
    let rest = parts.join("; ");
    match (changed.is_empty(), rest.is_empty()) {
        (true, true) => vec!["It has no settings.".into()],
        (true, false) => vec![rest],
        (false, true) => vec![format!("Not as shipped: {}", join_settings(&changed))],
        (false, false) => {
            vec![format!("Not as shipped: {}", join_settings(&changed)), format!("The rest: {rest}")]
        }
    }
}

/// `block_size = 4 KiB`.
pub(crate) fn describe_setting(setting: &Setting, def: Option<&SettingDef>) -> String {
    let given = if setting.source == SettingSource::Given { " (given)" } else { "" };
    let value = def.map_or_else(|| setting.value.clone(), |def| def.describe_value(&setting.value));
    format!("{} = {value}{given}", setting.name)
}

/// Whether a value is known to be another than what usually holds where nothing is given.
fn differs(def: &SettingDef, value: &str) -> bool {
    let Some(default) = def.usual else { return false };
    let is_same = def.describe_value(value).eq_ignore_ascii_case(default)
        || value.eq_ignore_ascii_case(default)
        || match default {
            "true" => value == "1",
            "false" => value == "0",
            _ => false,
        };
    !is_same
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_differs_only_from_a_default_that_is_known() {
        let def = |default| SettingDef::new("x", "words", default, "what it does");
        for (def, value, expected) in [
            (def("4096"), "4096", false),
            (def("4096"), "8192", true),
            (def("DELETE, or the guarantee's").usually("DELETE"), "delete", false),
            (def("DELETE, or the guarantee's").usually("DELETE"), "wal", true),
            (def("8388608 or more, by version").varying(), "33554432", false),
            (def("false"), "0", false),
            (def("false"), "1", true),
        ] {
            assert_eq!(differs(&def, value), expected, "{}: {value}", def.default);
        }
        let vacuum = def("NONE").numbered(&["NONE", "FULL"]);
        assert_eq!((differs(&vacuum, "0"), differs(&vacuum, "1")), (false, true));
        let bytes = SettingDef::new("block_size", "a size", "4096", "a block").bytes();
        for (setting, def, words) in [
            (Setting::read_back("auto_vacuum", 1), Some(&vacuum), "auto_vacuum = FULL"),
            (Setting::read_back("block_size", 67_108_864), Some(&bytes), "block_size = 64 MiB"),
            (Setting::unverified("sync", false), None, "sync = false (given)"),
        ] {
            assert_eq!(describe_setting(&setting, def), words);
        }
    }
}
