//! The checks that come after a trial: kills, power cuts, faults of the disk, and recoveries.

use super::{Trial, TrialRun};
use crate::runner::kill::{self, KillCheckOutcome, KillChecker};
use crate::runner::{cut, recovery};
use crate::schedule;
use crate::stage::Stage;
use storebench_core::error::{Error, Result};
use storebench_core::result::{CutCheck, Failure, FaultCheck, RecoveryCheck};
use storebench_core::store::{Guarantee, StoreDef};
use storebench_core::workload::spec::Report;

impl Trial<'_> {
    /// Adds the cut check and the faults that the plan asks for to its result; `None` if it was
    /// interrupted.
    pub(super) fn cut_checked(&self, stage: &mut Stage<'_>, mut ran: TrialRun) -> Result<Option<TrialRun>> {
        let Report::Ok { measured } = &mut ran.report else { return Ok(Some(ran)) };
        let plan = self.job.plan;
        let cuts = plan.cuts.filter(|states| *states > 0);
        let faults = plan.faults.filter(|count| *count > 0);
        let check = self.check(cuts.unwrap_or_default(), measured.guarantee);
        if cuts.is_some() {
            let cut_check = match &check {
                Ok(check) => check.make(stage)?,
                Err(reason) => Some(CutCheck::NotMade { reason: reason.clone() }),
            };
            let Some(cut_check) = cut_check else { return Ok(None) };
            measured.cut_check = Some(cut_check);
        }
        if let Some(count) = faults {
            let fault_check = match &check {
                Ok(check) => check.check_faults(stage, count)?,
                Err(reason) => Some(FaultCheck::NotMade { reason: reason.clone() }),
            };
            let Some(fault_check) = fault_check else { return Ok(None) };
            measured.fault_check = Some(fault_check);
        }
        Ok(Some(ran))
    }

    /// A check of its store on disks that are recorded, cut and broken; or why there can't be one.
    fn check(&self, states: u64, guarantee: Guarantee) -> std::result::Result<cut::CutChecker<'_>, String> {
        let template = self
            .template
            .ok_or("its place is no file system in an image: name one, such as --place ext4:4096")?;
        template.check_traceable()?;
        self.store_in_process()?;
        let plan = self.job.plan;
        let request = cut::CutRequest {
            states,
            sessions: self.cell.threads().into(),
            torn: plan.torn,
            settling: plan.settling,
            seed: schedule::seed(self.job.blocks_before + self.block, plan.seed),
            tier: self.cell.guarantee().tier().unwrap_or(guarantee),
        };
        let spec = self.spec(Err("nothing of it is measured".into()), None);
        let stem = self.log().trim_end_matches(".log").to_owned();
        Ok(cut::CutChecker {
            request,
            spec,
            template,
            room: self.room_of_check("running a cut check in"),
            stem,
        })
    }

    /// Its store, if that keeps files in the trial's own process; or a sentence that it does not.
    fn store_in_process(&self) -> std::result::Result<&StoreDef, &'static str> {
        let store = self.job.stores.iter().find(|store| store.name == self.cell.store());
        store
            .filter(|store| store.capabilities.persists && !self.is_elsewhere())
            .ok_or("this process does not write its files")
    }

    /// Adds the time of opening after a kill, if the plan asks for it, to its result; `None` if it was interrupted. A store that has lost
    /// data by then has failed the trial.
    pub(super) fn recovery_checked(&self, mut ran: TrialRun) -> Result<Option<TrialRun>> {
        let plan = self.job.plan;
        let Report::Ok { measured } = &mut ran.report else { return Ok(Some(ran)) };
        if plan.recovery.is_empty() {
            return Ok(Some(ran));
        }
        let not_made = |reason: &str| {
            recovery::RecoveryCheckOutcome::Checked(RecoveryCheck {
                not_made: Some(reason.into()),
                sizes: Vec::new(),
            })
        };
        let outcome = if let Err(why) = self.store_in_process() {
            not_made(why)
        } else if measured.guarantee < Guarantee::Process {
            not_made("it promises nothing about kills")
        } else {
            let spec = self.spec(Err("it is in the group of no trial".into()), None);
            let (seed, cuts) = (spec.seed, measured.guarantee >= Guarantee::Power);
            recovery::RecoveryChecker {
                spec,
                room: self.room_of_check("running a recovery check in"),
                seed,
                cuts,
            }
            .make(&plan.recovery)?
        };
        match outcome {
            recovery::RecoveryCheckOutcome::Checked(check) => measured.recovery_check = Some(check),
            recovery::RecoveryCheckOutcome::Interrupted => return Ok(None),
            recovery::RecoveryCheckOutcome::Failed(message) => {
                ran.report = Report::Failed { reason: Failure::WrongData, message };
                ran.log = self.log();
            }
        }
        Ok(Some(ran))
    }

    /// Adds the kill check that comes after it to its result; `None` if it was interrupted. A store that fails it has
    /// failed the trial.
    pub(super) fn kill_checked(&self, mut ran: TrialRun) -> Result<Option<TrialRun>> {
        let Report::Ok { measured } = &mut ran.report else { return Ok(Some(ran)) };
        let Some(answer) = kill::skipped_check(self.job, self.passed, self.cell, measured) else {
            return Ok(Some(ran));
        };
        let check = || {
            let group = Err("nothing of it is measured".into());
            let spec = self.spec(group, None);
            KillChecker { spec, room: self.room_of_check("running a kill check in") }.make()
        };
        match answer.map_or_else(check, |answer| Ok(KillCheckOutcome::Checked(answer))) {
            Ok(KillCheckOutcome::Checked(check)) => measured.kill_check = Some(check),
            Ok(KillCheckOutcome::Interrupted) => return Ok(None),
            Ok(KillCheckOutcome::Failed { reason, message }) => {
                ran.report = Report::Failed { reason, message };
                ran.log = self.log();
            }
            Err(Error { message, .. }) if self.has_lost_disk() => {
                ran.report = Report::Failed { reason: Failure::Harness, message };
            }
            Err(error) => return Err(error),
        }
        Ok(Some(self.check_disk(ran, !self.has_lost_disk())))
    }
}
