//! `storebench run -P FILE -p NAME=VALUE`: translates YCSB's properties into changes of the plan.

mod each;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use storebench_core::workload::parameter::{Count, Time};
use storebench_core::workload::ycsb::definition::{Definition, Kind};
use storebench_core::workload::ycsb::dialect::{PropertyTarget, belongs, ycsb_name};
use storebench_core::workload::ycsb::file;
use storebench_core::workload::ycsb::parameters::MaxTime;
use storebench_core::workload::ycsb::property::Properties;
use storebench_host::plan::{Changes, Plan};
use storebench_model::axis::ycsb::own_name;
use storebench_model::cell::Axis;
use storebench_model::error::{Error, Exit, Result};
use storebench_model::read_limited;
use storebench_model::sanitize::quoted;

use super::args::{PropertyArgs, RunArgs};
use super::output::print_note;

/// The longest property file, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// The texts of property files, possibly from another machine.
pub type Texts = BTreeMap<PathBuf, String>;

/// Reads the property files of the command line; [`Exit::BadPlan`] if one can't be read.
pub fn texts(args: &PropertyArgs) -> Result<Texts> {
    let read_text = |path: &PathBuf| {
        let text = read_limited::text(path, MOST_BYTES).map_err(|error| {
            Error::new(Exit::BadPlan, format!("the property file {} can't be read: {error}", path.display()))
        })?;
        Ok((path.clone(), text))
    };
    args.property_files.iter().map(read_text).collect()
}

/// A property with its origin, for messages.
struct GivenProperty {
    name: String,
    value: String,
    origin: String,
    /// Of a file, and not of the command line.
    is_of_file: bool,
}

/// The changes of the properties to a plan; `None` without properties. A file describes a whole workload, so it
/// replaces the plan's properties and rounds.
pub fn changes(run: &RunArgs, texts: &Texts, plan: &Plan) -> Result<Option<Changes>> {
    let args = &run.properties;
    if args.is_empty() {
        return Ok(None);
    }
    if args.each_file {
        return each::changes(run, texts).map(Some);
    }
    let mut properties = match args.property_files.last() {
        Some(_) => Properties::default(),
        None => plan.parameters.properties.clone().unwrap_or_default(),
    };
    let mut changes = Changes::default();
    let given = last_of_each(all_properties(&args.property_files, args, texts)?)?;
    for GivenProperty { name, value, origin, .. } in &given {
        apply(name, value, &mut properties, &mut changes).map_err(|wrong| property_error(origin, &wrong))?;
    }
    end_by_time(run, &given, &mut changes)?;
    if let Some(name) = workload(args, texts)? {
        let value = Axis::WORKLOAD.read(&own_name(&name)).map_err(Error::bad_value)?;
        changes.axes.set(Axis::WORKLOAD, [value]);
        changes.parameters.rounds = Some(Count(1));
    }
    if !properties.is_empty() {
        changes.parameters.properties = Some(properties);
    }
    Ok(Some(changes))
}

/// The properties of the files, in their order, then the command line's.
fn all_properties(files: &[PathBuf], args: &PropertyArgs, texts: &Texts) -> Result<Vec<GivenProperty>> {
    let mut properties = Vec::new();
    for path in files {
        properties.extend(read_file(path, texts)?);
    }
    properties.extend(command_line_properties(args)?);
    Ok(properties)
}

fn command_line_properties(args: &PropertyArgs) -> Result<Vec<GivenProperty>> {
    let read_property = |text: &String| {
        let (name, value) = text.split_once('=').ok_or_else(|| {
            Error::bad_value(format!("-p {}: write it like -p recordcount=1000", quoted(text)))
        })?;
        Ok(GivenProperty {
            name: ycsb_name(name.trim()).into(),
            value: value.trim().into(),
            origin: format!("-p {name}"),
            is_of_file: false,
        })
    };
    let properties: Vec<GivenProperty> = args.property.iter().map(read_property).collect::<Result<_>>()?;
    let is_double =
        |property: &&GivenProperty| properties.iter().filter(|other| other.name == property.name).count() > 1;
    let double = properties
        .iter()
        .find(is_double)
        .map(|property| property_error(&property.origin, "-p gives it twice"));
    double.map_or(Ok(properties), Err)
}

/// The last value of each name, as in YCSB: earlier ones must be valid, but do not count.
fn last_of_each(properties: Vec<GivenProperty>) -> Result<Vec<GivenProperty>> {
    let mut last = Vec::<GivenProperty>::new();
    for given in properties {
        apply(&given.name, &given.value, &mut Properties::default(), &mut Changes::default())
            .map_err(|wrong| property_error(&given.origin, &wrong))?;
        last.retain(|earlier| earlier.name != given.name);
        last.push(given);
    }
    // If time ends the work, YCSB needs no number of requests.
    let find_set = |name: &str| last.iter().find(|property| property.name == name && property.value != "0");
    let is_of_file = last.iter().any(|property| property.is_of_file);
    if let (None, Some(GivenProperty { origin, .. }), true) =
        (find_set("operationcount"), find_set("maxexecutiontime"), is_of_file)
    {
        let (name, value, origin) = ("operationcount".into(), "0".into(), origin.clone());
        last.push(GivenProperty { name, value, origin, is_of_file });
    }
    Ok(last)
}

/// Ends the work by time, if neither a property nor an option gives a number of requests.
fn end_by_time(run: &RunArgs, given: &[GivenProperty], changes: &mut Changes) -> Result<()> {
    let endless = given.iter().find(|property| property.is_endless()).filter(|_| !has_request_count(run));
    let Some(GivenProperty { origin, .. }) = endless else { return Ok(()) };
    let time = changes.parameters.max_time.and_then(|MaxTime(time)| time);
    let time =
        time.ok_or_else(|| property_error(origin, "operationcount = 0 needs maxexecutiontime, in seconds"))?;
    changes.parameters.duration = Some(Time(time));
    Ok(())
}

