//! YCSB's properties that say what the work is, which stand in a parameter of the plan.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use storebench_model::axis::Axis;
use storebench_model::axis::ycsb::ZIPFIAN_YCSB;
use storebench_model::sanitize::quoted;

use super::dialect::{plan_name, unknown};
use crate::workload::parameter::{read_words, write_words};

/// The longest key that every store takes.
const MOST_PADDING: u64 = 28;
const MOST_FIELDS: u64 = 1000;
/// The largest field, in bytes.
const MOST_LENGTH: u64 = 16 << 20;
const MOST_SCANNED: u64 = 100_000;
/// The sum of larger ones would be no number.
const MOST_PROPORTION: f64 = 1e12;

#[derive(Debug, Clone, Copy)]
enum Form {
    Whole(u64, u64),
    /// From 0 on: only its share of the sum counts.
    Proportion,
    Share,
    Percentile,
    Word(&'static [&'static str]),
}

#[derive(Debug)]
pub(crate) struct PropertyDef {
    /// YCSB's name for it.
    pub name: &'static str,
    pub default: &'static str,
    form: Form,
}

const fn property(name: &'static str, default: &'static str, form: Form) -> PropertyDef {
    PropertyDef { name, default, form }
}

const YES_OR_NO: Form = Form::Word(&["true", "false"]);

pub(crate) static ALL: [PropertyDef; 23] = [
    property("fieldcount", "10", Form::Whole(1, MOST_FIELDS)),
    property("fieldlength", "100", Form::Whole(1, MOST_LENGTH)),
    property("minfieldlength", "1", Form::Whole(1, MOST_LENGTH)),
    property("fieldlengthdistribution", "constant", Form::Word(&["constant", "uniform", "zipfian"])),
    property("readallfields", "true", YES_OR_NO),
    property("writeallfields", "false", YES_OR_NO),
    property("readproportion", "0.95", Form::Proportion),
    property("updateproportion", "0.05", Form::Proportion),
    property("insertproportion", "0", Form::Proportion),
    property("scanproportion", "0", Form::Proportion),
    property("readmodifywriteproportion", "0", Form::Proportion),
    property(
        "requestdistribution",
        "uniform",
        Form::Word(&["uniform", "zipfian", ZIPFIAN_YCSB, "latest", "hotspot", "exponential", "sequential"]),
    ),
    property("minscanlength", "1", Form::Whole(1, MOST_SCANNED)),
    property("maxscanlength", "1000", Form::Whole(1, MOST_SCANNED)),
    property("scanlengthdistribution", "uniform", Form::Word(&["uniform", "zipfian"])),
    property("insertorder", "hashed", Form::Word(&["hashed", "ordered"])),
    property("zeropadding", "1", Form::Whole(0, MOST_PADDING)),
    property("hotspotdatafraction", "0.2", Form::Share),
    property("hotspotopnfraction", "0.8", Form::Share),
    property("exponential.percentile", "95", Form::Percentile),
    property("exponential.frac", "0.8571428571", Form::Share),
    property("insertstart", "0", Form::Whole(0, u32::MAX as u64)),
    property("insertcount", "0", Form::Whole(0, u32::MAX as u64)),
];

impl PropertyDef {
    /// Reads a value; gives its normal form.
    pub(super) fn read(&self, text: &str) -> Result<String, String> {
        let name = self.name;
        let number = || text.parse::<f64>().ok();
        let is_in = |range: std::ops::RangeInclusive<f64>| number().is_some_and(|n| range.contains(&n));
        let is_valid = match self.form {
            Form::Whole(least, most) => {
                let number = text.parse::<u64>().ok().filter(|number| (least..=most).contains(number));
                return number.map(|number| number.to_string()).ok_or_else(|| {
                    format!("{name} = {}: it must be a whole number from {least} to {most}", quoted(text))
                });
            }
            Form::Word(words) => {
                let word = words.iter().find(|word| word.eq_ignore_ascii_case(text));
                return word.map(|word| (*word).to_owned()).ok_or_else(|| {
                    let is_file = (name, text) == ("fieldlengthdistribution", "histogram");
                    let why = if is_file { " (a file of lengths is not read)" } else { "" };
                    format!("{name} = {} is not supported{why}: use {}", quoted(text), words.join(", "))
                });
            }
            Form::Proportion => is_in(0.0..=MOST_PROPORTION),
            Form::Share => is_in(0.0..=1.0),
            Form::Percentile => is_in(f64::MIN_POSITIVE..=99.999_999),
        };
        let form = match self.form {
            Form::Share => "a number from 0 to 1",
            Form::Percentile => "a number above 0 and below 100",
            _ => "a number from 0 on",
        };
        match is_valid {
            true => Ok(text.to_owned()),
            false => Err(format!("{name} = {}: it must be {form}", quoted(text))),
        }
    }
}

pub(super) fn find_property(name: &str) -> Option<&'static PropertyDef> {
    ALL.iter().find(|property| property.name == name)
}

/// Values of properties, by workload and name; those of every workload have an empty name, and missing ones are YCSB's defaults.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Properties(BTreeMap<(String, &'static str), String>);

const EVERY: &str = "";

/// Separates a workload's name from a property's.
const WORKLOAD_SEPARATOR: char = '/';

