//! A cell: one combination of axis values, with a stable id; and the axes by name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::store::Guarantee;
use crate::units::{CountRange, SizeRange, as_text};

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
        [Data::Incompressible, Data::Compressible]
            .into_iter()
            .find(|data| data.name() == text)
            .ok_or_else(|| format!("{text:?} is not a kind of data: say incompressible or compressible"))
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
            _ => text
                .parse()
                .map(GuaranteeChoice::Tier)
                .map_err(|()| format!("{text:?} is not a guarantee: say default, none, process or power")),
        }
    }
}

as_text!(GuaranteeChoice);

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
    pub place: String,
}

/// The name of the place where nothing else is said.
pub const DEFAULT_PLACE: &str = "here";

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
        if self.place != DEFAULT_PLACE {
            id.push_str("/place=");
            id.push_str(&self.place);
        }
        id
    }

    /// The value bytes that the cell's records come to at most during `inserts` inserts: mean size times the largest count.
    pub fn expected_bytes(&self, inserts: u64) -> f64 {
        self.record_size.mean() * (self.records.from + inserts).min(self.records.to) as f64
    }
}

/// An axis: one list of values in a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Axis {
    /// [`Cell::place`]
    Place,
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
    pub const ALL: [Axis; 6] =
        [Axis::Place, Axis::Guarantee, Axis::Data, Axis::RecordSize, Axis::Records, Axis::Store];

    /// The word used in plans and results.
    pub fn name(self) -> &'static str {
        match self {
            Axis::Place => "place",
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
            Axis::Guarantee => cell.guarantee.to_string(),
            Axis::Data => cell.data.name().into(),
            Axis::RecordSize => cell.record_size.to_string(),
            Axis::Records => cell.records.to_string(),
            Axis::Store => cell.store.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_stable() {
        let cell = Cell {
            store: "sqlite".into(),
            record_size: SizeRange { from: 1, to: 1024 },
            records: CountRange { from: 100, to: 500 },
            data: Data::Compressible,
            guarantee: GuaranteeChoice::Tier(Guarantee::Power),
            place: DEFAULT_PLACE.into(),
        };
        assert_eq!(cell.id(), "sqlite/1B..1KiB/100..500/compressible/power");
        let elsewhere = Cell { place: "ssd".into(), ..cell };
        assert_eq!(elsewhere.id(), "sqlite/1B..1KiB/100..500/compressible/power/place=ssd");
    }

    #[test]
    fn expected_bytes_stop_at_the_upper_bound() {
        let cell = Cell {
            store: "sqlite".into(),
            record_size: SizeRange { from: 1, to: 2 },
            records: CountRange { from: 100, to: 500 },
            data: Data::Compressible,
            guarantee: GuaranteeChoice::Default,
            place: DEFAULT_PLACE.into(),
        };
        assert_eq!(cell.expected_bytes(1000), 500.0);
        assert_eq!(cell.expected_bytes(50), 150.0);
    }
}
