//! The stores that need no native code: the two folder layouts, one file for all records, and the harness's own floor (`null`) and ceiling
//! (`memory`).

mod folder;
mod memory;
mod null;
mod one_file;

pub use folder::{FLAT_FOLDER, NESTED_FOLDER};
pub use memory::MEMORY;
pub use null::NULL;
pub use one_file::ONE_FILE;

use crate::store::{OpenOptions, Result, StoreError};

/// For stores that know no settings. Fails with [`StoreError::BadSetting`] when one is given.
fn refuse_settings(options: &OpenOptions<'_>) -> Result<()> {
    match options.settings.keys().next() {
        None => Ok(()),
        Some(name) => Err(StoreError::BadSetting(format!("this store has no settings, {name} neither"))),
    }
}
