//! Parts that stores share: syncing a path, checking settings, and for servers their processes, sockets, passwords, and URLs.

#[cfg(any(feature = "etcd", feature = "mariadb", feature = "postgres", feature = "redis"))]
pub mod server;
#[cfg(test)]
pub mod testing;

use std::fs::File;
use std::path::Path;

// A build of few engines needs few of these.
use storebench_model::store::{Danger, Guarantee, GuaranteeOffer, Loss, Result, SettingDef, StoreError};
#[allow(unused_imports)]
pub use storebench_model::store::{GivenSettings, expect_taken, hold_to_tier};

/// An offer of a store that replaces values whole.
pub const fn offer(tier: Guarantee, settings: &'static str, dangers: &'static [Danger]) -> GuaranteeOffer {
    GuaranteeOffer::replacing_values(tier, settings, dangers)
}

pub const UNORDERED: Danger =
    Danger::new(Loss::Nothing, Loss::Whole, "nothing is synced, so pages can reach the disk in any order");

/// A setting that is on or off, and off as shipped.
pub const fn flag(name: &'static str, help: &'static str) -> SettingDef {
    SettingDef::new(name, "true or false", "false", help)
}

/// Settings that are read back in one way, but for the first few, which are not, and those that say another.
pub const fn read_back<const N: usize>(
    by: &'static str,
    unread: usize,
    mut settings: [SettingDef; N],
) -> [SettingDef; N] {
    let mut index = unread;
    while index < N {
        if settings[index].read_by.is_empty() {
            settings[index] = settings[index].read_by(by);
        }
        index += 1;
    }
    settings
}

/// Syncs a file, or a folder: its list of names, which a new file needs as well.
pub fn sync_path(path: &Path) -> Result<()> {
    let sync = |path| File::open(path)?.sync_all();
    sync(path).map_err(StoreError::io(format!("synchronising {}", path.display())))
}

/// Replaces an environment's file by what `copy` makes in a folder; afterwards the environment can only be closed.
#[cfg(any(feature = "libmdbx", feature = "lmdb"))]
pub fn replace_by_copy(folder: &Path, file: &str, copy: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let copy_folder = folder.join("compact");
    std::fs::create_dir(&copy_folder).map_err(StoreError::engine)?;
    copy(&copy_folder)?;
    let copy_file = copy_folder.join(file);
    sync_path(&copy_file)?;
    let result =
        std::fs::rename(&copy_file, folder.join(file)).and_then(|()| std::fs::remove_dir(&copy_folder));
    result.map_err(StoreError::engine).and_then(|()| sync_path(folder))
}
