//! When operations begin after loading.

use std::time::Duration;

use storebench_model::result::Rest;
use storebench_model::units::as_text;
use storebench_model::words::words;

use crate::measure::rest;

/// The moment when operations begin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, strum::VariantNames, strum::VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum AfterLoad {
    /// When the store has done what loading left it to do: what follows is its own speed.
    #[default]
    Rest,
    /// Straight away: what follows is what an application sees right after a bulk load.
    AtOnce,
}

words!(AfterLoad, "{}: use rest or at-once");
as_text!(AfterLoad);

impl AfterLoad {
    /// The shortest that it takes: of a store that has nothing to do, which may be a server of the trial's own.
    pub fn shortest(self, server: bool) -> Duration {
        if self == AfterLoad::Rest { rest::shortest(server) } else { Duration::ZERO }
    }

    /// Lets the store rest, if it is to. Everything that was to be loaded has been.
    pub fn wait(self) -> Option<Rest> {
        (self == AfterLoad::Rest).then(rest::wait)
    }
}
