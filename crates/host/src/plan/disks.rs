//! The simulated disks of a plan: defined in it, or shipped with storebench.

use std::collections::{BTreeMap, HashSet};

use storebench_disk::disks::{self, Disk, RECORDER};

use super::Plan;
use super::named_items::NamedItems;
use storebench_model::axis::table::HERE;
use storebench_model::axis::{Axis, Value};
use storebench_model::cell::Cell;
use storebench_model::error::unknown;
use storebench_model::sanitize::piece;

impl Plan {
    /// A disk by its name: the plan's own, or a shipped one. None is called `here`.
    pub fn disk(&self, name: &str) -> Option<Disk> {
        self.disks.get(name).cloned().or_else(|| disks::shipped(name))
    }

    /// The disks that its cells may be on, `here` included: the values of the disk axis, or, without that axis,
    /// `here` and the disks of its machines.
    pub fn disk_names(&self) -> Vec<String> {
        let machines = || self.axes.texts(Axis::MACHINE);
        let names = match self.axes.names(Axis::DISK) {
            true => self.axes.texts(Axis::DISK),
            false => std::iter::once(HERE.to_owned())
                .chain(machines().iter().filter_map(|name| self.machine(name)?.disk))
                .collect(),
        };
        let mut seen = HashSet::new();
        names.into_iter().filter(|name| seen.insert(name.clone())).collect()
    }

    /// The simulated disk of a cell's machine, which the cell uses if it is available and no other is asked for.
    pub fn disk_of_machine(&self, cell: &Cell) -> Option<String> {
        let is_named = self.axes.names(Axis::DISK) || !self.workload.def().axes.contains(&Axis::DISK);
        if is_named { None } else { self.machine(cell.machine())?.disk }
    }

    /// If times on other disks are estimated and no disk is named, the stores are on the disk that records.
    pub(super) fn record_for_estimates(&mut self) {
        if !self.disk_estimate.is_empty() && !self.axes.names(Axis::DISK) {
            self.axes.set(Axis::DISK, [Value::word(RECORDER)]);
        }
    }

    /// The disks on which times are estimated for stores on a simulated disk, by name, including that disk, as a check.
    pub fn estimates(&self, stores_disk: &str) -> BTreeMap<String, Disk> {
        let names = self.disk_estimate.iter().map(String::as_str);
        let stores_disk = (!self.disk_estimate.is_empty()).then_some(stores_disk);
        names.chain(stores_disk).filter_map(|name| Some((name.to_owned(), self.disk(name)?))).collect()
    }

    /// Copies the shipped disks that the plan names into it.
    pub(super) fn settle_disks(&mut self) {
        for name in self.disk_names().into_iter().chain(self.disk_estimate.clone()) {
            if let Some(disk) = self.disk(&name) {
                self.disks.insert(name, disk);
            }
        }
    }

    /// Checks that a disk of this name exists, for names outside an axis.
    pub(super) fn check_disk_name(&self, name: &str) -> Result<(), String> {
        match self.disk(name) {
            Some(_) => Ok(()),
            None => Err(unknown("disk", name, self.disks.keys().map(String::as_str).chain(disks::NAMES))),
        }
    }

    /// Checks the disks: each name must be allowed, each disk must have a model.
    pub(super) fn check_disks(&self) -> Result<(), String> {
        let not_here = "can't be simulated: it is the disk under the place";
        let disks = NamedItems { axis: Axis::DISK, defined: &self.disks, shipped: &disks::NAMES, not_here };
        disks.check(&self.axes, Disk::check)?;
        for (index, name) in self.disk_estimate.iter().enumerate() {
            if self.disk_estimate[..index].contains(name) {
                return Err(format!("disk_estimate names {} twice", piece(name)));
            }
            self.check_disk_name(name)?;
        }
        let has_here = self.axes.texts(Axis::DISK).iter().any(|name| name == HERE);
        match has_here && !self.disk_estimate.is_empty() {
            true => Err(format!(
                "disk_estimate records on a simulated disk, and the axis disk names {HERE}: leave it out, or leave out the axis"
            )),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::find;
    use crate::plan::tests::plan_on;

    const SLOW_DISK: &str = "[disks.slow.fixed]\nread_us = 5000\nwrite_us = 5000\nflush_us = 5000\n";

    #[test]
    fn what_ships_is_taken_into_the_plan() {
        let mut plan = plan_on(Axis::DISK, &["here", "hdd-7200", "emmc-5.1"]).unwrap();
        plan.settle_disks();
        assert_eq!(plan.disks.keys().collect::<Vec<_>>(), ["emmc-5.1", "hdd-7200"]);
        let again = Plan::parse(&plan.to_toml().unwrap(), "again").unwrap();
        assert_eq!(again.disks, plan.disks);
    }

    #[test]
    fn a_plan_s_own_disk_comes_first_and_one_that_nobody_knows_is_named() {
        let text = find("crud").unwrap().to_toml().unwrap();
        let plan = Plan::parse(&format!("{text}\n{SLOW_DISK}"), "x").unwrap();
        assert_eq!(plan.disk("slow").unwrap().fixed.unwrap().read_us, 5000.0);
        assert!(plan.disk("hdd-7200").is_some() && plan.disk("here").is_none());
        for (table, reason) in [
            (SLOW_DISK.replace("slow", "here"), "choose another name"),
            (SLOW_DISK.replace("5000", "-1"), "disks.slow: flush_us is not a number from 0 on"),
            (SLOW_DISK.replace("slow", "\"a b\""), "lower-case letters"),
            ("[disks.slow]\nspeed = 9".into(), "unknown key `speed`"),
        ] {
            let error = Plan::parse(&format!("{text}\n{table}"), "x").unwrap_err().message;
            assert!(error.contains(reason), "{error}");
        }
        let error = plan_on(Axis::DISK, &["hdd-720"]).unwrap_err();
        assert!(error.contains("there is no disk \"hdd-720\" (did you mean hdd-7200?)"), "{error}");
    }
}
