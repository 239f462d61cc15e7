//! `storebench reference`: writes the program's knowledge as pages of the documentation, independent of the machine.

use std::collections::BTreeSet;
use std::path::Path;

use clap::{Arg, Args as _, Command, CommandFactory};
use storebench_core::workload::parameter::Parameters;
use storebench_core::workload::table::{self, WorkloadDef};
use storebench_disk::disks;
use storebench_disk::figures::LOADS;
use storebench_figures::column::{COLUMNS, Column};
use storebench_host::machine;
use storebench_host::plan::{self, STUDIES};
use storebench_model::axis::Axis;
use storebench_model::error::{Error, Exit, Result};
use storebench_model::read_limited;
use storebench_model::result;
use storebench_model::store::{Danger, GuaranteeOffer, MemoryShare, SettingDef, StoreDef, StoreKind};
use storebench_model::units::three_digits;
use storebench_report::files::{self, sql};
use storebench_report::section::{self, Section};
use storebench_report::sections::SECTIONS;

use super::args::{Args, study};
use super::files::refuse_theirs;
use super::stores;

const MARK: &str = "<!-- Written by `storebench reference`.";

/// The records of results with a line for each field; the others only list the names.
const DESCRIBED: [&str; 5] = ["RunHeader", "TrialResult", "Measurements", "OperationResult", "Counters"];

/// Writes the pages to a directory, which is made if missing. A file with a page's name that is none stays, with an error.
pub fn write(stores: &[StoreDef], directory: &Path) -> Result<Exit> {
    std::fs::create_dir_all(directory).map_err(Error::io("making", directory))?;
    let is_ours =
        |path: &Path| read_limited::start(path, MARK.len()).is_ok_and(|start| start == MARK.as_bytes());
    for (name, text) in pages(stores)? {
        let path = directory.join(name);
        refuse_theirs(&path, is_ours)?;
        std::fs::write(&path, format!("{MARK} -->\n\n{}\n", text.trim_end()))
            .map_err(Error::io("writing", &path))?;
    }
    Ok(Exit::Success)
}

fn pages(stores: &[StoreDef]) -> Result<[(&'static str, String); 9]> {
    Ok([
        ("commands.md", commands()),
        ("exit-codes.md", exit_codes()),
        ("hardware.md", hardware()?),
        ("plans.md", plans()),
        ("results.md", results()),
        ("settings.md", settings(stores)),
        ("sql.md", tables()),
        ("stores.md", store_tables(stores)),
        ("studies.md", studies()?),
    ])
}

/// A table. A bar in a cell would end it.
fn rows<const N: usize>(head: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let line = |cells: [String; N]| format!("|{}|\n", cells.map(|cell| cell.replace('|', "\\|")).join("|"));
    let rule = format!("|{}\n", "---|".repeat(N));
    line(head.map(str::to_owned)) + &rule + &rows.into_iter().map(line).collect::<String>() + "\n"
}

fn code(text: impl std::fmt::Display) -> String {
    format!("`{text}`")
}

fn list<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    words.into_iter().map(code).collect::<Vec<_>>().join(", ")
}

/// All commands, without hidden options.
fn all_commands() -> Command {
    // The axes are on the page of plans.
    let hide_axes = |run| {
        let axes = Axis::as_written().into_iter();
        axes.fold(study::with_workload_options(run, None), |run, axis| {
            run.mut_arg(axis.name(), |option| option.hide(true))
        })
    };
    let mut command = Args::command().disable_help_subcommand(true).mut_subcommand("run", hide_axes);
    command.build();
    command
}

fn commands() -> String {
    let mut text = "# Commands and options\n\n`run` also has the options of its study: an [axis or a parameter](plans.md) `record_size` \
                    is the option `--record-size`. Every command takes `--store-library FILE`. An option is described where it comes first.\n\n"
        .to_owned();
    let mut known = BTreeSet::new();
    all_commands().get_subcommands().for_each(|subcommand| describe(subcommand, &mut known, &mut text));
    text
}

