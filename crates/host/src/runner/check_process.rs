//! Runs a process of a check that comes after a trial.

use std::io::{Seek, SeekFrom};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use serde::de::DeserializeOwned;

use crate::runner::child_process::{self, ProcessEnd, TimeLimit, interruption};
use crate::runner::trial_ipc::{self, REPORT, SPEC};
use storebench_core::guard;
use storebench_core::workload::spec::Spec;
use storebench_model::error::{Error, Result};

/// The end of a process, and its report.
pub type ProcessOutcome<T> = (ProcessEnd, std::result::Result<T, String>);

/// The files of such a process, and who may end it.
pub struct CheckRoom<'a> {
    pub folder: &'a Path,
    /// The log of its processes, in the run's folder.
    pub log: String,
    /// The beginning of the errors when it can't be run, such as `running a kill check in`.
    pub doing: &'static str,
    /// Set by Ctrl-C.
    pub interrupted: &'a AtomicBool,
}

impl CheckRoom<'_> {
    /// Runs a process; returns how it ended, and its report. Fails with [`interruption`] if the user interrupts it.
    pub fn run<T: DeserializeOwned>(&self, spec: &Spec, limit: TimeLimit) -> Result<ProcessOutcome<T>> {
        trial_ipc::ask(self.folder, spec)?;
        let log = self.folder.join(&self.log);
        // Appended to the trial's own output.
        let mut output = guard::open(self.folder, &self.log)?;
        output.seek(SeekFrom::End(0)).map_err(Error::io("writing", &log))?;
        let files = (&*self.folder.join(SPEC), &*self.folder.join(REPORT));
        let end = child_process::run(&[], files, (&log, output), limit, self.interrupted, &|_| ())
            .map_err(Error::io(self.doing, self.folder))?
            .ok_or_else(interruption)?;
        Ok((end, trial_ipc::answer(self.folder)))
    }
}
