//! A comparison as JSON, complete.

use std::io::{self, Write};

use serde::Serialize;
use storebench_figures::stats::unpaired::LEVEL;
use storebench_model::result::FORMAT_VERSION;

use super::{Comparison, Side};

#[derive(Serialize)]
struct Document<'a> {
    format: u32,
    storebench: &'static str,
    base: Vec<RunName<'a>>,
    new: Vec<RunName<'a>>,
    level: f64,
    correction: &'static str,
    #[serde(flatten)]
    comparison: &'a Comparison<'a>,
}

/// Enough to find a run again.
#[derive(Serialize)]
struct RunName<'a> {
    name: &'a str,
    hardware: &'a str,
    study: &'a str,
    started: &'a str,
    storebench: &'a str,
}

fn names<'a>(side: &Side<'a>) -> Vec<RunName<'a>> {
    let name = |(name, run): (&'a String, &'a storebench_host::run::Run)| RunName {
        name,
        hardware: &run.header.hardware,
        study: &run.header.study,
        started: &run.header.started,
        storebench: &run.header.storebench,
    };
    side.names.iter().zip(side.runs).map(name).collect()
}

/// Writes one JSON document; docs/compare.md describes its fields.
pub fn write(comparison: &Comparison<'_>, out: &mut dyn Write) -> io::Result<()> {
    let document = Document {
        format: FORMAT_VERSION,
        storebench: env!("CARGO_PKG_VERSION"),
        base: names(&comparison.base),
        new: names(&comparison.new),
        level: LEVEL,
        correction: "holm",
        comparison,
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    out.write_all(b"\n")
}
