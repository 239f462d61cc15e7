//! The cost of the HTML report of a large run: makes up a run, and prints how long the page took and how large it is.
//!
//! usage: cargo run --release -p storebench-report --example html_report [-- CELLS [FOLDER]]
//!
//! The run is written to FOLDER, which is made, so that `storebench report FOLDER --html` can be timed as a whole.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program for developers, whose input is made up"
)]

use std::fs;
use std::path::Path;
use std::time::Instant;

use storebench_core::measure::process;
use storebench_core::result::Run;
use storebench_report::data::merge::Merged;
use storebench_report::report::Report;
use storebench_report::{claims, page, published};

#[path = "../../src/data/samples.rs"]
#[allow(dead_code, missing_docs, reason = "the tests use the rest")]
mod samples;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let cells = arguments.next().map_or(10_000, |text| text.parse().unwrap());
    let runs = [samples::many(cells)];
    let (began, worked_before) = (Instant::now(), cpu_s());
    let claims = claims::of_run("crud", "", "crud").unwrap().into_iter().collect();
    let merged = Merged::new(&runs, &[]).with_published(claims, published::tables("crud").unwrap());
    let mut bytes = Vec::new();
    page::write(&Report::new(&merged), None, &mut bytes).unwrap();
    let took = began.elapsed().as_secs_f64();
    let worked = cpu_s() - worked_before;
    println!(
        "{cells} cells: {took:.2} s ({worked:.2} s of processor time), {:.2} MB",
        bytes.len() as f64 / 1e6
    );
    if let Some(folder) = arguments.next() {
        write(&runs[0], Path::new(&folder));
    }
}

/// Writes a run as `storebench run` would, without a sync for each result.
fn write(run: &Run, folder: &Path) {
    fs::create_dir(folder).unwrap();
    fs::write(folder.join("run.json"), serde_json::to_vec_pretty(&run.header).unwrap()).unwrap();
    let lines = run.trials.iter().map(|trial| serde_json::to_string(trial).unwrap() + "\n");
    fs::write(folder.join("results.jsonl"), lines.collect::<String>()).unwrap();
}

/// Processor time of all threads so far, which a busy machine changes less than the time that passes.
fn cpu_s() -> f64 {
    let cpu = process::cpu();
    (cpu.user_ns + cpu.system_ns) as f64 / 1e9
}
