//! `storebench run -P FILE -p NAME=VALUE`: YCSB's properties, each put where a plan has it.

mod each;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use storebench_core::axis::ycsb::own_name;
use storebench_core::bounded;
use storebench_core::cell::Axis;
use storebench_core::error::{Error, Exit, Result};
use storebench_core::shown::quoted;
use storebench_core::workload::parameter::Count;
use storebench_core::workload::ycsb::definition::Kind;
use storebench_core::workload::ycsb::file;
use storebench_core::workload::ycsb::property::{Belongs, Properties, belongs};
use storebench_host::plan::{Changes, Plan};

use super::args::PropertyArgs;
use super::output::tell;

/// The longest property file, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// The texts of property files, which may be another machine's.
pub type Texts = BTreeMap<PathBuf, String>;

/// Reads the property files that the command line names.
///
/// # Errors
/// [`Exit::BadPlan`] when one can't be read.
pub fn texts(args: &PropertyArgs) -> Result<Texts> {
    let read = |path: &PathBuf| {
        let text = bounded::text(path, MOST_BYTES).map_err(|error| {
            Error::new(Exit::BadPlan, format!("the property file {} can't be read: {error}", path.display()))
        })?;
        Ok((path.clone(), text))
    };
    args.property_files.iter().map(read).collect()
}

/// A property, and where it was given, for messages.
struct Given {
    name: String,
    value: String,
    by: String,
}

/// The changes that the properties make to a plan; `None` where none were given. A file says all of a workload, so that
/// what the plan said of it does not count beside one: neither properties nor rounds.
pub fn changes(args: &PropertyArgs, texts: &Texts, plan: &Plan) -> Result<Option<Changes>> {
    if args.is_empty() {
        return Ok(None);
    }
    if args.each_file {
        return each::changes(args, texts).map(Some);
    }
    let mut properties = match args.property_files.last() {
        Some(_) => Properties::default(),
        None => plan.parameters.properties.clone().unwrap_or_default(),
    };
    let mut changes = Changes::default();
    let given = last_of_each(all(args, texts)?)?;
    tell_idle(&given);
    for Given { name, value, by } in given {
        put(&name, &value, &mut properties, &mut changes).map_err(|wrong| misplaced(&by, &wrong))?;
    }
    if let Some(name) = workload(args, texts, &properties)? {
        let value = Axis::WORKLOAD.read(&own_name(&name)).map_err(Error::bad_value)?;
        changes.axes.set(Axis::WORKLOAD, [value]);
        changes.parameters.rounds = Some(Count(1));
    }
    if !properties.is_empty() {
        changes.parameters.properties = Some(properties);
    }
    Ok(Some(changes))
}

/// Those of the files, in their order, then those of the command line.
fn all(args: &PropertyArgs, texts: &Texts) -> Result<Vec<Given>> {
    let mut all = Vec::new();
    for path in &args.property_files {
        all.extend(of_file(path, texts)?);
    }
    all.extend(of_line(args)?);
    Ok(all)
}

/// Those of the command line.
fn of_line(args: &PropertyArgs) -> Result<Vec<Given>> {
    let read = |text: &String| {
        let (name, value) = text.split_once('=').ok_or_else(|| {
            Error::bad_value(format!("-p {}: write it like -p recordcount=1000", quoted(text)))
        })?;
        Ok(Given { name: name.trim().into(), value: value.trim().into(), by: format!("-p {name}") })
    };
    args.property.iter().map(read).collect()
}

/// The last of each name, as YCSB has it: what came before it counts for nothing, but must be right, too.
fn last_of_each(all: Vec<Given>) -> Result<Vec<Given>> {
    let mut last = Vec::<Given>::new();
    for given in all {
        put(&given.name, &given.value, &mut Properties::default(), &mut Changes::default())
            .map_err(|wrong| misplaced(&given.by, &wrong))?;
        last.retain(|before| before.name != given.name);
        last.push(given);
    }
    Ok(last)
}

/// Tells which of them change nothing, and why.
fn tell_idle(given: &[Given]) {
    for Given { name, value, by } in given {
        if let Ok(Belongs::Idle(why)) = belongs(name, value) {
            tell(&format!("{by}: {name} changes nothing here: {why}"));
        }
    }
}

fn misplaced(by: &str, wrong: &str) -> Error {
    Error::bad_value(format!("{by}: {wrong}"))
}

/// The name of the workload of files: of those that say which requests are sent, else of the last. Where several say
/// it, what comes of them may be no file's own, so that it is told.
fn workload(args: &PropertyArgs, texts: &Texts, properties: &Properties) -> Result<Option<String>> {
    let mut saying = Vec::new();
    for path in &args.property_files {
        if of_file(path, texts)?.iter().any(|given| is_proportion(&given.name)) {
            saying.push(stem(path));
        }
    }
    if saying.len() > 1 {
        let one = |kind: Kind| (properties.number(kind.proportion()) > 0.0).then(|| share(kind, properties));
        let requests: Vec<String> = Kind::ALL.into_iter().filter_map(one).collect();
        let files = saying.join(" and ");
        tell(&format!("{files} say which requests are sent: together {}", requests.join(", ")));
    }
    let last = || args.property_files.last().map(|path| stem(path));
    Ok(if saying.is_empty() { last() } else { Some(saying.join("_")) })
}

fn stem(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// A kind of request and its proportion, as given: only ratios matter.
fn share(kind: Kind, properties: &Properties) -> String {
    format!("{} {}", kind.name(), properties.text(kind.proportion()))
}

/// Whether a property says how often a kind of request is sent: what makes a file a workload.
fn is_proportion(name: &str) -> bool {
    Kind::ALL.into_iter().any(|kind| kind.proportion() == name)
}

fn of_file(path: &Path, texts: &Texts) -> Result<Vec<Given>> {
    let shown = path.display();
    let lacking = || Error::new(Exit::BadPlan, format!("the text of {shown} is missing"));
    let text = texts.get(path).ok_or_else(lacking)?;
    let lines =
        file::read(text).map_err(|(line, wrong)| Error::bad_value(format!("{shown}:{line}: {wrong}")))?;
    let given = |line: file::Line| Given {
        name: line.name,
        value: line.value,
        by: format!("{shown}:{}", line.number),
    };
    Ok(lines.into_iter().map(given).collect())
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
            changes.parameters.set(of_plan, &text).map_err(named)?;
        }
        Belongs::Meant(value) => properties.set(name, value)?,
        Belongs::Nowhere | Belongs::Idle(_) => {}
    }
    Ok(())
}
