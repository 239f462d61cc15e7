//! A plan in parts, on several machines. What is merged: cases/merging.txt.

mod files;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use storebench::STORES;
use storebench_figures::layout::Layout;
use storebench_host::folder;
use storebench_host::plan::{self, Plan};
use storebench_host::run::Run;
use storebench_host::schedule::{self, LocationRoom};
use storebench_host::shard::Split;
use storebench_model::cell::Axis;
use storebench_model::error::Exit;

use crate::cli::support::Scratch;

/// Four positions, at each of which three stores meet under two guarantees, of which each offers one or both.
const PLAN: &str = "run crud --store memory,one-file,flat-folder --records 20,30 --record-size 1B..1KiB,1KiB..2KiB \
    --data incompressible --guarantee none,process --operations 5 --trials 2 --timeout 10m --hardware box";
const BLOCKS: u32 = 2;

fn only_run_in(out: &Path) -> PathBuf {
    let folders = fs::read_dir(out).unwrap().map(|entry| entry.unwrap().path());
    let [run] = folders.filter(|path| path.join("run.json").exists()).collect::<Vec<_>>().try_into().unwrap();
    run
}

fn read(path: &Path) -> Run {
    folder::read(path).unwrap()
}

#[test]
fn all_that_meets_in_a_report_is_in_one_part() {
    let scratch = Scratch::in_memory();
    scratch.storebench(&format!("{PLAN} --shard 1/5")).ends(Exit::Success);
    let sample = scratch.results();
    let mut plans: Vec<Plan> = plan::STUDIES.iter().map(|study| plan::find(study.name).unwrap()).collect();
    let mut transposed = plan::find("crud").unwrap();
    (transposed.compare, transposed.rows) = (vec![Axis::DATA], vec![Axis::STORE]);
    plans.push(transposed);
    for plan in plans {
        let rooms = [LocationRoom::unbounded("here"), LocationRoom::unbounded("ssd")];
        let split = Split::new(&plan, STORES, &rooms, 7).unwrap();
        let (cells, _) = schedule::cells(&plan, STORES, &rooms, &|_| None).unwrap();
        let mut sample = sample.clone();
        sample.header.plan = plan.to_toml().unwrap();
        let layout = Layout::from_runs([&sample]);
        let mut parts: BTreeMap<String, BTreeSet<Option<u32>>> = BTreeMap::new();
        for cell in &cells {
            parts.entry(layout.position(cell).to_string()).or_default().insert(split.part_of(cell));
        }
        let split_positions: Vec<_> = parts.iter().filter(|(_, parts)| parts.len() > 1).collect();
        assert!(split_positions.is_empty(), "{}: {split_positions:?}", plan.name);
    }
}
