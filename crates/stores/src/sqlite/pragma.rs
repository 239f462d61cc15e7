//! SQLite's settings: which PRAGMAs a connection begins with, in which order, whether they took, and which guarantee they give.

use rusqlite::Connection;
use rusqlite::types::Value;
use storebench_model::store::{
    Capabilities, Guarantee, MemoryShare, OpenOptions, Result, Setting, SettingDef, StoreError, Threads,
};

use crate::support::{GivenSettings, expect_taken};

/// In the order in which they must be set: the locking mode before the journal mode, so that WAL knows whether to share memory;
/// the page size and vacuuming before the journal mode, as the change to WAL writes the first page, which fixes both.
pub const SETTINGS: &[SettingDef] = &[
    SettingDef::new("locking_mode", "NORMAL or EXCLUSIVE", "NORMAL", "EXCLUSIVE keeps the locks between transactions: one session, fewer system calls").capabilities(one_session).guarantee("DELETE with FULL and EXCLUSIVE is power, as the journal is emptied and synced instead of being deleted").read_by("PRAGMA locking_mode").tune(&["EXCLUSIVE"]).costing("no other connection can open the file, not even to read"),
    SettingDef::new("page_size", "a size, a power of two from 512 bytes to 64 KiB", "4096", "what the file is read and written in").bytes().read_by("PRAGMA page_size, when the file is there").tune(&["1024", "8192", "16384", "65536"]),
    SettingDef::new("auto_vacuum", "NONE, FULL or INCREMENTAL", "NONE", "FULL returns free pages to the file system at each commit, INCREMENTAL on request").read_by("PRAGMA auto_vacuum").numbered(&["NONE", "FULL", "INCREMENTAL"]),
    SettingDef::new("journal_mode", "DELETE, TRUNCATE, PERSIST, MEMORY, WAL or OFF", "DELETE, or the guarantee's", "how a transaction is undone, and what a commit writes").usually("DELETE").guarantee("MEMORY and OFF are none: a kill can damage the file").read_by("PRAGMA journal_mode").tune(&["WAL", "PERSIST", "TRUNCATE", "OFF"]),
    SettingDef::new("synchronous", "OFF, NORMAL, FULL or EXTRA", "FULL, or the guarantee's", "how often a commit waits for the disk").usually("FULL").guarantee("FULL is power but for DELETE, which takes EXTRA; NORMAL and OFF are process").read_by("PRAGMA synchronous").numbered(&["OFF", "NORMAL", "FULL", "EXTRA"]),
    SettingDef::new("fullfsync", "true or false", "false", "F_FULLFSYNC instead of fsync, on macOS alone").guarantee("on macOS, power takes it").read_by("PRAGMA fullfsync").numbered(&["false", "true"]),
    SettingDef::new("cache_size", "pages from 1, or KiB when negative", "-2000", "the page cache of each session").read_by("PRAGMA cache_size").share(CACHE_SHARE).tune(&["-8000", "-32000", "-128000"]),
    SettingDef::new("mmap_size", "a size up to 2,147,418,112 bytes", "0", "how much of the file is mapped instead of being read").bytes().read_by("PRAGMA mmap_size").tune(&["268435456"]).costing("an error of the disk while reading ends the process with a signal"),
    SettingDef::new("temp_store", "DEFAULT, FILE or MEMORY", "DEFAULT", "where temporary tables and indexes are").read_by("PRAGMA temp_store, and how SQLite was built").numbered(&["DEFAULT", "FILE", "MEMORY"]),
    SettingDef::new("wal_autocheckpoint", "pages; 0: never", "1000", "how long the WAL grows until a commit copies it into the file; with WAL alone").read_by("PRAGMA wal_autocheckpoint").tune(&["100", "10000"]),
    SettingDef::new("journal_size_limit", "a size; -1: all", "-1", "how much of a journal or WAL is kept after use; with WAL, PERSIST or EXCLUSIVE alone").bytes().read_by("PRAGMA journal_size_limit"),
    SettingDef::new("secure_delete", "false, true or FAST", "false", "whether what is deleted is overwritten with zeros").read_by("PRAGMA secure_delete").numbered(&["false", "true", "FAST"]),
    SettingDef::new("busy_timeout", "milliseconds", "60000", "how long a session waits for another's lock").read_by("PRAGMA busy_timeout"),
];

