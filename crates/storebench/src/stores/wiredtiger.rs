//! `wiredtiger`: MongoDB's WiredTiger, a B-tree whose pages are written anew by checkpoints, with or without a log, through the
//! functions of `native/wiredtiger.c`.
//!
//! It is under the GPL, so it is in no build that is passed on: its feature is off by default.

mod config;
mod ffi;
mod library;
mod session;
#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use storebench_core::store::{
    Capabilities, Danger, Guarantee, Held, Kind, Loss, Offer, OpenOptions, Result, Session, Setting, Store,
    StoreBuild, StoreDef, StoreError,
};

use self::config::{Config, SETTINGS};
use self::library::Connection;
use self::session::WiredTigerSession;
use super::linked::linked;
use super::support::{Given, hold_to_tier, sync_path};

/// WiredTiger's entry in the table.
pub const WIREDTIGER: StoreDef = StoreDef {
    name: "wiredtiger",
    kind: Kind::Engine,
    summary: "B-tree with checkpoints, with or without a log",
    practice: "a folder of files; it can be backed up while open; one process at a time; under the GPL",
    cautions: &[],
    version: &library::version,
    capabilities: Capabilities {
        backup: true,
        compacts_beside: true,
        held_reader: true,
        transactions: true,
        compression: Some("Snappy"),
        max_key_bytes: library::MAX_KEY_BYTES,
        ..Capabilities::DEFAULT
    },
    offers: &[
        Offer {
            guarantee: Guarantee::None,
            settings: "no log: a checkpoint when the store is settled or closed",
            atomic_replace: true,
            dangers: &[
                Danger {
                    with: &[("transaction_sync", "off")],
                    ..Danger::of(Loss::Newest, Loss::Newest, "the end of the log is in the process")
                },
                Danger::of(Loss::Newest, Loss::Newest, "all since the last checkpoint"),
            ],
        },
        Offer {
            guarantee: Guarantee::Process,
            settings: "log=(enabled=true), transaction_sync=(enabled=true,method=none)",
            atomic_replace: true,
            dangers: Danger::NEWEST,
        },
        Offer {
            guarantee: Guarantee::Power,
            settings: "log=(enabled=true), transaction_sync=(enabled=true,method=fsync)",
            atomic_replace: true,
            dangers: Danger::NOTHING,
        },
    ],
    shipped: Guarantee::None,
    settings: SETTINGS,
    snippet: Some(include_str!("../snippets/wiredtiger.c")),
    python: Some(include_str!("../snippets/wiredtiger.py")),
    evidence: &[],
    server: None,
    library: None,
    open: Ok(&open),
};

fn open(options: &OpenOptions<'_>) -> Result<Box<dyn Store>> {
    let config = Config::new(options, &Given::new(options, SETTINGS)?, WIREDTIGER.shipped)?;
    hold_to_tier(options, config.guarantee)?;
    let connection = Connection::open(options.directory, &config.of_connection(), &config.of_table())?;
    let table = connection.session()?.table()?;
    config.check(&connection.account()?, &table, connection.cache_bytes()?)?;
    let folder = options.directory.to_path_buf();
    Ok(Box::new(WiredTiger { connection, config, folder }))
}

struct WiredTiger {
    connection: Connection,
    config: Config,
    folder: PathBuf,
}

impl Store for WiredTiger {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(WiredTigerSession(self.connection.session()?)))
    }

    fn guarantee(&self) -> Guarantee {
        self.config.guarantee
    }

    fn count(&self) -> Result<u64> {
        self.connection.session()?.count()
    }

    fn settle(&self) -> Result<()> {
        self.connection.session()?.checkpoint()
    }

    fn settings(&self) -> Result<Vec<Setting>> {
        let table = self.connection.session()?.table()?;
        self.config.settings(&self.connection.account()?, &table, self.connection.cache_bytes()?)
    }

    fn build(&self) -> Option<StoreBuild> {
        Some(linked!("WIREDTIGER").build(library::code()))
    }

    fn verify(&mut self) -> Result<bool> {
        self.connection.verify().map(|()| true)
    }

    fn compact_beside(&self) -> Result<Option<&'static str>> {
        self.connection.session()?.compact().map(|()| Some("WT_SESSION::compact"))
    }

    fn back_up(&self, to: &Path) -> Result<Option<&'static str>> {
        fs::create_dir(to).map_err(StoreError::io(format!("making {}", to.display())))?;
        self.connection.back_up(&mut |name| {
            let name = Path::new(OsStr::from_bytes(name.to_bytes()));
            let (from, copy) = (self.folder.join(name), to.join(name));
            fs::copy(&from, &copy).map_err(StoreError::io(format!("copying {}", from.display())))?;
            sync_path(&copy)
        })?;
        sync_path(to)?;
        Ok(Some("backup cursor"))
    }

    fn hold_reader(&self) -> Result<Option<Box<dyn Held + '_>>> {
        Ok(Some(Box::new(self.connection.hold()?)))
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.connection.close()
    }
}
