//! The list of checks of the machine.

use std::fs;
use std::path::{Path, PathBuf};

use storebench_core::kernel::memory;
use storebench_core::measure::limit::LimitSupport;
use storebench_core::measure::probe::Probe;
use storebench_core::measure::{cgroup, environment};
use storebench_host::background;
use storebench_host::image::driver;
use storebench_host::location::backing_device;
use storebench_host::location::directory::WorkFolder;
use storebench_host::location::image;
use storebench_model::axis::file_system::kind::{KINDS, WITHOUT_ROOT};
use storebench_model::cell::Background;
use storebench_model::error::{Error, Result};
use storebench_model::result::{Environment, LimitKind, LocationInfo, StorageBacking};
use storebench_model::store::StoreDef;
use storebench_model::units::{rough_bytes, three_digits};
use storebench_report::check::{BUSY, SLOW_CLOCK_NS};
use storebench_report::terminal::checklist::{Group, Line};

use super::super::machines;

pub struct CheckedMachine<'a> {
    stores: &'a [StoreDef],
    directory: PathBuf,
    environment: Environment,
    place: LocationInfo,
    probe: Probe,
    limit_support: LimitSupport,
    /// Whether trials can have separate cgroups, or why not.
    cgroups: std::result::Result<(), String>,
    is_root: bool,
}

