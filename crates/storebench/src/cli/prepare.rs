//! The preparation of a run: tries its settings, or lists its trials for `--dry-run`.

use std::sync::atomic::AtomicBool;

use storebench_host::runner::rehearsal::{self, RefusedSettings, Rehearsal, RehearsalExtent};
use storebench_model::error::{Error, Result};

use super::dry_run;
use super::launch::Launch;
use super::output::print_note;

const MAX_SHOWN: usize = 10;

pub enum StartOutcome<T> {
    Ran(T),
    /// Nothing ran: the list of trials for the user, and the error with which the run would end.
    Listed(String, Option<Error>),
    /// The user interrupted it before the first trial.
    Interrupted,
}

/// Tries each setting before a run, or lists its trials instead; an error if a setting makes all trials fail.
pub fn prepare(launch: &Launch<'_>, dry_run: bool, interrupted: &AtomicBool) -> Result<StartOutcome<()>> {
    let can_learn = launch.plan.workload.def().time_by_rehearsal.is_some();
    let extent = if dry_run && can_learn { RehearsalExtent::EachCell } else { RehearsalExtent::EachSetting };
    let Some(rehearsal) = rehearsal::rehearse(&launch.job(interrupted), extent)? else {
        return Ok(StartOutcome::Interrupted);
    };
    check_rehearsal(&rehearsal)?;
    if !dry_run {
        return Ok(StartOutcome::Ran(()));
    }
    let text = dry_run::text(launch, &rehearsal, interrupted)?;
    let list_trials = |text| StartOutcome::Listed(text, launch.check_cells().err());
    Ok(text.map_or(StartOutcome::Interrupted, list_trials))
}

/// Checks the short trials of each value of each setting; [`Exit::BadValue`] if one of them makes every trial fail.
fn check_rehearsal(rehearsal: &Rehearsal) -> Result<()> {
    let refused = &rehearsal.refused;
    if refused.is_empty() {
        return Ok(());
    }
    let describe_refused = |RefusedSettings { what, why }: &RefusedSettings| format!("{what} fails: {why}");
    if let [only] = refused.as_slice() {
        return Err(Error::bad_value(describe_refused(only)));
    }
    refused.iter().take(MAX_SHOWN).for_each(|refused| print_note(&describe_refused(refused)));
    let more = refused.len().saturating_sub(MAX_SHOWN);
    let more = if more == 0 { String::new() } else { format!(", {more} of them not shown") };
    Err(Error::bad_value(format!("{} settings are refused{more}", refused.len())))
}
