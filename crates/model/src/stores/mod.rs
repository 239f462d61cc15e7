//! Stores without native code: the two folder layouts, one file for all records, and the harness's floor (`null`) and ceiling (`memory`).

mod folder;
mod memory;
mod null;
mod one_file;

pub use folder::{FLAT_FOLDER, NESTED_FOLDER};
pub use memory::MEMORY;
pub use null::NULL;
pub use one_file::ONE_FILE;

use crate::store::{OpenOptions, Result, StoreError};

/// Fails with [`StoreError::BadSetting`] for any setting.
fn refuse_settings(options: &OpenOptions<'_>) -> Result<()> {
    match options.settings.keys().next() {
        None => Ok(()),
        Some(name) => Err(StoreError::BadSetting(format!("this store has no settings, {name} neither"))),
    }
}
