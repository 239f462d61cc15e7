//! Definitions that a plan refers to by name on an axis: its own, and shipped ones.

use std::collections::BTreeMap;

use super::Axes;
use storebench_model::axis::Axis;
use storebench_model::axis::table::HERE;
use storebench_model::error::unknown;

/// A plan's own definitions of one kind, and the shipped ones.
pub(super) struct NamedItems<'a, T> {
    pub axis: Axis,
    /// The plan's own, by name.
    pub defined: &'a BTreeMap<String, T>,
    pub shipped: &'a [&'a str],
    /// Why none of them can be called `here`.
    pub not_here: &'a str,
}

impl<T> NamedItems<'_, T> {
    /// Checks the plan's own, each by its name and by `check`, and that all on the axis are known.
    pub fn check(&self, axes: &Axes, check: impl Fn(&T) -> Result<(), String>) -> Result<(), String> {
        let many = self.axis.def().many;
        for (name, item) in self.defined {
            if name == HERE {
                return Err(format!("{many}.here {}; choose another name", self.not_here));
            }
            self.axis.read(name).map_err(|reason| format!("{many}: {reason}"))?;
            check(item).map_err(|reason| format!("{many}.{name}: {reason}"))?;
        }
        let defined = self.defined.keys().map(String::as_str);
        let known: Vec<&str> =
            std::iter::once(HERE).chain(defined).chain(self.shipped.iter().copied()).collect();
        match axes.texts(self.axis).iter().find(|name| !known.contains(&name.as_str())) {
            Some(name) => Err(unknown(self.axis.name(), name, known)),
            None => Ok(()),
        }
    }
}
