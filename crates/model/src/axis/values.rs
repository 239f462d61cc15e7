//! The types of axis values that change what code does.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::file_system::FileSystem;
use super::value::Value;
use crate::sanitize::quoted;
use crate::store::Guarantee;
use crate::units::{CountRange, SizeRange, Sizes, as_text, exact_bytes, parse_bytes, parse_count};
use crate::words::words;

/// The kind of bytes that values are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::VariantNames, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Data {
    /// Random bytes.
    Incompressible,
    /// English-like text.
    Compressible,
}

words!(Data, "{} is not a kind of data: use incompressible or compressible");

/// The guarantee that a cell asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GuaranteeChoice {
    /// As shipped, whichever guarantee that is.
    Default,
    /// One guarantee.
    Tier(Guarantee),
}

impl GuaranteeChoice {
    /// The guarantee asked for, if any.
    pub fn tier(self) -> Option<Guarantee> {
        match self {
            GuaranteeChoice::Default => None,
            GuaranteeChoice::Tier(guarantee) => Some(guarantee),
        }
    }
}

impl fmt::Display for GuaranteeChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.tier().map_or("default", Guarantee::name))
    }
}

impl FromStr for GuaranteeChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "default" => Ok(GuaranteeChoice::Default),
            _ => text.parse().map(GuaranteeChoice::Tier),
        }
    }
}

as_text!(GuaranteeChoice);

/// The pacing of operations: closed loop or open loop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rate {
    /// Closed loop: each begins when the one before it has ended.
    #[default]
    Closed,
    /// Open loop: this number begins each second, over all threads, whether or not earlier ones have ended; latency counts from when due.
    PerSecond(u32),
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rate::Closed => f.pad("closed"),
            Rate::PerSecond(rate) => f.pad(&format!("{rate}/s")),
        }
    }
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "closed" {
            return Ok(Rate::Closed);
        }
        let number = text.strip_suffix("/s").unwrap_or(text);
        match parse_count(number).ok().and_then(|rate| u32::try_from(rate).ok()) {
            Some(rate) if rate > 0 => Ok(Rate::PerSecond(rate)),
            _ => {
                let form = "use closed, or operations per second like 5000/s or 5000";
                Err(format!("{} is not a rate: {form}", quoted(text)))
            }
        }
    }
}

as_text!(Rate);

/// The engines' caches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::VariantNames, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Tuning {
    /// As shipped.
    #[default]
    Default,
    /// The same total for every engine.
    Equal,
    /// For each engine its share of the machine's memory.
    Share,
}

words!(Tuning, "{} is not a tuning: use default, equal or share");

/// The state of memory before the reads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::VariantNames, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Cache {
    /// Whatever the operations before have left there.
    #[default]
    Warm,
    /// Nothing: the store is opened anew and its files are dropped from the page cache before they are read.
    Cold,
}

words!(Cache, "{} is not a state of the cache: use warm or cold");

/// When stores that can compress values do so.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    strum::VariantNames,
    strum::VariantArray,
)]
#[strum(serialize_all = "lowercase")]
pub enum Compression {
    /// For compressible data.
    #[default]
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

words!(Compression, "{} is no way to compress: use auto, on or off");

impl Compression {
    /// Whether such data are compressed.
    pub fn is_on(self, data: Data) -> bool {
        self == Compression::On || (self == Compression::Auto && data == Data::Compressible)
    }
}

as_text!(Compression);

/// The load that runs during a cell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Background {
    /// Nothing.
    #[default]
    None,
    /// Spins with this many threads, as many processors' worth.
    Cpu(u32),
    /// Reads and writes next to the store's files, this many bytes per second each.
    Disk(u64),
    /// Holds and touches this share of free memory, in percent.
    Memory(u32),
    /// Decodes a video in real time.
    Video,
}

impl Background {
    /// The lowest rate of a disk load, in bytes per second: a slower one would often be idle.
    const LEAST_DISK_RATE: u64 = 128 << 10;

