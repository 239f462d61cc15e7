//! The limits that can be held here, and by what: looked up without making anything.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use storebench_model::result::{LimitKind, LimitReport};

use super::enter::allowed_processors;
use super::{Controller, LimitMechanism, Limits};
use crate::kernel::cgroups::Version;
use crate::kernel::memory;
use crate::measure::cgroup::CgroupParent;

const HELP: &str = "run as root, or as a user of systemd with cgroups of version 2";
/// The writes that escape a limit in version 1.
const WRITES_ESCAPE: &str = "holds direct and synced writes, not what the system writes back later";
/// The memory that a limit of the process's own data leaves out.
const CACHE_ESCAPES: &str = "bounds the process's own data; the page cache is not charged";
const SWAP_ESCAPES: &str = "this machine has swap, and the kernel does not limit it";

/// The limits that this process can hold.
#[derive(Debug, Clone)]
pub struct LimitSupport {
    /// Where cgroups with each controller can be made, or why not.
    cgroup_parents: BTreeMap<Controller, Result<CgroupParent, String>>,
    /// What scopes of the user's systemd can hold, or why there are none.
    scope_controllers: Result<BTreeSet<Controller>, String>,
    /// The processors that this process may run on, by number.
    pub processors: Vec<usize>,
    has_swap: bool,
}

/// The decision on each limit of a machine: held or not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LimitDecisions {
    /// Limits that are held.
    pub held: Vec<HeldLimit>,
    /// Limits that are not held, with the reasons; all are optional.
    pub not_held: Vec<LimitReport>,
}

/// A limit that is held.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct HeldLimit {
    pub limit: LimitKind,
    pub asked: u64,
    pub by: LimitMechanism,
    /// Where the cgroup is made that holds it, if one does.
    pub home: Option<CgroupParent>,
    /// The part that escapes the limit.
    pub remark: Option<String>,
}

impl LimitSupport {
    /// Looks at this machine and what this process may do.
    pub fn detect() -> LimitSupport {
        let swap_total = memory::read_meminfo().map(|memory| memory.swap_total);
        LimitSupport {
            cgroup_parents: Controller::ALL.map(|each| (each, CgroupParent::with_controller(each))).into(),
            scope_controllers: detect_scope_controllers(),
            processors: allowed_processors().unwrap_or_default(),
            has_swap: swap_total.is_some_and(|bytes| bytes > 0),
        }
    }

    /// Holds memory by cgroups made here, if a run has found that they can be.
    pub fn with_memory_at(mut self, parent: &Result<CgroupParent, String>) -> LimitSupport {
        if let Ok(parent) = parent {
            self.cgroup_parents.insert(Controller::Memory, Ok(parent.clone()));
        }
        self
    }

    /// How limits are held, for a device or the reason why it is unknown. Those in `optional` need not be held. The error says
    /// which limit can't be held, why, and what would help.
    pub fn decide(
        &self,
        limits: &Limits,
        optional: &[LimitKind],
        device: Result<(), &str>,
    ) -> Result<LimitDecisions, String> {
        let (decision, first_unmet) =
            partition(limits, optional, |limit| self.own_method(limit, optional, device));
        let Some((limit, reason)) = first_unmet else { return Ok(decision) };
        if let Ok(controllers) = &self.scope_controllers {
            let method = |limit| scope_method(controllers, limit, device);
            if let (decision, None) = partition(limits, optional, method) {
                return Ok(decision);
            }
        }
        let help =
            if limit.is_of_device() && device.is_err() { "choose a place on a disk (--at)" } else { HELP };
        let scope = self.scope_controllers.as_ref().err().map_or(String::new(), |why| format!("; {why}"));
        Err(format!("{} can't be limited here: {reason}{scope}: {help}", limit.describe()))
    }

    /// What holds a limit if this process makes cgroups or limits itself.
    fn own_method(&self, limit: LimitKind, optional: &[LimitKind], device: Result<(), &str>) -> LimitMethod {
        if limit.is_of_device() {
            device.map_err(str::to_owned)?;
        }
        let unknown = || Err("nothing is known of it".to_owned());
        match self.cgroup_parents.get(&Controller::from_limit(limit)).cloned().unwrap_or_else(unknown) {
            Ok(parent) => {
                let is_v1 = parent.version == Version::V1;
                let remark = self.escape_remark(limit, &parent);
                Ok((if is_v1 { LimitMechanism::V1 } else { LimitMechanism::V2 }, Some(parent), remark))
            }
            Err(_) if limit == LimitKind::Processors => Ok((LimitMechanism::Affinity, None, None)),
            Err(_) if limit == LimitKind::Memory && optional.contains(&limit) => {
                Ok((LimitMechanism::ResourceLimit, None, Some(CACHE_ESCAPES.to_owned())))
            }
            Err(reason) => Err(reason),
        }
    }

