//! Numbers of arguments, as people write them.

use storebench_core::units::{grouped, parse_count};

/// A whole number, as people write it, which fits in a type.
pub fn whole<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let number = parse_count(text)?;
    T::try_from(number).map_err(|_| format!("{} is too large", grouped(number)))
}
