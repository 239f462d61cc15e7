//! The files in a run's folder through which the parent and a trial's process communicate.

use std::io::Write;
use std::path::Path;

use serde::de::DeserializeOwned;

use crate::folder::{read_file, with_room};
use storebench_core::guard;
use storebench_core::workload::spec::Spec;
use storebench_model::error::{Error, Result};

/// The process's task.
pub const SPEC: &str = "trial.json";
/// The process's report.
pub const REPORT: &str = "trial-out.json";
/// The process's limits, as they took effect.
pub const LIMITS: &str = "trial-limits.json";

/// More than any report: a result includes its histograms and series.
const MOST_BYTES: u64 = 64 << 20;

/// Removes the files, also those that a kill left.
pub fn remove(folder: &Path) -> Result<()> {
    [SPEC, REPORT, LIMITS].into_iter().try_for_each(|name| guard::remove(folder, name))
}

/// Writes the task, and creates the file for the report while the disk has room for it.
pub fn ask(folder: &Path, spec: &Spec) -> Result<()> {
    let text = serde_json::to_string(spec).unwrap_or_default();
    with_room(folder, || {
        let mut file = guard::rewrite(folder, SPEC)?;
        file.write_all(text.as_bytes()).map_err(Error::io("writing", &folder.join(SPEC)))
    })?;
    with_room(folder, || guard::rewrite(folder, REPORT))?;
    Ok(())
}

pub fn answer<T: DeserializeOwned>(folder: &Path) -> std::result::Result<T, String> {
    let report = read_file(folder, REPORT, MOST_BYTES).map_err(|error| error.to_string());
    report.and_then(|text| serde_json::from_slice(&text).map_err(|error| error.to_string()))
}