    fn escape_remark(&self, limit: LimitKind, parent: &CgroupParent) -> Option<String> {
        let is_v1 = parent.version == Version::V1;
        match limit {
            LimitKind::WriteBandwidth | LimitKind::WriteOperations if is_v1 => Some(WRITES_ESCAPE.to_owned()),
            LimitKind::Memory if self.has_swap && !parent.limits_swap() => Some(SWAP_ESCAPES.to_owned()),
            _ => None,
        }
    }
}

/// What holds a limit, where, and what escapes it; or why nothing does.
type LimitMethod = Result<(LimitMechanism, Option<CgroupParent>, Option<String>), String>;

fn scope_method(allowed: &BTreeSet<Controller>, limit: LimitKind, device: Result<(), &str>) -> LimitMethod {
    match limit {
        // Held in any case, and more surely than by a controller that is rarely handed to users.
        LimitKind::Processors => Ok((LimitMechanism::Affinity, None, None)),
        limit if limit.is_of_device() && device.is_err() => Err(device.err().unwrap_or_default().to_owned()),
        limit if allowed.contains(&Controller::from_limit(limit)) => Ok((LimitMechanism::Scope, None, None)),
        limit => Err(format!("the user's systemd may not limit {}", Controller::from_limit(limit).name())),
    }
}

/// Limits that are held and not, and the first required one that is not.
fn partition(
    limits: &Limits,
    optional: &[LimitKind],
    method: impl Fn(LimitKind) -> LimitMethod,
) -> (LimitDecisions, Option<(LimitKind, String)>) {
    let (mut decision, mut first_unmet) = (LimitDecisions::default(), None);
    for (limit, asked) in limits.iter().map(|(limit, asked)| (*limit, *asked)) {
        match method(limit) {
            Ok((mechanism, home, remark)) => {
                decision.held.push(HeldLimit { limit, asked, by: mechanism, home, remark })
            }
            Err(reason) if optional.contains(&limit) => {
                let remark = Some(reason);
                decision.not_held.push(LimitReport { limit, asked, in_force: None, by: None, remark });
            }
            Err(reason) => first_unmet = first_unmet.or(Some((limit, reason))),
        }
    }
    (decision, first_unmet)
}

/// The limits that scopes of the user's systemd can hold: the controllers delegated to it.
fn detect_scope_controllers() -> Result<BTreeSet<Controller>, String> {
    let user = rustix::process::getuid().as_raw();
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let runtime = runtime.unwrap_or_else(|| PathBuf::from(format!("/run/user/{user}")));
    if !runtime.join("systemd/private").exists() {
        return Err("no systemd is at work for this user".into());
    }
    let paths = std::env::var_os("PATH").unwrap_or_default();
    if !std::env::split_paths(&paths).any(|folder| folder.join("systemd-run").exists()) {
        return Err("systemd-run is not installed".into());
    }
    let service = format!("/sys/fs/cgroup/user.slice/user-{user}.slice/user@{user}.service");
    Ok(delegated_controllers(Path::new(&service)))
}

