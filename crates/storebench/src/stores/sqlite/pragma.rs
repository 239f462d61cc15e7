//! SQLite's settings: which PRAGMAs a connection is opened with, in which order, whether they took, and which
//! guarantee they give.

use rusqlite::Connection;
use rusqlite::types::Value;
use storebench_core::store::{Guarantee, OpenOptions, Result, Setting, SettingDef, StoreError};

use crate::stores::support::Given;

/// What a user may set, in the order in which it must be set: the locking mode before the journal mode, so that WAL
/// knows whether to share memory; the page size and vacuuming before the journal mode, whose change to WAL writes the
/// first page, after which neither can change any more.
pub const SETTINGS: &[SettingDef] = &[
    SettingDef { name: "locking_mode", help: "NORMAL, or EXCLUSIVE (one session, locks kept)" },
    SettingDef { name: "page_size", help: "bytes, a power of two from 512 to 65536" },
    SettingDef { name: "auto_vacuum", help: "NONE, FULL or INCREMENTAL" },
    SettingDef { name: "journal_mode", help: "DELETE, TRUNCATE, PERSIST, MEMORY, WAL or OFF" },
    SettingDef { name: "synchronous", help: "OFF, NORMAL, FULL or EXTRA" },
    SettingDef { name: "fullfsync", help: "true: F_FULLFSYNC where the system has it (macOS)" },
    SettingDef { name: "cache_size", help: "page cache of each session: pages, or KiB when negative" },
    SettingDef { name: "mmap_size", help: "bytes of the file that are mapped instead of read" },
    SettingDef {
        name: "wal_autocheckpoint",
        help: "pages of WAL after which a commit checkpoints; 0: never",
    },
    SettingDef { name: "journal_size_limit", help: "bytes of journal or WAL kept after use; -1: all" },
    SettingDef { name: "busy_timeout", help: "milliseconds that a session waits for another's lock" },
];

/// How long a session waits for the others, in milliseconds: longer than any honest wait, so that a slow disk is
/// measured and only a deadlock fails.
const BUSY_TIMEOUT_MS: &str = "60000";

/// The PRAGMAs of one store, in the order of [`SETTINGS`]. Every connection gets all of them.
pub struct Plan {
    values: Vec<(&'static str, String)>,
}

impl Plan {
    /// Works out the PRAGMAs for `options`: the tier's, then the cache, then the user's own above both.
    ///
    /// # Errors
    /// [`StoreError::BadSetting`] for a name that is not in [`SETTINGS`], or a value that is not one word.
    pub fn new(options: &OpenOptions<'_>) -> Result<Plan> {
        let given = Given::new(options, SETTINGS)?;
        let mut values = Vec::new();
        for SettingDef { name, .. } in SETTINGS {
            let value = match given.text(name) {
                Some(text) => Some(one_word(name, text)?),
                None => preset(name, options),
            };
            values.extend(value.map(|value| (*name, value)));
        }
        Ok(Plan { values })
    }

    /// Sets every PRAGMA on a connection, and reads each one back.
    ///
    /// # Errors
    /// [`StoreError::SettingNotTaken`] when SQLite reads back another value.
    pub fn apply(&self, connection: &Connection) -> Result<()> {
        for (name, value) in &self.values {
            // `query_row` would fail on the PRAGMAs that answer nothing, `execute` on those that do.
            let mut statement =
                connection.prepare(&format!("PRAGMA {name}={value}")).map_err(StoreError::engine)?;
            let mut rows = statement.query([]).map_err(StoreError::engine)?;
            while rows.next().map_err(StoreError::engine)?.is_some() {}
        }
        self.check(connection)
    }

