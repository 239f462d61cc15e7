//! Disks by name: shipped ones, each parameter with its source, and a plan's own.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::device::{Device, InOrderDevice};
use crate::fixed::{FixedTimes, Steady};
use crate::flash::{Card, Flash};
use crate::network::{Network, Remote};
use crate::rotating::{HardDisk, HardDiskSpec};

const TEXT: &str = include_str!("../machines/disks.toml");

static ALL: LazyLock<BTreeMap<String, Disk>> = LazyLock::new(|| toml::from_str(TEXT).unwrap_or_default());

/// The names of the disks that come with storebench, in their order.
pub const NAMES: [&str; 13] = [
    "ebs-gp3",
    "emmc-5.1",
    "hdd-5400",
    "hdd-7200",
    "hdd-7200-uncached",
    "network-1ms",
    "recorder",
    "sata-ssd",
    "sata-ssd-capacitor",
    "sd-a1",
    "sd-cheap",
    "steady",
    "ufs-2.0",
];

/// The disk that estimates are made on where no other is named.
pub const RECORDER: &str = "recorder";

/// A disk that comes with storebench.
pub fn shipped(name: &str) -> Option<Disk> {
    ALL.get(name).cloned()
}

/// A disk: one kind of device, with its parameters.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disk {
    /// The disk in a line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// A hard disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotating: Option<HardDiskSpec>,
    /// Flash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flash: Option<Flash>,
    /// A disk behind a network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// A disk that takes the same time for every request of a kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed: Option<FixedTimes>,
    /// Where its parameters come from, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sources: BTreeMap<String, String>,
    /// The traits of the real ones that it has not, in sentences.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub lacks: String,
}

/// A parameter as it is shown: its name, its value, and where that comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its name, with the unit last.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Where that comes from; empty where nothing says so.
    pub source: String,
}

impl Disk {
    /// Checks that it can be modelled.
    pub fn check(&self) -> Result<(), String> {
        let kinds =
            [self.rotating.is_some(), self.flash.is_some(), self.network.is_some(), self.fixed.is_some()];
        if kinds.into_iter().filter(|is_given| *is_given).count() != 1 {
            return Err("a disk is one of rotating, flash, network and fixed: give it one such table".into());
        }
        let numbers = self.numbers();
        if let Some((name, _)) = numbers.iter().find(|(_, value)| !value.is_finite() || *value < 0.0) {
            return Err(format!("{name} is not a number from 0 on"));
        }
        let is_zero = |name: &str, value: f64| value == 0.0 && !MAY_BE_ZERO.contains(&name);
        if let Some((name, _)) = numbers.iter().find(|(name, value)| is_zero(name, *value)) {
            return Err(format!("{name} is 0: it must be more"));
        }
        if let Some((name, _)) = numbers.iter().find(|(_, value)| *value > MOST) {
            return Err(format!("{name} is too large: at most {MOST}"));
        }
        match (self.rotating, self.flash, self.network) {
            (Some(rotating), ..) => check_rotating(&rotating),
            (_, Some(flash), _) if flash.unit_mib.is_some() != flash.units_open.is_some() => {
                Err("unit_mib and units_open go together: give both or neither".into())
            }
            (_, Some(flash), _) if flash.capacitor.is_some() && flash.cache_mib.is_none() => {
                Err("capacitor is of a cache: give it cache_mib".into())
            }
            (.., Some(network)) if network.p99_ratio < 1.0 => {
                Err("p99_ratio is below 1: a 99th percentile is not below the median".into())
            }
            _ => Ok(()),
        }
    }

    /// A device at rest with an image of these bytes, random by a seed. Fails when it can't be modelled or is smaller than the image.
    pub fn device(&self, image_bytes: u64, seed: u64) -> Result<Box<dyn Device>, String> {
        self.check()?;
        if let Some(rotating) = &self.rotating {
            if image_bytes as f64 > rotating.capacity_gb * 1e9 {
                return Err(format!("it holds {} GB, less than what is to be on it", rotating.capacity_gb));
            }
            return Ok(Box::new(HardDisk::new(rotating, image_bytes)));
        }
        match (self.flash, self.network, self.fixed) {
            (Some(flash), ..) => Ok(Box::new(InOrderDevice::new(Card::new(flash)))),
            (_, Some(network), _) => Ok(Box::new(InOrderDevice::new(Remote::new(network, seed)))),
            (.., Some(fixed)) => Ok(Box::new(InOrderDevice::new(Steady::new(fixed)))),
            _ => Err("it is no kind of disk".into()),
        }
    }

    /// Its parameters, in the order of their names, with their sources.
    pub fn parameters(&self) -> Vec<Parameter> {
        let describe_parameter = |(name, value): (String, toml::Value)| {
            let source = self.sources.get(&name).cloned().unwrap_or_default();
            Parameter { name, value: value.to_string(), source }
        };
        self.table().into_iter().map(describe_parameter).collect()
    }

