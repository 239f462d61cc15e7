//! The trial's own process: joins the cgroups that hold it, limits what it may of itself, and reads back what took effect.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::Pid;
use serde::{Deserialize, Serialize};
use storebench_model::result::{LimitKind, LimitReport};

use super::{LimitMechanism, files};
use crate::kernel::cgroups::{self, Membership, Version};
use crate::kernel::system;
use crate::measure::cgroup::TrialCgroup;

/// A limit and its value, with what holds it and what escapes it.
pub type WantedLimit = (LimitKind, u64, LimitMechanism, Option<String>);

/// The limits that a trial's process takes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitValues {
    /// The cgroups that it is to join.
    pub groups: Vec<TrialCgroup>,
    /// The limits.
    pub limits: Vec<WantedLimit>,
    /// The number of the block device under the location, if it is limited: `8:0`.
    pub device: Option<String>,
    /// The processors to choose from, by number.
    pub processors: Vec<usize>,
    /// The file for what took effect.
    pub report_file: PathBuf,
}

/// What a limit holds if a trial has a private server.
const SERVER_ALONE: &str = "holds the server, and not storebench, its client";
const SERVER_AND_CLIENT: &str = "holds storebench, the server's client, too";

impl LimitValues {
    /// The value of a limit that was asked for, if there is one.
    pub fn value_of(&self, limit: LimitKind) -> Option<u64> {
        self.limits.iter().find(|(limited, ..)| *limited == limit).map(|(_, asked, ..)| *asked)
    }

    /// Puts this process under its limits from now on, and gives those in force. The error names one that is not as asked for.
    pub fn enter(&self) -> Result<Vec<LimitReport>, String> {
        for group in &self.groups {
            group.join()?;
        }
        let memberships = cgroups::own_memberships();
        for group in &self.groups {
            let folder = &group.folder;
            if memberships.iter().all(|membership| membership.folder.file_name() != folder.file_name()) {
                return Err(format!("the process is not in {} though it joined it", folder.display()));
            }
        }
        self.limits.iter().map(|limit| self.check(limit, &memberships)).collect()
    }

    /// Leaves this process outside the cgroups, which its private server will join. A limit that no cgroup holds applies to both.
    /// Gives the limits in force, as the kernel says.
    pub(crate) fn hold_server(&self) -> Result<Vec<LimitReport>, String> {
        let memberships = cgroups::own_memberships();
        let check = |limit: &WantedLimit| {
            let (.., mechanism, _) = limit;
            let is_server_alone = matches!(mechanism, LimitMechanism::V1 | LimitMechanism::V2);
            let scope = if is_server_alone { SERVER_ALONE } else { SERVER_AND_CLIENT };
            let report = match is_server_alone {
                true => self.report(limit, self.value_in_groups(limit.0)?)?,
                false => self.check(limit, &memberships)?,
            };
            let remark = report.remark.map_or(scope.to_owned(), |remark| format!("{scope}; {remark}"));
            Ok(LimitReport { remark: Some(remark), ..report })
        };
        self.limits.iter().map(check).collect()
    }

    fn check(&self, wanted: &WantedLimit, memberships: &[Membership]) -> Result<LimitReport, String> {
        let (limit, asked, mechanism, _) = wanted;
        let in_force = match mechanism {
            LimitMechanism::Affinity => limit_processors(&self.processors, *asked)?,
            LimitMechanism::ResourceLimit => limit_data(*asked)?,
            LimitMechanism::V1 | LimitMechanism::V2 if *limit == LimitKind::Processors => {
                Some(count_processors()?)
            }
            LimitMechanism::V1 | LimitMechanism::V2 => self.value_in_groups(*limit)?,
            LimitMechanism::Scope => {
                let group = memberships.iter().find(|membership| membership.version == Version::V2);
                let group = group.ok_or("the process is in no cgroup of version 2")?;
                // Where systemd has its hierarchy.
                let path = group.path.strip_prefix("/").unwrap_or(&group.path);
                let folder = Path::new("/sys/fs/cgroup").join(path);
                files::read_limit(&folder, Version::V2, *limit, self.device.as_deref())?
            }
        };
        self.report(wanted, in_force)
    }