    /// Reads every PRAGMA back.
    pub fn check(&self, connection: &Connection) -> Result<()> {
        for (name, asked) in &self.values {
            let read_back = read(connection, name)?;
            if number_of(name, asked) != number_of(name, &read_back) {
                return Err(StoreError::SettingNotTaken {
                    name: (*name).into(),
                    asked: asked.clone(),
                    read_back,
                });
            }
        }
        Ok(())
    }
}

/// What the harness sets where the user does not.
fn preset(name: &str, options: &OpenOptions<'_>) -> Option<String> {
    let (journal_mode, synchronous) = match options.guarantee {
        // Named although it is what SQLite ships: a file that was left in WAL mode would otherwise stay in it.
        None => ("DELETE", None),
        Some(Guarantee::Power) => ("WAL", Some("FULL")),
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
        // Every connection has a cache of its own, so the total is shared out.
        "cache_size" => options
            .cache_bytes
            .map(|bytes| format!("-{}", (bytes / 1024 / options.sessions.max(1) as u64).max(1))),
        _ => None,
    }
}

/// Lets only words and numbers into a PRAGMA.
fn one_word(name: &str, text: &str) -> Result<String> {
    let is_word = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if is_word {
        return Ok(text.into());
    }
    Err(StoreError::BadSetting(format!("the setting {name}={text} is not a word or a whole number")))
}

/// The values that SQLite takes as words and reads back as numbers, in one form: lower case, and the number.
fn number_of(name: &str, value: &str) -> String {
    let value = value.to_ascii_lowercase();
    let words: &[&str] = match name {
        "synchronous" => &["off", "normal", "full", "extra"],
        "auto_vacuum" => &["none", "full", "incremental"],
        "fullfsync" => &["false", "true"],
        _ => &[],
    };
    words.iter().position(|word| *word == value).map_or(value, |number| number.to_string())
}

/// The value of one PRAGMA as SQLite reads it back; empty where it answers nothing.
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

/// The options that SQLite was compiled with and that change what it does: not its limits.
pub fn compile_options(connection: &Connection) -> Result<Vec<String>> {
    let mut statement = connection.prepare("PRAGMA compile_options").map_err(StoreError::engine)?;
    let options = statement.query_map([], |row| row.get::<_, String>(0)).map_err(StoreError::engine)?;
    let options: Vec<String> = options.collect::<rusqlite::Result<_>>().map_err(StoreError::engine)?;
    Ok(options.into_iter().filter(|option| !option.starts_with("MAX_")).collect())
}

/// Every setting as this connection has it.
pub fn read_all(connection: &Connection) -> Result<Vec<Setting>> {
    SETTINGS.iter().map(|def| Ok(Setting::read_back(def.name, read(connection, def.name)?))).collect()
}

/// The tier that the settings of a connection give, as read back from it.
pub fn tier(connection: &Connection) -> Result<Guarantee> {
    let synchronous = read(connection, "synchronous")?;
    let exclusive = read(connection, "locking_mode")? == "exclusive";
    Ok(tier_of(&read(connection, "journal_mode")?, &synchronous, exclusive))
}

fn tier_of(journal_mode: &str, synchronous: &str, exclusive: bool) -> Guarantee {
    let full = matches!(synchronous, "2" | "3");
    match journal_mode {
        // Nothing on disk to roll back with: a kill in the middle of a commit leaves a mixture of pages.
        "off" | "memory" => Guarantee::None,
        // FULL deletes the journal but does not sync the folder, so a power cut can bring it back, and it then undoes
        // the commit. EXTRA syncs the folder. Under EXCLUSIVE the journal is emptied and synced instead of deleted.
        "delete" if synchronous != "3" && !exclusive => Guarantee::Process,
        _ if full => Guarantee::Power,
        _ => Guarantee::Process,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        for (journal, synchronous, exclusive, tier) in expected {
            assert_eq!(tier_of(journal, synchronous, exclusive), tier, "{journal} {synchronous} {exclusive}");
        }
    }

    #[test]
    fn words_and_the_numbers_they_read_back_as_are_the_same() {
        assert_eq!(number_of("synchronous", "EXTRA"), "3");
        assert_eq!(number_of("auto_vacuum", "incremental"), "2");
        assert_eq!(number_of("journal_mode", "WAL"), "wal");
        assert_eq!(number_of("page_size", "8192"), "8192");
    }
}
