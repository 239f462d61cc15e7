//! The parent's side of a trial's limits: makes the cgroups, lists those that the trial must join and check, and reports the outcome.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::machine::Machine;
use crate::plan::Plan;
use crate::runner::devices;
use crate::stage::Stage;
use storebench_core::measure::cgroup::{CgroupParent, TrialCgroup};
use storebench_core::measure::device::{BlockDevice, DeviceSpec};
use storebench_core::measure::limit::{
    HeldLimit, LimitCounts, LimitDecisions, LimitMechanism, LimitSupport, LimitValues, evidence, hold, slices,
};
use storebench_model::cell::{Cell, HERE};
use storebench_model::read_limited;
use storebench_model::result::{LeftOutReason, LimitKind, LimitReport, LocationInfo, ProfileReport};
use storebench_model::units::rough_bytes;

/// More bytes than a trial's report on its limits has.
const MOST_BYTES: u64 = 1 << 20;

/// A trial's limits, ready for its process.
#[derive(Debug)]
pub struct TrialLimits {
    name: String,
    decision: LimitDecisions,
    /// The cgroups that hold it.
    groups: Vec<TrialCgroup>,
    device: Option<String>,
    processors: Vec<usize>,
    report_file: PathBuf,
}

/// Where a trial's limits apply.
#[derive(Debug, Clone, Copy)]
pub struct LimitSite<'a> {
    /// The limits that this process can enforce.
    pub reach: &'a LimitSupport,
    /// The block device under the place, or why it is unknown.
    pub device: &'a Result<DeviceSpec, String>,
    /// The cgroup that counts the trial's memory, with its parent, if any.
    pub counting: Option<(&'a CgroupParent, &'a TrialCgroup)>,
    /// The file for the trial's report on which limits took effect.
    pub report_file: &'a Path,
}

/// Decides how a machine's limits are enforced at a place with this device. Else names the limit that can't be enforced, why, and what
/// would help.
pub fn decide(
    reach: &LimitSupport,
    machine: &Machine,
    device: &Result<DeviceSpec, String>,
) -> Result<LimitDecisions, String> {
    if machine.core.is_some() && machine.share.is_none() {
        return Err("the share of a core here that equals one of its cores is not known".into());
    }
    let device_check = device.as_ref().map(drop).map_err(String::as_str);
    reach.decide(&machine.limits(), &machine.optional, device_check)
}

/// Why a cell's trials can't run under the limits of its machine, in one of these places.
pub fn missing_limits(
    reach: &LimitSupport,
    plan: &Plan,
    cell: &Cell,
    places: &[LocationInfo],
) -> Option<LeftOutReason> {
    let machine = plan.machine(cell.machine())?.with_files(cell.disk() != HERE);
    let place = places.iter().find(|place| place.is_location_of(cell));
    let device = devices::find_device(place?);
    decide(reach, &machine, &device).err().map(|why| LeftOutReason::NoMachine { why })
}