fn has_request_count(run: &RunArgs) -> bool {
    run.how.changes.parameters.names().any(|name| ["operations", "duration"].contains(&name))
}

impl GivenProperty {
    /// Whether no number of requests ends the work.
    fn is_endless(&self) -> bool {
        belongs(&self.name, &self.value) == Ok(PropertyTarget::UntilTime)
    }
}

/// Reports the meaning of the properties: ineffective ones, the shares of requests, missing ones.
pub fn print_meaning(run: &RunArgs, texts: &Texts, plan: &Plan) -> Result<()> {
    let (args, mut lines) = (&run.properties, Vec::new());
    for workload in plan.axes.texts(Axis::WORKLOAD).iter().filter(|_| !args.is_empty()) {
        let is_of_workload = |path: &&PathBuf| !args.each_file || own_name(&stem(path)) == *workload;
        let files = args.property_files.iter().filter(is_of_workload).cloned().collect::<Vec<_>>();
        let given = last_of_each(all_properties(&files, args, texts)?)?;
        for GivenProperty { name, value, origin, .. } in &given {
            if let Ok(PropertyTarget::Idle(why)) = belongs(name, value) {
                lines.push(format!("{origin}: {name} changes nothing here: {why}"));
            }
        }
        let find_origin = |name: &str| {
            given.iter().find(|property| property.name == name).map(|property| property.origin.as_str())
        };
        let properties = plan.parameters.properties.clone().unwrap_or_default();
        let definition = Definition::from_name(workload, &properties, "default");
        // An invalid one is left out later, with the reason.
        if let Ok(definition) = definition
            && (!files.is_empty() || given.iter().any(|property| is_proportion(&property.name)))
        {
            let share = |kind: Kind| {
                let percent = definition.share(kind) * 100.0;
                format!(
                    "{percent:.1} % {} ({})",
                    kind.name(),
                    find_origin(kind.proportion()).unwrap_or("default")
                )
            };
            let shares = Kind::ALL.into_iter().filter(|kind| definition.includes(*kind)).map(share);
            lines.push(format!("{workload} sends {}", shares.collect::<Vec<_>>().join(", ")));
        }
        if given.iter().any(GivenProperty::is_endless) && !has_request_count(run) {
            lines.push("operationcount is 0 or not given: requests are sent until maxexecutiontime".into());
        }
        let operations = plan.parameters.operations().to_string();
        let records = plan.axes.texts(Axis::RECORDS).join(", ");
        let is_default =
            |name: &str, is_option: bool| !is_option && find_origin(name).is_none() && !files.is_empty();
        for (name, value, is_option) in [
            ("recordcount", records, run.axes.axes.names(Axis::RECORDS)),
            ("operationcount", operations, has_request_count(run)),
        ] {
            if is_default(name, is_option) {
                lines.push(format!("{name} is not given: {value}, as the plan {} has it", plan.name));
            }
        }
    }
    let mut printed = BTreeSet::new();
    lines.iter().filter(|line| printed.insert(*line)).for_each(|line| print_note(line));
    Ok(())
}

fn property_error(origin: &str, wrong: &str) -> Error {
    Error::bad_value(format!("{origin}: {wrong}"))
}

/// The name of the files' workload: of the files that set shares of requests, otherwise of the last.
fn workload(args: &PropertyArgs, texts: &Texts) -> Result<Option<String>> {
    let mut workloads = Vec::new();
    for path in &args.property_files {
        if read_file(path, texts)?.iter().any(|given| is_proportion(&given.name)) {
            workloads.push(stem(path));
        }
    }
    let last_stem = || args.property_files.last().map(|path| stem(path));
    Ok(if workloads.is_empty() { last_stem() } else { Some(workloads.join("_")) })
}

fn stem(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Whether a property is the share of a kind of request, which makes a file a workload.
fn is_proportion(name: &str) -> bool {
    Kind::ALL.into_iter().any(|kind| kind.proportion() == name)
}

fn read_file(path: &Path, texts: &Texts) -> Result<Vec<GivenProperty>> {
    let file_name = path.display();
    let missing_text = || Error::new(Exit::BadPlan, format!("the text of {file_name} is missing"));
    let text = texts.get(path).ok_or_else(missing_text)?;
    let lines =
        file::read(text).map_err(|(line, wrong)| Error::bad_value(format!("{file_name}:{line}: {wrong}")))?;
    let to_property = |line: file::Line| GivenProperty {
        name: ycsb_name(&line.name).into(),
        value: line.value,
        origin: format!("{file_name}:{}", line.number),
        is_of_file: true,
    };
    Ok(lines.into_iter().map(to_property).collect())
}

fn apply(
    name: &str,
    value: &str,
    properties: &mut Properties,
    changes: &mut Changes,
) -> std::result::Result<(), String> {
    let name_error = |wrong: String| format!("{name} = {}: {wrong}", quoted(value));
    match belongs(name, value)? {
        PropertyTarget::Property => properties.set(name, value)?,
        PropertyTarget::Axis(axis, text) => changes.axes.set(axis, [axis.read(&text).map_err(name_error)?]),
        PropertyTarget::Parameter(parameter, text) => {
            changes.parameters.set(parameter, &text).map_err(name_error)?;
        }
        PropertyTarget::Meant(value) => properties.set(name, value)?,
        PropertyTarget::UntilTime | PropertyTarget::Nowhere | PropertyTarget::Idle(_) => {}
    }
    Ok(())
}
