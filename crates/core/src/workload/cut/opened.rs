//! The store of a cut check, and the disk that it is on.

use std::path::Path;

use storebench_disk::counts;

use super::in_place_store;
use crate::store::{Batch, Store};
use crate::workload::kill;
use crate::workload::spec::{TrialContext, TrialError};
use crate::workload::step::Step;
use crate::workload::store_trial;

/// Opens the check's store, or the made one that writes in place.
pub(super) fn open(asked: &TrialContext<'_>, made: bool, step: Step) -> Result<Box<dyn Store>, TrialError> {
    if made {
        return in_place_store::open(&asked.spec.directory).map_err(store_trial::unsupported_or_failed);
    }
    kill::open(asked, step)
}

pub(super) fn batch(asked: &TrialContext<'_>, made: bool) -> Result<Batch, TrialError> {
    let (def, _) = store_trial::find(asked.stores, asked.spec.cell.store())?;
    Ok(if made { Batch::Atomic } else { def.capabilities.batch })
}

/// The entries of a disk's log so far; `None` without a log.
pub(super) fn logged(disk: &Path) -> Result<Option<u64>, TrialError> {
    let counts =
        counts::read(disk).map_err(|error| TrialError::harness(format!("asking the disk: {error}")))?;
    Ok(counts.logged)
}
