//! `storebench tune`: finds good settings of a store for a user's work, by measuring.

mod campaign;
mod plans;

use std::path::{Path, PathBuf};
use std::time::Duration;

use storebench_figures::data::merge::Merged;
use storebench_host::run::Run;
use storebench_model::error::{Error, Exit, Result};
use storebench_model::store::StoreDef;
use storebench_report::advice::question::Question;
use storebench_report::advice::snippet;
use storebench_report::report::Report;
use storebench_report::tuning::{NoAnswer, TunedSettings};

use self::campaign::TuneCampaign;
use super::args::TuneArgs;
use super::extras::Extras;
use super::output::{print, print_note, style};
use super::plan::built_store;
use super::{files, question, report, runs};

pub struct TuneRequest<'a> {
    pub store: &'a StoreDef,
    pub question: &'a Question,
    pub budget: Duration,
    pub seed: u64,
    /// Whether the terminal shows the code in Python.
    pub in_python: bool,
    pub directory: Option<&'a Path>,
    pub out: &'a Path,
}

pub fn tune(stores: &[StoreDef], extras: Extras, args: &TuneArgs) -> Result<Exit> {
    let store = built_store(stores, &args.store)?;
    let earlier = runs::read_all(args.from.as_slice(), &args.answer.out)?;
    let question = Question {
        max_memory_bytes: args.memory.map(|limit| limit.0),
        stores: Some(vec![args.store.clone()]),
        ..question::question(&args.work, &earlier, extras)?
    };
    if let Some(path) = &args.answer.html {
        files::check_page_path(path)?;
    }
    let pages: Vec<PathBuf> = args.answer.html.iter().cloned().collect();
    let request = TuneRequest {
        store,
        question: &question,
        budget: args.budget.0,
        seed: args.answer.seed,
        in_python: args.answer.code.is_some(),
        directory: args.answer.at.as_deref(),
        out: &args.answer.out,
    };
    if args.from.is_some() {
        let folder = args.from.as_deref().unwrap_or(Path::new("RUN"));
        show(stores, &request, (&earlier, folder), &pages)?;
        return Ok(Exit::Success);
    }
    measure(stores, &request, &pages)
}

/// Measures, and shows the result; `pages` are written in addition to the one in the folder of the results.
pub fn measure(stores: &[StoreDef], request: &TuneRequest<'_>, pages: &[PathBuf]) -> Result<Exit> {
    let store = request.store;
    if request.store.settings.iter().all(|setting| setting.tune.is_empty()) {
        let message =
            format!("{} has no settings that are worth a trial: storebench settings lists all", store.name);
        return Err(Error::new(Exit::Nothing, message));
    }
    let mut campaign = TuneCampaign::new(stores, request)?;
    let interrupted = campaign.measure()?;
    let stages = &campaign.stages;
    if interrupted {
        stages.print_interrupted();
        return Ok(Exit::Interrupted);
    }
    let folder_page = files::page_in(&stages.folder)?;
    let pages: Vec<PathBuf> = std::iter::once(folder_page).chain(pages.iter().cloned()).collect();
    show(stores, request, (&stages.runs, &stages.folder), &pages)?;
    print_note(&format!("to show this again: --from {}", stages.folder.display()));
    Ok(Exit::Success)
}

/// Shows how to get the code in the other language, from the runs in this folder.
pub fn print_other_language(store: &StoreDef, in_python: bool, folder: &Path) {
    match (in_python, store.python) {
        (true, _) => print_note("\nthe code in the engine's own language: leave out --code"),
        (false, Some(_)) => {
            print_note(&format!("\nthe code in Python: --from {} --code python", folder.display()))
        }
        (false, None) => {}
    }
}

/// Prints the answer from the runs in a folder, and writes it to pages.
fn show(
    stores: &[StoreDef],
    request: &TuneRequest<'_>,
    (runs, folder): (&[Run], &Path),
    pages: &[PathBuf],
) -> Result<()> {
    let TuneRequest { store, question, in_python, .. } = *request;
    let merged = Merged::new(runs, stores);
    let tuned = TunedSettings::from_runs(question, &merged, store).map_err(|why| no_answer_error(&why))?;
    let (version, settings) = (&tuned.store.1, tuned.settings());
    let code = snippet::code_in_one(store, version, settings, in_python);
    print(&tuned.text(code.as_deref(), style()))?;
    print_other_language(store, in_python, folder);
    let lead = tuned.lead(snippet::code(store, version, settings).as_deref());
    for page in pages {
        report::page(&Report::new(&merged), Some(&lead), page)?;
        if !files::is_standard_output(page) {
            print_note(&format!("\nthe answer with all its figures: open {} in a browser", page.display()));
        }
    }
    Ok(())
}

fn no_answer_error(why: &NoAnswer) -> Error {
    Error::new(Exit::Nothing, format!("there is no answer: {why}"))
}
