//! The machine profiles of a plan: defined in it, or shipped with storebench.

use super::Plan;
use super::named_items::NamedItems;
use crate::machine::{self, Core, Machine};
use storebench_core::measure::probe::Probe;
use storebench_core::workload::case::{Case, TimeEstimate};
use storebench_core::workload::parameter::AfterLoad;
use storebench_core::workload::recover;
use storebench_model::axis::Axis;
use storebench_model::axis::file_system::FileSystem;
use storebench_model::cell::Cell;
use storebench_model::result::FaultKind;
use storebench_model::store::StoreDef;

impl Plan {
    /// A machine by its name: the plan's own, or a shipped one. None is called `here`.
    pub fn machine(&self, name: &str) -> Option<Machine> {
        self.machines.get(name).cloned().or_else(|| machine::shipped(name))
    }

    /// Copies the shipped machines and disks that the plan names into it, so that a run that is repeated or
    /// resumed has the same ones. `here` measures this machine's core for a machine's share.
    pub fn settle(&mut self, here: impl Fn() -> Core) {
        self.settle_machines(here);
        self.settle_disks();
    }

    /// Copies the shipped machines on its axis, and computes their shares from this machine's core.
    fn settle_machines(&mut self, here: impl Fn() -> Core) {
        let mut measured = None;
        for name in self.axes.texts(Axis::MACHINE) {
            if let Some(machine) = self.machine(&name) {
                let machine = machine.calibrated(|| *measured.get_or_insert_with(&here));
                self.machines.insert(name, machine);
            }
        }
    }

    /// The memory limit of a cell's machine, in bytes, if any.
    pub fn memory_limit(&self, cell: &Cell) -> Option<u64> {
        self.machine(cell.machine())?.memory.map(|memory| memory.0)
    }

    /// The factor by which processors take longer on a cell's machine.
    pub fn slowness(&self, cell: &Cell) -> f64 {
        self.machine(cell.machine()).map_or(1.0, |machine| machine.slowness())
    }

    /// The time of a trial, by the costs of its place, whether it starts a server, and the slowness of its machine.
    pub fn time(&self, cell: &Cell, stores: &[StoreDef], probe: &Probe) -> TimeEstimate {
        let case = self.case(cell, stores);
        let time = (self.workload.def().time)(&case, probe);
        let loads = self.workload.has_parameter("after_load");
        let after_load = if loads { self.parameters.after_load() } else { AfterLoad::AtOnce };
        let start_s = case.server_start_s();
        let begin_s = start_s + after_load.shortest(start_s > 0.0).as_secs_f64();
        let time = TimeEstimate { trial_s: time.trial_s + begin_s, ..time }.slowed(self.slowness(cell));
        TimeEstimate { trial_s: time.trial_s + self.checks_s(start_s), ..time }
    }

    /// The room on the disk that a trial and the checks after it need, in bytes: a recovery check begins when the trial's files are gone.
    pub fn required_bytes(&self, case: &Case<'_>) -> f64 {
        let file_bytes = FileSystem::file_bytes(case.cell.location_name());
        let recovery =
            self.recovery.iter().map(|records| recover::required_bytes(*records, case.kind(), file_bytes));
        let recovery = recovery.filter(|_| case.survives_kills());
        recovery.fold((self.workload.def().space)(case).required_bytes, f64::max) + case.server_bytes()
    }

    /// The time of the checks of power cuts and faults after a trial, for a store that takes `start_s` to start: guesses,
    /// from measurements on a machine of two cores.
    fn checks_s(&self, start_s: f64) -> f64 {
        let look_s = LOOK_S + 2.0 * start_s;
        let cuts = self.cuts.unwrap_or_default() as f64;
        // Each of the four controls has a fifth as many.
        let cuts_s = cuts * (1.0 + 4.0 / 5.0) * look_s;
        let faults = (self.faults.unwrap_or_default() * FaultKind::ALL.len() as u64) as f64;
        let recovery =
            self.recovery.iter().map(|records| *records as f64 * ADDING_S + 11.0 * (look_s / 2.0 + start_s));
        cuts_s + faults * (RECORDING_S + start_s + look_s) + recovery.sum::<f64>()
    }

