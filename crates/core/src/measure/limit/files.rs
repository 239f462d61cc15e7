//! The kernel's files that hold limits, in both versions of cgroups: written by the trial's parent, read by its process.

use std::fs;
use std::path::Path;

use storebench_model::result::LimitKind;

use super::slices;
use crate::kernel::cgroups::Version;

/// The file of a limit on a block device, and in version 2 its key there.
fn device_file(version: Version, limit: LimitKind) -> (&'static str, &'static str) {
    match (version, limit) {
        (Version::V2, LimitKind::ReadBandwidth) => ("io.max", "rbps"),
        (Version::V2, LimitKind::WriteBandwidth) => ("io.max", "wbps"),
        (Version::V2, LimitKind::ReadOperations) => ("io.max", "riops"),
        (Version::V2, _) => ("io.max", "wiops"),
        (Version::V1, LimitKind::ReadBandwidth) => ("blkio.throttle.read_bps_device", ""),
        (Version::V1, LimitKind::WriteBandwidth) => ("blkio.throttle.write_bps_device", ""),
        (Version::V1, LimitKind::ReadOperations) => ("blkio.throttle.read_iops_device", ""),
        (Version::V1, _) => ("blkio.throttle.write_iops_device", ""),
    }
}

/// Writes a limit into a cgroup's files. `device` is the location's block device: `8:0`. `processors` are those to choose from.
pub fn hold(
    folder: &Path,
    version: Version,
    (limit, value): (LimitKind, u64),
    device: Option<&str>,
    processors: &[usize],
) -> Result<(), String> {
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| format!("writing {text:?} to {}: {error}", path.display()))
    };
    match (limit, version) {
        (LimitKind::Memory, _) => {
            let name = if version == Version::V2 { "memory.max" } else { "memory.limit_in_bytes" };
            write(name, &value.to_string())?;
            limit_swap(folder, version, value)
        }
        (LimitKind::Processors, _) => {
            if version == Version::V1 {
                // A cpuset of version 1 begins without memory to take from.
                let nodes = folder.parent().map(|parent| fs::read_to_string(parent.join("cpuset.mems")));
                write("cpuset.mems", nodes.and_then(Result::ok).as_deref().map_or("0", str::trim))?;
            }
            write("cpuset.cpus", &list_processors(processors, value))
        }
        (LimitKind::Share, Version::V2) => {
            let (period, quota) = slices(value);
            write("cpu.max", &format!("{quota} {period}"))
        }
        (LimitKind::Share, Version::V1) => {
            let (period, quota) = slices(value);
            write("cpu.cfs_period_us", &period.to_string())?;
            write("cpu.cfs_quota_us", &quota.to_string())
        }
        _ => {
            let device = device.ok_or("no block device is known under the place")?;
            let (name, key) = device_file(version, limit);
            let value = if key.is_empty() { value.to_string() } else { format!("{key}={value}") };
            write(name, &format!("{device} {value}"))
        }
    }
}

/// Bytes that may go to swap in version 1.
const SWAP_V1: u64 = 1 << 20;

/// Keeps memory over the limit from going to swap, if the kernel counts that; otherwise there is no swap, or the remark says so.
fn limit_swap(folder: &Path, version: Version, value: u64) -> Result<(), String> {
    let (name, text) = match version {
        Version::V2 => ("memory.swap.max", "0".to_owned()),
        // A little more than memory alone, so that the limit of memory is met first and its meetings are counted.
        Version::V1 => ("memory.memsw.limit_in_bytes", (value + SWAP_V1).to_string()),
    };
    let path = folder.join(name);
    match path.exists() {
        true => fs::write(&path, text).map_err(|error| format!("writing to {}: {error}", path.display())),
        false => Ok(()),
    }
}

/// The first `count` processors, in the kernel's format.
fn list_processors(processors: &[usize], count: u64) -> String {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let numbers: Vec<String> = processors.iter().take(count).map(ToString::to_string).collect();
    numbers.join(",")
}

