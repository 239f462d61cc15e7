//! JSON with everything: the runs as they were written down, and what is computed from them: the matrices and the slow-downs, with
//! intervals.

use std::io::{self, Write};

use serde::Serialize;
use storebench_core::result::{FORMAT_VERSION, RunHeader, TrialResult};

use crate::data::effects::{Effects, effects};
use crate::data::findings::{self, StudyDocument};
use crate::data::matrix::{Matrix, matrices};
use crate::data::merge::Merged;
use crate::data::published::{self, BesideDocument};
use crate::data::sizes::{Sizes, sizes};
use crate::data::slowdown::{Slowdowns, slowdowns};

#[derive(Serialize)]
struct Document<'a> {
    format: u32,
    runs: Vec<RunDocument<'a>>,
    matrices: Vec<Matrix>,
    slowdowns: Vec<Slowdowns>,
    effects: Vec<Effects>,
    sizes: Vec<Sizes>,
    findings: Vec<StudyDocument<'a>>,
    published: Vec<BesideDocument<'a>>,
}

#[derive(Serialize)]
struct RunDocument<'a> {
    header: &'a RunHeader,
    trials: &'a [TrialResult],
}

/// Writes one JSON document.
///
/// # Errors
/// What the writer gives.
pub fn write(merged: &Merged<'_>, out: &mut dyn Write) -> io::Result<()> {
    let runs = merged.runs.iter().map(|run| RunDocument { header: &run.header, trials: &run.trials });
    let studies = findings::check(merged);
    let tables = published::beside(merged, None);
    let document = Document {
        format: FORMAT_VERSION,
        runs: runs.collect(),
        matrices: matrices(merged),
        slowdowns: slowdowns(merged),
        effects: effects(merged),
        sizes: sizes(merged),
        findings: findings::documents(merged, &studies),
        published: published::documents(merged, &tables),
    };
    serde_json::to_writer(&mut *out, &document)?;
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::samples;

    #[test]
    fn runs_come_back_and_matrices_carry_intervals() {
        let runs = [samples::study()];
        let mut out = Vec::new();
        write(&Merged::new(&runs, &["null"]), &mut out).unwrap();
        let document: serde_json::Value = serde_json::from_slice(&out).unwrap();
        let trials = serde_json::to_vec(&runs[0].trials).unwrap();
        let trials: serde_json::Value = serde_json::from_slice(&trials).unwrap();
        assert!(document["runs"][0]["trials"] == trials);
        let row = &document["matrices"][0]["rows"][0];
        assert_eq!(
            (&row["name"], &row["column"], &row["unit"]),
            (&"insert".into(), &"latency_mean".into(), &"ns".into())
        );
        let best = &row["contests"][0]["contenders"][0]["figure"]["mean"];
        assert!(best["interval"]["low"].as_f64().unwrap() < best["value"].as_f64().unwrap());
    }
}
