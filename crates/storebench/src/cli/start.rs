//! Starts a run, here or on a board: from the plan through its places and cells to its first trial.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use storebench_host::plan::PlanSource;
use storebench_host::shard::Shard;
use storebench_model::axis::Axis;
use storebench_model::axis::file_system::kind::WITHOUT_ROOT;
use storebench_model::error::Result;
use storebench_model::store::StoreDef;

use super::args::RunArgs;
use super::launch::{self, Launch};
use super::output::print_note;
use super::plan::plan;
use super::prepare::{StartOutcome, prepare};
use super::properties::Texts;
use super::remote::host::AdbServer;
use super::{reachability, runs, trace};

pub struct Start<'a> {
    pub args: &'a RunArgs,
    pub source: PlanSource,
    pub texts: &'a Texts,
    pub out: &'a Path,
}

/// Starts a run: from the plan through its places and cells to `run`, which makes its folder and carries it out.
pub fn start<T>(
    stores: &[StoreDef],
    parameters: &Start<'_>,
    interrupted: &AtomicBool,
    run: impl FnOnce(Launch<'_>) -> Result<T>,
) -> Result<StartOutcome<T>> {
    let Start { args, source, texts, out } = parameters;
    let mut plan = plan(stores, args, source, texts)?;
    reachability::check_servers(stores, &plan)?;
    let _server = AdbServer::start_for(plan.clients.iter().map(String::as_str));
    reachability::check_clients(&plan, interrupted)?;
    trace::read_trace(&mut plan, interrupted)?;
    let new_directory = !out.exists();
    runs::make_directory("making the runs' directory", out)?;
    let directories = launch::directories(&args.at, out)?;
    if launch::select_file_system(&mut plan, &directories) {
        print_note(&format!(
            "without root, the file system is {WITHOUT_ROOT} (--place {WITHOUT_ROOT}), not ext4"
        ));
    }
    let places = launch::places(&plan, &directories)?;
    let mut launch = Launch::new(stores, &plan, &places, args.hardware.as_deref())?;
    // The user's own plan stays, and parts of a plan have the same combinations on every machine.
    let is_ours = source.is_shipped() && args.shard.is_none();
    while is_ours && let Some(fewer) = plan.with_fewer_records(&launch.header.left_out) {
        plan = fewer;
        launch = Launch::new(stores, &plan, &places, args.hardware.as_deref())?;
    }
    if plan.fewer_records {
        print_note(&format!(
            "records: {}, as more do not fit here",
            plan.axes.texts(Axis::RECORDS).join(", ")
        ));
    }
    launch.header.preset = args.preset().map(str::to_owned);
    if let Some(Shard { part, of }) = args.shard {
        let split = launch.split(of)?;
        launch = launch.only_part(&split, part);
    }
    let prepared = prepare(&launch, args.dry_run, interrupted);
    if matches!(prepared, Ok(StartOutcome::Ran(()))) {
        return run(launch).map(StartOutcome::Ran);
    }
    if new_directory {
        // It is empty; otherwise it stays.
        let _ = std::fs::remove_dir(out);
    }
    Ok(match prepared? {
        StartOutcome::Listed(text, error) => StartOutcome::Listed(text, error),
        StartOutcome::Ran(()) | StartOutcome::Interrupted => StartOutcome::Interrupted,
    })
}