/// In KiB, which SQLite distinguishes from pages by the sign.
const CACHE_SHARE: MemoryShare = MemoryShare::one_in(
    4,
    "no share; the page cache holds its file too",
    "https://sqlite.org/pragma.html#pragma_cache_size",
)
.by_session()
.written(|bytes| format!("-{}", (bytes / 1024).max(1)));

fn one_session(locking_mode: &str, can: &mut Capabilities) {
    if locking_mode.eq_ignore_ascii_case("exclusive") {
        can.threads = Threads::One;
    }
}

/// How long a session waits for the others, in milliseconds: a slow disk is measured and only a deadlock fails.
const BUSY_TIMEOUT_MS: &str = "60000";

/// The PRAGMAs of every connection, in the order of [`SETTINGS`].
pub struct Plan {
    values: Vec<(&'static str, String)>,
}

impl Plan {
    /// The tier's PRAGMAs, then the cache, then the user's. Fails also for a value that is not one word.
    pub fn new(options: &OpenOptions<'_>) -> Result<Plan> {
        Ok(Plan { values: GivenSettings::new(options, SETTINGS)?.values(SETTINGS, one_word, preset)? })
    }

    /// Sets every PRAGMA on a connection. Fails with [`StoreError::SettingNotTaken`] when one reads back otherwise.
    pub fn apply(&self, connection: &Connection) -> Result<()> {
        // First how long to wait: of the others, some wait for another session's lock.
        let (waiting, others): (Vec<_>, Vec<_>) =
            self.values.iter().partition(|(name, _)| *name == "busy_timeout");
        for (name, value) in waiting.into_iter().chain(others) {
            // `query_row` would fail on the PRAGMAs that answer nothing, `execute` on the others.
            let mut statement =
                connection.prepare(&format!("PRAGMA {name}={value}")).map_err(StoreError::engine)?;
            let mut rows = statement.query([]).map_err(StoreError::engine)?;
            while rows.next().map_err(StoreError::engine)?.is_some() {}
        }
        self.check(connection)?;
        self.check_effects(connection)
    }

    /// Some PRAGMAs read back what they were given and yet do nothing, depending on others and on how SQLite was built.
    fn check_effects(&self, connection: &Connection) -> Result<()> {
        let journal = read(connection, "journal_mode")?;
        let is_exclusive = read(connection, "locking_mode")? == "exclusive";
        let compile_options = compile_options(connection)?;
        for (name, value) in &self.values {
            let value_read = number_of(name, value);
            if let Some(why) = no_effect(&journal, is_exclusive, &compile_options, name, &value_read) {
                let why = format!("the setting {name}={value} does nothing: {why}");
                return Err(StoreError::BadSetting(why));
            }
        }
        Ok(())
    }

