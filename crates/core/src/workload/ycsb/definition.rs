//! The definition of one of YCSB's workloads: its operations by their shares, how they choose records, and what records are.

use storebench_model::axis::ycsb::{OWN, ZIPFIAN_YCSB};
use storebench_model::words::words;

use crate::workload::ycsb::property::Properties;

#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantNames, strum::VariantArray)]
#[allow(missing_docs)]
#[strum(serialize_all = "kebab-case")]
pub enum Kind {
    Read,
    Update,
    Insert,
    Scan,
    ReadModifyWrite,
}

words!(Kind, all);

impl Kind {
    /// The property that says how often it is done.
    pub const fn proportion(self) -> &'static str {
        match self {
            Kind::Read => "readproportion",
            Kind::Update => "updateproportion",
            Kind::Insert => "insertproportion",
            Kind::Scan => "scanproportion",
            Kind::ReadModifyWrite => "readmodifywriteproportion",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Distribution {
    /// All loaded records alike.
    Uniform,
    /// By Zipf's law, scattered over the key space.
    Zipfian,
    /// As in YCSB's program: Zipf's law over ten billion items, hashed to the records, several to one and none to others.
    ZipfianYcsb,
    /// By Zipf's law, from the newest on.
    Latest,
    /// A share of the records gets a share of the requests.
    Hotspot { data: f64, requests: f64 },
    /// From the newest on, less often by a constant factor.
    Exponential {
        /// Percent of requests ...
        percentile: f64,
        /// ... that go to this share of the records, the newest.
        share: f64,
    },
    /// In loading order, one after the other.
    Sequential,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum LengthLaw {
    Constant,
    Uniform,
    /// By Zipf's law, the shortest most often.
    Zipfian,
}

/// The lengths that scans or fields may have, both bounds included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LengthRange {
    pub least: u64,
    pub most: u64,
    pub law: LengthLaw,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeyNaming {
    /// Whether successive records have successive keys.
    pub ordered: bool,
    pub padding: u64,
    pub first: u64,
}

/// A workload of YCSB.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// The shares of the kinds, by their places in [`Kind::ALL`]; their sum is 1.
    pub shares: [f64; Kind::ALL.len()],
    pub(crate) distribution: Distribution,
    pub(crate) scan: LengthRange,
    /// Fields of a record.
    pub fields: u64,
    pub(crate) field: LengthRange,
    /// Whether a read is of all fields; else of one. The store reads the whole value in either case.
    pub read_all: bool,
    /// Whether an update writes all fields; else one, the others being read first.
    pub write_all: bool,
    pub(crate) naming: KeyNaming,
    /// Records that are to be there in all, where that is said.
    pub insert_count: Option<u64>,
    /// Whether it is the phase that loads.
    pub loads: bool,
}

/// The properties of YCSB's own workloads, and of the paper's one. All have five proportions, as YCSB's files do.
const BUILT_IN: [(&str, &str); 7] = [
    ("A", "readproportion=0.5,updateproportion=0.5,requestdistribution=zipfian"),
    ("B", "readproportion=0.95,updateproportion=0.05,requestdistribution=zipfian"),
    ("C", "readproportion=1,updateproportion=0,requestdistribution=zipfian"),
    ("D", "readproportion=0.95,updateproportion=0,insertproportion=0.05,requestdistribution=latest"),
    (
        "E",
        "readproportion=0,updateproportion=0,scanproportion=0.95,insertproportion=0.05,requestdistribution=zipfian,\
         maxscanlength=100,scanlengthdistribution=uniform",
    ),
    ("F", "readproportion=0.5,updateproportion=0,readmodifywriteproportion=0.5,requestdistribution=zipfian"),
    ("U", "readproportion=0,updateproportion=1,requestdistribution=zipfian"),
];

/// The workload that only inserts.
const LOAD: &str = "load";

impl Definition {
    /// The workload of a name, with other properties; `distribution` may be `default` for the properties'. Fails when there is no
    /// such workload, or its properties contradict one another.
    pub fn from_name(name: &str, overrides: &Properties, distribution: &str) -> Result<Definition, String> {
        let built_in = BUILT_IN.iter().find(|(known, _)| *known == name);
        let built_in_properties = match built_in {
            Some((_, text)) => text.parse::<Properties>()?,
            None if name == LOAD || name.starts_with(OWN) => Properties::default(),
            None => return Err(format!("YCSB has no workload {name}")),
        };
        let properties = built_in_properties.replace_by(&overrides.for_workload(name));
        let loads = name == LOAD;
        let scan = LengthRange {
            least: properties.whole_number("minscanlength"),
            most: properties.whole_number("maxscanlength"),
            law: properties.text("scanlengthdistribution").parse().unwrap_or(LengthLaw::Constant),
        };
        let field = field_length_range(&properties);
        for (least, most, span) in
            [("minscanlength", "maxscanlength", scan), ("minfieldlength", "fieldlength", field)]
        {
            if span.least > span.most {
                return Err(format!("{least} = {} is more than {most} = {}", span.least, span.most));
            }
        }
        let inserts_alone = Kind::ALL.map(|kind| if kind == Kind::Insert { 1.0 } else { 0.0 });
        Ok(Definition {
            shares: if loads { inserts_alone } else { shares(&properties)? },
            distribution: request_distribution(&properties, distribution),
            scan,
            fields: properties.whole_number("fieldcount"),
            field,
            read_all: properties.text("readallfields") == "true",
            write_all: properties.text("writeallfields") == "true",
            naming: KeyNaming {
                ordered: properties.text("insertorder") == "ordered",
                padding: properties.whole_number("zeropadding"),
                first: properties.whole_number("insertstart"),
            },
            insert_count: Some(properties.whole_number("insertcount")).filter(|count| *count > 0),
            loads,
        })
    }

    /// The share of a kind.
    pub fn share(&self, kind: Kind) -> f64 {
        self.shares[kind as usize]
    }

    /// Whether a kind occurs.
    pub fn includes(&self, kind: Kind) -> bool {
        self.share(kind) > 0.0
    }

    /// The kind that is done most.
    pub fn main_kind(&self) -> Kind {
        let largest = Kind::ALL.into_iter().max_by(|a, b| self.share(*a).total_cmp(&self.share(*b)));
        largest.unwrap_or(Kind::Read)
    }

    /// Whether records are written after they were loaded.
    pub fn writes(&self) -> bool {
        [Kind::Update, Kind::Insert, Kind::ReadModifyWrite].into_iter().any(|kind| self.includes(kind))
    }

    pub(crate) fn is_partial(&self) -> bool {
        self.fields > 1 && !self.write_all
    }

    pub(crate) fn reads_one_field(&self) -> bool {
        self.fields > 1 && !self.read_all
    }

    pub(crate) fn uses_one_field(&self, kind: Kind) -> bool {
        match kind {
            Kind::Read => self.reads_one_field(),
            Kind::Update => self.is_partial(),
            Kind::ReadModifyWrite => self.is_partial() || self.reads_one_field(),
            Kind::Insert | Kind::Scan => false,
        }
    }
}

fn shares(properties: &Properties) -> Result<[f64; Kind::ALL.len()], String> {
    let proportions = Kind::ALL.map(|kind| properties.number(kind.proportion()));
    let sum: f64 = proportions.iter().sum();
    match sum > 0.0 {
        true => Ok(proportions.map(|proportion| proportion / sum)),
        false => Err("all proportions are 0: say which operations are done, like readproportion=1".into()),
    }
}

fn request_distribution(properties: &Properties, axis_value: &str) -> Distribution {
    let name = if axis_value == "default" { properties.text("requestdistribution") } else { axis_value };
    match name {
        "zipfian" => Distribution::Zipfian,
        ZIPFIAN_YCSB => Distribution::ZipfianYcsb,
        "latest" => Distribution::Latest,
        "hotspot" => Distribution::Hotspot {
            data: properties.number("hotspotdatafraction"),
            requests: properties.number("hotspotopnfraction"),
        },
        "exponential" => Distribution::Exponential {
            percentile: properties.number("exponential.percentile"),
            share: properties.number("exponential.frac"),
        },
        "sequential" => Distribution::Sequential,
        _ => Distribution::Uniform,
    }
}

fn field_length_range(properties: &Properties) -> LengthRange {
    let most = properties.whole_number("fieldlength");
    let law = properties.text("fieldlengthdistribution").parse().unwrap_or(LengthLaw::Constant);
    let least = if law == LengthLaw::Constant { most } else { properties.whole_number("minfieldlength") };
    LengthRange { least, most, law }
}

#[cfg(test)]
mod tests {
    use storebench_model::axis::ycsb;

    use super::*;

    fn define(name: &str, properties: &str) -> Result<Definition, String> {
        Definition::from_name(name, &properties.parse().unwrap(), "default")
    }

    #[test]
    fn the_built_in_ones_are_as_ycsb_has_them() {
        for (name, shares, distribution) in [
            ("A", [0.5, 0.5, 0.0, 0.0, 0.0], Distribution::Zipfian),
            ("B", [0.95, 0.05, 0.0, 0.0, 0.0], Distribution::Zipfian),
            ("C", [1.0, 0.0, 0.0, 0.0, 0.0], Distribution::Zipfian),
            ("D", [0.95, 0.0, 0.05, 0.0, 0.0], Distribution::Latest),
            ("E", [0.0, 0.0, 0.05, 0.95, 0.0], Distribution::Zipfian),
            ("F", [0.5, 0.0, 0.0, 0.0, 0.5], Distribution::Zipfian),
            ("U", [0.0, 1.0, 0.0, 0.0, 0.0], Distribution::Zipfian),
            ("load", [0.0, 0.0, 1.0, 0.0, 0.0], Distribution::Uniform),
        ] {
            let definition = define(name, "").unwrap();
            assert_eq!((definition.shares, definition.distribution), (shares, distribution), "{name}");
            let Definition { fields, field, loads, .. } = definition;
            assert_eq!((fields, field.most, loads), (10, 100, name == "load"));
        }
        assert_eq!((define("E", "").unwrap().scan.most, define("A", "").unwrap().is_partial()), (100, true));
        for name in ycsb::BUILT_IN {
            assert!(define(name, "").is_ok(), "{name}");
        }
    }

    #[test]
    fn properties_take_the_place_of_a_workload_s_own_and_an_axis_that_of_both() {
        let mine = define("own:mine", "scanproportion=1,readproportion=3,updateproportion=0").unwrap();
        assert_eq!(mine.shares, [0.75, 0.0, 0.0, 0.25, 0.0]);
        assert!(mine.main_kind() == Kind::Read && !mine.writes());
        assert_eq!(mine.distribution, Distribution::Uniform);
        let changed = define("A", "requestdistribution=latest,fieldcount=1").unwrap();
        assert_eq!((changed.distribution, changed.is_partial()), (Distribution::Latest, false));
        let changed_f = define("F", "readallfields=false,writeallfields=true").unwrap();
        let uses_one_field = Kind::ALL.map(|kind| changed_f.uses_one_field(kind));
        assert_eq!((uses_one_field, changed_f.is_partial()), ([true, false, false, false, true], false));
        assert!(!define("A", "readallfields=false,fieldcount=1").unwrap().reads_one_field());
        let latest: Properties = "requestdistribution=latest".parse().unwrap();
        let by_axis = Definition::from_name("A", &latest, "hotspot").unwrap();
        assert_eq!(by_axis.distribution, Distribution::Hotspot { data: 0.2, requests: 0.8 });
    }

    #[test]
    fn contradictions_are_told() {
        for (name, properties, expected) in [
            ("X", "", "no workload X"),
            ("C", "readproportion=0", "all proportions are 0"),
            ("E", "minscanlength=200", "more than maxscanlength = 100"),
            ("A", "fieldlengthdistribution=uniform,minfieldlength=101", "more than fieldlength = 100"),
        ] {
            let error = define(name, properties).unwrap_err();
            assert!(error.contains(expected), "{name} {properties}: {error}");
        }
    }
}
