//! The preparation of a run: its settings are tried before it, and `--dry-run` lists it in its place.

use std::sync::atomic::AtomicBool;

use storebench_core::error::{Error, Result};
use storebench_core::runner::rehearsal::{self, Extent, Refused, Rehearsal};

use super::dry_run;
use super::launch::Launch;
use super::output::tell;

/// Settings that fail, which are told one by one.
const TOLD: usize = 10;

/// The outcome of the preparation of a run, which may take its place.
pub enum Prepared {
    /// The run can begin.
    Ready,
    /// The list of what would run is asked for, and this is it.
    Listed(String),
    /// The user has interrupted it.
    Interrupted,
}

/// Does what comes before a run, or in its place.
///
/// # Errors
/// When a setting makes all trials fail.
pub fn prepare(launch: &Launch<'_>, dry_run: bool, interrupted: &AtomicBool) -> Result<Prepared> {
    let learns = launch.plan.workload.def().time_by_rehearsal.is_some();
    let extent = if dry_run && learns { Extent::EachCell } else { Extent::EachSetting };
    let Some(rehearsal) = rehearsal::rehearse(&launch.job(interrupted), extent)? else {
        return Ok(Prepared::Interrupted);
    };
    check_rehearsal(&rehearsal)?;
    if !dry_run {
        return Ok(Prepared::Ready);
    }
    let text = dry_run::text(launch, &rehearsal, interrupted)?;
    Ok(text.map_or(Prepared::Interrupted, Prepared::Listed))
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
