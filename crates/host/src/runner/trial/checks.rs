//! The checks that come after a trial: kills, power cuts, faults of the disk, and recoveries.

use super::{Trial, TrialRun};
use crate::runner::{cut, kill, recovery};
use crate::schedule;
use crate::stage::Stage;
use storebench_core::workload::spec::Report;
use storebench_model::error::{Error, Exit, Result};
use storebench_model::result::{CutCheck, Failure, FaultCheck, RecoveryCheck};
use storebench_model::store::{Guarantee, StoreDef};

impl Trial<'_> {
    /// Adds the cut check and the faults that the plan asks for to its result.
    pub(super) fn cut_checked(&self, stage: &mut Stage<'_>, mut ran: TrialRun) -> Result<TrialRun> {
        let Report::Ok { measured } = &mut ran.report else { return Ok(ran) };
        let plan = self.job.plan;
        let cuts = plan.cuts.filter(|states| *states > 0);
        let faults = plan.faults.filter(|count| *count > 0);
        let check = self.check(cuts.unwrap_or_default(), measured.guarantee);
        if cuts.is_some() {
            measured.cut_check = Some(match &check {
                Ok(check) => check.make(stage)?,
                Err(reason) => CutCheck::NotMade { reason: reason.clone() },
            });
        }
        if let Some(count) = faults {
            measured.fault_check = Some(match &check {
                Ok(check) => check.check_faults(stage, count)?,
                Err(reason) => FaultCheck::NotMade { reason: reason.clone() },
            });
        }
        Ok(ran)
    }

    /// A check of its store on disks that are recorded, cut and broken; or why there can't be one.
    fn check(&self, states: u64, guarantee: Guarantee) -> std::result::Result<cut::CutChecker<'_>, String> {
        let template = self
            .template
            .ok_or("its place is no file system in an image: name one, such as --place ext4:4096")?;
        template.check_traceable()?;
        self.store_in_process()?;
        let plan = self.job.plan;
        let spec = self.spec(Err("nothing of it is measured".into()), None);
        Ok(cut::CutChecker {
            states,
            sessions: self.cell.threads().into(),
            torn: plan.torn,
            settling: plan.settling,
            seed: schedule::seed(self.job.blocks_before + self.block, plan.seed),
            tier: self.cell.guarantee().tier().unwrap_or(guarantee),
            spec,
            template,
            room: self.room_of_check("running a cut check in"),
            stem: self.log().trim_end_matches(".log").to_owned(),
        })
    }

    /// Its store, if that keeps files in the trial's own process; or a sentence that it does not.
    fn store_in_process(&self) -> std::result::Result<&StoreDef, &'static str> {
        let store = self.job.stores.iter().find(|store| store.name == self.cell.store());
        store
            .filter(|store| store.capabilities.persists && !self.is_on_running_server())
            .ok_or("this process does not write its files")
    }

    /// Adds the time of opening after a kill, if the plan asks for it, to its result. A store that has lost data by then has failed
    /// the trial.
    pub(super) fn recovery_checked(&self, mut ran: TrialRun) -> Result<TrialRun> {
        let plan = self.job.plan;
        let Report::Ok { measured } = &mut ran.report else { return Ok(ran) };
        if plan.recovery.is_empty() {
            return Ok(ran);
        }
        let not_made = |reason: &str| Ok(RecoveryCheck { not_made: Some(reason.into()), sizes: Vec::new() });
        let outcome = if let Err(why) = self.store_in_process() {
            not_made(why)
        } else if measured.guarantee < Guarantee::Process {
            not_made("it promises nothing about kills")
        } else {
            let spec = self.spec(Err("it is in the group of no trial".into()), None);
            let (seed, cuts) = (spec.seed, measured.guarantee >= Guarantee::Power);
            let room = self.room_of_check("running a recovery check in");
            recovery::RecoveryChecker { spec, room, seed, cuts }.make(&plan.recovery)?
        };
        match outcome {
            Ok(check) => measured.recovery_check = Some(check),
            Err(failure) => self.fail(&mut ran, failure),
        }
        Ok(ran)
    }

    /// Adds the kill check that comes after it to its result. A store that fails it has failed the trial.
    pub(super) fn kill_checked(&self, mut ran: TrialRun) -> Result<TrialRun> {
        let Report::Ok { measured } = &mut ran.report else { return Ok(ran) };
        let Some(answer) = kill::skipped_check(self.job, self.passed, self.cell, measured) else {
            return Ok(ran);
        };
        let check = || {
            let spec = self.spec(Err("nothing of it is measured".into()), None);
            kill::check(&spec, &self.room_of_check("running a kill check in"))
        };
        match answer.map_or_else(check, |answer| Ok(Ok(answer))) {
            Ok(Ok(check)) => measured.kill_check = Some(check),
            Ok(Err(failure)) => self.fail(&mut ran, failure),
            Err(Error { exit, message, .. }) if exit != Exit::Interrupted && self.has_lost_disk() => {
                ran.report = Report::Failed { reason: Failure::Harness, message };
            }
            Err(error) => return Err(error),
        }
        Ok(self.check_disk(ran, !self.has_lost_disk()))
    }

    fn fail(&self, ran: &mut TrialRun, (reason, message): (Failure, String)) {
        ran.report = Report::Failed { reason, message };
        ran.log = self.log();
    }
}
