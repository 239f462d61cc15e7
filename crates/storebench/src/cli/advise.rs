//! `storebench advise`: one question, measured, answered.

mod measuring;
pub(super) mod plans;

use storebench_core::cell::Data;
use storebench_core::error::{Error, Exit, Result};
use storebench_core::like::Likeness;
use storebench_core::store::StoreDef;
use storebench_core::units::{MOST_RECORDS, grouped, rough_duration};
use storebench_report::advice::question::{Goal, Question};
use storebench_report::advice::{Advice, Uncovered, snippet};
use storebench_report::data::merge::Merged;
use storebench_report::report::Report;

use self::measuring::Measuring;
use super::args::{AdviseArgs, QuestionArgs};
use super::run::check_store;
use super::tune::{self, Asked};
use super::{Extras, files, print, report, runs, tell};

/// Answers a question.
pub fn advise(stores: &[StoreDef], extras: Extras, args: &AdviseArgs) -> Result<Exit> {
    let question = Question {
        goal: args.optimize,
        max_memory_bytes: args.max_memory.map(|most| most.0),
        stores: args.store.clone(),
        ..question(&args.work, extras)?
    };
    for store in args.store.iter().flatten() {
        check_store(stores, store, true)?;
    }
    if let Some(path) = &args.answer.html {
        files::can_write_page(path)?;
    }
    let mut own_count_s = None;
    let (runs, here, kept) = if args.from.is_empty() {
        let mut measuring = Measuring::new(stores, args, &question)?;
        let folder = measuring.folder.clone();
        let cut_short = measuring.measure().inspect_err(|_| {
            // Where nothing was measured there is nothing to keep; where something was, this does nothing.
            let _ = std::fs::remove_dir(&folder);
        })?;
        if cut_short {
            return Ok(interrupted(&measuring));
        }
        own_count_s = measuring.own_count_s;
        (std::mem::take(&mut measuring.runs), Some(measuring.here()), Some(measuring.folder))
    } else {
        (runs::read_all(&args.from, &args.answer.out)?, None, None)
    };
    let harness = report::harness(stores);
    let merged = Merged::new(&runs, &harness);
    let mut advice = Advice::from_runs(&question, &merged, here, stores)
        .map_err(|uncovered| unanswered(&uncovered, args))?;
    if kept.is_some() {
        advice.verdict.cost.spent_s = args.measuring().0.as_secs_f64();
        advice.verdict.cost.own_count_s = own_count_s;
    }
    let best = advice.verdict.ranking.first();
    let best = best.and_then(|best| stores.iter().find(|store| store.name == best.store));
    let opened = opened(&advice, best).filter(|_| !args.tune);
    print(&advice.text(opened.as_deref(), report::style()))?;
    let lead = advice.lead(opened.as_deref());
    let in_folder = kept.as_ref().map(|folder| folder.join("report.html"));
    for page in in_folder.iter().chain(&args.answer.html) {
        report::page(&Report::new(&merged), Some(&lead), page)?;
        tell(&format!("\nthe answer with all its figures: open {} in a browser", page.display()));
    }
    if let Some(folder) = kept {
        tell(&format!("to answer another question from the same results: --from {}", folder.display()));
    }
    match best.filter(|_| args.tune) {
        Some(store) => tune_best(stores, store, &question, args),
        None => Ok(Exit::Success),
    }
}

/// The lines of code that open the recommended store.
fn opened(advice: &Advice, store: Option<&StoreDef>) -> Option<String> {
    let (best, def) = (advice.verdict.ranking.first()?, store?);
    let filled = |template| snippet::fill(template, &best.version, &best.settings);
    let bindings = def.bindings.iter().map(|snippet| snippet.template);
    let all: Vec<String> = def.snippet.into_iter().chain(bindings).map(filled).collect();
    (!all.is_empty()).then(|| all.join("\n"))
}

/// Tunes the recommended store in the other half of the budget: its settings and its code follow the answer.
fn tune_best(stores: &[StoreDef], store: &StoreDef, question: &Question, args: &AdviseArgs) -> Result<Exit> {
    let budget = args.budget.0.saturating_sub(args.measuring().0);
    tell(&format!("\ntuning {} for {}, half of the budget", store.name, rough_duration(budget)));
    if question.goal != Goal::Speed {
        tell("tuning is for speed, whatever the goal of the advice");
    }
    let asked = Asked {
        store,
        question: &Question {
            goal: Goal::Speed,
            stores: Some(vec![store.name.to_owned()]),
            ..question.clone()
        },
        budget,
        seed: args.answer.seed,
        at: args.answer.at.as_deref(),
        out: &args.answer.out,
    };
    tune::measure(stores, &asked, &[])
}

fn unanswered(uncovered: &Uncovered, args: &AdviseArgs) -> Error {
    let advice = match (uncovered, args.from.is_empty()) {
        (Uncovered::NoStore(_), _) | (_, true) => "",
        (Uncovered::Several(_), false) => "; or omit --from to measure",
        (_, false) => "; omit --from to measure it",
    };
    Error::new(Exit::Nothing, format!("there is no answer: {uncovered}{advice}"))
}

fn interrupted(measuring: &Measuring<'_>) -> Exit {
    let folder = measuring.folder.display();
    tell(&format!("interrupted; finished results are kept. To answer from them, add --from {folder}"));
    Exit::Interrupted
}

/// What the command line asks; data that are pointed at fill in what it leaves open.
pub(super) fn question(args: &QuestionArgs, extras: Extras) -> Result<Question> {
    let like = args.like.as_deref().map(|name| Likeness::of(name, extras.sqlite_values)).transpose();
    let like = like.map_err(|why| Error::bad_value(format!("--like: {why}")))?;
    if let Some(like) = &like {
        tell(&format!("your data: {}", like.describe()));
    }
    let records = args.records.or(like.as_ref().map(|like| like.count));
    let size = args.size.or(like.as_ref().map(|like| like.size));
    let (Some(records), Some(size)) = (records, size) else {
        return Err(Error::new(Exit::Usage, "give --records and --size, or --like"));
    };
    if records == 0 {
        return Err(Error::bad_value("--records is 0: it must be at least 1"));
    }
    if records >= MOST_RECORDS {
        let message =
            format!("{} records are too many: at most {}", grouped(records), grouped(MOST_RECORDS - 1));
        return Err(Error::bad_value(message));
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
        guarantee: args.guarantee,
        threads: args.threads,
        machine: args.machine.clone(),
        mix: args.mix,
        cold: args.cold,
        goal: Goal::Speed,
        max_memory_bytes: None,
        stores: None,
    })
}