/// A command with its options and subcommands. Options that were described before are only named.
fn describe(command: &Command, known: &mut BTreeSet<[String; 2]>, text: &mut String) {
    if command.is_hide_set() {
        return;
    }
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: storebench ").replace(" [OPTIONS]", "");
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    text.push_str(&format!("## {usage}\n\n{about}.\n\n"));
    let options = command
        .get_arguments()
        .filter(|option| !option.is_hide_set() && !option.is_global_set() && option.get_id() != "help");
    text.push_str(&new_rows(["option", "help"], options.map(|option| [code(option), help(option)]), known));
    command.get_subcommands().for_each(|subcommand| describe(subcommand, known, text));
}

/// A table of the new rows, and the names of the others.
fn new_rows<const N: usize>(
    head: [&str; N],
    all_rows: impl Iterator<Item = [String; N]>,
    known: &mut BTreeSet<[String; N]>,
) -> String {
    let (new, old): (Vec<_>, Vec<_>) = all_rows.partition(|row| known.insert(row.clone()));
    let table = if new.is_empty() { String::new() } else { rows(head, new) };
    let names = old.iter().filter_map(|row| row[0].split(['`', ' ']).nth(1));
    if old.is_empty() { table } else { format!("{table}Also {}, as above.\n\n", list(names)) }
}

/// The help of an option, with its default.
fn help(option: &Arg) -> String {
    let help = option.get_help().map(ToString::to_string).unwrap_or_default();
    let defaults: Vec<_> = option.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    let is_plain = defaults.is_empty() || !option.get_action().takes_values();
    if is_plain { help } else { format!("{help} [default: {}]", defaults.join(",")) }
}

fn exit_codes() -> String {
    let row = |exit: Exit| [exit.code().to_string(), exit.describe().to_owned(), exit.advice().to_owned()];
    "# Exit codes\n\nOn standard error, the line that begins with `storebench:` says what is wrong and where.\n\n".to_owned()
        + &rows(["code", "meaning", "what to do"], Exit::ALL.map(row))
}

fn hardware() -> Result<String> {
    let mut text = "# Simulated disks and machines\n\n## Disks\n\nRequests or megabytes per second that each model gives. `storebench disks NAME` \
                    prints every parameter with its source.\n\n"
        .to_owned();
    for (number, load) in (1..).zip(LOADS) {
        text.push_str(&format!("{number}. {}\n", load.describe()));
    }
    let disk = |name: &str| {
        let disk = disks::shipped(name).unwrap_or_default();
        let rates = LOADS.map(|load| load.rate_on(&disk).map(three_digits));
        let [a, b, c, d, e, f] = rates.map(|rate| rate.map_err(Error::bad_value));
        Ok([code(name), disk.about, a?, b?, c?, d?, e?, f?])
    };
    let head = ["disk", "what it stands for", "1", "2", "3", "4", "5", "6"];
    text.push('\n');
    text.push_str(&rows(head, disks::NAMES.into_iter().map(disk).collect::<Result<Vec<_>>>()?));
    text.push_str("## Machines\n\n`storebench machines NAME` prints the source of each limit, and what can be limited here.\n\n");
    let machine = |name: &&str| {
        let machine = machine::shipped(name).unwrap_or_default();
        let limits = machine.limits().into_iter().map(|(limit, value)| format!("{} {value}", limit.name()));
        let disk = machine.disk.clone().unwrap_or_default();
        [code(name), machine.about.clone(), limits.collect::<Vec<_>>().join(", "), code(disk)]
    };
    Ok(text + &rows(["machine", "what it stands for", "limits", "disk"], machine::NAMES.iter().map(machine)))
}

