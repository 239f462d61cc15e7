//! Axes that a program adds to the table.

use std::sync::OnceLock;

use super::def::AxisDef;

static ADDED: OnceLock<Vec<&'static AxisDef>> = OnceLock::new();

/// Adds axes for the whole process. Only the first call counts: a table that changes would change what results mean that were read before.
pub fn add(axes: &[&'static AxisDef]) {
    let _ = ADDED.set(axes.to_vec());
}

pub(super) fn axes() -> &'static [&'static AxisDef] {
    ADDED.get().map(Vec::as_slice).unwrap_or_default()
}
