//! Converts settings from the users' form to the engines': sizes to numbers of bytes, and no word for no compression.

use storebench_host::plan::Plan;
use storebench_model::axis::{Axis, Value};
use storebench_model::error::{Error, Result};
use storebench_model::server::running::URL;
use storebench_model::store::StoreDef;

/// Common spellings of no compression.
const NO_CODEC_WORDS: [&str; 6] = ["none", "off", "no", "false", "kNoCompression", "0"];

/// Converts sizes to bytes, for settings that count bytes: `rocksdb.block_size=4KiB` becomes `4096`. Two that become equal are an error.
pub fn convert_settings(stores: &[StoreDef], plan: &mut Plan) -> Result<()> {
    let engine_value = |store: &str, name: &str, text: &str| engine_value(stores, store, name, text);
    for (store, settings) in &mut plan.settings {
        for (name, value) in settings {
            *value = engine_value(store, name, value)?;
        }
    }
    for point in &mut plan.points {
        for (store, settings) in &mut point.settings {
            for (name, value) in settings {
                *value = engine_value(store, name, value)?;
            }
        }
    }
    let swept: Vec<(Axis, Vec<String>)> = plan
        .axes
        .settings()
        .map(|(axis, values)| (axis, values.iter().map(|value| value.text().to_owned()).collect()))
        .collect();
    for (axis, values) in swept {
        let Some((store, name)) = axis.setting() else { continue };
        let mut numbers: Vec<String> = Vec::new();
        for value in &values {
            let number = engine_value(store, name, value)?;
            if numbers.contains(&number) {
                return Err(Error::bad_value(format!("{axis} names {number} twice")));
            }
            numbers.push(number);
        }
        if numbers != values {
            plan.axes.set(axis, numbers.iter().map(|number| Value::word(number)));
        }
    }
    Ok(())
}

/// A value in the engine's form; one that is no size stays as it is, and the engine refuses it.
fn engine_value(stores: &[StoreDef], store: &str, name: &str, text: &str) -> Result<String> {
    let store_def = stores.iter().find(|known| known.name == store);
    let Some(def) = store_def.and_then(|known| known.settings.iter().find(|def| def.name == name)) else {
        return Ok(text.to_owned());
    };
    if def.name == URL {
        let result = store_def.map_or(Ok(()), |known| known.check_url(text));
        result.map_err(|why| Error::bad_value(format!("{store}.{name}: {why}")))?;
    }
    if def.name == "compression" && NO_CODEC_WORDS.contains(&text) && !def.values.contains(text) {
        return Err(Error::bad_value(format!(
            "{store}.{name} chooses the codec ({}): to compress nothing, use --compression off, which holds for every store",
            def.values
        )));
    }
    Ok(def.read(text))
}

#[cfg(test)]
mod tests {
    use storebench_host::plan;
    use storebench_model::store::SettingDef;
    use storebench_model::stores::NULL;

    use super::*;

    const SETTINGS: &[SettingDef] = &[
        SettingDef::new("block_size", "a size from 1 KiB", "4096", "a block").bytes(),
        SettingDef::new("jobs", "1 to 64", "2", "threads"),
        SettingDef::new("compression", "zstd or lz4", "lz4", "the codec"),
    ];

    fn changed_plan(text: &str) -> Result<Plan> {
        let stores = [StoreDef { name: "mine", settings: SETTINGS, ..NULL }];
        let mut plan = plan::find("crud").unwrap();
        let (name, values) = text.split_once('=').unwrap();
        match values.split(',').collect::<Vec<_>>().as_slice() {
            [value] => {
                let settings = plan.settings.entry("mine".into()).or_default();
                settings.insert(name.into(), (*value).into());
            }
            several => {
                let axis = Axis::find(&format!("mine.{name}")).unwrap();
                plan.axes.set(axis, several.iter().map(|value| Value::word(value)));
            }
        }
        convert_settings(&stores, &mut plan).map(|()| plan)
    }

    #[test]
    fn sizes_become_numbers_where_bytes_are_counted() {
        let value =
            |text: &str| changed_plan(text).unwrap().settings["mine"].values().next().unwrap().clone();
        assert_eq!(value("block_size=4KiB"), "4096");
        assert_eq!(value("block_size=4096"), "4096");
        assert_eq!(value("block_size=-1"), "-1");
        assert_eq!(value("block_size=large"), "large");
        assert_eq!(value("jobs=4k"), "4k");
        assert_eq!(value("compression=zstd"), "zstd");
        let swept = changed_plan("block_size=4KiB,1MiB").unwrap();
        assert_eq!(swept.axes.texts(Axis::find("mine.block_size").unwrap()), ["4096", "1048576"]);
        assert!(changed_plan("block_size=4096,4KiB").unwrap_err().message.contains("names 4096 twice"));
    }

    #[test]
    fn no_compression_is_an_option_of_the_run() {
        let error = changed_plan("compression=none").unwrap_err();
        assert!(error.message.contains("use --compression off"), "{}", error.message);
    }
}
