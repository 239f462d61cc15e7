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
pub(super) fn open(
    context: &TrialContext<'_>,
    is_control: bool,
    step: Step,
) -> Result<Box<dyn Store>, TrialError> {
    if is_control {
        return in_place_store::open(&context.spec.directory).map_err(store_trial::unsupported_or_failed);
    }
    kill::open(context, step)
}

pub(super) fn batch(context: &TrialContext<'_>, is_control: bool) -> Result<Batch, TrialError> {
    let (def, _) = store_trial::find(context.stores, context.spec.cell.store())?;
    Ok(if is_control { Batch::Atomic } else { def.capabilities.batch })
}

/// The entries of a disk's log so far; `None` without a log.
pub(super) fn log_length(disk: &Path) -> Result<Option<u64>, TrialError> {
    let counts =
        counts::read(disk).map_err(|error| TrialError::harness(format!("asking the disk: {error}")))?;
    Ok(counts.logged)
}