/// The value of a limit by a cgroup's files, in the units of [`LimitKind`]; `None` where they say that there is none.
pub fn read_limit(
    folder: &Path,
    version: Version,
    limit: LimitKind,
    device: Option<&str>,
) -> Result<Option<u64>, String> {
    let read = |name: &str| {
        let path = folder.join(name);
        fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let number = |text: &str| text.trim().parse::<u64>().ok();
    Ok(match (limit, version) {
        (LimitKind::Memory, Version::V2) => number(&read("memory.max")?),
        // No limit is the largest number of pages there.
        (LimitKind::Memory, Version::V1) => {
            number(&read("memory.limit_in_bytes")?).filter(|bytes| *bytes < i64::MAX as u64 / 2)
        }
        (LimitKind::Processors, _) => count_listed(&read("cpuset.cpus")?),
        (LimitKind::Share, Version::V2) => {
            let text = read("cpu.max")?;
            let mut parts = text.split_whitespace().map(number);
            share_of_period(parts.next().flatten(), parts.next().flatten())
        }
        (LimitKind::Share, Version::V1) => {
            share_of_period(number(&read("cpu.cfs_quota_us")?), number(&read("cpu.cfs_period_us")?))
        }
        _ => {
            let (name, key) = device_file(version, limit);
            let text = read(name)?;
            let line = text.lines().find_map(|line| {
                let (device_number, rest) = line.split_once(' ')?;
                (Some(device_number) == device).then_some(rest)
            });
            line.and_then(|rest| match key {
                "" => number(rest),
                key => rest.split(' ').find_map(|word| number(word.strip_prefix(key)?.strip_prefix('=')?)),
            })
        }
    })
}

fn share_of_period(quota: Option<u64>, period: Option<u64>) -> Option<u64> {
    let (quota, period) = (quota?, period.filter(|period| *period > 0)?);
    Some((quota as f64 / period as f64 * 1e6).round() as u64)
}

/// The length of a list such as `0-2,5`; `None` if it is empty.
fn count_listed(text: &str) -> Option<u64> {
    let ranges = text.trim().split(',').filter(|range| !range.is_empty());
    let count = |range: &str| {
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        Some(to.parse::<u64>().ok()?.checked_sub(from.parse().ok()?)? + 1)
    };
    ranges.map(count).sum::<Option<u64>>().filter(|count| *count > 0)
}

/// The kernel's counts while it held a trial to its limits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LimitCounts {
    /// Times at which the limit of memory was reached.
    pub memory_limit_hits: Option<u64>,
    /// Processes that were killed for it.
    pub kills: Option<u64>,
    /// Slices of time that were cut short.
    pub throttled_periods: Option<u64>,
    /// In nanoseconds.
    pub throttled_ns: Option<u64>,
}

