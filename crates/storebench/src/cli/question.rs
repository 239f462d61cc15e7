//! The question of `advise` and `tune`, and its plans of crud.

use std::path::Path;
use std::time::Duration;

use clap::Parser;
use storebench_core::measure::environment;
use storebench_core::workload::parameter::Parameters;
use storebench_host::machine::Core;
use storebench_host::plan::{self, Axes, Bytes, Changes, Period, Plan};
use storebench_host::run::Run;
use storebench_host::sample_data::DataTraits;
use storebench_model::axis::table::HERE;
use storebench_model::axis::{Axis, Value};
use storebench_model::cell::{Cache, DEFAULT_PLACE, Data, GuaranteeChoice};
use storebench_model::error::{Error, Exit, Result};
use storebench_model::store::Guarantee;
use storebench_model::units::{CountRange, MOST_RECORDS, Sizes, rough_bytes, with_commas};
use storebench_report::advice::question::{Goal, Question};

use super::args::{Args, Command, QuestionArgs};
use super::extras::Extras;
use super::output::{fitted, print_note};

/// The fewest operations, and the fewest records, of a reduced trial.
pub const FEWEST: u64 = 100;
/// The most bytes that a store may need on disk at its peak, as a multiple of the values', with the space that is kept free.
const ROOM_FACTOR: f64 = 3.5;
/// The shortest time limit of a trial, however short the budget; otherwise half of the budget.
pub const SHORTEST_LIMIT: Duration = Duration::from_secs(10);

const MIX: &str = "get=80,update=15,insert=5";

/// The question for which `advise` or `tune` made these runs; `None` for other runs, [`Exit::Usage`] if there were several.
fn read_question(runs: &[Run]) -> Result<Option<QuestionArgs>> {
    let mut questions =
        runs.iter().filter_map(|run| match Args::try_parse_from(&run.header.command).ok()?.command {
            Command::Advise(args) => Some(args.work),
            Command::Tune(args) => Some(args.work),
            _ => None,
        });
    let first = questions.next();
    if questions.any(|other| Some(&other) != first.as_ref()) {
        return Err(Error::new(
            Exit::Usage,
            "the runs of --from answer several questions: give --records and --size",
        ));
    }
    Ok(first)
}

/// The question on the command line; open parts come from earlier `runs`, if any is named, or from the data that it names.
pub fn question(args: &QuestionArgs, runs: &[Run], extras: Extras) -> Result<Question> {
    let is_complete = args.like.is_some() || (args.records.is_some() && args.size.is_some());
    let args = &match if is_complete { None } else { read_question(runs)? } {
        Some(earlier) => args.or(earlier),
        None => args.clone(),
    };
    let like = args.like.as_deref().map(|name| likeness(name, extras)).transpose()?;
    let records = args.records.or(like.as_ref().map(|like| like.count));
    let size = args.size.or(like.as_ref().map(|like| like.size));
    let (Some(records), Some(size)) = (records, size) else {
        let message = if runs.is_empty() {
            "give --records and --size, or --like"
        } else {
            "give --records and --size, or --like: the runs of --from do not belong to an earlier answer, which would say them"
        };
        return Err(Error::new(Exit::Usage, message));
    };
    if records == 0 {
        return Err(Error::bad_value("--records is 0: it must be at least 1"));
    }
    if records >= MOST_RECORDS {
        return Err(Error::bad_value(format!(
            "{} records are too many: at most {}",
            with_commas(records),
            with_commas(MOST_RECORDS - 1)
        )));
    }
    let data = match &like {
        Some(like) if !args.compressible => like.data,
        _ if args.compressible => Data::Compressible,
        _ => Data::Incompressible,
    };
    Ok(Question {
        records,
        size,
        data,
        guarantee: args.guarantee.unwrap_or(Guarantee::Process),
        threads: args.threads.unwrap_or(1),
        machine: args.machine.clone().unwrap_or_else(|| HERE.to_owned()),
        disk: args.disk.clone(),
        mix: args.mix.map_or_else(|| MIX.parse().map_err(Error::bad_value), Ok)?,
        cold: args.cold,
        overwritten: None,
        network: None,
        goal: Goal::Speed,
        max_memory_bytes: None,
        stores: None,
    })
}

/// The traits of the data named by --like, which are also shown.
pub fn likeness(name: &str, extras: Extras) -> Result<DataTraits> {
    let like = DataTraits::sample(name, extras.sqlite_values);
    let like = like.map_err(|why| Error::bad_value(format!("--like: {why}")))?;
    print_note(fitted(&format!("your data: {}", like.describe()), 0).trim_end());
    Ok(like)
}

