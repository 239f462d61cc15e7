//! Where stores' files live.

pub mod abandoned;
pub mod directory;
pub mod probe;
