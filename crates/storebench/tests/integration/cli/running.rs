//! Runs that go well: what is run, what it leaves, and that it is the same every time.

use std::collections::BTreeSet;
use std::fs;

use storebench::STORES;
use storebench_core::error::Exit;
use storebench_core::store::{Guarantee, StoreKind};

use super::support::{Scratch, TINY, assert_complete, faulty, outcomes, said};

/// The store that no study has unless it is named: most cells are too large for it.
const NAMED_ALONE: &str = "one-file";

#[test]
fn every_store_runs_at_every_guarantee_that_it_offers() {
    let scratch = Scratch::in_memory();
    let arguments = TINY.replace("--guarantee process", "--guarantee process,power,default");
    let said = scratch.storebench(&format!("run crud {arguments}")).ends(Exit::Success);
    let run = scratch.results();
    let built = || STORES.iter().filter(|store| store.runs_by_default() && store.name != NAMED_ALONE);
    let wanted = [Some(Guarantee::Process), Some(Guarantee::Power), None];
    let cells = built().flat_map(|store| wanted.map(|tier| store.resolve(tier))).flatten().count();
    assert_complete(&run, cells, 1);
    assert!(outcomes(&run).iter().all(|(_, outcome)| *outcome == "ok"), "{:?}", outcomes(&run));
    for trial in &run.trials {
        let store = STORES.iter().find(|store| store.name == trial.cell.store()).unwrap();
        let measured = trial.ok().unwrap();
        assert_eq!(Some(measured.guarantee), store.resolve(trial.cell.guarantee().tier()), "{}", store.name);
        assert_eq!(measured.store_version, (store.version)());
        // The build of an engine is known of each.
        let build = measured.store_build.as_ref();
        let assertions = build.and_then(|build| build.assertions);
        assert_eq!(assertions.is_some(), store.kind == StoreKind::Engine, "{}: {build:?}", store.name);
        assert_eq!(measured.operations.iter().map(|done| done.count).collect::<Vec<_>>(), [5; 4]);
        assert!(measured.disk.allocated_bytes > 0 && measured.stored.records == 25, "{}", store.name);
        assert!(measured.operations.iter().all(|done| done.latency.min_ns > 0 && done.sum_ns > 0));
    }
    scratch.assert_nothing_left();
    let run = scratch.only_run();
    let name = run.strip_prefix(scratch.path()).unwrap().display().to_string();
    for file in ["run.json", "results.jsonl", "report.html"] {
        assert!(said.err.contains(&format!("{name}/{file}")) && run.join(file).exists(), "{said}");
    }
    assert!(said.err.contains(&format!("storebench report {name} --table")), "{said}");
    let table = scratch.storebench("report latest --table").ends(Exit::Success).out;
    for store in built() {
        assert!(table.contains(store.name), "{} is in no table\n{table}", store.name);
    }
}

#[test]
fn a_dry_run_lists_the_cells_and_leaves_nothing() {
    let scratch = Scratch::in_memory();
    let said = scratch.storebench("run crud --quick --dry-run").ends(Exit::Success);
    assert!(scratch.contents().is_empty(), "{:?}", scratch.contents());
    let ids = cells_of(&said.out);
    let cells: Vec<Vec<&str>> = ids.iter().map(|id| id.split('/').collect()).collect();
    let axis = |position: usize| cells.iter().map(|cell| cell[position]).collect::<BTreeSet<_>>();
    let built = STORES.iter().filter(|store| store.runs_by_default()).map(|store| store.name);
    let built = built.filter(|name| *name != NAMED_ALONE);
    assert_eq!(axis(0), built.collect(), "--quick covers every store");
    let pairs: BTreeSet<(&str, &str)> = cells.iter().map(|cell| (cell[1], cell[2])).collect();
    let expected = [("100B..1KiB", "10000..50000"), ("10KiB..100KiB", "1000..5000")];
    assert_eq!(pairs, expected.into(), "many small records, fewer larger ones");
    assert_eq!(axis(3), BTreeSet::from(["incompressible"]));
    assert_eq!(axis(4), BTreeSet::from(["power", "process"]));
    let further = ["is measured further until 2 min 20 s are over.", "of the budget of 2 min 20 s for"];
    let words = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(further.into_iter().any(|further| words.contains(further)), "{said}");
    let counted = scratch.storebench("run crud --quick --trials 2 --dry-run").ends(Exit::Success);
    assert!(counted.out.contains("each run 2 times") && !counted.out.contains("further"), "{counted}");
    assert!(said.out.contains(" of disk, and ") && said.out.contains(" of memory without caches"), "{said}");
    let recovery = "With its recovery check it must find up to ";
    assert!(!said.out.contains(recovery), "{said}");
    let checked = scratch.storebench("run crud --quick --recovery 100000 --dry-run").ends(Exit::Success);
    assert!(checked.out.contains(recovery) && checked.out.contains("MiB free."), "{checked}");
    fs::create_dir(scratch.join("storebench-runs")).unwrap();
    scratch.storebench("run crud --quick --dry-run").ends(Exit::Success);
    assert!(scratch.join("storebench-runs").exists(), "a directory that was there stays");
}

