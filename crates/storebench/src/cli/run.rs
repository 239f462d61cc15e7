//! `storebench run`: from the command line to a run folder, and at its end the table of winners.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use storebench_core::cell::{Axis, Cell};
use storebench_core::error::{Error, Exit, Result, meant};
use storebench_core::folder::{Resumed, RunFolder};
use storebench_core::machine::Core;
use storebench_core::place::{Place, image};
use storebench_core::plan::{self, Plan, Source};
use storebench_core::record::pool::Pool;
use storebench_core::result::PlaceInfo;
use storebench_core::runner::event::Listener;
use storebench_core::runner::parent::Ended;
use storebench_core::runner::progress;
use storebench_core::runner::rehearsal::{self, Extent, Refused, Rehearsal};
use storebench_core::schedule::{self, Room};
use storebench_core::shown::{self, quoted};
use storebench_core::store::StoreDef;
use storebench_core::units::Sizes;
use storebench_core::workload::crud::work::{self, Work};
use storebench_report::report::Report;
use storebench_report::{claims, terminal};

use super::args::RunArgs;
use super::launch::{self, Launch, Places, go_on};
use super::properties::Texts;
use super::{dry_run, export, files, given, print, properties, remote, report, runs, signals, tell, trace};

/// Settings that fail, which are told one by one.
const TOLD: usize = 10;

/// Runs a study, or resumes a run.
pub fn run(stores: &[StoreDef], args: &RunArgs) -> Result<Exit> {
    let interrupted = signals::listen()?;
    args.properties.ycsb.as_deref().map_or(Ok(()), files::can_write_new)?;
    let (path, ended) = match (&args.board.remote, &args.resume) {
        (Some(host), _) => return remote::run(stores, args, host, &interrupted),
        (None, Some(name)) => resume(stores, &runs::find(name, &args.out)?, &interrupted)?,
        (None, None) => match start(stores, args, &interrupted)? {
            Started::Ran(path, ended) => (path, ended),
            Started::Not(exit) => return Ok(exit),
        },
    };
    let resume_with = go_on(&path);
    finish(stores, &path, ended, args.properties.ycsb.as_deref(), &resume_with)
}

/// What came of a run that was to be started.
enum Started {
    /// It has ended; its folder, and how.
    Ran(PathBuf, Ended),
    /// There was none; how the program ends.
    Not(Exit),
}

fn start(stores: &[StoreDef], args: &RunArgs, interrupted: &AtomicBool) -> Result<Started> {
    let texts = properties::texts(&args.properties)?;
    let asked = Wanted { args, source: plan::source(args.study())?, texts: &texts, out: &args.out };
    let new_directory = !args.out.exists();
    begin(stores, &asked, interrupted, |launch| {
        let prepared = prepare(&launch, args.dry_run, interrupted);
        if !matches!(prepared, Ok(Prepared::Ready)) {
            if new_directory {
                // It holds nothing; where it does after all, it stays.
                let _ = std::fs::remove_dir(&args.out);
            }
            return match prepared? {
                Prepared::Listed(text) => print(&text).map(|()| Started::Not(Exit::Success)),
                Prepared::Ready | Prepared::Interrupted => Ok(Started::Not(Exit::Interrupted)),
            };
        }
        let folder = launch.folder(&args.out, &launch::dated(&format!("{}-", launch.plan.name)))?;
        let (path, ended) = launch.complete(&[], folder, progress::listener().as_mut(), interrupted)?;
        Ok(Started::Ran(path, ended))
    })
}

/// A run that is asked for, here or by another machine.
pub(super) struct Wanted<'a> {
    pub args: &'a RunArgs,
    pub source: Source,
    /// The texts of its property files.
    pub texts: &'a Texts,
    /// Where its folder is to be made.
    pub out: &'a Path,
}