pub fn sized(plan: &Plan, records: u64, operations: u64) -> Result<Plan> {
    let mut plan = plan.clone();
    let parameters = Parameters::default().with("operations", &operations.to_string());
    let changes = Changes {
        parameters: parameters.map_err(Error::bad_value)?,
        axes: Axes::single(Axis::RECORDS, [counts(records, operations)]),
        ..Changes::default()
    };
    plan.apply(changes)?;
    Ok(plan)
}

/// The most records that fit into the place.
pub fn most_records(question: &Question, place: &Path) -> Result<u64> {
    let free_bytes = environment::describe_location(DEFAULT_PLACE, place)
        .map_err(Error::io("looking at", place))?
        .free_bytes;
    let value_bytes = question.records as f64 * question.size.mean();
    if value_bytes > free_bytes as f64 {
        let message = format!(
            "{} records of {} are {} of values, and {} has {} free: no store can hold them; use fewer or smaller records, or \
             another disk (--at)",
            with_commas(question.records),
            question.size.describe(),
            rough_bytes(value_bytes),
            place.display(),
            rough_bytes(free_bytes as f64),
        );
        return Err(Error::new(Exit::DiskFull, message));
    }
    Ok(((free_bytes as f64 / ROOM_FACTOR / question.size.mean()) as u64).max(FEWEST))
}

/// The plan by which `advise` or `tune` measures a question with these stores, without the numbers of records and operations.
pub fn plan(
    (name, title): (&str, String),
    stores: &[String],
    (seed, budget): (u64, Period),
    question: &Question,
) -> Result<Plan> {
    plan_of_study("crud", (name, title), changes(stores, seed, budget, question)?)
}

pub fn plan_of_study(study: &str, (name, title): (&str, String), changes: Changes) -> Result<Plan> {
    let mut plan = plan::find(study)?;
    plan.presets.clear();
    plan.claims.clear();
    plan.at_least = true;
    plan.name = name.into();
    plan.title = title;
    plan.source = String::new();
    plan.apply(changes)?;
    plan.settle(Core::measure);
    Ok(plan)
}

fn changes(stores: &[String], seed: u64, budget: Period, question: &Question) -> Result<Changes> {
    let parameters = Parameters { mix: Some(question.mix), ..Parameters::default() };
    let cache = if question.cold { Cache::Cold } else { Cache::Warm };
    let read_value = |axis: Axis, text: &String| axis.read(text).map_err(Error::bad_value);
    let disk = question.disk.as_ref().map(|disk| read_value(Axis::DISK, disk)).transpose()?;
    let axes = disk.map_or_else(Axes::default, |disk| Axes::single(Axis::DISK, [disk]));
    Ok(Changes {
        trials: Some(1),
        parameters,
        seed: Some(seed),
        // A cell that does not fit onto the disk is left out; one that takes too long has been reduced.
        size_limit: Some(Bytes(u64::MAX)),
        timeout: Some(Period((budget.0 / 2).max(SHORTEST_LIMIT))),
        axes: axes
            .with(Axis::STORE, names(stores))
            .with(Axis::RECORD_SIZE, [question.size])
            .with(Axis::DATA, [question.data])
            .with(Axis::GUARANTEE, [GuaranteeChoice::Tier(question.guarantee)])
            .with(Axis::THREADS, [Value::from(u64::from(question.threads))])
            .with(Axis::CACHE, [cache])
            .with(Axis::MACHINE, [read_value(Axis::MACHINE, &question.machine)?]),
        ..Changes::default()
    })
}

/// The number of records of a plan with only one.
pub fn records_of(plan: &Plan) -> CountRange {
    plan.axes.list(Axis::RECORDS).first().copied().unwrap_or(CountRange::starting_at(1))
}

/// The record size of a plan with only one.
pub fn size_of(plan: &Plan) -> Option<Sizes> {
    plan.axes.list(Axis::RECORD_SIZE).first().copied()
}

/// A range of counts that a trial's inserts stay within.
pub fn counts(from: u64, operations: u64) -> CountRange {
    let more = (from / 4).max(operations);
    CountRange { from, to: from.saturating_add(more).min(MOST_RECORDS.max(from.saturating_add(1))) }
}

pub fn names(stores: &[String]) -> impl Iterator<Item = Value> {
    stores.iter().map(|store| Value::word(store))
}
