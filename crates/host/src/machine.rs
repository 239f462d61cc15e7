//! Machine profiles, limits that stand in for a machine: memory with the page cache, processors, their share, input and output.
//! A plan or a shipped profile defines one; `measure/limit` applies it to trials.

pub mod calibrate;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

pub use self::calibrate::Core;
use storebench_model::result::LimitKind;
use storebench_model::sanitize::quoted;
use storebench_model::units::{Bytes, Percent, as_text, exact_bytes, parse_bytes};

/// The least memory that a machine can have, in bytes: with less, not even a process starts.
const LEAST_MEMORY: u64 = 4 << 20;
/// The most processors, and the most operations per second.
const MOST: u64 = 1_000_000_000;

const TEXT: &str = include_str!("../machines/profiles.toml");

static ALL: LazyLock<BTreeMap<String, Machine>> = LazyLock::new(|| toml::from_str(TEXT).unwrap_or_default());

/// The names of the machines that come with storebench, in their order.
pub const NAMES: [&str; 4] = ["beaglebone-black", "laptop-hdd", "phone-2020", "raspberry-pi-zero-2"];

/// A machine that comes with storebench: data, each figure with its source.
pub fn shipped(name: &str) -> Option<Machine> {
    ALL.get(name).cloned()
}

/// The limits that stand in for a machine. What is absent is not limited.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// A description in a line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// Memory, the page cache included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
    /// Processors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<u32>,
    /// Share of the time of these processors, or of one if no number is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<Percent>,
    /// Bytes read per second from the block device under the place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_bandwidth: Option<Bandwidth>,
    /// Bytes written to it per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_bandwidth: Option<Bandwidth>,
    /// Reads from it per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_operations: Option<u64>,
    /// Writes to it per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_operations: Option<u64>,
    /// The simulated disk that replaces the limits of reads and writes, if it is available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<String>,
    /// Limits without which a trial runs all the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub optional: Vec<LimitKind>,
    /// The published figures of one of its cores: the share is found by taking the same measures here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<Core>,
    /// The sources of its figures, by key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sources: BTreeMap<String, String>,
    /// The traits that the limits do not reproduce, in sentences.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub lacks: String,
}

impl Machine {
    /// Its limits, in the units of [`LimitKind`].
    pub fn limits(&self) -> BTreeMap<LimitKind, u64> {
        let share = self.share.map(|share| share.0 / 100.0 * f64::from(self.processors.unwrap_or(1)) * 1e6);
        let limits = [
            (LimitKind::Memory, self.memory.map(|memory| memory.0)),
            (LimitKind::Processors, self.processors.map(u64::from)),
            (LimitKind::Share, share.map(|millionths| millionths.round() as u64)),
            (LimitKind::ReadBandwidth, self.read_bandwidth.map(|rate| rate.0)),
            (LimitKind::WriteBandwidth, self.write_bandwidth.map(|rate| rate.0)),
            (LimitKind::ReadOperations, self.read_operations),
            (LimitKind::WriteOperations, self.write_operations),
        ];
        limits.into_iter().filter_map(|(limit, value)| Some((limit, value?))).collect()
    }

    /// The profile with or without its simulated disk: a simulated disk replaces the limits of reads and writes.
    pub fn with_files(mut self, on_simulated_disk: bool) -> Machine {
        if self.disk.is_some() && on_simulated_disk {
            (self.read_bandwidth, self.write_bandwidth) = (None, None);
            (self.read_operations, self.write_operations) = (None, None);
        }
        self
    }

    /// The factor by which the work of one thread takes longer: 1 without a limit on processors.
    pub fn slowness(&self) -> f64 {
        self.share.map_or(1.0, |share| {
            let processors = f64::from(self.processors.unwrap_or(1));
            (100.0 / share.0 / processors).max(1.0)
        })
    }

    /// Checks that its limits make sense.
    pub fn check(&self) -> Result<(), String> {
        if self.memory.is_some_and(|memory| memory.0 < LEAST_MEMORY) {
            return Err(format!("memory is too little: at least {}", exact_bytes(LEAST_MEMORY)));
        }
        let zero = self.limits().into_iter().find(|(_, value)| *value == 0);
        if let Some((limit, _)) = zero {
            return Err(format!("{limit} is 0: it must be more; leave it out if it is not limited"));
        }
        let large = self.limits().into_iter().find(|(limit, value)| {
            matches!(limit, LimitKind::Processors | LimitKind::ReadOperations | LimitKind::WriteOperations)
                && *value > MOST
        });
        if let Some((limit, _)) = large {
            return Err(format!("{limit} is too large: leave it out if it is not limited"));
        }
        if let Some(core) = &self.core {
            core.check()?;
        }
        match self.limits().is_empty() && self.core.is_none() && self.disk.is_none() {
            true => {
                Err("it limits nothing: give it memory, processors, share, a disk or another limit".into())
            }
            false => Ok(()),
        }
    }

