//! PostgreSQL's settings: what a server is started with, whether it took them, and which guarantee they give.

use std::ops::RangeInclusive;

use storebench_core::server::running::URL;
use storebench_core::store::sql::SqlValue;
use storebench_core::store::{
    GivenSettings, Guarantee, MemoryShare, OpenOptions, Result, Setting, SettingDef,
};

use super::client::Client;
use crate::support::read_back;
use crate::support::server::{Connection, PROGRAMS_SETTING, Plan, url_setting};

pub const SETTINGS: &[SettingDef] = &read_back("pg_settings", 2, [
    url_setting(
        "postgresql://user@host:port/database",
        "a running server to use instead; what a session can set for itself can be changed there (docs/servers.md)",
    ),
    PROGRAMS_SETTING,
    SettingDef::new("fsync", "on or off", "on, or the guarantee's", "whether anything is synced at all").usually("on")
        .promising("off is process"),
    SettingDef::new(
        "synchronous_commit",
        "on, local or off",
        "on, or the guarantee's",
        "off: a commit returns before its log is written, up to 0.6 s later",
    ).usually("on")
    .promising("off is none: a kill costs the newest commits"),
    SettingDef::new(
        "full_page_writes",
        "on or off",
        "on, or the guarantee's",
        "whether the log holds a whole page when it first changes after a checkpoint",
    ).usually("on")
    .promising("off is process: a power cut can tear a page")
    .costing("a page that a power cut has torn can't be repaired"),
    SettingDef::new(
        "wal_sync_method",
        "fdatasync, fsync, open_datasync, open_sync or fsync_writethrough",
        "fdatasync on Linux",
        "how the log is synced",
    ).varying()
    .promising("on macOS, power takes fsync_writethrough"),
    SettingDef::new(
        "shared_buffers",
        "a size from 128 KiB, in steps of 8 KiB",
        "128 MiB, or less if initdb finds less memory",
        "the cache of pages, of all sessions",
    ).varying()
    .bytes()
    .share(
        MemoryShare::one_in(
            4,
            "25 %; more than 40 % is unlikely to do better",
            "https://www.postgresql.org/docs/current/runtime-config-resource.html",
        )
        .rounded_to(PAGE),
    )
    .tune(&["16777216", "536870912"]),
    SettingDef::new(
        "wal_buffers",
        "a size from 64 KiB to 1 GiB, in steps of 8 KiB",
        "1/32 of shared_buffers, at most 16 MiB",
        "the log that is not written yet",
    ).varying()
    .bytes(),
    SettingDef::new(
        "max_wal_size",
        "a size from 2 MiB, in steps of 1 MiB",
        "1 GiB",
        "how long the log grows until a checkpoint begins",
    ).varying()
    .bytes()
    .tune(&["67108864", "4294967296"]),
    SettingDef::new(
        "min_wal_size",
        "a size from 2 MiB, in steps of 1 MiB",
        "80 MiB",
        "how much of the log is kept to be written over",
    ).varying()
    .bytes(),
    SettingDef::new(
        "wal_segment_size",
        "a size, a power of two from 1 MiB to 1 GiB",
        "16 MiB",
        "the files of the log; fixed when the server's files are made",
    ).varying()
    .bytes(),
    SettingDef::new(
        "wal_compression",
        "off, pglz, lz4 or zstd",
        "off",
        "whether whole pages in the log are compressed; from version 15",
    )
    .tune(&["lz4"]),
    SettingDef::new(
        "checkpoint_timeout",
        "seconds, from 30 to 86400",
        "300",
        "how long a checkpoint waits at most",
    ),
    SettingDef::new(
        "commit_delay",
        "microseconds, from 0 to 100000",
        "0",
        "how long a commit waits for others to sync with",
    ),
    SettingDef::new(
        ISOLATION,
        "read uncommitted, read committed, repeatable read or serializable",
        "read committed",
        "what a transaction sees of concurrent ones",
    ).varying(),
    SettingDef::new("autovacuum", "on or off", "on", "whether removed rows are cleared up in the background"),
]);

const SESSION_SETTINGS: [&str; 3] = [URL, "synchronous_commit", ISOLATION];
const ISOLATION: &str = "default_transaction_isolation";

/// The smallest cache, and its step, in bytes.
const LEAST_CACHE: u64 = 128 << 10;
const PAGE: u64 = 8192;
const SEGMENT: u64 = 16 << 20;
const SEGMENT_SIZE: &str = "wal_segment_size";

