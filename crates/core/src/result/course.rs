//! The course of a trial.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The state of the machine during a trial, second by second.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Course {
    /// When each second ended, in seconds since the trial's process was started.
    pub at_s: Vec<f64>,
    /// A value for each of these seconds, by figure; docs/results.md lists them. A figure that could not always be read is
    /// missing.
    pub figures: BTreeMap<String, Vec<f64>>,
}