    pub fn check(&self, connection: &Connection) -> Result<()> {
        for (name, wanted) in &self.values {
            let read_back = read(connection, name)?;
            if number_of(name, wanted) != number_of(name, &read_back) {
                expect_taken(name, wanted, &read_back)?;
            }
        }
        Ok(())
    }
}

/// Why a PRAGMA does nothing here, if it does nothing.
fn no_effect(
    journal: &str,
    is_exclusive: bool,
    compile_options: &[String],
    name: &str,
    value: &str,
) -> Option<String> {
    let has_option = |option: &str| compile_options.iter().any(|compiled| compiled == option);
    let in_this_mode = || format!("with journal_mode={journal}");
    match name {
        "wal_autocheckpoint" if journal != "wal" => {
            Some(format!("it is for journal_mode=WAL, and is ignored {}", in_this_mode()))
        }
        "journal_size_limit" if matches!(journal, "off" | "memory") => {
            Some(format!("there is no journal on disk {}", in_this_mode()))
        }
        "journal_size_limit" if matches!(journal, "delete" | "truncate") && !is_exclusive => {
            Some(format!("nothing of the journal is kept {}", in_this_mode()))
        }
        // It reads 0 back until it reads the schema anew.
        "cache_size" if value == "0" => Some("SQLite goes back to its default; say 1 page".into()),
        "fullfsync" if value == "1" && !cfg!(target_os = "macos") => {
            Some("F_FULLFSYNC is macOS's alone".into())
        }
        "temp_store" if value == "2" && has_option("TEMP_STORE=0") => {
            Some("this SQLite was built to keep temporary tables in files".into())
        }
        "temp_store" if value == "1" && has_option("TEMP_STORE=3") => {
            Some("this SQLite was built to keep temporary tables in memory".into())
        }
        _ => None,
    }
}

fn preset(name: &str, options: &OpenOptions<'_>) -> Option<String> {
    let (journal_mode, synchronous) = match options.guarantee {
        // Named although it is what SQLite ships: a file that was left in WAL mode would otherwise stay in it.
        None => ("DELETE", None),
        Some(Guarantee::Power | Guarantee::Node) => ("WAL", Some("FULL")),
        Some(Guarantee::Process) => ("WAL", Some("NORMAL")),
        Some(Guarantee::None) => ("MEMORY", Some("OFF")),
    };
    match name {
        "journal_mode" => Some(journal_mode.into()),
        "synchronous" => synchronous.map(String::from),
        // On macOS a plain fsync leaves the data in the drive's own cache.
        "fullfsync" if cfg!(target_os = "macos") && options.guarantee == Some(Guarantee::Power) => {
            Some("1".into())
        }
        "busy_timeout" => Some(BUSY_TIMEOUT_MS.into()),
        // Every connection has a cache, so the total is shared out.
        "cache_size" => options
            .cache_bytes
            .map(|bytes| format!("-{}", (bytes / 1024 / options.sessions.max(1) as u64).max(1))),
        _ => None,
    }
}

/// Refuses anything but words and numbers in a PRAGMA.
fn one_word(given: &GivenSettings<'_>, name: &'static str) -> Result<Option<String>> {
    let is_word =
        |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    match given.text(name) {
        Some(text) if !is_word(text) => Err(given.refuse(name, "a word or a whole number")),
        text => Ok(text.map(str::to_owned)),
    }
}

/// One form for values that SQLite takes as words and reads back as numbers: lower case, and the number.
fn number_of(name: &str, value: &str) -> String {
    let words = SETTINGS.iter().find(|def| def.name == name).map_or(&[][..], |def| def.numbered);
    let number = words.iter().position(|word| word.eq_ignore_ascii_case(value));
    number.map_or_else(|| value.to_ascii_lowercase(), |number| number.to_string())
}

/// Empty if SQLite gives no answer.
pub fn read(connection: &Connection, name: &str) -> Result<String> {
    let value = connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, Value>(0));
    match value {
        Ok(Value::Integer(number)) => Ok(number.to_string()),
        Ok(Value::Text(text)) => Ok(text),
        Ok(other) => Err(StoreError::Engine(format!("PRAGMA {name} reads back {other:?}"))),
        // A build without memory mapping answers no row.
        Err(rusqlite::Error::QueryReturnedNoRows) => Ok(String::new()),
        Err(error) => Err(StoreError::engine(error)),
    }
}

/// The compile options that change what SQLite does, without its limits.
pub fn compile_options(connection: &Connection) -> Result<Vec<String>> {
    let mut statement = connection.prepare("PRAGMA compile_options").map_err(StoreError::engine)?;
    let options = statement.query_map([], |row| row.get::<_, String>(0)).map_err(StoreError::engine)?;
    let options: Vec<String> = options.collect::<rusqlite::Result<_>>().map_err(StoreError::engine)?;
    Ok(options.into_iter().filter(|option| !option.starts_with("MAX_")).collect())
}

pub fn read_all(connection: &Connection) -> Result<Vec<Setting>> {
    SETTINGS.iter().map(|def| Ok(Setting::read_back(def.name, read(connection, def.name)?))).collect()
}

pub fn tier(connection: &Connection) -> Result<Guarantee> {
    let synchronous = read(connection, "synchronous")?;
    let is_exclusive = read(connection, "locking_mode")? == "exclusive";
    Ok(tier_of(&read(connection, "journal_mode")?, &synchronous, is_exclusive))
}

fn tier_of(journal_mode: &str, synchronous: &str, is_exclusive: bool) -> Guarantee {
    let is_synced = matches!(synchronous, "2" | "3");
    match journal_mode {
        // Nothing on disk to roll back with: a kill in the middle of a commit leaves a mixture of pages.
        "off" | "memory" => Guarantee::None,
        // FULL deletes the journal but does not sync the folder, so a power cut can bring it back, and it then undoes the commit.
        // EXTRA syncs the folder. EXCLUSIVE empties and syncs the journal instead of deleting it.
        "delete" if synchronous != "3" && !is_exclusive => Guarantee::Process,
        _ if is_synced => Guarantee::Power,
        _ => Guarantee::Process,
    }
}

