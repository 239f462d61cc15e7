//! Property files that are separate workloads. Values that a run has only once must be the same in each file.

use std::collections::{BTreeMap, BTreeSet};

use storebench_core::workload::parameter::Count;
use storebench_core::workload::ycsb::dialect::{PropertyTarget, belongs};
use storebench_core::workload::ycsb::property::Properties;
use storebench_host::plan::Changes;
use storebench_model::axis::Value;
use storebench_model::axis::ycsb::own_name;
use storebench_model::cell::Axis;
use storebench_model::error::{Error, Result};

use super::{GivenProperty, Texts, all_properties, apply, end_by_time, last_of_each, property_error, stem};
use crate::cli::args::RunArgs;

pub(super) fn changes(run: &RunArgs, texts: &Texts) -> Result<Changes> {
    let args = &run.properties;
    let mut changes = Changes::default();
    let mut properties = Properties::default();
    let mut workloads: Vec<Value> = Vec::new();
    let mut shared: Vec<(String, BTreeMap<String, String>)> = Vec::new();
    for path in &args.property_files {
        let file = stem(path);
        let workload = Axis::WORKLOAD.read(&own_name(&file)).map_err(Error::bad_value)?;
        if workloads.contains(&workload) {
            let message =
                format!("-P names two files {file}, which would be one workload: give one another name");
            return Err(Error::bad_value(message));
        }
        let given = last_of_each(all_properties(std::slice::from_ref(path), args, texts)?)?;
        shared.push((file, run_properties(&given)));
        let mut file_properties = Properties::default();
        for GivenProperty { name, value, origin, .. } in &given {
            apply(name, value, &mut file_properties, &mut changes)
                .map_err(|wrong| property_error(origin, &wrong))?;
        }
        end_by_time(run, &given, &mut changes)?;
        properties = properties.replace_by(&file_properties.only_of(workload.text()));
        workloads.push(workload);
    }
    check_same(&shared)?;
    changes.axes.set(Axis::WORKLOAD, workloads);
    changes.parameters.rounds = Some(Count(1));
    if !properties.is_empty() {
        changes.parameters.properties = Some(properties);
    }
    Ok(changes)
}

/// The properties that a run has only once.
fn run_properties(given: &[GivenProperty]) -> BTreeMap<String, String> {
    let is_shared = |property: &&GivenProperty| {
        matches!(
            belongs(&property.name, &property.value),
            Ok(PropertyTarget::Axis(..) | PropertyTarget::Parameter(..) | PropertyTarget::UntilTime)
        )
    };
    given.iter().filter(is_shared).map(|property| (property.name.clone(), property.value.clone())).collect()
}

/// Checks that the files agree on what a run has only once.
fn check_same(files: &[(String, BTreeMap<String, String>)]) -> Result<()> {
    let Some(((first, first_values), rest)) = files.split_first() else { return Ok(()) };
    for (file, values) in rest {
        let names: BTreeSet<&String> = first_values.keys().chain(values.keys()).collect();
        let Some(name) = names.into_iter().find(|name| first_values.get(*name) != values.get(*name)) else {
            continue;
        };
        let describe_value =
            |value: Option<&String>| value.map_or("says none".into(), |value| format!("says {value}"));
        return Err(Error::bad_value(format!(
            "{name}: {first} {}, and {file} {}, but all workloads of a run have the same: add -p {name}=N",
            describe_value(first_values.get(name)),
            describe_value(values.get(name)),
        )));
    }
    Ok(())
}
