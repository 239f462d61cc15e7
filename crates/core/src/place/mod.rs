//! Where stores' files live.

pub mod directory;
pub mod probe;