/// The ids that a dry run lists, each with an estimate of time and disk.
fn cells_of(out: &str) -> Vec<String> {
    let (mut ids, mut id) = (Vec::new(), String::new());
    for line in out.lines().skip(1).take_while(|line| !line.is_empty()) {
        // The last two columns hold the figures; a long id has them on a separate line.
        let (part, figures) = match line.char_indices().nth(56) {
            Some((end, _)) if line.ends_with('B') && line[end..].starts_with(' ') => line.split_at(end),
            _ => (line, ""),
        };
        id.push_str(part.trim());
        if !figures.is_empty() {
            assert_eq!(figures.split_whitespace().count() % 2, 0, "no estimate: {line}");
            ids.push(std::mem::take(&mut id));
        }
    }
    assert!(id.is_empty() && !ids.is_empty(), "{out}");
    ids
}

#[test]
fn every_axis_can_be_narrowed() {
    let scratch = Scratch::in_memory();
    let narrow = "--store lmdb,flat-folder --record-size 1KiB..10KiB,512B --records 1000,2k..3k --data compressible \
        --guarantee process,default";
    let said = scratch.storebench(&format!("run crud {narrow} --dry-run --trials 7")).ends(Exit::Success);
    let mut expected = BTreeSet::new();
    for store in ["lmdb", "flat-folder"] {
        for size in ["1KiB..10KiB", "512B"] {
            for records in ["1000..5000", "2000..3000"] {
                for guarantee in ["process", "default"] {
                    expected.insert(format!("{store}/{size}/{records}/compressible/{guarantee}"));
                }
            }
        }
    }
    let listed = cells_of(&said.out);
    assert_eq!(listed.iter().cloned().collect::<BTreeSet<_>>(), expected, "{said}");
    assert_eq!(listed.len(), expected.len());
    assert!(said.out.contains("16 cells"), "{said}");
}

#[test]
fn every_axis_of_trust_can_be_widened() {
    let scratch = Scratch::in_memory();
    fs::create_dir(scratch.join("other")).unwrap();
    let wide =
        "--threads 1,4 --rate closed,500/s --tuning default,equal --cache warm,cold --at a=. --at b=other";
    let said =
        scratch.storebench(&format!("run crud --store lmdb {TINY} {wide} --dry-run")).ends(Exit::Success);
    let listed: BTreeSet<String> = cells_of(&said.out).into_iter().collect();
    assert_eq!(listed.len(), 2_usize.pow(5), "{said}");
    let plain = "lmdb/1B..1KiB/20..100/incompressible/process";
    assert!(listed.contains(&format!("{plain}/place=a")), "{said}");
    assert!(
        listed.contains(&format!("{plain}/place=b/threads=4/rate=500/s/tuning=equal/cache=cold")),
        "{said}"
    );
    assert!(
        !scratch.join("storebench-runs").exists()
            && fs::read_dir(scratch.join("other")).unwrap().count() == 0
    );
}

#[test]
fn the_same_seed_gives_the_same_work_and_another_seed_other_work() {
    let notes = |seed: u32, data: &str| {
        let scratch = Scratch::in_memory();
        scratch.write("books/one.txt", "It was a bright cold day in April. ".repeat(4000));
        let how = TINY.replace("--data incompressible", data);
        let mut command = scratch.command(faulty(), &format!("run crud --store notes {how} --seed {seed}"));
        said(command.env("STOREBENCH_TEST_NOTES", scratch.join("notes"))).ends(Exit::Success);
        fs::read_to_string(scratch.join("notes")).unwrap()
    };
    let first = notes(1, "--data incompressible");
    // Loaded, inserted, read, updated, removed, looked for and put back; then all 25 are read back, and 12 removed for good and
    // looked for.
    assert_eq!(first.lines().count(), 20 + 5 + 5 + 5 + 3 * 5 + 25 + 2 * 12, "{first}");
    assert_eq!(first, notes(1, "--data incompressible"));
    let keys = |notes: &str| {
        notes.lines().map(|line| line.split(' ').nth(1).unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_ne!(keys(&first), keys(&notes(2, "--data incompressible")));
    let books = notes(1, "--data compressible --text books");
    assert_eq!(keys(&first), keys(&books), "the records are the same, their values are of another make");
    assert_ne!(first, books);
    assert_ne!(books, notes(1, "--data compressible"));
}

#[test]
fn each_block_has_data_of_its_own_the_same_in_all_its_cells() {
    let scratch = Scratch::in_memory();
    let how = TINY.replace("--trials 1", "--trials 2").replace("--records 20", "--records 20,30");
    let mut command = scratch.command(faulty(), &format!("run crud --store notes {how}"));
    said(command.env("STOREBENCH_TEST_NOTES", scratch.join("notes"))).ends(Exit::Success);
    let notes = fs::read_to_string(scratch.join("notes")).unwrap();
    // The records that each trial loaded: keys and values.
    let lines: Vec<&str> = notes.lines().collect();
    let is_load = |line: &&&str| line.starts_with("load ");
    let trials = lines.chunk_by(|a, b| a.starts_with("load ") || !b.starts_with("load "));
    let loaded: Vec<Vec<&str>> =
        trials.map(|trial| trial.iter().filter(is_load).copied().collect()).collect();
    let [a, b, c, d] = loaded.as_slice() else { panic!("{} trials", loaded.len()) };
    assert_eq!((a.len() + b.len(), c.len() + d.len()), (50, 50), "20 and 30 records, in either order");
    assert_eq!(a[..20], b[..20]);
    assert_eq!(c[..20], d[..20]);
    assert!(a.iter().all(|line| !c.contains(line) && !d.contains(line)), "{notes}");
}