fn plans() -> String {
    let workloads = |includes: &dyn Fn(&WorkloadDef) -> bool| {
        let names: Vec<_> = table::all().filter(|def| includes(def)).map(|def| def.name).collect();
        let others: Vec<_> = table::all().map(|def| def.name).filter(|name| !names.contains(name)).collect();
        match others[..] {
            [] => "all".into(),
            [_] | [_, _] => format!("all but {}", others.join(", ")),
            _ => names.join(", "),
        }
    };
    // The last column names the studies.
    let without_study = |help: &str| match help.split_once(": ") {
        Some((name, rest)) if STUDIES.iter().any(|study| study.name == name) => rest.to_owned(),
        _ => help.to_owned(),
    };
    let mut text = "# Keys of plans\n\n[How to write a plan](../plans.md). [Claims](../claims.md) have other keys.\n\n## The plan\n\n"
        .to_owned();
    let fields = structs(plan::SOURCE).into_iter().find(|(name, ..)| name == "Plan");
    let fields = fields.map(|(_, _, fields)| fields).unwrap_or_default();
    let fields =
        fields.into_iter().filter(|(name, _)| !["parameters", "compression"].contains(&name.as_str()));
    let run = all_commands().find_subcommand("run").cloned().unwrap_or_default();
    let is_option = |name: &str| {
        let option_name = name.replace('_', "-");
        run.get_arguments().any(|option| option.get_long() == Some(&option_name) && !option.is_hide_set())
    };
    let (options, keys): (Vec<_>, Vec<_>) = fields.partition(|(name, _)| is_option(name));
    text.push_str(&rows(["key", "what it is"], keys.into_iter().map(|(name, about)| [code(name), about])));
    let options = list(options.iter().map(|(name, _)| name.as_str()));
    text.push_str(&format!("Also the [options of `run`](commands.md): {options}.\n\n"));
    text.push_str("## Workloads\n\n");
    let operations =
        |def: &WorkloadDef| [code(def.name), def.help.to_owned(), list(def.operations.iter().copied())];
    text.push_str(&rows(["workload", "what it does", "operations"], table::all().map(operations)));
    text.push_str(
        "## Parameters\n\nstorebench writes one more itself: `trace_facts`, what a trace is like.\n\n",
    );
    let command = Parameters::augment_args(Command::new("plan"));
    let parameter = |option: &Arg| {
        let name = option.get_id().as_str();
        [code(name), without_study(&help(option)), workloads(&|def| def.parameters.contains(&name))]
    };
    text.push_str(&rows(["key", "what it does", "workloads"], command.get_arguments().map(parameter)));
    text.push_str("## Axes\n\nEach is a list of values. An axis with a default may be left out.\n\n");
    let axis = |axis: Axis| {
        let default = axis.default_value().map(code).unwrap_or_default();
        let workloads = workloads(&|def| def.axes.contains(&axis));
        [code(axis.name()), without_study(axis.def().help), default, workloads]
    };
    text + &rows(["axis", "values", "default", "workloads"], Axis::as_written().into_iter().map(axis))
}

fn results() -> String {
    let mut text = "# Fields of results\n\n[What they mean](../results.md). A unit is the last part of a name.\n\n## Figures\n\n".to_owned();
    let figure = |column: &Column| {
        let scope = if column.is_of_operation() { "operation" } else { "trial" };
        [code(column.id), column.title.to_owned(), column.unit.name().to_owned(), scope.to_owned()]
    };
    text.push_str(&rows(["figure", "title", "unit", "of"], COLUMNS.iter().map(figure)));
    text.push_str("## Sections of reports\n\n");
    let section = |section: &&Section| {
        let tables = list(section.shapes.iter().map(|shape| shape.name).filter(|name| *name != section.name));
        let in_csv = files::section::header(section);
        let columns = section.shapes.iter().flat_map(|shape| shape.columns);
        let in_sql: BTreeSet<String> = columns.flat_map(section::Column::sql_names).collect();
        let is_same = in_csv.iter().cloned().collect::<BTreeSet<_>>() == in_sql;
        let csv_columns = if is_same { String::new() } else { list(in_csv.iter().map(String::as_str)) };
        [code(section.name), section.title.to_owned(), tables, csv_columns]
    };
    let head = ["section", "title", "other tables", "columns of CSV, if others"];
    text.push_str(&rows(head, SECTIONS.iter().map(section)));
    text.push_str("## run.json and results.jsonl\n\n");
    let records: Vec<_> = result::SOURCES.iter().flat_map(|source| structs(source)).collect();
    let (described, others): (Vec<_>, Vec<_>) =
        records.into_iter().partition(|(name, ..)| DESCRIBED.contains(&name.as_str()));
    for (name, about, fields) in described {
        text.push_str(&format!("### {name}\n\n{about}\n\n"));
        let fields = fields.into_iter().map(|(name, about)| [code(name), about]);
        text.push_str(&rows(["field", "what it is"], fields));
    }
    text.push_str("### Parts of these\n\n`cargo doc` describes their fields.\n\n");
    let part = |(name, _, fields): (String, String, Vec<DocEntry>)| {
        [name, list(fields.iter().map(|(name, _)| name.as_str()))]
    };
    let others = others.into_iter().filter(|(.., fields)| !fields.is_empty());
    text + &rows(["part", "fields"], others.map(part))
}