    /// The kinds, each with its default amount: one processor, 20 MiB/s, half of free memory.
    const KINDS: [(&'static str, Background); 5] = [
        ("none", Background::None),
        ("cpu", Background::Cpu(1)),
        ("disk", Background::Disk(20 << 20)),
        ("memory", Background::Memory(50)),
        ("video", Background::Video),
    ];
}

impl fmt::Display for Background {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((name, _)) = Background::KINDS.iter().find(|(_, kind)| kind == self) {
            return f.pad(name);
        }
        match self {
            Background::None => f.pad("none"),
            Background::Cpu(cores) => f.pad(&format!("cpu:{cores}")),
            Background::Disk(rate) => f.pad(&format!("disk:{}/s", exact_bytes(*rate))),
            Background::Memory(share) => f.pad(&format!("memory:{share}%")),
            Background::Video => f.pad("video"),
        }
    }
}

impl FromStr for Background {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = "none, cpu, cpu:2 (up to 1024), disk, disk:50MiB/s (at least 128KiB/s), memory, memory:25% (up to 90%) or video";
        let to_error = || format!("{} is not a background: use {known}", quoted(text));
        if let Some((_, kind)) = Background::KINDS.iter().find(|(name, _)| *name == text) {
            return Ok(*kind);
        }
        let (kind, amount) = text.split_once(':').ok_or_else(to_error)?;
        let parsed = match kind {
            "cpu" => amount.parse().ok().filter(|cores| (1..=1024).contains(cores)).map(Background::Cpu),
            "disk" => {
                let rate = amount.strip_suffix("/s").and_then(|rate| parse_bytes(rate).ok());
                rate.filter(|rate| *rate >= Background::LEAST_DISK_RATE).map(Background::Disk)
            }
            "memory" => {
                let share = amount.strip_suffix('%').and_then(|share| share.parse().ok());
                share.filter(|share| (1..=90).contains(share)).map(Background::Memory)
            }
            _ => None,
        };
        parsed.ok_or_else(to_error)
    }
}

as_text!(Background);

macro_rules! to_value {
    ($type:ty, $value:ident => $bounds:expr) => {
        impl From<$type> for Value {
            fn from($value: $type) -> Value {
                let (from, to) = $bounds;
                Value::of($value, from, to)
            }
        }
    };
}

to_value!(SizeRange, size => (size.from, size.to));
to_value!(Sizes, sizes => (sizes.span().from, sizes.span().to));
to_value!(CountRange, count => (count.from, count.to));
to_value!(FileSystem, system => (u64::from(system.cluster), 0));
to_value!(Data, data => (data as u64, 0));
to_value!(Tuning, tuning => (tuning as u64, 0));
to_value!(Compression, compression => (compression as u64, 0));
to_value!(Cache, cache => (cache as u64, 0));
to_value!(GuaranteeChoice, asked => (asked.tier().map_or(0, |guarantee| guarantee as u64 + 1), 0));
to_value!(Rate, rate => match rate {
    Rate::Closed => (0, 0),
    Rate::PerSecond(rate) => (u64::from(rate), u64::from(rate)),
});
to_value!(Background, load => match load {
    Background::None => (0, 0),
    Background::Cpu(cores) => (1, u64::from(cores)),
    Background::Disk(rate) => (2, rate),
    Background::Memory(share) => (3, u64::from(share)),
    Background::Video => (4, 0),
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axis_values_are_read_as_they_are_written() {
        for text in ["none", "cpu", "cpu:2", "disk", "disk:50MiB/s", "memory", "memory:25%", "video"] {
            assert_eq!(text.parse::<Background>().unwrap().to_string(), text);
        }
        for text in ["", "gpu", "cpu:0", "cpu:1025", "disk:fast", "disk:127KiB/s", "memory:91%", "memory:x"] {
            assert!(text.parse::<Background>().is_err(), "{text}");
        }
        for text in ["closed", "5000/s"] {
            assert_eq!(text.parse::<Rate>().unwrap().to_string(), text);
        }
        assert_eq!("5000".parse::<Rate>().unwrap().to_string(), "5000/s");
        assert!("0/s".parse::<Rate>().is_err() && "0".parse::<Rate>().is_err());
        assert!("5000/m".parse::<Rate>().is_err() && "fast".parse::<Rate>().is_err());
    }
}