impl Properties {
    /// Puts a value in. The error says what is wrong with it.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        self.set_for_workload(EVERY, name, value)
    }

    fn set_for_workload(&mut self, workload: &str, name: &str, value: &str) -> Result<(), String> {
        let property = find_property(name).ok_or_else(|| unknown(name))?;
        self.0.insert((workload.to_owned(), property.name), property.read(value)?);
        Ok(())
    }

    /// Replaces values by those of `others`.
    pub fn replace_by(mut self, others: &Properties) -> Properties {
        self.0.extend(others.0.clone());
        self
    }

    /// Keeps one workload's values.
    pub fn only_of(self, workload: &str) -> Properties {
        let assign = |((_, name), value)| ((workload.to_owned(), name), value);
        Properties(self.0.into_iter().map(assign).collect())
    }

    /// The properties that a workload takes: its own before those of every workload.
    pub(crate) fn for_workload(&self, workload: &str) -> Properties {
        let values_of = |owner: &str| {
            let values: Vec<_> = self.0.iter().filter(|((workload, _), _)| workload == owner).collect();
            values.into_iter().map(|((_, name), value)| ((EVERY.to_owned(), *name), value.clone()))
        };
        Properties(values_of(EVERY).chain(values_of(workload)).collect())
    }

    /// A value as it is written down.
    pub fn text(&self, name: &'static str) -> &str {
        let default = find_property(name).map_or("", |property| property.default);
        self.0.get(&(EVERY.to_owned(), name)).map_or(default, String::as_str)
    }

    /// A number.
    pub fn number(&self, name: &'static str) -> f64 {
        self.text(name).parse().unwrap_or_default()
    }

    /// A whole number.
    pub fn whole_number(&self, name: &'static str) -> u64 {
        self.text(name).parse().unwrap_or_default()
    }

    /// Whether nothing is said of any.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// In a parameter's format: `fieldcount=1,fieldlength=100,own:x/readproportion=1`.
impl fmt::Display for Properties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let write_property = |((workload, name), value): (&(String, &str), &String)| match workload.as_str() {
            EVERY => format!("{name}={value}"),
            workload => format!("{workload}{WORKLOAD_SEPARATOR}{name}={value}"),
        };
        let texts: Vec<String> = self.0.iter().map(write_property).collect();
        f.write_str(&texts.join(","))
    }
}

impl Serialize for Properties {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_words(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Properties {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_words(deserializer)
    }
}

impl std::str::FromStr for Properties {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut properties = Properties::default();
        for entry in text.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
            let (name, value) = entry
                .split_once('=')
                .ok_or_else(|| format!("{} has no value: write name=value", quoted(entry)))?;
            let full_name = name.trim();
            let (workload, name) = full_name.split_once(WORKLOAD_SEPARATOR).unwrap_or((EVERY, full_name));
            if let Some(known_as) = plan_name(name) {
                return Err(format!("{name} is not among the properties: say {known_as}"));
            }
            // The name that the axis has for the workload.
            let workload = match workload {
                EVERY => EVERY.into(),
                workload => Axis::WORKLOAD.read(workload)?.to_string(),
            };
            let count_before = properties.0.len();
            properties.set_for_workload(&workload, name, value.trim())?;
            if properties.0.len() == count_before {
                return Err(format!("{full_name} is there twice"));
            }
        }
        Ok(properties)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_read_in_any_order_and_written_in_one() {
        let properties: Properties = "readproportion=0.5, fieldcount=1 ,insertorder=ORDERED".parse().unwrap();
        assert_eq!(properties.to_string(), "fieldcount=1,insertorder=ordered,readproportion=0.5");
        assert_eq!(properties.to_string().parse(), Ok(properties.clone()));
        assert_eq!((properties.whole_number("fieldcount"), properties.whole_number("fieldlength")), (1, 100));
        let others: Properties = "fieldcount=3".parse().unwrap();
        assert_eq!(properties.replace_by(&others).whole_number("fieldcount"), 3);
        let by_workload: Properties =
            "own:x/fieldcount=5, workloada/fieldcount=7, fieldcount=2".parse().unwrap();
        assert_eq!(by_workload.to_string(), "fieldcount=2,A/fieldcount=7,own:x/fieldcount=5");
        let counts =
            ["A", "B", "own:x"].map(|workload| by_workload.for_workload(workload).whole_number("fieldcount"));
        assert_eq!(counts, [7, 2, 5]);
        let one_workload = "fieldcount=9".parse::<Properties>().unwrap().only_of("own:y");
        assert_eq!(
            by_workload.replace_by(&one_workload).to_string(),
            "fieldcount=2,A/fieldcount=7,own:x/fieldcount=5,own:y/fieldcount=9"
        );
        for property in &ALL {
            assert_eq!(property.read(property.default).as_deref(), Ok(property.default), "{}", property.name);
        }
    }

    #[test]
    fn what_is_written_wrongly_is_told() {
        for (text, expected) in [
            ("fieldcount", "has no value"),
            ("fieldcount=1,fieldcount=2", "there twice"),
            ("recordcount=5", "say records"),
            ("B/fieldcount=1,B/fieldcount=2", "there twice"),
            ("Q/fieldcount=1", "not a workload of YCSB"),
        ] {
            let error = text.parse::<Properties>().unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
