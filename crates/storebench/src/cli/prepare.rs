//! The preparation of a run: its settings are tried before it, and `--dry-run` lists it in its place.

use std::sync::atomic::AtomicBool;

use storebench_core::error::{Error, Result};
use storebench_host::runner::rehearsal::{self, Extent, Refused, Rehearsal};

use super::dry_run;
use super::launch::Launch;
use super::output::tell;

/// Settings that fail, which are told one by one.
const TOLD: usize = 10;

/// The end of a start.
pub enum Started<T> {
    /// The run was carried out.
    Ran(T),
    /// Nothing ran: the user asked for the list of trials, and this is it, with the error that the run would end with.
    Listed(String, Option<Error>),
    /// The user interrupted it before the first trial.
    Interrupted,
}

/// Tries each setting before a run, or lists its trials in its place.
///
/// # Errors
/// When a setting makes all trials fail.
pub fn prepare(launch: &Launch<'_>, dry_run: bool, interrupted: &AtomicBool) -> Result<Started<()>> {
    let learns = launch.plan.workload.def().time_by_rehearsal.is_some();
    let extent = if dry_run && learns { Extent::EachCell } else { Extent::EachSetting };
    let Some(rehearsal) = rehearsal::rehearse(&launch.job(interrupted), extent)? else {
        return Ok(Started::Interrupted);
    };
    check_rehearsal(&rehearsal)?;
    if !dry_run {
        return Ok(Started::Ran(()));
    }
    let text = dry_run::text(launch, &rehearsal, interrupted)?;
    let listed = |text| Started::Listed(text, launch.check_cells().err());
    Ok(text.map_or(Started::Interrupted, listed))
}

/// Each value of each setting was tried in a short trial.
///
/// # Errors
/// [`Exit::BadValue`] when no trial can succeed with one of them.
fn check_rehearsal(rehearsal: &Rehearsal) -> Result<()> {
    let refused = &rehearsal.refused;
    if refused.is_empty() {
        return Ok(());
    }
    let one = |Refused { what, why }: &Refused| format!("{what} fails: {why}");
    if let [only] = refused.as_slice() {
        return Err(Error::bad_value(one(only)));
    }
    refused.iter().take(TOLD).for_each(|refused| tell(&one(refused)));
    let more = refused.len().saturating_sub(TOLD);
    let more = if more == 0 { String::new() } else { format!(", {more} of them not shown") };
    Err(Error::bad_value(format!("{} settings are refused{more}", refused.len())))
}