/// The tier's settings, then the cache, then the user's. Fails with [`StoreError::BadSetting`] for an unknown name, or a value
/// that it can't take.
pub fn plan(options: &OpenOptions<'_>) -> Result<Plan> {
    let given = GivenSettings::new(options, SETTINGS)?;
    let session_settings = given.text(URL).map(|_| &SESSION_SETTINGS[..]);
    Plan::new((options, &given), SETTINGS, session_settings, user_value, preset)
}

pub fn session_statements(plan: &Plan) -> String {
    let set = |name: &&str| plan.value(name).map(|value| format!("SET {name} TO '{value}';"));
    SESSION_SETTINGS.iter().filter(|name| **name != URL).filter_map(set).collect()
}

pub fn segment_bytes(plan: &Plan) -> u64 {
    plan.parsed(SEGMENT_SIZE).unwrap_or(SEGMENT)
}

/// The server's arguments, as `name=value`, without settings that are fixed with its files.
pub fn arguments(plan: &Plan) -> Vec<String> {
    let settings = plan.values.iter().filter(|(name, _)| *name != SEGMENT_SIZE);
    let unit =
        |name: &str| if SETTINGS.iter().any(|def| def.name == name && is_size(def)) { "B" } else { "" };
    settings.map(|(name, value)| format!("{name}={value}{}", unit(name))).collect()
}

fn is_size(def: &SettingDef) -> bool {
    def.unit == storebench_core::store::Unit::Bytes
}