    /// Checks the machines: each name must be allowed, each limit must make sense.
    pub(super) fn check_machines(&self) -> Result<(), String> {
        let not_here = "can't be limited: it is this machine";
        let machines =
            NamedItems { axis: Axis::MACHINE, defined: &self.machines, shipped: &machine::NAMES, not_here };
        machines.check(&self.axes, |machine| {
            machine.check()?;
            machine.disk.as_ref().map_or(Ok(()), |name| self.check_disk_name(name))
        })
    }
}

/// The time of checking a state, and of the steps on a disk that logs, in seconds.
const LOOK_S: f64 = 0.1;
const RECORDING_S: f64 = 0.4;
/// Adding a record in a batch, in seconds.
const ADDING_S: f64 = 20e-6;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::find;
    use crate::plan::tests::plan_on;
    use storebench_model::units::Percent;

    #[test]
    fn what_ships_is_taken_into_the_plan_with_its_share() {
        let mut plan = plan_on(Axis::MACHINE, &["here", "beaglebone-black", "laptop-hdd"]).unwrap();
        let quick = Core { sorts_per_s: 4662.1, ciphers_per_s: 12964.0, chase_ns: 22.09 };
        plan.settle_machines(|| quick);
        assert_eq!(plan.machines.keys().collect::<Vec<_>>(), ["beaglebone-black", "laptop-hdd"]);
        assert_eq!(plan.machines["beaglebone-black"].share, Some(Percent(10.0)));
        // A resumed run measures nothing again.
        let mut again = Plan::parse(&plan.to_toml().unwrap(), "again").unwrap();
        again.settle_machines(|| unreachable!("the share is known"));
        assert_eq!(again.machines, plan.machines);
        let time = |machine: &str| {
            let cell = Cell::new("sqlite").with(Axis::MACHINE, Axis::MACHINE.read(machine).unwrap());
            let probe = Probe { file_creation_ns: 1, sync_ns: 1, write_bytes_per_s: 1e6 };
            plan.time(&cell, &[], &probe).trial_s
        };
        assert!((time("beaglebone-black") / time("here") - 10.0).abs() < 1e-9);
        assert_eq!(time("laptop-hdd"), time("here"));
    }

    #[test]
    fn a_plan_s_own_machine_comes_first_and_one_that_nobody_knows_is_named() {
        let text = find("crud").unwrap().to_toml().unwrap();
        let plan_text =
            format!("{text}\n[machines.phone-2020]\nmemory = \"1GiB\"\n[machines.box]\nshare = \"50%\"\n");
        let plan = Plan::parse(&plan_text, "x").unwrap();
        let bytes = |name| plan.machine(name).unwrap().memory.map(|memory| memory.0);
        let all_bytes = ["phone-2020", "box", "beaglebone-black"].map(bytes);
        assert_eq!(all_bytes, [Some(1 << 30), None, Some(512 << 20)]);
        assert!(plan.machine("here").is_none());
        for (table, reason) in [
            ("[machines.here]\nmemory = \"1GiB\"", "choose another name"),
            ("[machines.box]\nprocessors = 0", "machines.box: processors is 0"),
            ("[machines.box]\ndisk = \"sd-a\"", "there is no disk \"sd-a\" (did you mean sd-a1?)"),
            ("[machines.\"a b\"]\nprocessors = 1", "lower-case letters"),
        ] {
            let error = Plan::parse(&format!("{text}\n{table}"), "x").unwrap_err().message;
            assert!(error.contains(reason), "{error}");
        }
        let error = plan_on(Axis::MACHINE, &["raspberry-pi-zero2"]).unwrap_err();
        let expected = "there is no machine \"raspberry-pi-zero2\" (did you mean raspberry-pi-zero-2?)";
        assert!(error.contains(expected), "{error}");
    }
}