    /// The profile with its share computed from the published core; `here` returns this machine's.
    pub fn calibrated(mut self, here: impl FnOnce() -> Core) -> Machine {
        if let (None, Some(core)) = (self.share, &self.core) {
            self.share = Some(core.share_of(&here()));
        }
        self
    }
}

/// Bytes per second, written as `25MB/s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub struct Bandwidth(pub u64);

impl fmt::Display for Bandwidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bytes if bytes > 0 && bytes.is_multiple_of(1_000_000) => write!(f, "{}MB/s", bytes / 1_000_000),
            bytes => write!(f, "{}/s", exact_bytes(bytes)),
        }
    }
}

impl FromStr for Bandwidth {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bytes = text.strip_suffix("/s").and_then(|size| parse_bytes(size).ok()).map(Bandwidth);
        bytes.ok_or_else(|| format!("{} is not a bandwidth: write it like 25MB/s or 1MiB/s", quoted(text)))
    }
}

as_text!(Bandwidth);

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Machine, String> {
        let machine: Machine = toml::from_str(text).map_err(|error| error.to_string())?;
        machine.check().map(|()| machine)
    }

    #[test]
    fn limits_are_numbers_in_units_of_their_own() {
        let machine = read(
            "memory = \"64MiB\"\nprocessors = 2\nshare = \"12.5%\"\nread_bandwidth = \"25MB/s\"\n\
             write_bandwidth = \"1MiB/s\"\nread_operations = 1500\noptional = [\"read_operations\"]\n",
        )
        .unwrap();
        let expected = [
            (LimitKind::Memory, 64 << 20),
            (LimitKind::Processors, 2),
            (LimitKind::Share, 250_000),
            (LimitKind::ReadBandwidth, 25_000_000),
            (LimitKind::WriteBandwidth, 1 << 20),
            (LimitKind::ReadOperations, 1500),
        ];
        assert_eq!(machine.limits().into_iter().collect::<Vec<_>>(), expected);
        assert_eq!((machine.slowness(), Machine::default().slowness()), (4.0, 1.0));
        let text = toml::to_string(&machine).unwrap();
        assert_eq!(read(&text).unwrap(), machine, "{text}");
    }

    #[test]
    fn what_makes_no_sense_is_refused_in_words() {
        for (text, reason) in [
            ("", "limits nothing"),
            ("memory = \"1MiB\"", "at least 4MiB"),
            ("processors = 0", "processors is 0"),
            ("read_operations = 0", "read_operations is 0"),
            ("share = \"120%\"", "at most 100%"),
            ("read_bandwidth = \"25MB\"", "write it like 25MB/s"),
            ("ram = \"64MiB\"", "unknown field"),
            ("memory = \"64MiB\"\noptional = [\"tape\"]", "tape"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn its_own_disk_takes_the_place_of_limits_on_the_disk() {
        let limits = "memory = '64MiB'\nread_operations = 57\nwrite_bandwidth = '1MB/s'\ndisk = 'sd-a1'\n";
        let machine = read(limits).unwrap();
        assert_eq!(machine.clone().with_files(false), machine);
        let on_its_disk = machine.clone().with_files(true);
        assert_eq!(on_its_disk.limits().into_keys().collect::<Vec<_>>(), [LimitKind::Memory]);
        let machine_without_disk = Machine { disk: None, ..machine };
        assert_eq!(machine_without_disk.clone().with_files(true), machine_without_disk);
        assert!(read("disk = \"sd-a1\"").is_ok(), "a disk is enough");
    }

    #[test]
    fn a_share_is_found_only_where_none_is_given() {
        let board = shipped("beaglebone-black").unwrap();
        let core = board.core.unwrap();
        let calibrated = board.clone().calibrated(|| core);
        assert_eq!(calibrated.share, Some(Percent(100.0)));
        let recalibrated = calibrated.clone().calibrated(|| unreachable!("it has a share"));
        assert_eq!(recalibrated, calibrated);
    }

    #[test]
    fn every_profile_makes_sense_and_every_figure_has_a_source() {
        let profiles: BTreeMap<String, Machine> = toml::from_str(TEXT).unwrap();
        assert_eq!(profiles.keys().collect::<Vec<_>>(), NAMES.iter().collect::<Vec<_>>());
        for (name, machine) in profiles {
            machine.check().unwrap();
            assert!(!machine.about.is_empty() && !machine.lacks.is_empty(), "{name}");
            let limits = machine.limits();
            let mut figures: Vec<&str> = limits.keys().map(|limit| limit.name()).collect();
            figures.extend(machine.core.map(|_| "core"));
            if let Some(disk) = &machine.disk {
                figures.push("disk");
                assert!(storebench_disk::disks::shipped(disk).is_some(), "{name}");
            }
            assert!(figures.iter().all(|key| machine.sources.contains_key(*key)), "{name}: {figures:?}");
            assert_eq!(machine.sources.len(), figures.len(), "{name}");
            assert!(machine.optional.iter().all(|limit| limits.contains_key(limit)), "{name}");
        }
    }
}
