//! `storebench advise`: measures and answers one question.

mod campaign;
mod plans;

use std::fs;
use std::path::{Path, PathBuf};

use storebench_core::workload::operation::Operation;
use storebench_figures::column::Unit;
use storebench_figures::data::merge::Merged;
use storebench_host::run::Run;
use storebench_model::error::{Error, Exit, Result};
use storebench_model::store::{StoreDef, StoreKind};
use storebench_model::units::{Period, rough_duration, with_commas};
use storebench_report::advice::clusters::ClusterRuns;
use storebench_report::advice::question::{Goal, Question};
use storebench_report::advice::ranking::Candidate;
use storebench_report::advice::{Advice, MissingCoverage, aged, clusters, snippet};
use storebench_report::report::Report;

use self::campaign::AdviseCampaign;
use super::args::AdviseArgs;
use super::extras::Extras;
use super::output::{fitted, print, print_note, style};
use super::plan::built_store;
use super::prepare::StartOutcome;
use super::tune::{self, TuneRequest};
use super::{files, question, report, runs};

/// Values with a smaller mean size in bytes are likely to be text.
const TEXT_BYTES: f64 = 16_384.0;

/// Answers a question: once, or for libraries and servers separately if both are named, as they are never ranked together.
pub fn advise(stores: &[StoreDef], extras: Extras, args: &AdviseArgs) -> Result<Exit> {
    let names = args.store.iter().flatten();
    let (servers, libraries): (Vec<String>, Vec<String>) = names
        .cloned()
        .partition(|name| stores.iter().any(|store| store.name == *name && store.kind == StoreKind::Server));
    if servers.is_empty() || libraries.is_empty() || !args.from.is_empty() {
        return answer(stores, extras, args).map(|(exit, _)| exit);
    }
    if args.tune || args.network.is_some() || args.answer.html.is_some() {
        return Err(Error::bad_value(format!(
            "{} and {} have an answer each, and --tune, --network and --html are for one: name libraries or servers alone",
            libraries.join(", "),
            servers.join(", ")
        )));
    }
    for store in args.store.iter().flatten() {
        built_store(stores, store)?;
    }
    let budget = Period(args.budget.0 / 2);
    let mut best = Vec::new();
    for (kind, names) in [("libraries", libraries), ("servers", servers)] {
        print_note(&format!(
            "{kind}: {}, for {}, half of the time",
            names.join(", "),
            rough_duration(budget.0)
        ));
        let args = AdviseArgs { store: Some(names), budget, ..args.clone() };
        let (exit, first) = answer(stores, extras, &args)?;
        if exit != Exit::Success {
            return Ok(exit);
        }
        best.extend(first);
    }
    if let [library, server] = best.as_slice() {
        print(&format!("\nLibrary or server?\n{}", fitted(&describe_way_to_server(library, server), 2)))?;
    }
    Ok(Exit::Success)
}

/// The cost of the way to a server: at most the time of a read, which includes the way there and back.
fn describe_way_to_server(
    (library, library_records): &(Candidate, u64),
    (server, server_records): &(Candidate, u64),
) -> String {
    let show_ns = |ns: f64| Unit::Nanoseconds.show(ns);
    let (library_ns, server_ns) = (library.speed.mean.value, server.speed.mean.value);
    let figures = format!(
        "{} takes {} an operation within the application, {} takes {} with the way there and back.",
        library.store,
        show_ns(library_ns),
        server.store,
        show_ns(server_ns)
    );
    if library_records != server_records {
        let [library_count, server_count] =
            [library_records, server_records].map(|records| with_commas(*records));
        return format!(
            "{figures} They had {library_count} and {server_count} records, so nothing follows from the difference."
        );
    }
    let get_ns = |store: &Candidate| {
        store
            .operations
            .iter()
            .find(|(operation, _)| *operation == Operation::Get)
            .map(|(_, get)| get.mean.value)
    };
    let explanation = match get_ns(server) {
        _ if server_ns <= library_ns => "The server is no slower all the same.".to_owned(),
        Some(way) if way < server_ns - library_ns => format!(
            "Of the {} between them the way is at most {}, what a get takes: the rest is the server's own work.",
            show_ns(server_ns - library_ns),
            show_ns(way)
        ),
        Some(way) => {
            format!("The way, at most the {} that a get takes, can be all of the difference.", show_ns(way))
        }
        None => "How much of that is the way is not known, as nothing was read.".to_owned(),
    };
    format!("{figures} {explanation} The two were measured one after the other, so they are no ranking.")
}