impl<'a> CheckedMachine<'a> {
    /// Examines the machine, and a directory, in which a work folder is made and deleted again.
    pub fn inspect(stores: &'a [StoreDef], directory: &Path) -> Result<CheckedMachine<'a>> {
        let mut work = WorkFolder::create(directory)?;
        let probe = work.probe()?;
        let cgroups = cgroup::CgroupParent::find(|home| work.stage().group(home).map(drop)).map(drop);
        Ok(CheckedMachine {
            stores,
            directory: directory.to_path_buf(),
            environment: environment::machine(),
            place: LocationInfo {
                bottom: Some(backing_device::follow(directory)),
                ..environment::describe_location("here", directory)
                    .map_err(Error::io("looking at", directory))?
            },
            probe,
            limit_support: LimitSupport::detect(),
            cgroups,
            is_root: rustix::process::geteuid().is_root(),
        })
    }
}

struct Check {
    about: &'static str,
    run: fn(&CheckedMachine<'_>) -> Vec<Line>,
}

const CHECKS: &[Check] = &[
    Check { about: "stores", run: stores },
    Check { about: "rights and devices", run: rights },
    Check { about: "file systems for trials (--place)", run: file_systems },
    Check { about: "servers", run: servers },
    Check { about: "limits of machines (--machine)", run: limits },
    Check { about: "background loads (--background)", run: loads },
    Check { about: "the directory", run: directory },
    Check { about: "the machine", run: machine },
];

pub fn run_all(checked: &CheckedMachine<'_>) -> Vec<Group> {
    let groups = CHECKS.iter().map(|check| Group { about: check.about, lines: (check.run)(checked) });
    // A program without servers has no findings about them.
    groups.filter(|group| !group.lines.is_empty()).collect()
}

fn check_line(name: impl Into<String>, result: std::result::Result<impl Into<String>, String>) -> Line {
    match result {
        Ok(found) => Line::ok(name, found),
        Err(why) => Line::no(name, why),
    }
}

fn stores(checked: &CheckedMachine<'_>) -> Vec<Line> {
    let (built, missing): (Vec<&StoreDef>, Vec<&StoreDef>) =
        checked.stores.iter().partition(|store| store.open.is_ok());
    let names: Vec<&str> = built.iter().map(|store| store.name).collect();
    let missing =
        missing.iter().map(|store| check_line(store.name, store.open.map(|_| "").map_err(str::to_owned)));
    [Line::ok("built in", names.join(", "))].into_iter().chain(missing).collect()
}

fn rights(checked: &CheckedMachine<'_>) -> Vec<Line> {
    let root = match checked.is_root {
        true => Line::ok("root", "yes"),
        false => {
            let help = format!(
                "file systems in images other than {WITHOUT_ROOT}, and cold reads of names and inodes, need sudo"
            );
            Line::hint("root", "no", help)
        }
    };
    let cgroups = match &checked.cgroups {
        Ok(()) => Line::ok("memory by cgroup", "the page cache counts as the trial's"),
        Err(why) => Line::hint("memory by cgroup", "the page cache is not counted", why),
    };
    let devices = driver::devices().map(|(name, result)| check_line(name, result));
    let disks = check_line("simulated disks", image::simulated());
    [root, cgroups].into_iter().chain(devices).chain([disks]).collect()
}

/// Each is made and mounted once, in a work folder.
fn file_systems(checked: &CheckedMachine<'_>) -> Vec<Line> {
    let try_kind = |kind: &str| -> std::result::Result<String, String> {
        let file_system = kind.parse()?;
        image::try_mount(&checked.directory, &file_system, None).map(|mount| mount.driver)
    };
    KINDS.iter().map(|kind| check_line(kind.name, try_kind(kind.name))).collect()
}

fn servers(checked: &CheckedMachine<'_>) -> Vec<Line> {
    let servers = checked.stores.iter().filter(|store| store.server.is_some());
    servers
        .map(|store| check_line(store.name, store.missing_need().map_or_else(|| Ok((store.version)()), Err)))
        .collect()
}

fn limits(checked: &CheckedMachine<'_>) -> Vec<Line> {
    let name = |limit: LimitKind| limit.name().replace('_', " ");
    let line =
        |limit: LimitKind| check_line(name(limit), machines::enforcement(limit, &checked.limit_support));
    LimitKind::ALL.into_iter().map(line).collect()
}

fn loads(_: &CheckedMachine<'_>) -> Vec<Line> {
    let line = |name: &str| {
        let load = name.parse::<Background>();
        check_line(name, load.and_then(|load| background::missing_need(load).map_or(Ok("yes"), Err)))
    };
    ["cpu", "disk", "memory", "video"].into_iter().map(line).collect()
}

/// A shorter sync is too quick for a disk without a cache that outlives a power cut.
const QUICK_SYNC_NS: u64 = 50_000;
/// With less free space, the larger presets have no room.
const AMPLE_BYTES: u64 = 20 << 30;

fn directory(checked: &CheckedMachine<'_>) -> Vec<Line> {
    let LocationInfo { path, file_system, device, free_bytes, .. } = &checked.place;
    let kind = file_system.as_deref().unwrap_or("unknown file system");
    let device_line = match device {
        Some(device) => Line::ok("lies on", format!("{kind} on {device}: {path}")),
        None => Line::hint(
            "lies on",
            format!("{kind}: {path}"),
            "no block device is known under it, so what reaches the disk is not counted",
        ),
    };
    let free = rough_bytes(*free_bytes as f64);
    let space_line = match *free_bytes < AMPLE_BYTES {
        true => Line::hint("free", free, "the larger combinations of some studies need more"),
        false => Line::ok("free", free),
    };
    let sync_ns = checked.probe.sync_ns as f64;
    let duration = match sync_ns < 1e6 {
        true => format!("{} µs each", three_digits(sync_ns / 1e3)),
        false => format!("{} ms each", three_digits(sync_ns / 1e6)),
    };
    let loses = checked.place.bottom.as_ref().and_then(StorageBacking::loses);
    let sync = match loses.map(|why| format!("`power` is left out: {why}")).or_else(|| checked.place.unseen())
    {
        Some(why) => Line::hint("syncs", duration, why),
        None if checked.probe.sync_ns < QUICK_SYNC_NS => Line::hint(
            "syncs",
            duration,
            "few disks are as quick, so they may not reach the disk, and `power` may not hold in a power cut",
        ),
        None => Line::ok("syncs", duration),
    };
    vec![device_line, space_line, sync]
}

fn machine(checked: &CheckedMachine<'_>) -> Vec<Line> {
    let machine = &checked.environment;
    let reading = format!("{}, {} ns a reading", machine.clock, three_digits(machine.clock_ns));
    let clock = match machine.clock_ns > SLOW_CLOCK_NS {
        true => Line::hint(
            "clock",
            reading,
            format!("operations of less than a microsecond are blurred{}", quicker_clock()),
        ),
        false => Line::ok("clock", reading),
    };
    let load = match machine.load_1min {
        Some(load) if load > BUSY * f64::from(machine.cores) => {
            let found = format!("{load} on {} processors", machine.cores);
            Line::hint(
                "other load",
                found,
                "end what else runs (ps aux --sort=-%cpu lists it), or wait for a minute",
            )
        }
        Some(load) => Line::ok("other load", format!("{load} on {} processors", machine.cores)),
        None => Line::hint("other load", "not known", "end what else runs"),
    };
    let free = memory::read_meminfo().and_then(|memory| memory.mem_available);
    let memory =
        free.map_or("not known".to_owned(), |bytes| format!("{} available", rough_bytes(bytes as f64)));
    let total =
        machine.memory_bytes.map_or(String::new(), |bytes| format!(" of {}", rough_bytes(bytes as f64)));
    vec![
        governor(machine.governor.as_deref()),
        turbo(),
        clock,
        load,
        Line::ok("memory", format!("{memory}{total}")),
    ]
}

/// The kernel's list of clocks, and the setting that selects one.
const CLOCKS: &str = "/sys/devices/system/clocksource/clocksource0";

/// The command that selects the quickest clock, if it is not the current one.
fn quicker_clock() -> String {
    let read_file = |name: &str| fs::read_to_string(Path::new(CLOCKS).join(name)).unwrap_or_default();
    let current = read_file("current_clocksource");
    let quickest = ["tsc", "kvm-clock", "arch_sys_counter"];
    let is_available =
        |name: &&&str| read_file("available_clocksource").split_whitespace().any(|other| other == **name);
    match quickest.iter().find(is_available).filter(|name| **name != current.trim()) {
        Some(name) => format!(": echo {name} > {CLOCKS}/current_clocksource (as root)"),
        None => String::new(),
    }
}

fn governor(governor: Option<&str>) -> Line {
    match governor {
        None => Line::ok("governor", "none to choose: the host decides, or the processor"),
        Some("performance") => Line::ok("governor", "performance"),
        Some(other) => Line::hint(
            "governor",
            other,
            "the frequency changes with the load: cpupower frequency-set -g performance (apt-get install linux-cpupower)",
        ),
    }
}

/// Files that show whether processors may exceed their frequency for a while: the file, its value then, the remedy.
const TURBO: [(&str, &str, &str); 2] = [
    ("/sys/devices/system/cpu/intel_pstate/no_turbo", "0", "1"),
    ("/sys/devices/system/cpu/cpufreq/boost", "1", "0"),
];

fn turbo() -> Line {
    for (file, on, off) in TURBO {
        if let Ok(text) = fs::read_to_string(file) {
            return match text.trim() == on {
                true => Line::hint("turbo", "on", format!("speed depends on heat: echo {off} > {file}")),
                false => Line::ok("turbo", "off"),
            };
        }
    }
    Line::ok("turbo", "none to switch off here")
}

#[cfg(test)]
mod tests {
    use super::*;
    use storebench_model::stores::NULL;
    use storebench_report::terminal::checklist::State;

    #[test]
    fn every_check_says_something() {
        let directory = tempfile::tempdir().unwrap();
        let missing = StoreDef { name: "gone", open: Err("build with --features gone"), ..NULL };
        let table = [NULL, missing];
        let checked = CheckedMachine::inspect(&table, directory.path()).unwrap();
        let groups = run_all(&checked);
        assert_eq!(groups.len(), CHECKS.len() - 1, "there are no servers");
        for line in groups.iter().flat_map(|group| &group.lines) {
            assert!(!line.name.is_empty() && !line.found.is_empty(), "{line:?}");
            assert_eq!(line.state == State::Hint, line.help.is_some(), "{line:?}");
        }
        let gone = groups[0].lines.iter().find(|line| line.name == "gone").unwrap();
        assert_eq!((gone.state, gone.found.as_str()), (State::No, "build with --features gone"));
        let file_systems = groups.iter().find(|group| group.about.contains("--place")).unwrap();
        assert_eq!(file_systems.lines.len(), KINDS.len());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "something is left");
    }

    #[test]
    fn what_disturbs_is_a_hint() {
        assert_eq!(governor(Some("powersave")).state, State::Hint);
        assert_eq!(governor(Some("performance")).state, State::Ok);
    }
}