/// A name and the first sentence of its comment.
type DocEntry = (String, String);

/// Each record in a source file with its fields that are public or have a comment.
fn structs(source: &str) -> Vec<(String, String, Vec<DocEntry>)> {
    let mut records: Vec<(String, String, Vec<DocEntry>)> = Vec::new();
    let (mut comment, mut serde) = (String::new(), String::new());
    let value_of_key = |serde: &str, key: &str| {
        let (_, rest) = serde.split_once(&format!("({key} = \""))?;
        rest.split_once('"').map(|(name, _)| name.to_owned())
    };
    for line in source.split("#[cfg(test)]").next().unwrap_or_default().lines().map(str::trim) {
        let code = line.trim_start_matches("pub ");
        let field = code.split_once(": ").map(|(name, _)| name.to_owned()).filter(|name| {
            (code != line || !comment.is_empty())
                && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
        });
        let record = ["struct ", "enum "].iter().find_map(|word| code.strip_prefix(word)?.strip_suffix(" {"));
        if let Some(more) = line.strip_prefix("///") {
            comment.push_str(more);
        } else if line.starts_with("#[") {
            serde.push_str(line);
        } else {
            if let Some(name) = record {
                let tag = value_of_key(&serde, "tag").map(|tag| (tag, "Which of these.".to_owned()));
                records.push((name.to_owned(), first_sentence(&comment), tag.into_iter().collect()));
            } else if let (Some(name), Some((.., fields))) = (field, records.last_mut()) {
                let field = (value_of_key(&serde, "rename").unwrap_or(name), first_sentence(&comment));
                if fields.iter().all(|(known, _)| *known != field.0) {
                    fields.push(field);
                }
            }
            (comment, serde) = (String::new(), String::new());
        }
    }
    records
}

/// The first sentence of a comment, without link marks.
fn first_sentence(comment: &str) -> String {
    let plain = comment.trim().replace(['[', ']'], "");
    plain.split_once(". ").map_or(plain.clone(), |(first, _)| format!("{first}."))
}

fn settings(stores: &[StoreDef]) -> String {
    let mut text = "# Settings of stores\n\n[How to set them](../settings.md). `storebench settings STORE` also prints how each is \
                    read back, what `tune` tries, and what no figure shows.\n\n"
        .to_owned();
    let mut known = BTreeSet::new();
    for store in stores.iter().filter(|store| !store.settings.is_empty()) {
        let row = |setting: &SettingDef| {
            let promise = match setting.guarantee {
                "" => String::new(),
                promise => format!("; guarantee: {promise}"),
            };
            let (default, about) =
                (setting.describe_value(setting.default), format!("{}{promise}", setting.help));
            [code(setting.name), setting.values.to_owned(), default, about]
        };
        let head = ["setting", "values", "default", "effect"];
        let table = new_rows(head, store.settings.iter().map(row), &mut known);
        text.push_str(&format!("## {}\n\n{table}", store.name));
    }
    text.push_str("## Caches by the machine's memory\n\nWith `tuning = [\"share\"]`.\n\n");
    let shares = stores.iter().flat_map(|store| {
        let row = |(name, share): (&str, MemoryShare)| {
            let documentation = format!("{} ([source]({}))", share.says, share.source);
            [store.name.to_owned(), code(name), share.describe().replace(" of the memory", ""), documentation]
        };
        store.shares().map(row)
    });
    text + &rows(["store", "setting", "of the memory", "the documentation"], shares)
}

