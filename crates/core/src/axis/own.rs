//! Axes that a program adds to the table.

use std::sync::OnceLock;

use super::AxisDef;

static OWN: OnceLock<&'static [&'static AxisDef]> = OnceLock::new();

/// Adds axes to the table, for the whole process. Only the first call counts: a table that changes would make results that
/// were read before it mean something else.
pub fn add(axes: &'static [&'static AxisDef]) {
    let _ = OWN.set(axes);
}

/// Those that were added.
pub(super) fn axes() -> &'static [&'static AxisDef] {
    OWN.get().copied().unwrap_or_default()
}