/// The controllers that a cgroup of version 2 may delegate.
fn delegated_controllers(group: &Path) -> BTreeSet<Controller> {
    let text = std::fs::read_to_string(group.join("cgroup.controllers")).unwrap_or_default();
    let is_named = |controller: &Controller| text.split_whitespace().any(|name| name == controller.name());
    Controller::ALL.into_iter().filter(is_named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn support(version: Option<Version>, scope: Option<&[Controller]>) -> LimitSupport {
        let parent = |_| version.map(CgroupParent::sample).ok_or_else(|| "nothing is writable".to_owned());
        LimitSupport {
            cgroup_parents: Controller::ALL.map(|controller| (controller, parent(controller))).into(),
            scope_controllers: scope.map(|all| all.iter().copied().collect()).ok_or("no systemd".to_owned()),
            processors: vec![0, 1],
            has_swap: false,
        }
    }

    fn all_limits() -> Limits {
        LimitKind::ALL.map(|limit| (limit, 1_000_000)).into()
    }

    fn mechanisms(decision: &LimitDecisions) -> BTreeSet<LimitMechanism> {
        decision.held.iter().map(|held| held.by).collect()
    }

    #[test]
    fn cgroups_come_first_and_those_of_version_1_say_what_escapes_them() {
        let v2 = support(Some(Version::V2), None).decide(&all_limits(), &[], Ok(())).unwrap();
        assert_eq!((mechanisms(&v2), v2.held.len()), ([LimitMechanism::V2].into(), 7));
        assert!(v2.held.iter().all(|held| held.remark.is_none()));
        let v1 = support(Some(Version::V1), None).decide(&all_limits(), &[], Ok(())).unwrap();
        let escaped: Vec<_> =
            v1.held.iter().filter(|held| held.remark.is_some()).map(|held| held.limit).collect();
        assert_eq!(escaped, [LimitKind::WriteBandwidth, LimitKind::WriteOperations]);
    }

    #[test]
    fn systemd_comes_next_with_what_it_was_handed() {
        let limits = [LimitKind::Memory, LimitKind::Processors, LimitKind::Share].map(|limit| (limit, 1));
        let with_scope = support(None, Some(&[Controller::Memory, Controller::Cpu]));
        let decision = with_scope.decide(&limits.into(), &[], Ok(())).unwrap();
        assert_eq!(mechanisms(&decision), [LimitMechanism::Scope, LimitMechanism::Affinity].into());
        let error = with_scope.decide(&all_limits(), &[], Ok(())).unwrap_err();
        let expected = "memory can't be limited here: nothing is writable: run as root";
        assert!(error.starts_with(expected), "{error}");
        let io: Vec<LimitKind> = LimitKind::ALL.into_iter().filter(|limit| limit.is_of_device()).collect();
        let decision = with_scope.decide(&all_limits(), &io, Ok(())).unwrap();
        assert_eq!((decision.held.len(), decision.not_held.len()), (3, 4));
        assert_eq!(decision.not_held[0].remark.as_deref(), Some("the user's systemd may not limit io"));
    }

    #[test]
    fn a_process_limits_itself_where_that_is_enough() {
        let nowhere = support(None, None);
        let decision = nowhere.decide(&[(LimitKind::Processors, 1)].into(), &[], Ok(())).unwrap();
        assert_eq!(mechanisms(&decision), [LimitMechanism::Affinity].into());
        let memory = [(LimitKind::Memory, 1 << 20)].into();
        let decision = nowhere.decide(&memory, &[LimitKind::Memory], Ok(())).unwrap();
        assert_eq!(decision.held[0].by, LimitMechanism::ResourceLimit);
        assert!(decision.held[0].remark.as_ref().unwrap().contains("page cache is not charged"));
        let help = "run as root, or as a user of systemd with cgroups of version 2";
        let expected = format!("memory can't be limited here: nothing is writable; no systemd: {help}");
        assert_eq!(nowhere.decide(&memory, &[], Ok(())).unwrap_err(), expected);
    }

    #[test]
    fn without_a_device_its_limits_are_told() {
        let v1 = support(Some(Version::V1), None);
        let io = [(LimitKind::ReadBandwidth, 5)].into();
        let error = v1.decide(&io, &[], Err("it is a tmpfs")).unwrap_err();
        assert!(error.contains("read bandwidth can't be limited here: it is a tmpfs"), "{error}");
        assert!(error.ends_with("choose a place on a disk (--at)"), "{error}");
        let decision = v1.decide(&io, &[LimitKind::ReadBandwidth], Err("it is a tmpfs")).unwrap();
        assert_eq!((decision.held.len(), decision.not_held[0].asked), (0, 5));
    }

    #[test]
    fn what_was_handed_over_is_read() {
        let group = tempfile::tempdir().unwrap();
        assert_eq!(delegated_controllers(group.path()), BTreeSet::new());
        std::fs::write(group.path().join("cgroup.controllers"), "cpu memory pids\n").unwrap();
        assert_eq!(delegated_controllers(group.path()), [Controller::Memory, Controller::Cpu].into());
    }
}
