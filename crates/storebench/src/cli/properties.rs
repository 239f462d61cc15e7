//! `storebench run -P FILE -p NAME=VALUE`: YCSB's properties, each put where a plan has it.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use storebench_core::axis::ycsb::own_name;
use storebench_core::cell::Axis;
use storebench_core::error::{Error, Exit, Result};
use storebench_core::plan::{Changes, Plan};
use storebench_core::shown::quoted;
use storebench_core::workload::parameter::Parameters;
use storebench_core::workload::table::parameter;
use storebench_core::workload::ycsb::file;
use storebench_core::workload::ycsb::property::{Belongs, PROPERTIES, Properties, belongs};

use super::args::PropertyArgs;

/// The longest property file, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// A property, and where it was given, for messages.
struct Given {
    name: String,
    value: String,
    by: String,
}

/// What the properties change in a plan; `None` where none were given. A file says all of a workload, so that what the plan said
/// of it does not count beside one.
pub fn changes(args: &PropertyArgs, plan: &Plan) -> Result<Option<Changes>> {
    if args.property_files.is_empty() && args.property.is_empty() {
        return Ok(None);
    }
    if !plan.workload.has(PROPERTIES.name) {
        let message =
            format!("-P and -p are YCSB's: the study {} is of the workload {}", plan.name, plan.workload);
        return Err(Error::bad_value(message));
    }
    let mut properties = match args.property_files.last() {
        Some(_) => Properties::default(),
        None => Properties::of(&plan.parameters),
    };
    let mut changes = Changes::default();
    for given in all(args)? {
        let Given { name, value, by } = &given;
        put(name, value, &mut properties, &mut changes)
            .map_err(|wrong| Error::bad_value(format!("{by}: {wrong}")))?;
    }
    if let Some(path) = args.property_files.last() {
        let stem = path.file_name().unwrap_or_default().to_string_lossy();
        let value = Axis::WORKLOAD.read(&own_name(&stem)).map_err(Error::bad_value)?;
        changes.axes.set(Axis::WORKLOAD, [value]);
    }
    if !properties.is_empty() {
        changes.parameters.set(&PROPERTIES, &properties.to_string()).map_err(Error::bad_value)?;
    }
    Ok(Some(changes))
}

/// Those of the files, in their order, then those of the command line.
fn all(args: &PropertyArgs) -> Result<Vec<Given>> {
    let mut all = Vec::new();
    for path in &args.property_files {
        all.extend(of_file(path)?);
    }
    for text in &args.property {
        let (name, value) = text.split_once('=').ok_or_else(|| {
            Error::bad_value(format!("-p {}: write it like -p recordcount=1000", quoted(text)))
        })?;
        all.push(Given { name: name.trim().into(), value: value.trim().into(), by: format!("-p {name}") });
    }
    Ok(all)
}

fn of_file(path: &Path) -> Result<Vec<Given>> {
    let shown = path.display();
    let text = text(path).map_err(|error| {
        Error::new(Exit::BadPlan, format!("the property file {shown} can't be read: {error}"))
    })?;
    let lines =
        file::read(&text).map_err(|(line, wrong)| Error::bad_value(format!("{shown}:{line}: {wrong}")))?;
    let given = |line: file::Line| Given {
        name: line.name,
        value: line.value,
        by: format!("{shown}:{}", line.number),
    };
    Ok(lines.into_iter().map(given).collect())
}

/// The text of a file, which is no longer than a property file can be.
fn text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(MOST_BYTES + 1).read_to_string(&mut text)?;
    match text.len() as u64 > MOST_BYTES {
        true => Err(io::Error::other("it is longer than 1 MiB")),
        false => Ok(text),
    }
}

/// Puts a property where it belongs.
fn put(
    name: &str,
    value: &str,
    properties: &mut Properties,
    changes: &mut Changes,
) -> std::result::Result<(), String> {
    let named = |wrong: String| format!("{name} = {}: {wrong}", quoted(value));
    match belongs(name, value)? {
        Belongs::Property => properties.set(name, value)?,
        Belongs::Axis(axis, text) => changes.axes.set(axis, [axis.read(&text).map_err(named)?]),
        Belongs::Parameter(of_plan, text) => {
            let known = parameter(of_plan).ok_or_else(|| format!("there is no parameter {of_plan}"))?;
            let own = Parameters::default().with(known, &text).map_err(named)?;
            changes.parameters.change(own);
        }
        Belongs::Nowhere => {}
    }
    Ok(())
}