#[cfg(test)]
mod tests {
    use storebench_model::store::Loss;

    use super::*;
    use crate::sqlite::SQLITE;
    use crate::support::testing::loss_at_power_cut;

    #[test]
    fn the_tier_follows_from_journal_synchronous_and_locking() {
        let expected = [
            ("delete", "2", false, Guarantee::Process),
            ("delete", "3", false, Guarantee::Power),
            ("delete", "2", true, Guarantee::Power),
            ("delete", "1", true, Guarantee::Process),
            ("truncate", "2", false, Guarantee::Power),
            ("persist", "1", false, Guarantee::Process),
            ("wal", "2", false, Guarantee::Power),
            ("wal", "1", false, Guarantee::Process),
            ("wal", "0", false, Guarantee::Process),
            ("memory", "2", false, Guarantee::None),
            ("off", "3", true, Guarantee::None),
        ];
        for (journal, synchronous, is_exclusive, tier) in expected {
            let found = tier_of(journal, synchronous, is_exclusive);
            assert_eq!(found, tier, "{journal} {synchronous} {is_exclusive}");
        }
    }

    #[test]
    fn what_a_power_cut_costs_never_contradicts_the_tier() {
        let loss_at_cut = |journal: &str, synchronous: &str, is_exclusive| {
            let tier = tier_of(journal, synchronous, is_exclusive);
            let settings =
                [Setting::read_back("journal_mode", journal), Setting::read_back("synchronous", synchronous)];
            loss_at_power_cut(&SQLITE, tier, &settings)
        };
        for journal in ["delete", "truncate", "persist", "memory", "wal", "off"] {
            for is_exclusive in [false, true] {
                assert_eq!(loss_at_cut(journal, "0", is_exclusive), Loss::Whole, "{journal}");
                for synchronous in ["1", "2", "3"] {
                    let in_memory = matches!(journal, "memory" | "off");
                    let loss = loss_at_cut(journal, synchronous, is_exclusive);
                    assert_eq!(loss == Loss::Whole, in_memory, "{journal}");
                }
            }
        }
        assert_eq!(loss_at_cut("delete", "2", false), Loss::Last);
        assert_eq!(loss_at_cut("wal", "1", false), Loss::Newest);
        assert!(Loss::Newest < Loss::Last, "WAL with NORMAL promises less than DELETE with FULL");
        for journal in ["delete", "truncate", "persist"] {
            assert_eq!(loss_at_cut(journal, "1", true), Loss::RarelyWhole, "{journal}");
        }
    }

    #[test]
    fn what_reads_back_and_does_nothing_is_known() {
        let no_effect = |journal: &str, is_exclusive, options: &[&str], name: &str, value: &str| {
            let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
            super::no_effect(journal, is_exclusive, &options, name, value)
        };
        assert!(no_effect("delete", false, &[], "wal_autocheckpoint", "100").is_some());
        assert!(no_effect("wal", false, &[], "wal_autocheckpoint", "100").is_none());
        assert!(no_effect("off", true, &[], "journal_size_limit", "0").is_some());
        assert!(no_effect("delete", false, &[], "journal_size_limit", "0").is_some());
        assert!(no_effect("delete", true, &[], "journal_size_limit", "0").is_none());
        assert!(no_effect("persist", false, &[], "journal_size_limit", "0").is_none());
        assert!(no_effect("wal", false, &["TEMP_STORE=0"], "temp_store", "2").is_some());
        assert!(no_effect("wal", false, &["TEMP_STORE=1"], "temp_store", "2").is_none());
        assert!(no_effect("wal", false, &["TEMP_STORE=3"], "temp_store", "1").is_some());
        assert_eq!(no_effect("wal", false, &[], "fullfsync", "1").is_some(), !cfg!(target_os = "macos"));
    }

    #[test]
    fn words_and_the_numbers_they_read_back_as_are_the_same() {
        assert_eq!(number_of("synchronous", "EXTRA"), "3");
        assert_eq!(number_of("auto_vacuum", "incremental"), "2");
        assert_eq!(number_of("journal_mode", "WAL"), "wal");
        assert_eq!(number_of("page_size", "8192"), "8192");
    }
}
