//! The parameters of crud: what is done to the records, and how often.

use std::path::PathBuf;
use std::time::Duration;

use crate::units::Period;
use crate::workload::driver::Visit;
use crate::workload::mix::Mix;
use crate::workload::operation::Operation;
use crate::workload::parameter::common::{AFTER_LOAD, BATCH, DURATION, EQUAL_CACHE, OPERATIONS, count};
use crate::workload::parameter::{ParameterDef, ParameterForm, Parameters, read_list};

/// Which operations, in this order.
pub static ORDER: ParameterDef = ParameterDef {
    name: "order",
    value_name: "NAME,...",
    help: "Operations to time, in this order: insert, get, update, remove",
    form: ParameterForm::List,
    default: Some("insert,get,update,remove"),
    instead_of: None,
    read: |text| read_list::<Operation>("order", text),
};

/// Operations that alternate in one phase.
pub static MIX: ParameterDef = ParameterDef {
    name: "mix",
    value_name: "NAME=WEIGHT,...",
    help: "Alternate operations by weight in one phase, of --operations in all: get=80,update=20",
    instead_of: Some("order"),
    read: |text| text.parse::<Mix>().map(|mix| mix.text()),
    ..ParameterDef::WORD
};

/// The operations that are done first and not measured.
pub static WARM_UP: ParameterDef = ParameterDef {
    name: "warm_up",
    help: "Operations of each kind to do first without timing them",
    default: Some("0"),
    read: |text| count("warm_up", text, 0),
    ..ParameterDef::NUMBER
};

/// The use of a value that is read.
pub static VISIT: ParameterDef = ParameterDef {
    name: "visit",
    value_name: "HOW",
    help: "What to do with a value that was read: copy, touch",
    default: Some("copy"),
    read: |text| text.parse::<Visit>().map(|visit| visit.name().into()),
    ..ParameterDef::WORD
};

/// A folder of files that compressible values are made from.
pub static TEXT: ParameterDef = ParameterDef {
    name: "text",
    value_name: "DIR",
    help: "Folder of files to make compressible values from",
    form: ParameterForm::Directory,
    read: |text| Ok(text.to_owned()),
    ..ParameterDef::WORD
};

/// Those of crud.
pub static ALL: [&ParameterDef; 10] =
    [&OPERATIONS, &ORDER, &MIX, &DURATION, &WARM_UP, &EQUAL_CACHE, &VISIT, &TEXT, &BATCH, &AFTER_LOAD];

/// The values that a plan gives.
#[derive(Debug, Clone, PartialEq)]
pub struct CrudParameters {
    /// The number of timed operations of each kind; of a mix, of all together.
    pub operations: u64,
    /// Which operations, in this order.
    pub order: Vec<Operation>,
    /// Operations that alternate in one phase; then `order` does not count.
    pub mix: Option<Mix>,
    /// Records in a batch of the loader, at most.
    pub batch: u64,
    /// The use of a value that is read.
    pub visit: Visit,
    /// A folder of files that compressible values are made from; the built-in generator otherwise.
    pub text: Option<PathBuf>,
    /// The time for which each operation goes on; then `operations` does not count.
    pub duration: Option<Duration>,
    /// Operations of each kind that are done first and not measured.
    pub warm_up: u64,
}

impl CrudParameters {
    /// The values that parameters give.
    pub fn of(parameters: &Parameters) -> CrudParameters {
        CrudParameters {
            operations: parameters.get(&OPERATIONS).unwrap_or(1),
            order: parameters.list(&ORDER),
            mix: parameters.get(&MIX),
            batch: parameters.get(&BATCH).unwrap_or(1),
            visit: parameters.get(&VISIT).unwrap_or(Visit::Copy),
            text: parameters.get(&TEXT),
            duration: parameters.get::<Period>(&DURATION).map(|duration| duration.0),
            warm_up: parameters.get(&WARM_UP).unwrap_or_default(),
        }
    }

    /// The most records that a trial inserts, warm-up included; without bound for a duration.
    pub fn most_inserts(&self) -> u64 {
        let all = self.operations + self.warm_up;
        match self.mix {
            _ if self.duration.is_some() => u64::MAX / 2,
            Some(mix) => (all as f64 * mix.share(Operation::Insert)).ceil() as u64,
            None => all,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_can_be_read_and_say_what_holds_where_nothing_is_said() {
        for parameter in ALL {
            if let Some(default) = parameter.default {
                assert_eq!((parameter.read)(default).as_deref(), Ok(default), "{}", parameter.name);
            }
        }
        let work = CrudParameters::of(&Parameters::default());
        assert_eq!((work.operations, work.batch, work.order.as_slice()), (1000, 500, &Operation::ALL[..]));
        assert_eq!((work.duration, work.text), (None, None));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (parameter, text, wrong) in [
            (&ORDER, "get,get", "names get twice"),
            (&ORDER, "", "length is 0"),
            (&ORDER, "fetch", "not an operation"),
            (&MIX, "get=80,fetch=20", "no operation"),
            (&VISIT, "hash", "copy or touch"),
        ] {
            let error = (parameter.read)(text).unwrap_err();
            assert!(error.contains(wrong), "{}: {error}", parameter.name);
        }
        let parameters = Parameters::default().with(&ORDER, "get, update").unwrap();
        assert_eq!(CrudParameters::of(&parameters).order, [Operation::Get, Operation::Update]);
    }
}