fn tables() -> String {
    let row = |(name, columns): (String, Vec<String>)| [code(name), list(columns.iter().map(String::as_str))];
    "# Tables and views of the SQLite file\n\n[Questions in SQL](../exports.md). `cells` also has a column for each axis of its runs.\n\n".to_owned()
        + &rows(["table or view", "columns"], sql::tables().into_iter().map(row))
}

fn store_tables(stores: &[StoreDef]) -> String {
    let offered = || stores.iter().filter(|store| !store.offers.is_empty());
    let mut text = "# Stores\n\n[What guarantees mean](../guarantees.md). A star marks the guarantee of the store as shipped.\n\n".to_owned();
    let row = |store: &StoreDef| {
        let [name, kind, _, guarantees, order, sessions, codec] = stores::row(store);
        [code(name), kind, store.summary.to_owned(), guarantees, order, sessions, codec]
    };
    let head = ["store", "kind", "what it is", "guarantees", "order", "sessions", "codec"];
    text.push_str(&rows(head, offered().map(row)));
    text.push_str(
        "## What an accident can cost\n\nWhile records are written, with the settings of each guarantee.\n\n",
    );
    let mut costs: Vec<[String; 5]> = Vec::new();
    let real_stores = offered().filter(|store| store.kind != StoreKind::Harness);
    for (store, offer) in real_stores.flat_map(|store| store.offers.iter().map(move |offer| (store, offer))) {
        for (settings, danger) in dangers(offer) {
            let why = if danger.why.is_empty() { String::new() } else { format!(": {}", danger.why) };
            let (kill, cut) =
                (danger.kill.describe().to_owned(), format!("{}{why}", danger.power_cut.describe()));
            let row = [store.name.to_owned(), offer.guarantee.to_string(), settings, kill, cut];
            match costs.iter_mut().find(|known| known[1..] == row[1..]) {
                Some(known) => known[0] += &format!(", {}", store.name),
                None => costs.push(row),
            }
        }
    }
    text + &rows(["store", "guarantee", "settings", "a kill can cost", "a power cut can cost"], costs)
}

/// The cost of accidents with the settings of an offer, and then with others, grouped by cost.
fn dangers(offer: &GuaranteeOffer) -> Vec<(String, &'static Danger)> {
    let mut costs: Vec<(String, &Danger)> = Vec::new();
    // The last one applies to any settings.
    for danger in offer.dangers.iter().rev() {
        let conditions: Vec<_> =
            danger.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let condition = conditions.join(", ");
        let number = costs.len();
        let is_like = |known: &Danger| Danger { settings: known.settings, ..*danger } == *known;
        match costs.last_mut() {
            Some((settings, known)) if number > 1 && is_like(known) => {
                settings.push_str(&format!("; or {condition}"))
            }
            None => costs.push((offer.settings.to_owned(), danger)),
            Some(_) => costs.push((format!("with {condition}"), danger)),
        }
    }
    costs
}

fn studies() -> Result<String> {
    let mut text = "# Studies\n\n[Papers and methods](../studies.md).\n\n".to_owned();
    for study in STUDIES {
        let plan = plan::find(study.name)?;
        text.push_str(&format!("## {}\n\n{}. Claims: {}.\n\n", plan.name, plan.title, plan.claims.len()));
        let preset = |(name, changes): (&String, &plan::Changes)| {
            [code(name), changes.description.clone().unwrap_or_default()]
        };
        text.push_str(&rows(["preset", "what it measures"], plan.presets.iter().map(preset)));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_and_their_fields_are_found_in_a_source() {
        let source = "/// A box. It is [`Big`].\n#[serde(tag = \"kind\")]\npub enum Kept {\n    /// Full.\n    Full {\n        /// Its \
                      weight.\n        weight_g: u64,\n    },\n}\n/// Other.\npub struct Two {\n    /// One\n    /// more. Yes.\n    \
                      #[serde(rename = \"a\", default)]\n    pub one: u8,\n}\nimpl Two {\n    pub fn x() {}\n}\n";
        let found = format!("{:?}", structs(source));
        let kept = r#"("Kept", "A box.", [("kind", "Which of these."), ("weight_g", "Its weight.")])"#;
        assert_eq!(found, format!(r#"[{kept}, ("Two", "Other.", [("a", "One more.")])]"#));
    }
}
