//! `storebench advise`: one question, measured, answered.

mod measuring;
mod plans;

use storebench_core::error::{Error, Exit, Result};
use storebench_core::store::StoreDef;
use storebench_core::units::rough_duration;
use storebench_host::run::Run;
use storebench_report::advice::clusters::Beside;
use storebench_report::advice::question::{Goal, Question};
use storebench_report::advice::{Advice, Uncovered, aged, clusters, snippet};
use storebench_report::data::merge::Merged;
use storebench_report::report::Report;

use self::measuring::Measuring;
use super::args::AdviseArgs;
use super::extras::Extras;
use super::output::{print, style, tell};
use super::plan::built_store;
use super::tune::{self, Asked};
use super::{files, question, report, runs};

/// Answers a question.
pub fn advise(stores: &[StoreDef], extras: Extras, args: &AdviseArgs) -> Result<Exit> {
    let earlier = runs::read_all(&args.from, &args.answer.out)?;
    let question = Question {
        goal: args.optimize,
        max_memory_bytes: args.max_memory.map(|most| most.0),
        stores: args.store.clone(),
        overwritten: args.overwritten,
        network: args.network,
        ..question::question(&args.work, &earlier, extras)?
    };
    for store in args.store.iter().flatten() {
        built_store(stores, store)?;
    }
    if let Some(path) = &args.answer.html {
        files::can_write_page(path)?;
    }
    let mut own_count_s = None;
    let mut beside = Beside::default();
    let (runs, here, kept) = if args.from.is_empty() {
        let mut measuring = Measuring::new(stores, args, &question)?;
        if measuring.measure()? {
            measuring.stages.tell_interrupted();
            return Ok(Exit::Interrupted);
        }
        own_count_s = measuring.own_count_s;
        let kept = measuring.stages.folder.clone();
        beside = std::mem::take(&mut measuring.clusters);
        (measuring.take_runs(), Some(measuring.here()), Some(kept))
    } else {
        (earlier, None, None)
    };
    let harness = report::harness(stores);
    let (aging, runs): (Vec<Run>, Vec<Run>) = runs.into_iter().partition(aged::is_of_aging);
    let (earlier, mut runs): (Vec<Run>, Vec<Run>) = runs.into_iter().partition(clusters::is_beside_clusters);
    beside.runs.extend(earlier);
    let mut advice = Advice::from_runs(&question, &Merged::new(&runs, &harness), here, stores)
        .map_err(|uncovered| unanswered(&uncovered, args))?;
    advice.aged = aged::aged(&advice, &aging);
    advice.clusters = clusters::clusters(&advice, &beside, stores);
    runs.extend(aging.into_iter().chain(beside.runs));
    let merged = Merged::new(&runs, &harness);
    if kept.is_some() {
        advice.verdict.cost.spent_s = args.measuring().0.as_secs_f64();
        advice.verdict.cost.own_count_s = own_count_s;
    }
    let best = advice.verdict.ranking.first();
    let best = best.and_then(|best| stores.iter().find(|store| store.name == best.store));
    let code = opened(&advice, best, args).filter(|_| !args.tune);
    print(&advice.text(code.as_ref().map(|(shown, _)| shown.as_str()), style()))?;
    if let (Some(best), Some(_)) = (best, &code) {
        tune::tell_other_language(best);
    }
    let lead = advice.lead(code.as_ref().map(|(_, all)| all.as_str()));
    let in_folder = kept.as_ref().map(|folder| files::page_in(folder)).transpose()?;
    for page in in_folder.iter().chain(&args.answer.html) {
        report::page(&Report::new(&merged), Some(&lead), page)?;
        if !files::is_standard_output(page) {
            tell(&format!("\nthe answer with all its figures: open {} in a browser", page.display()));
        }
    }
    if let Some(folder) = kept {
        tell(&format!("to answer another question from the same results: --from {}", folder.display()));
    }
    print(&format!("\n{}", advice.closing(style())))?;
    match best.filter(|_| args.tune) {
        Some(store) => tune_best(stores, store, &question, args),
        None => Ok(Exit::Success),
    }
}

/// The code for the recommended store: that which is shown, and in both languages.
fn opened(advice: &Advice, store: Option<&StoreDef>, args: &AdviseArgs) -> Option<(String, String)> {
    let (best, store) = (advice.verdict.ranking.first()?, store?);
    let shown = snippet::code_in_one(store, &best.version, &best.settings, args.answer.code.is_some())?;
    Some((shown, snippet::code(store, &best.version, &best.settings)?))
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
        in_python: args.answer.code.is_some(),
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
