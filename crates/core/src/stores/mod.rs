//! The harness's own stores: a floor (`null`), a ceiling (`memory`).

mod memory;
mod null;

pub use memory::MEMORY;
pub use null::NULL;