fn user_value(given: &GivenSettings<'_>, name: &'static str) -> Result<Option<String>> {
    let word = |words: &[&'static str]| Ok(given.word(name, words)?.map(str::to_owned));
    let number = |range: RangeInclusive<u64>| Ok(given.number(name, range)?.map(|number| number.to_string()));
    match name {
        "fsync" | "full_page_writes" | "autovacuum" => word(&["on", "off"]),
        ISOLATION => word(&["read uncommitted", "read committed", "repeatable read", "serializable"]),
        "synchronous_commit" => word(&["on", "local", "off"]),
        "wal_sync_method" => {
            word(&["fdatasync", "fsync", "open_datasync", "open_sync", "fsync_writethrough"])
        }
        "wal_compression" => word(&["off", "pglz", "lz4", "zstd"]),
        "shared_buffers" => number(LEAST_CACHE..=1 << 42),
        "wal_buffers" => number(64 << 10..=1 << 30),
        "max_wal_size" | "min_wal_size" => number(2 << 20..=1 << 50),
        "checkpoint_timeout" => number(30..=86_400),
        "commit_delay" => number(0..=100_000),
        "wal_segment_size" => match given.number(name, 1 << 20..=1 << 30)? {
            Some(bytes) if !bytes.is_power_of_two() => Err(given.refuse(name, "a power of two")),
            bytes => Ok(bytes.map(|bytes| bytes.to_string())),
        },
        _ => Ok(None),
    }
}

fn preset(name: &str, options: &OpenOptions<'_>) -> Option<String> {
    let on_or_off = |is_on: bool| if is_on { "on" } else { "off" }.to_owned();
    match (name, options.guarantee) {
        ("fsync" | "full_page_writes", Some(tier)) => Some(on_or_off(tier == Guarantee::Power)),
        ("synchronous_commit", Some(tier)) => Some(on_or_off(tier != Guarantee::None)),
        // On macOS the others leave the data in the drive's own cache.
        ("wal_sync_method", Some(Guarantee::Power)) if cfg!(target_os = "macos") => {
            Some("fsync_writethrough".into())
        }
        (ISOLATION, _) => options.transactions.then(|| "read committed".into()),
        // The server's cache serves all sessions.
        ("shared_buffers", _) => {
            options.cache_bytes.map(|bytes| (bytes.max(LEAST_CACHE) / PAGE * PAGE).to_string())
        }
        _ => None,
    }
}

/// The settings in the order of [`SETTINGS`], sizes in bytes.
pub fn read_all(client: &mut Client) -> Result<Vec<Setting>> {
    let query = client.prepare("SELECT name, setting, unit FROM pg_settings")?;
    let mut found = Vec::new();
    client.query(&query, &[], &mut |row| {
        if let [SqlValue::Text(name), SqlValue::Text(value), unit] = row {
            let unit = if let SqlValue::Text(unit) = unit { unit } else { "" };
            found.push(((*name).to_owned(), convert_to_bytes(value, unit)));
        }
    })?;
    client.forget(query)?;
    let read_setting = |def: &SettingDef| {
        let value = found.iter().find(|(name, _)| name == def.name).map(|(_, value)| value.clone());
        value.map(|value| Setting::read_back(def.name, value))
    };
    Ok(SETTINGS.iter().filter_map(read_setting).collect())
}

/// A number in a unit of memory, in bytes; anything else unchanged.
fn convert_to_bytes(value: &str, unit: &str) -> String {
    let digits = unit.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(unit.len());
    let (factor, unit) = unit.split_at(digits);
    let bytes = match unit {
        "B" => 1,
        "kB" => 1024,
        "MB" => 1 << 20,
        _ => return value.to_owned(),
    };
    let factor: u64 = factor.parse().unwrap_or(1);
    value.parse::<u64>().map_or_else(|_| value.to_owned(), |number| (number * factor * bytes).to_string())
}

pub fn tier(settings: &[Setting]) -> Guarantee {
    let has_value = |name: &str, value: &str| {
        settings.iter().any(|setting| setting.name == name && setting.value == value)
    };
    let reaches_the_disk = !cfg!(target_os = "macos") || has_value("wal_sync_method", "fsync_writethrough");
    if has_value("synchronous_commit", "off") {
        // The log that is not written yet is in the server's memory.
        return Guarantee::None;
    }
    match has_value("fsync", "on") && has_value("full_page_writes", "on") && reaches_the_disk {
        true => Guarantee::Power,
        false => Guarantee::Process,
    }
}

#[cfg(test)]
mod tests {
    use storebench_core::store::Loss;

    use super::*;
    use crate::postgres::POSTGRES;
    use crate::support::testing::loss_at_power_cut;

    #[test]
    fn the_tier_follows_from_what_is_synced_and_when() {
        let tier_and_loss = |fsync: &str, commit: &str, pages: &str| {
            let settings = [
                Setting::read_back("fsync", fsync),
                Setting::read_back("synchronous_commit", commit),
                Setting::read_back("full_page_writes", pages),
                Setting::read_back("wal_sync_method", "fsync_writethrough"),
            ];
            let tier = tier(&settings);
            (tier, loss_at_power_cut(&POSTGRES, tier, &settings))
        };
        assert_eq!(tier_and_loss("on", "on", "on"), (Guarantee::Power, Loss::Nothing));
        assert_eq!(tier_and_loss("on", "local", "on"), (Guarantee::Power, Loss::Nothing));
        assert_eq!(tier_and_loss("on", "on", "off"), (Guarantee::Process, Loss::Whole));
        assert_eq!(tier_and_loss("off", "on", "on"), (Guarantee::Process, Loss::Whole));
        assert_eq!(tier_and_loss("on", "off", "on"), (Guarantee::None, Loss::Newest));
        assert_eq!(tier_and_loss("on", "off", "off"), (Guarantee::None, Loss::Whole));
        assert_eq!(tier_and_loss("off", "off", "on"), (Guarantee::None, Loss::Whole));
    }

    #[test]
    fn sizes_are_read_in_bytes() {
        assert_eq!(convert_to_bytes("16384", "8kB"), "134217728");
        assert_eq!(convert_to_bytes("1024", "MB"), "1073741824");
        assert_eq!(convert_to_bytes("16777216", "B"), "16777216");
        assert_eq!(
            (convert_to_bytes("300", "s"), convert_to_bytes("on", ""), convert_to_bytes("-1", "8kB")),
            ("300".into(), "on".into(), "-1".into())
        );
    }

    #[test]
    fn tiers_cache_and_user_make_the_arguments() {
        let settings =
            [("wal_segment_size", "1048576"), ("synchronous_commit", "local"), ("commit_delay", "5")];
        let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let options = OpenOptions {
            guarantee: Some(Guarantee::Process),
            cache_bytes: Some(1_000_000),
            settings: &settings,
            ..OpenOptions::new(std::path::Path::new("/nowhere"))
        };
        let tiered = plan(&options).unwrap();
        assert_eq!(segment_bytes(&tiered), 1 << 20);
        let expected = [
            "fsync=off",
            "synchronous_commit=local",
            "full_page_writes=off",
            "shared_buffers=999424B",
            "commit_delay=5",
        ];
        assert_eq!(arguments(&tiered), expected);
        let plain =
            OpenOptions { guarantee: None, cache_bytes: None, settings: &Default::default(), ..options };
        let plain = plan(&plain).unwrap();
        assert_eq!((arguments(&plain), segment_bytes(&plain)), (Vec::new(), SEGMENT));
    }
}
