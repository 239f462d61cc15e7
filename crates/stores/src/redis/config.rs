//! Redis's settings: what a server is started with, whether it took them, and which guarantee they give.

use storebench_core::server::running::URL;
use storebench_core::server::{DATA, says_which};
use storebench_core::store::{
    GivenSettings, Guarantee, OpenOptions, Result, Setting, SettingDef, StoreError, expect_taken,
};

use super::client::{Answer, Client};
use crate::support::read_back;
use crate::support::server::{PROGRAMS_SETTING, Plan, unreadable, url_setting};

/// The folder of the log in the data.
pub const LOG: &str = "appendonlydir";
const SNAPSHOT: &str = "dump.rdb";
const APPENDONLY: &str = "appendonly";
const APPENDFSYNC: &str = "appendfsync";
const SAVE: &str = "save";
const UNSYNCED_REWRITE: &str = "no-appendfsync-on-rewrite";
const REWRITE_SIZE: &str = "auto-aof-rewrite-min-size";
const REWRITE_GROWTH: &str = "auto-aof-rewrite-percentage";
const COMPRESSION: &str = "rdbcompression";
const THREADS: &str = "io-threads";
/// The word for no snapshots; the server uses an empty text.
const OFF: &str = "off";

pub const SETTINGS: &[SettingDef] = &read_back("CONFIG GET", 2, [
    url_setting(
        "redis://host:port/database or redis+unix:///path",
        "a running server to use instead; no other setting can be changed there (docs/servers.md)",
    ),
    PROGRAMS_SETTING,
    SettingDef::new(
        APPENDONLY,
        "yes or no",
        "no, or the guarantee's",
        "whether every write is appended to a log, the append-only file",
    ).usually("no")
    .promising("no is none: a kill costs all since the last snapshot"),
    SettingDef::new(
        APPENDFSYNC,
        "always, everysec or no",
        "everysec, or the guarantee's",
        "when the log is synced: before each answer, once a second, or when the system likes",
    ).usually("everysec")
    .promising("no is process; everysec is none: while a sync lasts, up to 2 s, writes are acknowledged and not written")
    .tune(&["everysec"]),
    SettingDef::new(
        UNSYNCED_REWRITE,
        "yes or no",
        "no",
        "whether nothing is synced while the log is rewritten or a snapshot made",
    )
    .promising("with appendfsync=always, yes is process"),
    SettingDef::new(
        SAVE,
        "seconds and changes, in pairs, or off",
        "3600 1 300 100 60 10000",
        "a snapshot of all records is made after these seconds if there were as many changes; one more when the server ends",
    ).varying(),
    SettingDef::new(
        REWRITE_GROWTH,
        "a whole number of percent, 0 for never",
        "100",
        "how much the log has grown when it is rewritten to what is needed",
    ),
    SettingDef::new(
        REWRITE_SIZE,
        "a size",
        "64 MiB",
        "a shorter log is not rewritten",
    ).varying()
    .bytes(),
    SettingDef::new(
        COMPRESSION,
        "yes or no",
        "no",
        "whether long values are compressed in snapshots, and when the log is rewritten",
    ),
    SettingDef::new(
        THREADS,
        "a whole number from 1 to 128",
        "1",
        "threads that write answers; commands are carried out by one",
    ),
]);

/// The tier's settings, then the user's. There is no cache: all is in memory. Fails with [`StoreError::BadSetting`] for an
/// unknown name, or a value that it can't take.
pub fn plan(options: &OpenOptions<'_>) -> Result<Plan> {
    let given = GivenSettings::new(options, SETTINGS)?;
    let session_settings = given.text(URL).map(|_| &[URL][..]);
    let plan = Plan::new((options, &given), SETTINGS, session_settings, user_value, preset)?;
    if plan.value(SAVE) == Some(OFF) && plan.value(APPENDONLY) != Some("yes") {
        return Err(
            given.refuse(SAVE, "of use without appendonly=yes: no record would be there after a restart")
        );
    }
    let data = options.directory.join(DATA);
    let (has_log, has_snapshot) = (data.join(LOG).exists(), data.join(SNAPSHOT).exists());
    if has_log || has_snapshot {
        // It reads the log if it is to have one, else the snapshot, and ignores the other.
        let yes_or_no = |is_on: bool| if is_on { "yes" } else { "no" };
        expect_taken(APPENDONLY, &yes_or_no(plan.value(APPENDONLY) == Some("yes")), &yes_or_no(has_log))?;
    }
    Ok(plan)
}

