//! Where stores' files live.

pub mod abandoned;
pub mod directory;
mod marker;
pub mod probe;