    fn report(&self, wanted: &WantedLimit, in_force: Option<u64>) -> Result<LimitReport, String> {
        let (limit, asked, mechanism, remark) = wanted;
        let available = self.processors.len() as u64;
        if !in_force.is_some_and(|found| is_as_asked(*limit, *asked, found, available)) {
            let found = in_force.map_or("no limit".to_owned(), |found| found.to_string());
            let limit = limit.describe();
            return Err(format!("{mechanism} holds {limit} to {found}, but {asked} was asked for"));
        }
        let too_few = (*limit == LimitKind::Processors && available < *asked)
            .then(|| format!("there are only {available} here"));
        let (by, remark) = (Some(mechanism.to_string()), remark.clone().or(too_few));
        Ok(LimitReport { limit: *limit, asked: *asked, in_force, by, remark })
    }

    fn value_in_groups(&self, limit: LimitKind) -> Result<Option<u64>, String> {
        let mut last_result = Err("the process joined no cgroup".to_owned());
        for group in &self.groups {
            match files::read_limit(&group.folder, group.version, limit, self.device.as_deref()) {
                Ok(Some(found)) => return Ok(Some(found)),
                no_value => last_result = no_value,
            }
        }
        last_result
    }
}

/// Whether the limit in force is as asked for: memory in whole pages, a share as exact as slices are, no more processors than there are.
fn is_as_asked(limit: LimitKind, asked: u64, found: u64, processors: u64) -> bool {
    match limit {
        LimitKind::Memory => found <= asked && asked - found < 64 << 10,
        LimitKind::Processors => found == asked.min(processors),
        LimitKind::Share => found.abs_diff(asked) <= asked / 50 + 1,
        _ => found == asked,
    }
}

pub(crate) fn allowed_processors() -> Result<Vec<usize>, String> {
    system::processors().map_err(|error| format!("asking for the processors: {error}"))
}

fn count_processors() -> Result<u64, String> {
    Ok(allowed_processors()?.len() as u64)
}

/// Keeps this process and all its threads to this number of processors; gives their number.
fn limit_processors(processors: &[usize], asked: u64) -> Result<Option<u64>, String> {
    let count = usize::try_from(asked).unwrap_or(usize::MAX).min(processors.len());
    let describe_error = |error: &dyn std::fmt::Display| format!("choosing {asked} processors: {error}");
    let threads = fs::read_dir("/proc/self/task").map_err(|error| describe_error(&error))?.flatten();
    for thread in threads.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).map(Pid::from_raw) {
        match system::keep_to_processors(thread, &processors[..count]) {
            // One that has just ended.
            Err(rustix::io::Errno::SRCH) => {}
            other => other.map_err(|error| describe_error(&error))?,
        }
    }
    count_processors().map(Some)
}

/// Bounds this process's own data; gives the bound.
fn limit_data(asked: u64) -> Result<Option<u64>, String> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = Rlimit { current: Some(asked), maximum: getrlimit(Resource::Data).maximum };
    setrlimit(Resource::Data, limit).map_err(|error| format!("limiting its own data: {error}"))?;
    Ok(getrlimit(Resource::Data).current)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_force_is_held_against_what_was_asked_for() {
        for (limit, asked, found, is_met) in [
            (LimitKind::Memory, 1_000_000, 999_424, true),
            (LimitKind::Processors, 4, 2, true),
            (LimitKind::Processors, 1, 1, true),
            (LimitKind::Share, 45_000, 44_998, true),
            (LimitKind::ReadOperations, 57, 57, true),
            (LimitKind::Memory, 1_000_000, 1_003_520, false),
            (LimitKind::Memory, 1 << 20, 1 << 19, false),
            (LimitKind::Processors, 1, 2, false),
            (LimitKind::Share, 45_000, 50_000, false),
            (LimitKind::ReadOperations, 57, 58, false),
        ] {
            assert_eq!(is_as_asked(limit, asked, found, 2), is_met, "{limit}: {found}");
        }
    }

    /// The second order releases all.
    #[test]
    fn a_process_keeps_itself_to_fewer_processors() {
        let processors = allowed_processors().unwrap();
        let order = |asked| LimitValues {
            groups: Vec::new(),
            limits: vec![(LimitKind::Processors, asked, LimitMechanism::Affinity, None)],
            device: None,
            processors: processors.clone(),
            report_file: "x".into(),
        };
        let reports = order(1).enter().unwrap();
        assert_eq!((reports[0].in_force, reports[0].by.as_deref()), (Some(1), Some("affinity")));
        let reports = order(processors.len() as u64 + 5).enter().unwrap();
        assert_eq!(reports[0].in_force, Some(processors.len() as u64));
        assert!(reports[0].remark.as_ref().unwrap().starts_with("there are only"), "{reports:?}");
    }
}