fn user_value(given: &GivenSettings<'_>, name: &'static str) -> Result<Option<String>> {
    let word = |words: &[&'static str]| Ok(given.word(name, words)?.map(str::to_owned));
    let number = |range| Ok(given.number(name, range)?.map(|number| number.to_string()));
    match name {
        APPENDONLY | UNSYNCED_REWRITE | COMPRESSION => word(&["yes", "no"]),
        APPENDFSYNC => word(&["always", "everysec", "no"]),
        REWRITE_GROWTH => number(0..=1 << 30),
        REWRITE_SIZE => number(0..=1 << 50),
        THREADS => number(1..=128),
        SAVE => match given.text(name) {
            Some(text) if text != OFF && !is_pairs(text) => {
                Err(given.refuse(name, "off, or numbers of seconds and changes, in pairs"))
            }
            text => Ok(text.map(str::to_owned)),
        },
        _ => Ok(None),
    }
}

fn is_pairs(text: &str) -> bool {
    let words: Vec<&str> = text.split(' ').collect();
    words.len().is_multiple_of(2)
        && words.iter().all(|word| word.parse::<u32>().is_ok_and(|number| number > 0))
}

fn preset(name: &str, options: &OpenOptions<'_>) -> Option<String> {
    let value = match (name, options.guarantee) {
        (APPENDONLY, Some(Guarantee::None)) => "no",
        (APPENDONLY, Some(_)) => "yes",
        (APPENDFSYNC, Some(Guarantee::Process)) => "no",
        (APPENDFSYNC, Some(Guarantee::Power)) => "always",
        // The log has no compression, so neither have the snapshots.
        (COMPRESSION, _) => "no",
        _ => return None,
    };
    Some(value.into())
}

pub fn argument_value(name: &str, value: &str) -> String {
    if name == SAVE && value == OFF { String::new() } else { value.to_owned() }
}

pub fn read_all(client: &mut Client) -> Result<Vec<Setting>> {
    let names = SETTINGS.iter().map(|def| def.name).filter(|name| !says_which(name));
    let words: Vec<&[u8]> = ["CONFIG", "GET"].into_iter().chain(names.clone()).map(str::as_bytes).collect();
    let answer = client.run(&words).map_err(|error| match error {
        StoreError::Engine(message) => StoreError::Engine(format!("its settings can't be read: {message}")),
        other => other,
    })?;
    let Answer::Many(values) = answer else { return Err(unreadable()) };
    let texts = values.into_iter().map(|answer| match answer {
        Answer::Bytes(range) => Ok(String::from_utf8_lossy(client.bytes(range)).into_owned()),
        _ => Err(unreadable()),
    });
    let texts = texts.collect::<Result<Vec<String>>>()?;
    let value = |name: &str| {
        let pair = texts.chunks_exact(2).find(|pair| pair[0] == name)?;
        Some(if pair[1].is_empty() { OFF.to_owned() } else { pair[1].clone() })
    };
    Ok(names.filter_map(|name| Some(Setting::read_back(name, value(name)?))).collect())
}

fn has_value(settings: &[Setting], name: &str, value: &str) -> bool {
    settings.iter().any(|setting| setting.name == name && setting.value == value)
}

pub fn makes_snapshots(settings: &[Setting]) -> bool {
    !has_value(settings, SAVE, OFF)
}

pub fn tier(settings: &[Setting]) -> Guarantee {
    if !has_value(settings, APPENDONLY, "yes") {
        return Guarantee::None;
    }
    match (has_value(settings, APPENDFSYNC, "always"), has_value(settings, APPENDFSYNC, "no")) {
        (true, _) if has_value(settings, UNSYNCED_REWRITE, "no") => Guarantee::Power,
        // A log that is not synced once a second is written before each answer.
        (true, _) | (_, true) => Guarantee::Process,
        _ => Guarantee::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redis::REDIS;
    use crate::support::testing::loss_at_power_cut;

    #[test]
    fn the_tier_follows_from_when_the_log_is_written_and_synced() {
        let tier_with = |log: &str, sync: &str, rewrite: &str| {
            let settings = [
                Setting::read_back(APPENDONLY, log),
                Setting::read_back(APPENDFSYNC, sync),
                Setting::read_back(UNSYNCED_REWRITE, rewrite),
            ];
            let tier = tier(&settings);
            loss_at_power_cut(&REDIS, tier, &settings);
            tier
        };
        assert_eq!(tier_with("yes", "always", "no"), Guarantee::Power);
        assert_eq!(tier_with("yes", "always", "yes"), Guarantee::Process);
        assert_eq!(tier_with("yes", "no", "no"), Guarantee::Process);
        assert_eq!(tier_with("yes", "everysec", "no"), Guarantee::None);
        assert_eq!(tier_with("no", "always", "no"), Guarantee::None);
    }

    #[test]
    fn snapshots_are_pairs_of_numbers_or_off() {
        for (text, is_valid) in
            [("3600 1", true), ("60 1 1 5", true), ("60", false), ("60 x", false), ("", false)]
        {
            assert_eq!(is_pairs(text), is_valid, "{text}");
        }
        assert_eq!((argument_value(SAVE, OFF), argument_value(APPENDONLY, OFF)), (String::new(), OFF.into()));
    }
}
