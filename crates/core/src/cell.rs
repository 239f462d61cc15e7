//! A cell: one combination of axis values, with a stable id; and the axes by name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::shown::quoted;
use crate::store::Guarantee;
use crate::units::{CountRange, SizeRange, as_text, exact_bytes, parse_bytes, parse_count};

/// What the values are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Data {
    /// Random bytes.
    Incompressible,
    /// English-like text.
    Compressible,
}

impl Data {
    /// The word used in plans and results.
    pub fn name(self) -> &'static str {
        match self {
            Data::Incompressible => "incompressible",
            Data::Compressible => "compressible",
        }
    }
}

impl FromStr for Data {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        [Data::Incompressible, Data::Compressible].into_iter().find(|data| data.name() == text).ok_or_else(
            || format!("{} is not a kind of data: say incompressible or compressible", quoted(text)),
        )
    }
}

/// The guarantee that a cell asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GuaranteeChoice {
    /// As shipped, whichever tier that is.
    Default,
    /// One tier.
    Tier(Guarantee),
}

impl GuaranteeChoice {
    /// The tier asked for, if any.
    pub fn tier(self) -> Option<Guarantee> {
        match self {
            GuaranteeChoice::Default => None,
            GuaranteeChoice::Tier(tier) => Some(tier),
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
            _ => text.parse().map(GuaranteeChoice::Tier).map_err(|()| {
                format!("{} is not a guarantee: say default, none, process or power", quoted(text))
            }),
        }
    }
}

as_text!(GuaranteeChoice);

/// How operations follow one another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rate {
    /// Closed loop: each begins when the one before it has ended.
    #[default]
    Closed,
    /// Open loop: so many begin in each second, over all threads, whether or not those before have ended; latency counts from
    /// the moment at which an operation was to begin.
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
        let wrong =
            || format!("{} is not a rate: say closed, or operations per second like 5000/s", quoted(text));
        match text.strip_suffix("/s") {
            _ if text == "closed" => Ok(Rate::Closed),
            Some(number) => match parse_count(number).ok().and_then(|rate| u32::try_from(rate).ok()) {
                Some(rate) if rate > 0 => Ok(Rate::PerSecond(rate)),
                _ => Err(wrong()),
            },
            None => Err(wrong()),
        }
    }
}

as_text!(Rate);

/// The engines' caches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tuning {
    /// As shipped.
    #[default]
    Default,
    /// The same total for every engine.
    Equal,
}

impl Tuning {
    /// The word used in plans and results.
    pub fn name(self) -> &'static str {
        match self {
            Tuning::Default => "default",
            Tuning::Equal => "equal",
        }
    }
}

impl FromStr for Tuning {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = [Tuning::Default, Tuning::Equal].into_iter().find(|tuning| tuning.name() == text);
        found.ok_or_else(|| format!("{} is not a tuning: say default or equal", quoted(text)))
    }
}

/// What the reads find in memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cache {
    /// What the operations before have left there.
    #[default]
    Warm,
    /// Nothing: the store is opened anew and its files are dropped from the page cache before they are read.
    Cold,
}

impl Cache {
    /// The word used in plans and results.
    pub fn name(self) -> &'static str {
        match self {
            Cache::Warm => "warm",
            Cache::Cold => "cold",
        }
    }
}

impl FromStr for Cache {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = [Cache::Warm, Cache::Cold].into_iter().find(|cache| cache.name() == text);
        found.ok_or_else(|| format!("{} is not a state of the cache: say warm or cold", quoted(text)))
    }
}

/// The load that runs beside a cell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Background {
    /// Nothing.
    #[default]
    None,
    /// Spins with this many threads, as many processors' worth.
    Cpu(u32),
    /// Reads and writes beside the store's place, this many bytes per second of each.
    Disk(u64),
    /// Holds and touches this share of free memory, in percent.
    Memory(u32),
    /// Decodes a video in real time.
    Video,
}

impl Background {
    /// The lowest rate of a load on the disk, in bytes per second: with less, it would often be idle.
    const LEAST_DISK_RATE: u64 = 128 << 10;