impl TrialLimits {
    /// Makes the cgroups for a cell's machine on the stage. Else names the limit that can't be enforced, why, and what would help.
    pub fn take(
        stage: &mut Stage<'_>,
        cell: &Cell,
        machine: &Machine,
        site: LimitSite<'_>,
    ) -> Result<TrialLimits, String> {
        let decision = decide(site.reach, machine, site.device)?;
        let device = match site.device {
            Ok(spec) if decision.held.iter().any(|enforced| enforced.limit.is_of_device()) => {
                Some(BlockDevice::number(&spec.name)?)
            }
            _ => None,
        };
        let processors = site.reach.processors.clone();
        let mut made_groups: Vec<(CgroupParent, TrialCgroup)> = Vec::new();
        made_groups.extend(site.counting.map(|(parent, group)| (parent.clone(), group.clone())));
        let mut groups = Vec::new();
        for enforced in &decision.held {
            let Some(parent) = &enforced.home else { continue };
            let group = match made_groups.iter().find(|(existing, _)| existing.is_beside(parent)) {
                Some((_, group)) => group.clone(),
                None => {
                    let group = stage.limiting_group(parent)?;
                    made_groups.push((parent.clone(), group.clone()));
                    group
                }
            };
            let limit = (enforced.limit, enforced.asked);
            hold(&group.folder, group.version, limit, device.as_deref(), &processors)?;
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
        let name = cell.machine().to_owned();
        Ok(TrialLimits {
            name,
            decision,
            groups,
            device,
            processors,
            report_file: site.report_file.to_path_buf(),
        })
    }

    /// The limits for the trial's process to take on.
    pub fn order(&self) -> LimitValues {
        let limits = self.decision.held.iter();
        let limits = limits.map(|held| (held.limit, held.asked, held.by, held.remark.clone())).collect();
        LimitValues {
            groups: self.groups.clone(),
            limits,
            device: self.device.clone(),
            processors: self.processors.clone(),
            report_file: self.report_file.clone(),
        }
    }

    /// Whether the trial runs in a scope of the user's systemd, which it must not leave for a cgroup that counts memory.
    pub fn is_scope(&self) -> bool {
        self.decision.held.iter().any(|enforced| enforced.by == LimitMechanism::Scope)
    }

    /// The command that starts the trial's process in a scope of the user's systemd, with its limits; empty if it needs none.
    pub fn scope(&self) -> Vec<OsString> {
        if !self.is_scope() {
            return Vec::new();
        }
        let path = self.device.as_ref().map_or(String::new(), |number| format!("/dev/block/{number} "));
        let scope_limits = self.decision.held.iter().filter(|enforced| enforced.by == LimitMechanism::Scope);
        let properties = scope_limits.flat_map(|enforced| properties(enforced.limit, enforced.asked, &path));
        let options = properties.flat_map(|property| ["-p".to_owned(), property]);
        let first = ["systemd-run", "--user", "--scope", "--quiet", "--collect"].map(str::to_owned);
        first.into_iter().chain(options).chain(["--".to_owned()]).map(OsString::from).collect()
    }

    /// A sentence about processes that the kernel killed at the memory limit, if any.
    pub fn killed(&self) -> Option<String> {
        let kills = self.groups.iter().filter_map(|group| evidence(&group.folder, group.version).kills);
        let limit = self.decision.held.iter().find(|enforced| enforced.limit == LimitKind::Memory)?;
        let limit = rough_bytes(limit.asked as f64);
        (kills.sum::<u64>() > 0).then(|| format!("killed by the kernel for memory: limit {limit}"))
    }

    /// The outcome of the limits, from the trial's report and the kernel's counts.
    pub fn report(&self) -> ProfileReport {
        let text = read_limited::bytes(&self.report_file, MOST_BYTES).unwrap_or_default();
        let mut limits: Vec<LimitReport> = serde_json::from_slice(&text).unwrap_or_default();
        let missing_report = |enforced: &HeldLimit| LimitReport {
            limit: enforced.limit,
            asked: enforced.asked,
            in_force: None,
            by: Some(enforced.by.to_string()),
            remark: Some("the trial ended before it was held".into()),
        };
        if limits.is_empty() {
            limits.extend(self.decision.held.iter().map(missing_report));
        }
        limits.extend(self.decision.not_held.iter().cloned());
        limits.sort_by_key(|report| report.limit);
        let counts_of_groups: Vec<_> =
            self.groups.iter().map(|group| evidence(&group.folder, group.version)).collect();
        let is_enforced = |limit| self.decision.held.iter().any(|enforced| enforced.limit == limit);
        let count_if_enforced = |limit, count: &dyn Fn(&LimitCounts) -> Option<u64>| {
            counts_of_groups.iter().find_map(count).filter(|_| is_enforced(limit))
        };
        ProfileReport {
            name: self.name.clone(),
            limits,
            memory_limit_hits: count_if_enforced(LimitKind::Memory, &|counts| counts.memory_limit_hits),
            throttled_periods: count_if_enforced(LimitKind::Share, &|counts| counts.throttled_periods),
            throttled_ns: count_if_enforced(LimitKind::Share, &|counts| counts.throttled_ns),
        }
    }
}

/// A limit in systemd's form; `device` is the path of the block device, with a space.
fn properties(limit: LimitKind, asked: u64, device: &str) -> Vec<String> {
    match limit {
        LimitKind::Memory => vec![format!("MemoryMax={asked}"), "MemorySwapMax=0".into()],
        LimitKind::Processors => Vec::new(),
        LimitKind::Share => {
            let (period_us, _) = slices(asked);
            vec![format!("CPUQuota={:.2}%", asked as f64 / 1e4), format!("CPUQuotaPeriodSec={period_us}us")]
        }
        LimitKind::ReadBandwidth => vec![format!("IOReadBandwidthMax={device}{asked}")],
        LimitKind::WriteBandwidth => vec![format!("IOWriteBandwidthMax={device}{asked}")],
        LimitKind::ReadOperations => vec![format!("IOReadIOPSMax={device}{asked}")],
        LimitKind::WriteOperations => vec![format!("IOWriteIOPSMax={device}{asked}")],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use storebench_model::axis::Axis;

    fn make_limits(held: Vec<HeldLimit>, report_file: &Path) -> TrialLimits {
        TrialLimits {
            name: Cell::default().with(Axis::MACHINE, Axis::MACHINE.read("box").unwrap()).machine().into(),
            decision: LimitDecisions { held, not_held: Vec::new() },
            groups: Vec::new(),
            device: Some("8:0".into()),
            processors: vec![0],
            report_file: report_file.to_path_buf(),
        }
    }

    fn scope_limit(limit: LimitKind, asked: u64) -> HeldLimit {
        HeldLimit { limit, asked, by: LimitMechanism::Scope, home: None, remark: None }
    }

    #[test]
    fn a_scope_gets_the_limits_as_systemd_takes_them() {
        let affinity = HeldLimit { by: LimitMechanism::Affinity, ..scope_limit(LimitKind::Processors, 1) };
        let limits = vec![
            scope_limit(LimitKind::Memory, 64 << 20),
            scope_limit(LimitKind::Share, 45_000),
            scope_limit(LimitKind::ReadBandwidth, 1000),
            affinity.clone(),
        ];
        let scope = make_limits(limits, Path::new("")).scope();
        let words: Vec<_> = scope.iter().map(|word| word.to_string_lossy()).collect();
        let expected = "systemd-run --user --scope --quiet --collect -p MemoryMax=67108864 -p MemorySwapMax=0 \
                        -p CPUQuota=4.50% -p CPUQuotaPeriodSec=22223us -p IOReadBandwidthMax=/dev/block/8:0 1000 --";
        assert_eq!(words.join(" "), expected);
        assert!(make_limits(vec![affinity], Path::new("")).scope().is_empty());
    }

    #[test]
    fn what_took_effect_is_what_the_trial_told() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let limiting = make_limits(vec![scope_limit(LimitKind::Memory, 1 << 20)], file.path());
        let report = limiting.report();
        assert_eq!((report.name.as_str(), report.limits[0].in_force), ("box", None));
        assert!(report.limits[0].remark.as_ref().unwrap().contains("before it was held"));
        let (limit, asked, by) = (LimitKind::Memory, 1 << 20, Some("cgroup v2".into()));
        let reported = LimitReport { limit, asked, in_force: Some(asked), by, remark: None };
        std::fs::write(file.path(), serde_json::to_string(std::slice::from_ref(&reported)).unwrap()).unwrap();
        assert_eq!(limiting.report().limits, [reported]);
        assert_eq!((limiting.report().memory_limit_hits, limiting.killed()), (None, None));
    }
}
