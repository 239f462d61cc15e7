//! Axes that a program adds to the table.

use std::sync::OnceLock;

use super::def::AxisDef;

static OWN: OnceLock<Vec<&'static AxisDef>> = OnceLock::new();

/// Adds axes to the table, for the whole process. Only the first call counts: a table that changes would make results that
/// were read before it mean something else.
pub fn add(axes: &[&'static AxisDef]) {
    let _ = OWN.set(axes.to_vec());
}

/// Those that were added.
pub(super) fn axes() -> &'static [&'static AxisDef] {
    OWN.get().map(Vec::as_slice).unwrap_or_default()
}