/// Answers a question about stores of one kind, and returns the recommended store.
fn answer(
    stores: &[StoreDef],
    extras: Extras,
    args: &AdviseArgs,
) -> Result<(Exit, Option<(Candidate, u64)>)> {
    let earlier = runs::read_all(&args.from, &args.answer.out)?;
    let question = Question {
        goal: args.optimize,
        max_memory_bytes: args.max_memory.map(|limit| limit.0),
        stores: args.store.clone(),
        overwritten: args.overwritten,
        network: args.network,
        ..question::question(&args.work, &earlier, extras)?
    };
    for store in args.store.iter().flatten() {
        built_store(stores, store)?;
    }
    if let Some(path) = &args.answer.html {
        files::check_page_path(path)?;
    }
    if args.dry_run {
        return list(stores, args, &question).map(|exit| (exit, None));
    }
    let mut own_count_s = None;
    let mut cluster_runs = ClusterRuns::default();
    let (runs, shapes, answer_folder) = if args.from.is_empty() {
        let mut campaign = AdviseCampaign::new(stores, args, &question)?;
        if args.work.like.is_none() && !args.work.compressible && question.size.mean() < TEXT_BYTES {
            print_note(
                "records that do not compress, like photos; if yours are text: --compressible, or --like DATA",
            );
        }
        if campaign.measure()? {
            campaign.stages.print_interrupted();
            return Ok((Exit::Interrupted, None));
        }
        own_count_s = campaign.own_count_s;
        let answer_folder = campaign.stages.folder.clone();
        cluster_runs = std::mem::take(&mut campaign.clusters);
        (campaign.take_runs(), Some(campaign.asked_shapes()), Some(answer_folder))
    } else {
        (earlier, None, None)
    };
    let (aging, runs): (Vec<Run>, Vec<Run>) = runs.into_iter().partition(aged::is_of_aging);
    let (earlier, mut runs): (Vec<Run>, Vec<Run>) = runs.into_iter().partition(clusters::is_beside_clusters);
    cluster_runs.runs.extend(earlier);
    let mut advice = Advice::from_runs(&question, &Merged::new(&runs, stores), shapes, stores)
        .map_err(|uncovered| no_answer_error(&uncovered, args))?;
    advice.aged = aged::aged(&advice, &aging);
    advice.clusters = clusters::clusters(&advice, &cluster_runs, stores);
    runs.extend(aging.into_iter().chain(cluster_runs.runs));
    let merged = Merged::new(&runs, stores);
    if answer_folder.is_some() {
        advice.verdict.cost.spent_s = args.measuring().0.as_secs_f64();
        advice.verdict.cost.own_count_s = own_count_s;
    }
    let best = advice.verdict.ranking.first();
    let best = best.and_then(|best| stores.iter().find(|store| store.name == best.store));
    let code = opening_code(&advice, best, args).filter(|_| !args.tune);
    print(&advice.text(code.as_ref().map(|(shown, _)| shown.as_str()), style()))?;
    if let (Some(best), Some(_)) = (best, &code) {
        let folder = answer_folder.as_ref().or(args.from.first()).map_or(Path::new("RUN"), PathBuf::as_path);
        tune::print_other_language(best, args.answer.code.is_some(), folder);
    }
    let lead = advice.lead(code.as_ref().map(|(_, full)| full.as_str()));
    let folder_page = answer_folder.as_ref().map(|folder| files::page_in(folder)).transpose()?;
    for page in folder_page.iter().chain(&args.answer.html) {
        report::page(&Report::new(&merged), Some(&lead), page)?;
        if !files::is_standard_output(page) {
            print_note(&format!("\nthe answer with all its figures: open {} in a browser", page.display()));
        }
    }
    if let Some(folder) = answer_folder {
        print_note(&format!("to answer another question from the same results: --from {}", folder.display()));
    }
    print(&format!("\n{}", advice.closing(style())))?;
    let exit = match best.filter(|_| args.tune) {
        Some(store) => tune_best(stores, store, &question, args)?,
        None => Exit::Success,
    };
    let records = advice.at.2.from;
    Ok((exit, advice.verdict.ranking.into_iter().next().map(|best| (best, records))))
}