    /// What a kind does where no amount is given: one processor, 20 MiB/s, half of free memory.
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
        let wrong = || {
            format!(
                "{} is not a background: say none, cpu, cpu:2 (up to 1024), disk, disk:50MiB/s (at least 128KiB/s), \
                 memory, memory:25% (up to 90%) or video",
                quoted(text)
            )
        };
        if let Some((_, kind)) = Background::KINDS.iter().find(|(name, _)| *name == text) {
            return Ok(*kind);
        }
        let (kind, amount) = text.split_once(':').ok_or_else(wrong)?;
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
        parsed.ok_or_else(wrong)
    }
}

as_text!(Background);

/// One combination of axis values.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// The store's name.
    pub store: String,
    /// The sizes of its values.
    pub record_size: SizeRange,
    /// How many records it holds.
    pub records: CountRange,
    /// What its values are made of.
    pub data: Data,
    /// The guarantee asked for.
    pub guarantee: GuaranteeChoice,
    /// The name of the place where its files live.
    #[serde(default = "default_place", skip_serializing_if = "is_default_place")]
    pub place: String,
    /// Sessions at work at once.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub threads: u32,
    /// How operations are timed out: one after the other, or at a fixed rate.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rate: Rate,
    /// The engines' caches.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tuning: Tuning,
    /// What the reads find in memory.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cache: Cache,
    /// What runs beside it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub background: Background,
}

/// The name of the place where nothing else is said.
pub const DEFAULT_PLACE: &str = "here";

fn default_place() -> String {
    DEFAULT_PLACE.into()
}

fn is_default_place(place: &str) -> bool {
    place == DEFAULT_PLACE
}

fn one() -> u32 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_one(count: &u32) -> bool {
    *count == 1
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Default for Cell {
    /// A cell of no store: the smallest of everything, where the other axes are at their defaults.
    fn default() -> Cell {
        Cell {
            store: String::new(),
            record_size: SizeRange { from: 1, to: 2 },
            records: CountRange::starting_at(1),
            data: Data::Incompressible,
            guarantee: GuaranteeChoice::Default,
            place: default_place(),
            threads: 1,
            rate: Rate::Closed,
            tuning: Tuning::Default,
            cache: Cache::Warm,
            background: Background::None,
        }
    }
}

impl Cell {
    /// A stable, readable name: the same cell has the same id in every run and every version. Axes that a cell leaves at
    /// their default are not part of it, so that new axes leave old ids as they are.
    pub fn id(&self) -> String {
        let mut id = format!(
            "{}/{}/{}/{}/{}",
            self.store,
            self.record_size,
            self.records,
            self.data.name(),
            self.guarantee
        );
        for axis in Axis::ALL {
            if let Some(default) = axis.default_value()
                && axis.value(self) != default
            {
                id.push_str(&format!("/{}={}", axis.name(), axis.value(self)));
            }
        }
        id
    }

    /// The value bytes that the cell's records come to at most during `inserts` inserts: mean size times the largest count.
    pub fn expected_bytes(&self, inserts: u64) -> f64 {
        self.record_size.mean() * self.records.from.saturating_add(inserts).min(self.records.to) as f64
    }
}

/// An axis: one list of values in a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Axis {
    /// [`Cell::place`]
    Place,
    /// [`Cell::background`]
    Background,
    /// [`Cell::threads`]
    Threads,
    /// [`Cell::rate`]
    Rate,
    /// [`Cell::tuning`]
    Tuning,
    /// [`Cell::cache`]
    Cache,
    /// [`Cell::guarantee`]
    Guarantee,
    /// [`Cell::data`]
    Data,
    /// [`Cell::record_size`]
    RecordSize,
    /// [`Cell::records`]
    Records,
    /// [`Cell::store`]
    Store,
}

impl Axis {
    /// Every axis.
    pub const ALL: [Axis; 11] = [
        Axis::Place,
        Axis::Background,
        Axis::Threads,
        Axis::Rate,
        Axis::Tuning,
        Axis::Cache,
        Axis::Guarantee,
        Axis::Data,
        Axis::RecordSize,
        Axis::Records,
        Axis::Store,
    ];