/// Hands on what a run begins with: its plan, its places, its cells.
///
/// # Errors
/// When the plan makes no sense or its places can't be used; what `go` says.
pub(super) fn begin<T>(
    stores: &[StoreDef],
    Wanted { args, source, texts, out }: &Wanted<'_>,
    interrupted: &AtomicBool,
    go: impl FnOnce(Launch<'_>) -> Result<T>,
) -> Result<T> {
    let mut plan = plan(stores, args, source, texts)?;
    trace::look(&mut plan, interrupted)?;
    runs::make_directory("making the runs' directory", out)?;
    let places = launch::places(&plan, &launch::directories(&args.at, out)?)?;
    go(Launch::new(stores, &plan, &places, args.hardware.as_deref())?)
}

/// The plan that the command line asks for, from the texts of its study and of its property files.
///
/// # Errors
/// When it makes no sense, or asks for what this build lacks.
fn plan(stores: &[StoreDef], args: &RunArgs, source: &Source, texts: &Texts) -> Result<Plan> {
    let mut plan = source.plan()?;
    check_claims(stores, &plan, source)?;
    let preset = args.preset.as_deref().or(args.quick.then_some("quick"));
    if let Some(preset) = preset {
        plan.apply_preset(preset)?;
    }
    if let Some(changes) = properties::changes(&args.properties, texts, &plan)? {
        plan.apply(changes)?;
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

/// What has come before a run, or in its place.
pub(super) enum Prepared {
    /// The run can begin.
    Ready,
    /// What would run is asked for, and this is it.
    Listed(String),
    /// The user has interrupted it.
    Interrupted,
}

/// Does what comes before a run, or in its place.
///
/// # Errors
/// When a setting makes all trials fail.
pub(super) fn prepare(launch: &Launch<'_>, dry_run: bool, interrupted: &AtomicBool) -> Result<Prepared> {
    let learns = launch.plan.workload.def().time_by_rehearsal.is_some();
    let extent = if dry_run && learns { Extent::EachCell } else { Extent::EachSetting };
    let Some(rehearsal) = rehearsal::rehearse(&launch.job(interrupted), extent)? else {
        return Ok(Prepared::Interrupted);
    };
    check_rehearsal(&rehearsal)?;
    if !dry_run {
        return Ok(Prepared::Ready);
    }
    let text = dry_run::text(launch, &rehearsal, interrupted)?;
    Ok(text.map_or(Prepared::Interrupted, Prepared::Listed))
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

fn resume(stores: &[StoreDef], path: &Path, interrupted: &AtomicBool) -> Result<(PathBuf, Ended)> {
    let resumed = RunFolder::resume(path)?;
    runs::tell_notes(&resumed.notes);
    if let Some(host) = remote::host_of(&resumed.run.header) {
        let message = format!(
            "{} is a run on {}: resume it there, with --remote {}",
            path.display(),
            shown::piece(&host),
            shown::piece(&host)
        );
        return Err(Error::bad_value(message));
    }
    go_on_with(stores, resumed, progress::listener().as_mut(), interrupted)
}

/// Runs what is left of a run, with the plan that it started with.
///
/// # Errors
/// When the engines are others by now, or its places have gone; those of the run.
pub(super) fn go_on_with(
    stores: &[StoreDef],
    Resumed { folder, run, .. }: Resumed,
    listener: &mut dyn Listener,
    interrupted: &AtomicBool,
) -> Result<(PathBuf, Ended)> {
    let path = folder.path();
    let origin = path.join("run.json").display().to_string();
    let plan = Plan::parse(&run.header.plan, &origin)?;
    claims::of_plan(&run.header.plan, &origin)?;
    if launch::store_infos(stores, &plan) != run.header.stores {
        let message =
            format!("{} was started with other versions of the stores: start a new run", path.display());
        return Err(Error::new(Exit::OtherVersion, message));
    }
    trace::check_same(&plan)?;
    let places: Places = run.header.places.iter().map(place_of).collect();
    for place in places.values() {
        launch::clean(&runs::directory("using the place of the run", place.directory())?)?;
    }
    run.header.places.iter().try_for_each(check_driver)?;
    // What it left out is decided already, whatever is free now.
    let everywhere: Vec<Room> = run.header.places.iter().map(|place| Room::unbounded(&place.name)).collect();
    let (all, _) = schedule::cells(&plan, stores, &everywhere, &|_| None)
        .map_err(|message| Error::new(Exit::BadPlan, message))?;
    let left_out: std::collections::HashSet<_> = run.header.left_out.iter().map(|left| &left.cell).collect();
    let cells: Vec<Cell> = all.into_iter().filter(|cell| !left_out.contains(cell)).collect();
    let header = run.header.clone();
    let launch = Launch { plan: &plan, stores, places: &places, header, cells, left_out: Vec::new() };
    launch.complete(&run.trials, folder, listener, interrupted)
}

/// That a file system is mounted by the same driver as before: one run is one method.
fn check_driver(info: &PlaceInfo) -> Result<()> {
    let (Some(file_system), Some(driver)) = (&info.image, &info.driver) else { return Ok(()) };
    let now = match image::try_out(Path::new(&info.path), file_system) {
        Ok(tried) if tried.driver == *driver => return Ok(()),
        Ok(tried) => format!("is mounted by {} now", tried.driver),
        Err(reason) => format!("can't be had now: {reason}"),
    };
    let message =
        format!("the run's {file_system} was mounted by {driver}, and {now}: resume it as it was started");
    Err(Error::new(Exit::OtherVersion, message))
}

/// A place as the run had it.
fn place_of(info: &PlaceInfo) -> (String, Place) {
    let directory = PathBuf::from(&info.path);
    let place = match &info.image {
        Some(file_system) => Place::Image { within: directory, file_system: file_system.clone() },
        None => Place::Directory(directory),
    };
    (info.name.clone(), place)
}

/// Prints the table of winners, writes YCSB's text where it is asked for, and says what was written, and with which command an
/// interrupted run is resumed.
pub(super) fn finish(
    stores: &[StoreDef],
    path: &Path,
    ended: Ended,
    ycsb: Option<&Path>,
    resume_with: &str,
) -> Result<Exit> {
    let shown = path.display();
    let run = storebench_core::folder::read(path)?;
    let harness = report::harness(stores);
    let merged = report::of_run(stores, &harness, &run, path)?;
    let report = Report::new(&merged);
    if !ended.interrupted {
        print(&terminal::brief(&report, report::style()))?;
    }
    if !run.trials.is_empty() {
        let page = path.join("report.html");
        match report::page(&report, None, &page) {
            Ok(()) => tell(&format!("\nthe report: open {} in a browser", page.display())),
            // The results are safe, and the page can be made from them again.
            Err(error) => tell(&format!("\nthe report could not be written: {error}")),
        }
    }
    if let Some(text) = ycsb.filter(|_| !ended.interrupted) {
        export::ycsb_file(&run, text)?;
        tell(&format!("written: {}", text.display()));
    }
    tell(&format!(
        "\nwritten: {shown}/run.json (the plan and the machine), {shown}/results.jsonl (every trial)"
    ));
    if ended.failed > 0 {
        let trials = if ended.failed == 1 { "trial" } else { "trials" };
        tell(&format!("{} {trials} failed; the logs are in {shown}/logs", ended.failed));
    }
    if ended.interrupted {
        tell(&format!("interrupted; finished results are kept. Resume with: {resume_with}"));
        return Ok(Exit::Interrupted);
    }
    tell(&format!("every figure: storebench report {shown} --table"));
    Ok(if ended.failed > 0 { Exit::TrialsFailed } else { Exit::Success })
}