/// Lists the trials of the first look; what was made for that is gone again.
fn list(stores: &[StoreDef], args: &AdviseArgs, question: &Question) -> Result<Exit> {
    let new_directory = !args.answer.out.exists();
    let outcome = AdviseCampaign::new(stores, args, question)?.list();
    if new_directory {
        // It is empty; otherwise it stays.
        let _ = fs::remove_dir(&args.answer.out);
    }
    match outcome? {
        StartOutcome::Listed(text, error) => print(&text).and_then(|()| error.map_or(Ok(Exit::Success), Err)),
        StartOutcome::Ran(()) | StartOutcome::Interrupted => Ok(Exit::Interrupted),
    }
}

/// The code for the recommended store: the part for the terminal, and both languages.
fn opening_code(advice: &Advice, store: Option<&StoreDef>, args: &AdviseArgs) -> Option<(String, String)> {
    let (best, store) = (advice.verdict.ranking.first()?, store?);
    let code = snippet::code_in_one(store, &best.version, &best.settings, args.answer.code.is_some())?;
    Some((code, snippet::code(store, &best.version, &best.settings)?))
}

/// Tunes the recommended store in the other half of the budget: its settings and code follow the answer.
fn tune_best(stores: &[StoreDef], store: &StoreDef, question: &Question, args: &AdviseArgs) -> Result<Exit> {
    let budget = args.budget.0.saturating_sub(args.measuring().0);
    print_note(&format!("\ntuning {} for {}, half of the budget", store.name, rough_duration(budget)));
    if question.goal != Goal::Speed {
        print_note("tuning is for speed, whatever the goal of the advice");
    }
    let request = TuneRequest {
        store,
        question: &Question {
            goal: Goal::Speed,
            stores: Some(vec![store.name.to_owned()]),
            ..question.clone()
        },
        budget,
        seed: args.answer.seed,
        in_python: args.answer.code.is_some(),
        directory: args.answer.at.as_deref(),
        out: &args.answer.out,
    };
    tune::measure(stores, &request, &[])
}

fn no_answer_error(uncovered: &MissingCoverage, args: &AdviseArgs) -> Error {
    let advice = match (uncovered, args.from.is_empty()) {
        (MissingCoverage::NoStore(_), _) | (_, true) => "",
        (MissingCoverage::Several(_), false) => "; or omit --from to measure",
        (_, false) => "; omit --from to measure it",
    };
    Error::new(Exit::Nothing, format!("there is no answer: {uncovered}{advice}"))
}

#[cfg(test)]
mod tests {
    use storebench_figures::judge::Verdict;
    use storebench_figures::stats::Summary;
    use storebench_model::store::Guarantee;

    use super::*;

    fn store(name: &str, mean_ns: f64, get_ns: f64) -> Candidate {
        let summary = |value| Summary::from_values(&[value]).unwrap();
        Candidate {
            store: name.into(),
            version: String::new(),
            guarantee: Guarantee::Power,
            danger: None,
            operations: vec![(Operation::Get, summary(get_ns))],
            speed: summary(mean_ns),
            space: summary(1.0),
            memory: summary(1.0),
            times_worse: None,
            verdict: Verdict::Best,
            against_best: Vec::new(),
            beaten_by: None,
            looked_at: None,
            settings: Vec::new(),
        }
    }

    #[test]
    fn the_way_to_a_server_is_at_most_what_a_get_takes() {
        let library = (store("sqlite", 10_000.0, 1_000.0), 1_000);
        let describe = |server: Candidate| describe_way_to_server(&library, &(server, 1_000));
        let much = describe(store("redis", 100_000.0, 20_000.0));
        assert!(much.contains("Of the 90.0 µs between them the way is at most 20.0 µs"), "{much}");
        let all = describe(store("redis", 21_000.0, 20_000.0));
        assert!(all.contains("The way, at most the 20.0 µs that a get takes, can be all"), "{all}");
        let quicker = describe(store("redis", 9_000.0, 8_000.0));
        assert!(quicker.contains("The server is no slower all the same."), "{quicker}");
        let fewer = describe_way_to_server(&library, &(store("redis", 9_000.0, 8_000.0), 100));
        assert!(fewer.ends_with("They had 1,000 and 100 records, so nothing follows from the difference."));
    }
}