/// The counts in a cgroup's files of what its limits did.
pub fn evidence(folder: &Path, version: Version) -> LimitCounts {
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
    let value = |text: &str, key: &str| {
        text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse::<u64>().ok())
    };
    let cpu = read("cpu.stat");
    let (memory_limit_hits, kills, throttled_ns) = match version {
        Version::V2 => {
            let events = read("memory.events");
            let us = value(&cpu, "throttled_usec");
            (value(&events, "max"), value(&events, "oom_kill"), us.map(|us| us * 1000))
        }
        Version::V1 => {
            let hits = read("memory.failcnt").trim().parse().ok();
            (hits, value(&read("memory.oom_control"), "oom_kill"), value(&cpu, "throttled_time"))
        }
    };
    LimitCounts { memory_limit_hits, kills, throttled_periods: value(&cpu, "nr_throttled"), throttled_ns }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: [(LimitKind, u64); 7] = [
        (LimitKind::Memory, 64 << 20),
        (LimitKind::Processors, 2),
        (LimitKind::Share, 250_000),
        (LimitKind::ReadBandwidth, 1_000_000),
        (LimitKind::WriteBandwidth, 2_000_000),
        (LimitKind::ReadOperations, 100),
        (LimitKind::WriteOperations, 200),
    ];

    /// Files as the kernel makes them: an `io.max` keeps what was written before.
    fn group_with_limits(version: Version) -> tempfile::TempDir {
        let group = tempfile::tempdir().unwrap();
        fs::write(group.path().join("memory.swap.max"), "max\n").unwrap();
        fs::write(group.path().join("memory.memsw.limit_in_bytes"), "9223372036854771712\n").unwrap();
        for (limit, value) in LIMITS {
            hold(group.path(), version, (limit, value), Some("8:0"), &[1, 3, 5]).unwrap();
            let found = read_limit(group.path(), version, limit, Some("8:0")).unwrap();
            assert_eq!(found, Some(value), "{limit} of {version:?}");
        }
        group
    }

    #[test]
    fn what_is_written_into_files_is_read_back() {
        let group = group_with_limits(Version::V2);
        let text = |name: &str| fs::read_to_string(group.path().join(name)).unwrap();
        assert_eq!((text("memory.max"), text("memory.swap.max")), ("67108864".into(), "0".into()));
        assert_eq!((text("cpuset.cpus"), text("cpu.max")), ("1,3".into(), "2500 10000".into()));
        assert_eq!(text("io.max"), "8:0 wiops=200");
        fs::write(group.path().join("io.max"), "7:1 rbps=9\n8:0 rbps=5 wbps=max riops=6 wiops=max\n")
            .unwrap();
        let io = |limit, device| read_limit(group.path(), Version::V2, limit, Some(device)).unwrap();
        assert_eq!(io(LimitKind::ReadBandwidth, "8:0"), Some(5));
        assert_eq!(io(LimitKind::ReadOperations, "8:0"), Some(6));
        assert_eq!((io(LimitKind::WriteBandwidth, "8:0"), io(LimitKind::ReadBandwidth, "9:9")), (None, None));
        let group = group_with_limits(Version::V1);
        let text = |name: &str| fs::read_to_string(group.path().join(name)).unwrap();
        assert_eq!(text("memory.memsw.limit_in_bytes"), (65 << 20).to_string());
        assert_eq!((text("cpu.cfs_quota_us"), text("cpu.cfs_period_us")), ("2500".into(), "10000".into()));
        assert_eq!(text("blkio.throttle.read_bps_device"), "8:0 1000000");
    }

    #[test]
    fn no_limit_is_told_from_one() {
        let group = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(group.path().join(name), text).unwrap();
        let read = |version, limit| read_limit(group.path(), version, limit, Some("8:0"));
        write("memory.max", "max\n");
        write("memory.limit_in_bytes", "9223372036854771712\n");
        write("cpu.max", "max 100000\n");
        write("cpu.cfs_quota_us", "-1\n");
        write("cpu.cfs_period_us", "100000\n");
        write("cpuset.cpus", "\n");
        write("io.max", "");
        for (version, limit) in [
            (Version::V2, LimitKind::Memory),
            (Version::V1, LimitKind::Memory),
            (Version::V2, LimitKind::Share),
            (Version::V1, LimitKind::Share),
            (Version::V2, LimitKind::Processors),
            (Version::V2, LimitKind::WriteBandwidth),
        ] {
            assert_eq!(read(version, limit), Ok(None), "{limit} of {version:?}");
        }
        assert!(read(Version::V1, LimitKind::WriteBandwidth).unwrap_err().contains("blkio.throttle"));
        assert_eq!((count_listed("0-2,5\n"), count_listed("7"), count_listed("x")), (Some(4), Some(1), None));
        let no_device = hold(group.path(), Version::V2, (LimitKind::ReadBandwidth, 1), None, &[0]);
        assert!(no_device.unwrap_err().contains("no block device"));
    }

    #[test]
    fn what_came_of_limits_is_read_in_both_versions() {
        let group = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(group.path().join(name), text).unwrap();
        assert_eq!(evidence(group.path(), Version::V2), LimitCounts::default());
        write("memory.events", "low 0\nhigh 0\nmax 12\noom 1\noom_kill 1\noom_group_kill 0\n");
        write("cpu.stat", "usage_usec 5\nnr_periods 9\nnr_throttled 7\nthrottled_usec 30\n");
        let counts = |hits, kills, periods, ns| LimitCounts {
            memory_limit_hits: Some(hits),
            kills: Some(kills),
            throttled_periods: Some(periods),
            throttled_ns: Some(ns),
        };
        assert_eq!(evidence(group.path(), Version::V2), counts(12, 1, 7, 30_000));
        write("memory.failcnt", "34\n");
        write("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
        write("cpu.stat", "nr_periods 9\nnr_throttled 8\nthrottled_time 31\n");
        assert_eq!(evidence(group.path(), Version::V1), counts(34, 2, 8, 31));
    }
}
