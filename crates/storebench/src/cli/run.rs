//! `storebench run`: from the command line to a run folder, and at its end the table of winners.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use storebench_core::cell::{Axis, Cell};
use storebench_core::error::{Error, Exit, Result, meant};
use storebench_core::folder::{Resumed, RunFolder};
use storebench_core::machine::Core;
use storebench_core::plan::{self, Plan, Source};
use storebench_core::record::pool::Pool;
use storebench_core::runner::parent::Ended;
use storebench_core::runner::rehearsal::{self, Extent, Refused, Rehearsal};
use storebench_core::schedule::{self, Room};
use storebench_core::shown::quoted;
use storebench_core::store::StoreDef;
use storebench_core::units::Sizes;
use storebench_core::workload::crud::work::{self, Work};
use storebench_report::claims;

use super::args::RunArgs;
use super::launch::{self, Launch, Places, go_on};
use super::{dry_run, given, print, report, runs, signals, tell, trace};

/// Settings that fail, which are told one by one.
const TOLD: usize = 10;

/// Runs a study, or resumes a run.
pub fn run(stores: &[StoreDef], args: &RunArgs) -> Result<Exit> {
    let interrupted = signals::listen()?;
    match &args.resume {
        Some(name) => resume(stores, &runs::find(name, &args.out)?, &interrupted),
        None => start(stores, args, &interrupted),
    }
}

fn start(stores: &[StoreDef], args: &RunArgs, interrupted: &AtomicBool) -> Result<Exit> {
    let mut plan = plan(stores, args)?;
    trace::look(&mut plan, interrupted)?;
    let new_directory = !args.out.exists();
    runs::make_directory("making the runs' directory", &args.out)?;
    let places = launch::places(&args.at, &args.out)?;
    let launch = Launch::new(stores, &plan, &places, args.hardware.as_deref())?;
    let ended = prepare(&launch, args.dry_run, interrupted);
    if !matches!(ended, Ok(None)) {
        if new_directory {
            // It holds nothing; where it does after all, it stays.
            let _ = std::fs::remove_dir(&args.out);
        }
        return ended.map(|exit| exit.unwrap_or(Exit::Success));
    }
    let folder = launch.folder(&args.out, &launch::dated(&format!("{}-", plan.name)))?;
    let (path, ended) = launch.carry_out_precisely(&[], folder, interrupted)?;
    finish(stores, &path, ended)
}

/// The plan that the command line asks for.
fn plan(stores: &[StoreDef], args: &RunArgs) -> Result<Plan> {
    let name = args.study.as_deref().unwrap_or_default();
    let source = plan::source(name)?;
    let mut plan = source.plan()?;
    check_claims(stores, &plan, &source)?;
    let preset = args.preset.as_deref().or(args.quick.then_some("quick"));
    if let Some(preset) = preset {
        plan.apply_preset(preset)?;
    }
    let changes = args.changes();
    let named = changes.axes.names(Axis::STORE);
    plan.apply(changes)?;
    for store in &plan.axes.texts(Axis::STORE) {
        check_store(stores, store, named)?;
    }
    check_settings(stores, &plan)?;
    given::as_engines_read(stores, &mut plan)?;
    plan.settle_machines(Core::here);
    if let Some(text) = Work::of(&plan.parameters).text {
        let text = runs::directory("using the text in", &text)?;
        let shown = text
            .to_str()
            .ok_or_else(|| Error::bad_value(format!("{}: its name is not UTF-8", text.display())))?;
        plan.parameters.set(&work::TEXT, shown).map_err(Error::bad_value)?;
        for sizes in plan.axes.list::<Sizes>(Axis::RECORD_SIZE) {
            Pool::from_directory(&text, sizes.span()).map_err(Error::bad_value)?;
        }
    }
    Ok(plan)
}

/// Does what comes before a run, or in its place; how the program ends where it ends with that.
fn prepare(launch: &Launch<'_>, dry_run: bool, interrupted: &AtomicBool) -> Result<Option<Exit>> {
    let learns = launch.plan.workload.def().time_by_rehearsal.is_some();
    let extent = if dry_run && learns { Extent::EachCell } else { Extent::EachSetting };
    let Some(rehearsal) = rehearsal::rehearse(&launch.job(interrupted), extent)? else {
        return Ok(Some(Exit::Interrupted));
    };
    check_rehearsal(&rehearsal)?;
    if dry_run { dry_run::show(launch, &rehearsal, interrupted).map(Some) } else { Ok(None) }
}

/// Each value of each setting was tried in a short trial.
///
/// # Errors
/// [`Exit::BadValue`] when no trial can succeed with one of them.
fn check_rehearsal(rehearsal: &Rehearsal) -> Result<()> {
    let refused = &rehearsal.refused;
    if refused.is_empty() {
        return Ok(());
    }
    let one = |Refused { what, why }: &Refused| format!("{what} fails: {why}");
    if let [only] = refused.as_slice() {
        return Err(Error::bad_value(one(only)));
    }
    refused.iter().take(TOLD).for_each(|refused| tell(&one(refused)));
    let more = refused.len().saturating_sub(TOLD);
    let more = if more == 0 { String::new() } else { format!(", {more} of them not shown") };
    Err(Error::bad_value(format!("{} settings are refused{more}", refused.len())))
}

/// A plan's claims must make sense, and the stores that they name must be known, or be among its own.
fn check_claims(stores: &[StoreDef], plan: &Plan, Source { text, origin }: &Source) -> Result<()> {
    let known: Vec<&str> = stores.iter().map(|store| store.name).collect();
    claims::check(&claims::of_plan(text, origin)?, plan, &known, origin)
}