    /// The word used in plans and results.
    pub fn name(self) -> &'static str {
        match self {
            Axis::Place => "place",
            Axis::Background => "background",
            Axis::Threads => "threads",
            Axis::Rate => "rate",
            Axis::Tuning => "tuning",
            Axis::Cache => "cache",
            Axis::Guarantee => "guarantee",
            Axis::Data => "data",
            Axis::RecordSize => "record_size",
            Axis::Records => "records",
            Axis::Store => "store",
        }
    }

    /// A cell's value on this axis, as plans write it.
    pub fn value(self, cell: &Cell) -> String {
        match self {
            Axis::Place => cell.place.clone(),
            Axis::Background => cell.background.to_string(),
            Axis::Threads => cell.threads.to_string(),
            Axis::Rate => cell.rate.to_string(),
            Axis::Tuning => cell.tuning.name().into(),
            Axis::Cache => cell.cache.name().into(),
            Axis::Guarantee => cell.guarantee.to_string(),
            Axis::Data => cell.data.name().into(),
            Axis::RecordSize => cell.record_size.to_string(),
            Axis::Records => cell.records.to_string(),
            Axis::Store => cell.store.clone(),
        }
    }

    /// The value of an axis that most studies leave alone, and ids leave out; `None` for the axes that every id names.
    pub fn default_value(self) -> Option<&'static str> {
        match self {
            Axis::Place => Some(DEFAULT_PLACE),
            Axis::Background => Some("none"),
            Axis::Threads => Some("1"),
            Axis::Rate => Some("closed"),
            Axis::Tuning => Some("default"),
            Axis::Cache => Some("warm"),
            Axis::Guarantee | Axis::Data | Axis::RecordSize | Axis::Records | Axis::Store => None,
        }
    }
}

impl fmt::Display for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Axis {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Axis::ALL.into_iter().find(|axis| axis.name() == text).ok_or_else(|| {
            let known: Vec<_> = Axis::ALL.into_iter().map(Axis::name).collect();
            format!("{} is not an axis: there are {}", quoted(text), known.join(", "))
        })
    }
}

as_text!(Axis);

#[cfg(test)]
mod tests {
    use super::*;

    fn cell() -> Cell {
        Cell {
            store: "sqlite".into(),
            record_size: SizeRange { from: 1, to: 1024 },
            records: CountRange { from: 100, to: 500 },
            data: Data::Compressible,
            guarantee: GuaranteeChoice::Tier(Guarantee::Power),
            ..Cell::default()
        }
    }

    #[test]
    fn ids_are_stable() {
        assert_eq!(cell().id(), "sqlite/1B..1KiB/100..500/compressible/power");
        let elsewhere = Cell { place: "ssd".into(), threads: 4, rate: Rate::PerSecond(5000), ..cell() };
        assert_eq!(
            elsewhere.id(),
            "sqlite/1B..1KiB/100..500/compressible/power/place=ssd/threads=4/rate=5000/s"
        );
    }

    #[test]
    fn what_is_left_at_its_default_is_not_written_and_is_read_back() {
        let text = serde_json::to_string(&cell()).unwrap();
        assert!(!text.contains("threads") && !text.contains("background"), "{text}");
        assert_eq!(serde_json::from_str::<Cell>(&text).unwrap(), cell());
        let full =
            Cell { background: Background::Cpu(2), cache: Cache::Cold, tuning: Tuning::Equal, ..cell() };
        assert_eq!(serde_json::from_str::<Cell>(&serde_json::to_string(&full).unwrap()).unwrap(), full);
    }

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
        assert!("5000".parse::<Rate>().is_err() && "0/s".parse::<Rate>().is_err());
    }

    #[test]
    fn expected_bytes_stop_at_the_upper_bound() {
        let cell = Cell { record_size: SizeRange { from: 1, to: 2 }, ..cell() };
        assert_eq!(cell.expected_bytes(1000), 500.0);
        assert_eq!(cell.expected_bytes(50), 150.0);
    }
}
