//! The part of the axes that a claim speaks of.

use serde::{Deserialize, Serialize};
use storebench_core::cell::{Axis, Background, Cache, Data, GuaranteeChoice, Rate, Tuning};
use storebench_core::units::{CountRange, SizeRange};

use super::pool::{Position, Scope};

/// Values on each axis, as in a plan's axes; an axis that has none is not narrowed. Ranges take in what lies within them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)]
pub struct Region {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub record_size: Vec<SizeRange>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<CountRange>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<Data>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub guarantee: Vec<GuaranteeChoice>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub place: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub background: Vec<Background>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rate: Vec<Rate>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tuning: Vec<Tuning>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cache: Vec<Cache>,
}

fn texts<T: ToString>(values: &[T]) -> Vec<String> {
    values.iter().map(T::to_string).collect()
}

impl Region {
    /// The values on an axis, as plans write them; empty where it is not narrowed.
    pub fn values(&self, axis: Axis) -> Vec<String> {
        match axis {
            Axis::RecordSize => texts(&self.record_size),
            Axis::Records => texts(&self.records),
            Axis::Data => self.data.iter().map(|data| data.name().into()).collect(),
            Axis::Guarantee => texts(&self.guarantee),
            Axis::Place => self.place.clone(),
            Axis::Background => texts(&self.background),
            Axis::Threads => texts(&self.threads),
            Axis::Rate => texts(&self.rate),
            Axis::Tuning => self.tuning.iter().map(|tuning| tuning.name().into()).collect(),
            Axis::Cache => self.cache.iter().map(|cache| cache.name().into()).collect(),
            Axis::Store => Vec::new(),
        }
    }

    /// Whether it narrows an axis.
    pub fn names(&self, axis: Axis) -> bool {
        !self.values(axis).is_empty()
    }

    /// Whether a place lies within.
    pub fn holds(&self, position: Position) -> bool {
        let (size, records) = (position.record_size, position.records);
        let any = |none: bool, fits: bool| none || fits;
        any(self.data.is_empty(), self.data.contains(&position.data))
            && any(
                self.record_size.is_empty(),
                self.record_size.iter().any(|range| range.from <= size.from && size.to <= range.to),
            )
            && any(
                self.records.is_empty(),
                self.records.iter().any(|range| range.from <= records.from && records.to <= range.to),
            )
    }

    /// Whether the axes that a pool's cells share lie within. An axis that the scope does not have counts as within.
    pub fn admits(&self, scope: &Scope) -> bool {
        let asked = scope
            .guarantee
            .is_none_or(|(asked, _)| self.guarantee.is_empty() || self.guarantee.contains(&asked));
        asked
            && scope.facets.iter().all(|(axis, value)| {
                let values = self.values(*axis);
                values.is_empty() || values.contains(value)
            })
    }

    pub(super) fn check(&self) -> Result<(), String> {
        Axis::ALL.into_iter().try_for_each(|axis| super::no_repeats(axis.name(), &self.values(axis)))
    }

    /// The narrowed axes that lie within a matrix, in words: `record_size 1KiB..10KiB, data compressible`.
    pub fn places_in_words(&self) -> String {
        self.in_words([Axis::RecordSize, Axis::Records, Axis::Data])
    }

    /// The narrowed axes that tell groups apart, in words.
    pub fn groups_in_words(&self) -> String {
        let within = [Axis::RecordSize, Axis::Records, Axis::Data];
        self.in_words(Axis::ALL.into_iter().filter(|axis| !within.contains(axis)))
    }

    fn in_words(&self, axes: impl IntoIterator<Item = Axis>) -> String {
        let named = axes.into_iter().filter(|axis| self.names(*axis));
        let words = named.map(|axis| format!("{} {}", axis.name(), self.values(axis).join(" or ")));
        words.collect::<Vec<_>>().join(", ")
    }
}

/// A combination's value on an axis that lies within a matrix, as plans write it; `None` on any other axis.
pub(super) fn value_on(axis: Axis, position: Position) -> Option<String> {
    match axis {
        Axis::RecordSize => Some(position.record_size.to_string()),
        Axis::Records => Some(position.records.to_string()),
        Axis::Data => Some(position.data.name().into()),
        _ => None,
    }
}

/// A value of an axis as plans write it, or what is wrong with it.
pub(super) fn canonical(axis: Axis, text: &str) -> Result<String, String> {
    match axis {
        Axis::RecordSize => text.parse::<SizeRange>().map(|value| value.to_string()),
        Axis::Records => text.parse::<CountRange>().map(|value| value.to_string()),
        Axis::Data => text.parse::<Data>().map(|value| value.name().into()),
        Axis::Guarantee => text.parse::<GuaranteeChoice>().map(|value| value.to_string()),
        Axis::Background => text.parse::<Background>().map(|value| value.to_string()),
        Axis::Rate => text.parse::<Rate>().map(|value| value.to_string()),
        Axis::Tuning => text.parse::<Tuning>().map(|value| value.name().into()),
        Axis::Cache => text.parse::<Cache>().map(|value| value.name().into()),
        Axis::Threads => match text.parse::<u32>() {
            Ok(threads) if threads > 0 => Ok(threads.to_string()),
            _ => Err(format!("{text:?} is not a number of threads: write it like \"4\"")),
        },
        Axis::Place | Axis::Store => match text.trim() {
            "" => Err(format!("a value on the axis {} is empty", axis.name())),
            text => Ok(text.to_owned()),
        },
    }
}