/// A store that nobody knows is an error; one that this build lacks is an error when it was asked for by name.
pub(super) fn check_store(stores: &[StoreDef], name: &str, named: bool) -> Result<()> {
    let known = stores.iter().map(|store| store.name);
    match stores.iter().find(|store| store.name == name) {
        Some(StoreDef { open: Err(why), .. }) if named => {
            Err(Error::new(Exit::UnknownStore, format!("the store {name} is not built: {why}")))
        }
        Some(_) => Ok(()),
        None => {
            let hint = meant(name, known.clone())
                .map(|meant| format!(" (did you mean {meant}?)"))
                .unwrap_or_default();
            let known: Vec<_> = known.collect();
            let message = format!("there is no store {}{hint}; there are {}", quoted(name), known.join(", "));
            Err(Error::new(Exit::UnknownStore, message))
        }
    }
}

/// A setting must be one that its store takes; one that is swept, of a store that takes part.
fn check_settings(stores: &[StoreDef], plan: &Plan) -> Result<()> {
    for (store, settings) in &plan.settings {
        settings.keys().try_for_each(|setting| check_setting(stores, store, setting))?;
    }
    let taking_part = plan.axes.texts(Axis::STORE);
    for (store, setting) in plan.axes.settings().filter_map(|(axis, _)| axis.setting()) {
        check_setting(stores, store, setting)?;
        if !taking_part.iter().any(|name| name == store) {
            return Err(Error::bad_value(format!(
                "{store}.{setting} has several values, and {store} takes no part: --store {store}"
            )));
        }
    }
    Ok(())
}

fn check_setting(stores: &[StoreDef], store: &str, setting: &str) -> Result<()> {
    check_store(stores, store, true)?;
    let of_store = stores.iter().filter(|known| known.name == store);
    let known: Vec<_> = of_store.flat_map(|store| store.settings).map(|known| known.name).collect();
    if known.contains(&setting) {
        return Ok(());
    }
    let hint = meant(setting, known.iter().copied()).map(|meant| format!(" (did you mean {meant}?)"));
    let list = if known.is_empty() { "none".into() } else { known.join(", ") };
    let (setting, hint) = (quoted(setting), hint.unwrap_or_default());
    Err(Error::bad_value(format!("{store} has no setting {setting}{hint}; it takes {list}")))
}

fn resume(stores: &[StoreDef], path: &Path, interrupted: &AtomicBool) -> Result<Exit> {
    let Resumed { folder, run, notes } = RunFolder::resume(path)?;
    runs::tell_notes(&notes);
    let origin = path.join("run.json").display().to_string();
    let plan = Plan::parse(&run.header.plan, &origin)?;
    claims::of_plan(&run.header.plan, &origin)?;
    if launch::store_infos(stores, &plan) != run.header.stores {
        let message =
            format!("{} was started with other versions of the stores: start a new run", path.display());
        return Err(Error::new(Exit::OtherVersion, message));
    }
    trace::check_same(&plan)?;
    let places: Places =
        run.header.places.iter().map(|place| (place.name.clone(), PathBuf::from(&place.path))).collect();
    for place in places.values() {
        launch::clean(&runs::directory("using the place of the run", place)?)?;
    }
    // What it left out is decided already, whatever is free now.
    let everywhere: Vec<Room> = run.header.places.iter().map(|place| Room::unbounded(&place.name)).collect();
    let (all, _) = schedule::cells(&plan, stores, &everywhere, &|_| None)
        .map_err(|message| Error::new(Exit::BadPlan, message))?;
    let left_out: std::collections::HashSet<_> = run.header.left_out.iter().map(|left| &left.cell).collect();
    let cells: Vec<Cell> = all.into_iter().filter(|cell| !left_out.contains(cell)).collect();
    let header = run.header.clone();
    let launch = Launch { plan: &plan, stores, places: &places, header, cells, left_out: Vec::new() };
    let (path, ended) = launch.carry_out_precisely(&run.trials, folder, interrupted)?;
    finish(stores, &path, ended)
}

/// Prints the table of winners and says what was written.
fn finish(stores: &[StoreDef], path: &Path, ended: Ended) -> Result<Exit> {
    let shown = path.display();
    let run = storebench_core::folder::read(path)?;
    if !ended.interrupted {
        print(&report::winners(stores, &run, path)?)?;
    }
    if !run.trials.is_empty() {
        match report::run_page(stores, &run, path) {
            Ok(page) => tell(&format!("\nthe report: open {} in a browser", page.display())),
            // The results are safe, and the page can be made from them again.
            Err(error) => tell(&format!("\nthe report could not be written: {error}")),
        }
    }
    tell(&format!(
        "\nwritten: {shown}/run.json (the plan and the machine), {shown}/results.jsonl (every trial)"
    ));
    if ended.failed > 0 {
        let trials = if ended.failed == 1 { "trial" } else { "trials" };
        tell(&format!("{} {trials} failed; the logs are in {shown}/logs", ended.failed));
    }
    if ended.interrupted {
        tell(&format!("interrupted; finished results are kept. Resume with: {}", go_on(path)));
        return Ok(Exit::Interrupted);
    }
    tell(&format!("every figure: storebench report {shown} --table"));
    Ok(if ended.failed > 0 { Exit::TrialsFailed } else { Exit::Success })
}