    fn table(&self) -> toml::Table {
        let tables = [
            self.rotating.as_ref().map(toml::Table::try_from),
            self.flash.as_ref().map(toml::Table::try_from),
            self.network.as_ref().map(toml::Table::try_from),
            self.fixed.as_ref().map(toml::Table::try_from),
        ];
        tables.into_iter().flatten().flatten().next().unwrap_or_default()
    }

    fn numbers(&self) -> Vec<(String, f64)> {
        let number = |value: toml::Value| value.as_float().or(value.as_integer().map(|whole| whole as f64));
        self.table().into_iter().filter_map(|(name, value)| Some((name, number(value)?))).collect()
    }
}

/// The largest sensible parameter, whatever its unit.
const MOST: f64 = 1e9;

const MAY_BE_ZERO: [&str; 9] = [
    "read_us",
    "write_us",
    "flush_us",
    "burst_ms",
    "write_settle_ms",
    "command_us",
    "buffer_mib",
    "segments",
    "write_cache_mib",
];

fn check_rotating(disk: &HardDiskSpec) -> Result<(), String> {
    let HardDiskSpec { seek_track_ms, seek_average_ms, seek_full_ms, .. } = *disk;
    if !(seek_track_ms <= seek_average_ms && seek_average_ms <= seek_full_ms) {
        return Err("seek_track_ms, seek_average_ms and seek_full_ms must grow in this order".into());
    }
    // The curve through the three must neither fall nor begin with a fall.
    let (average, full) = (seek_average_ms - seek_track_ms, seek_full_ms - seek_track_ms);
    if !(average >= full / 3.0 && average <= full * 2.0 / 3.0) {
        return Err(
            "seek_average_ms must lie between a third and two thirds of the way from seek_track_ms to \
                    seek_full_ms"
                .into(),
        );
    }
    match disk.outer_mb_per_s < disk.inner_mb_per_s {
        true => Err("outer_mb_per_s is less than inner_mb_per_s: outer tracks are longer".into()),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Disk, String> {
        let disk: Disk = toml::from_str(text).map_err(|error| error.to_string())?;
        disk.check().map(|()| disk)
    }

    #[test]
    fn every_disk_makes_sense_and_every_parameter_has_a_source() {
        let disks: BTreeMap<String, Disk> = toml::from_str(TEXT).unwrap();
        assert_eq!(disks.keys().collect::<Vec<_>>(), NAMES.iter().collect::<Vec<_>>());
        for (name, disk) in disks {
            disk.check().unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(!disk.about.is_empty() && !disk.lacks.is_empty(), "{name}");
            let parameters = disk.parameters();
            for Parameter { name: parameter, source, .. } in &parameters {
                assert!(!source.is_empty(), "{name}: {parameter} has no source");
            }
            assert_eq!(disk.sources.len(), parameters.len(), "{name}: a source is of no parameter");
            assert!(disk.device(300 << 20, 1).is_ok(), "{name}");
            assert_eq!(read(&toml::to_string(&disk).unwrap()).unwrap(), disk, "{name}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused_in_words() {
        let fixed = "[fixed]\nread_us = 1.0\nwrite_us = 1.0\nflush_us = 1.0\n";
        let hdd = toml::to_string(&shipped("hdd-7200").unwrap()).unwrap();
        let sd = toml::to_string(&shipped("sd-a1").unwrap()).unwrap();
        let gp3 = toml::to_string(&shipped("ebs-gp3").unwrap()).unwrap();
        let with_value = |text: &str, key: &str, value: &str| {
            let changed = text.lines().map(|line| match line.split_once(" = ") {
                Some((name, _)) if name == key && !line.contains('"') => format!("{key} = {value}\n"),
                _ => format!("{line}\n"),
            });
            changed.collect::<String>()
        };
        assert!(read(fixed).is_ok());
        for (text, reason) in [
            (String::new(), "is one of rotating, flash, network and fixed"),
            (format!("{hdd}{fixed}"), "is one of rotating, flash, network and fixed"),
            ("speed = 9\n".into(), "unknown field"),
            (with_value(fixed, "read_us", "-1.0"), "read_us is not a number from 0 on"),
            (with_value(fixed, "read_us", "nan"), "read_us is not a number from 0 on"),
            (with_value(fixed, "read_us", "1e12"), "read_us is too large"),
            (with_value(&hdd, "turns_per_minute", "0.0"), "turns_per_minute is 0"),
            (with_value(&hdd, "seek_average_ms", "99.0"), "must grow in this order"),
            (with_value(&hdd, "seek_full_ms", "500.0"), "a third and two thirds"),
            (with_value(&hdd, "inner_mb_per_s", "5000.0"), "outer tracks are longer"),
            (with_value(&sd, "units_open", "0"), "units_open is 0"),
            (with_value(&gp3, "p99_ratio", "0.5"), "p99_ratio is below 1"),
        ] {
            let error = read(&text).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
        let small = shipped("hdd-7200").unwrap().device(1 << 50, 1).err().unwrap();
        assert!(small.contains("less than what is to be on it"), "{small}");
    }
}
