//! Every section in every output, from made runs.

mod life;

use std::collections::{BTreeMap, BTreeSet};

use storebench_figures::claims::StudyClaims;
use storebench_figures::data::merge::Merged;
use storebench_host::run::Run;
use storebench_model::cell::Background;
use storebench_model::result::{
    BadState, ByteOwner, Clocks, Control, Counts, Cut, CutCheck, CutResults, DeviceTally, DiskReport,
    FaultCheck, FaultKind, FaultOutcome, FaultResults, FindingCount, KeptState, KindCounts, MissingPiece,
    Phase, Recovery, RecoveryCheck, Reopening, Requests, StateFinding,
};
use storebench_model::stores::NULL;
use storebench_samples::factorial;
use storebench_samples::outgrown;
use storebench_samples::{self as samples, Sample, blocks};
use unicode_width::UnicodeWidthStr;

use super::*;
use crate::files::sql::{SqlError, SqlValue, SqlWriter};
use crate::files::{json, section as csv, sql};
use crate::report::Report;
use crate::section::{Block, PagePosition};
use crate::terminal::Style;
use crate::{page, terminal};

const STYLE: Style = Style { width: 100, colour: false };

fn run_for(section: &str) -> Run {
    let three = |block: fn(f64) -> Vec<Sample>| blocks("box", &[1.0, 1.1, 0.9].map(block));
    match section {
        "effects" => factorial(),
        "sizes" => outgrown(),
        "clusters" => three(|wobble| {
            let sample_at = |place: &str, ns: f64| Sample::new("sqlite").place(place).ns(ns * wobble);
            vec![sample_at("ext4:1024", 1e4), sample_at("ext4:4096", 2e4), sample_at("ntfs:4096", 1e6)]
        }),
        "load" => three(|wobble| {
            let disturbed = Sample::new("lmdb").background(Background::Cpu(1)).ns(2000.0 * wobble);
            vec![Sample::new("lmdb").ns(1000.0 * wobble), disturbed]
        }),
        "verdicts" => samples::study(),
        "requests" => on_a_disk(),
        "estimates" => estimating(),
        "cuts" => cut(),
        "faults" => faulty(),
        "recovery" => killed(),
        "space_reclaim" => life::aged(),
        "space_reclaim_concurrent" => life::disturbed(),
        "weakest" => life::unequal(),
        "pauses" => life::pausing(),
        "concurrent_work" => life::backed_up(),
        "bursts" => life::bursting(),
        "fragmentation" => life::fragmented(),
        "trends" => life::trending(),
        "rounds" => three(|_| vec![Sample::new("lmdb").rounds(10), Sample::new("redb").ns(2000.0)]),
        other => panic!("name a run for the section {other}"),
    }
}

/// Requests of a number of operations: reads, writes, flushes and seeks, with flushes taking the most time.
fn requests(operations: u64, [reads, writes, flushes, seeks]: [u64; 4]) -> Requests {
    let kind_counts = |each: u64, ns: u64| KindCounts {
        requests: each * operations,
        bytes: each * 4096 * operations,
        modelled_ns: each * ns * operations,
    };
    let journal = KindCounts { requests: operations, bytes: 4096 * operations, modelled_ns: 0 };
    Requests {
        reads: kind_counts(reads, 100),
        writes: kind_counts(writes, 200),
        journal: Some(journal).filter(|_| writes > 0),
        flushes: flushes * operations,
        flush_ns: 600 * flushes * operations,
        tally: DeviceTally {
            seeks: seeks * operations,
            seek_ns: 900,
            transfer_ns: 100,
            ..DeviceTally::default()
        },
        modelled_ns: (reads * 100 + writes * 200 + flushes * 600) * operations,
        ..Requests::default()
    }
}

/// A run on a simulated disk, with 3 writes, 2 flushes and 2 seeks per insert, and one read in ten gets.
fn on_a_disk() -> Run {
    let mut run = samples::run("box", &[Sample::new("sqlite").ns(2000.0)]);
    for trial in &mut run.trials {
        let measured = trial.measured.as_mut().unwrap();
        for operation in &mut measured.operations {
            let asked = match operation.operation.as_str() {
                "insert" => requests(1000, [0, 3, 2, 2]),
                "get" => requests(100, [1, 0, 0, 1]),
                _ => Requests::default(),
            };
            operation.counters.as_mut().unwrap().disk = Some(asked);
        }
        measured.load.counters.as_mut().unwrap().disk = Some(requests(100, [0, 1, 0, 0]));
        measured.settle_counters.as_mut().unwrap().disk = Some(Requests::default());
        let counts = Counts { requests: requests(1500, [1, 3, 2, 2]), ..Counts::default() };
        trial.disk = Some(DiskReport { name: "hdd-7200".into(), transit: None, counts });
    }
    run
}

/// A run with states after power cuts: one store loses nothing, one its newest writes, one has no states.
fn cut() -> Run {
    let mut run = life::run_of(&["lmdb", "leveldb", "redb"]);
    for trial in &mut run.trials {
        let caught = |states, caught| FindingCount { states, caught };
        let controls = [(Control::NoFlush, caught(4, 4)), (Control::LastFlush, caught(4, 3))].into();
        let make_check = |found: &[(StateFinding, u64)], lost: &[u64]| {
            CutCheck::Made(Box::new(CutResults {
                steps: 300,
                requests: 900,
                flushes: 300,
                whole_bytes: 4096,
                found: found.iter().copied().collect(),
                lost_steps: lost.to_vec(),
                lost_ns: lost.iter().map(|steps| steps * 1_000_000).collect(),
                controls,
                ..CutResults::default()
            }))
        };
        trial.measured.as_mut().unwrap().cut_check = Some(match trial.cell.store() {
            "lmdb" => make_check(&[(StateFinding::Held, 20)], &[]),
            "leveldb" => bad(make_check(
                &[(StateFinding::Held, 15), (StateFinding::Lost, 4), (StateFinding::Hole, 1)],
                &[1, 2, 3, 40],
            )),
            _ => CutCheck::NotMade { reason: "its place is no file system in an image".into() },
        });
    }
    run
}

/// The same with a kept state, and parts of the history.
fn bad(check: CutCheck) -> CutCheck {
    let CutCheck::Made(mut cuts) = check else { return check };
    let missing = |owner: ByteOwner| MissingPiece { at: 8192, bytes: 4096, of: owner };
    let kept = KeptState {
        file: "logs/000001-cut-7.gz".into(),
        disk_bytes: 1 << 20,
        cut: Cut::default(),
        missing: vec![
            missing(ByteOwner::File { path: "000005.log".into(), from: 32_768 }),
            missing(ByteOwner::Journal),
            missing(ByteOwner::FileSystem),
            missing(ByteOwner::Journal),
        ],
        states_tried: 12,
        pieces_before: 30,
    };
    cuts.bad.push(BadState {
        number: 7,
        finding: StateFinding::Hole,
        message: "no number of first steps explains what is there".into(),
        cut: Cut::default(),
        phase: Some(Phase::Settling),
        acknowledged: vec![150],
        begun: vec![151],
        kept: Some(kept),
    });
    cuts.phases = [
        (Phase::Creating, FindingCount { states: 2, caught: 0 }),
        (Phase::Writing, FindingCount { states: 14, caught: 4 }),
        (Phase::Settling, FindingCount { states: 4, caught: 1 }),
    ]
    .into();
    CutCheck::Made(cuts)
}

/// A run with faults: one store with all kinds of aftermath, one without any.
fn faulty() -> Run {
    let mut run = life::run_of(&["lmdb", "redb"]);
    for trial in &mut run.trials {
        let mut faults = FaultResults::default();
        for (kind, aftermath) in FaultKind::ALL.into_iter().zip(FaultOutcome::ALL) {
            faults.note(kind, aftermath, "the record 5a16 is missing".into());
            faults.note(kind, FaultOutcome::Reported, String::new());
        }
        trial.measured.as_mut().unwrap().fault_check = Some(match trial.cell.store() {
            "lmdb" => FaultCheck::Made(faults),
            _ => FaultCheck::NotMade { reason: "its place is no file system in an image".into() },
        });
    }
    run
}

/// A run with recoveries: one store with two numbers of records, the larger slower, and one without any.
fn killed() -> Run {
    let mut run = life::run_of(&["redb", "memory"]);
    let reopened = |records, added, open_ns| Reopening {
        records,
        added,
        open_ns,
        first_read_ns: 50_000,
        first_write_ns: 80_000,
        read_bytes: Some(40 << 10),
        fetched_bytes: Some(added << 12),
        memory_bytes: Some(2 << 20),
        close_ns: Some(7_000_000),
    };
    let size = |records: u64, open_ns: u64| Recovery {
        records,
        killed: (0..5).map(|kill| reopened(records + kill, records, open_ns * (10 + kill))).collect(),
        closed: reopened(records + 5, 0, open_ns),
        created_ns: 3_000_000,
        cold_killed: Some(reopened(records + 6, 3, open_ns * 40)),
        cold_closed: Some(reopened(records + 5, 0, open_ns * 4)),
        cut: (records > 1_000).then(|| reopened(records + 7, 1, open_ns * 50)),
        not_cut: (records == 1_000).then(|| "a server writes where it can't be seen".into()),
        cache_emptied_by: Some("drop_caches".into()),
    };
    for trial in &mut run.trials {
        trial.measured.as_mut().unwrap().recovery_check = Some(match trial.cell.store() {
            "redb" => {
                RecoveryCheck { sizes: vec![size(1_000, 100_000), size(10_000, 900_000)], not_made: None }
            }
            _ => RecoveryCheck {
                sizes: Vec::new(),
                not_made: Some("this process does not write its files".into()),
            },
        });
    }
    run
}

/// A run on a simulated disk with estimates for two other disks: sound ones for inserts, unsound ones for gets.
fn estimating() -> Run {
    let mut run = on_a_disk();
    // In seconds: here, and on the three disks.
    let clocks = |here_s: f64, on_s: [f64; 3]| {
        let ns = |s: f64| (s * 1e9) as u64;
        let on_ns = ["hdd-7200", "sd-a1", "steady"].into_iter().zip(on_s);
        let on_ns = on_ns.map(|(name, s)| (name.to_owned(), ns(s))).collect();
        Some(Clocks { here_ns: ns(here_s), on_ns })
    };
    for operation in run.trials.iter_mut().flat_map(|trial| &mut trial.measured.as_mut().unwrap().operations)
    {
        let asked = operation.counters.as_mut().unwrap().disk.as_mut().unwrap();
        asked.modelled_ns = 8e8 as u64;
        asked.clocks = match operation.operation.as_str() {
            "insert" => clocks(1.0, [1.1, 4.0, 3.0]),
            "update" => clocks(2.0, [2.0; 3]),
            "get" => clocks(1.0, [2.0, 1.0, 1.0]),
            _ => None,
        };
    }
    run
}

fn claims_for(section: &str) -> Vec<StudyClaims> {
    let claims = (section == "verdicts")
        .then(|| storebench_figures::claims::run_claims("crud", "", "test").unwrap().unwrap());
    claims.into_iter().collect()
}

fn write_to_string(write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn csv_of(section: &Section, report: &Report<'_>) -> Vec<BTreeMap<String, String>> {
    let text = write_to_string(|out| csv::write(section, report.blocks(section), out));
    ::csv::Reader::from_reader(text.as_bytes()).deserialize().map(Result::unwrap).collect()
}

fn rows_of(section: &str, run: Run) -> Vec<BTreeMap<String, String>> {
    csv_of(find(section).unwrap(), &Report::new(&Merged::new(&[run], &[])))
}

fn shown(section: &str, run: Run, all: bool) -> String {
    let section = find(section).unwrap();
    let runs = [run];
    let merged = Merged::new(&runs, &[]);
    terminal::section::text(section, Report::new(&merged).blocks(section), STYLE, all)
}

#[derive(Default)]
struct Rows(BTreeMap<String, usize>);

impl SqlWriter for Rows {
    fn execute(&mut self, _: &str) -> Result<(), SqlError> {
        Ok(())
    }

    fn insert(&mut self, statement: &str, _: &[SqlValue]) -> Result<(), SqlError> {
        let table = statement.split_whitespace().nth(2).unwrap();
        *self.0.entry(table.to_owned()).or_default() += 1;
        Ok(())
    }
}

#[test]
fn every_section_stands_in_all_outputs_that_are_its() {
    for section in SECTIONS {
        let runs = [run_for(section.name)];
        let merged = Merged::new(&runs, &[]).with_published(claims_for(section.name), Vec::new());
        let report = Report::new(&merged);
        let tables = Block::tables(report.blocks(section));
        assert!(!tables.is_empty(), "{}", section.name);
        let text = terminal::overview(&report, STYLE);
        let title = terminal::grid::wrap(section.title, STYLE.width, "  ");
        let for_people = section.stands != PagePosition::InFiles;
        for text in [text, terminal::full(&report, STYLE)] {
            assert_eq!(text.contains(title.trim_end()), for_people, "{}", section.name);
        }
        let page = write_to_string(|out| page::write(&report, None, out));
        let id = format!("<section id=\"{}\"", section.name);
        let link = format!("#go={}\"", section.name);
        assert_eq!([page.contains(&id), page.contains(&link)], [for_people; 2], "{}", section.name);
        let in_files: usize = tables.iter().map(|table| table.file_rows().count()).sum();
        assert_eq!(csv_of(section, &report).len(), in_files);
        let json: serde_json::Value =
            serde_json::from_str(&write_to_string(|out| json::write(&report, out))).unwrap();
        let mut rows = Rows::default();
        sql::write(&report, &mut rows).unwrap();
        for shape in section.shapes {
            let of_shape = tables.iter().filter(|table| table.shape.name == shape.name);
            let count: usize = of_shape.map(|table| table.file_rows().count()).sum();
            assert!(count > 0, "{} has no {}", section.name, shape.name);
            assert_eq!(json["sections"][section.name][shape.name].as_array().unwrap().len(), count);
            assert_eq!(rows.0[shape.name], count, "{}", shape.name);
        }
    }
}

#[test]
fn tables_fit_the_width_and_each_part_of_one_names_its_lines() {
    let style = Style { width: 80, colour: false };
    for name in ["bursts", "cuts", "faults", "pauses", "recovery", "requests", "space_reclaim", "trends"] {
        let section = find(name).unwrap();
        let runs = [run_for(name)];
        let merged = Merged::new(&runs, &[]);
        let text = terminal::section::text(section, Report::new(&merged).blocks(section), style, true);
        assert!(text.lines().all(|line| line.width() <= style.width), "{name}: {text}");
        if name == "pauses" {
            let parts =
                text.lines().filter(|line| line.starts_with("rocksdb  tenths  ") && line.contains("flush"));
            assert_eq!(parts.count(), 3, "each part says which work: {text}");
        }
    }
}

#[test]
fn a_section_with_nothing_to_say_is_nowhere() {
    let runs = [samples::study()];
    let merged = Merged::new(&runs, &[NULL]);
    let report = Report::new(&merged);
    let page = write_to_string(|out| page::write(&report, None, out));
    for section in SECTIONS {
        assert!(report.blocks(section).is_empty(), "{}", section.name);
        assert!(!terminal::full(&report, STYLE).contains(section.title));
        let id = format!("<section id=\"{}\"", section.name);
        assert!(section.stands == PagePosition::Within || !page.contains(&id), "{}", section.name);
        let header = write_to_string(|out| csv::write(section, &[], out));
        assert_eq!(header.lines().count(), 1, "{header}");
    }
}

#[test]
fn names_are_unique() {
    let shapes = || SECTIONS.iter().flat_map(|section| section.shapes);
    let names = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect::<Vec<_>>();
    let column_names = crate::section::Column::sql_names;
    let columns = shapes().map(|shape| shape.columns.iter().flat_map(column_names).collect::<Vec<_>>());
    let sections = names(SECTIONS.iter().map(|section| section.name).collect());
    for all in [sections, names(shapes().map(|shape| shape.name).collect())].into_iter().chain(columns) {
        let unique: BTreeSet<&String> = all.iter().collect();
        assert_eq!(unique.len(), all.len(), "{all:?}");
    }
}

#[test]
fn effects_and_combinations_are_told_with_what_is_promised() {
    let text = shown("effects", factorial(), false);
    for part in [
        "j, from D",
        "×0.612",
        "×1.5",
        "sqlite j=W s=F*",
        "(the best)",
        "(the base)",
        "power",
        "syncs/op",
        "ops/s",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let (power, none) = (text.find("\npower").unwrap(), text.find("\nnone").unwrap());
    assert!(power < none, "the safest first: {text}");
    let rows = rows_of("effects", factorial());
    let rows_of = |kind: &str| rows.iter().filter(|row| row["row"] == kind).collect::<Vec<_>>();
    assert_eq!(["combination", "effect", "interaction"].map(|kind| rows_of(kind).len()), [4, 2 * 5, 1]);
    let best = &rows_of("combination")[0];
    assert_eq!((best["settings"].as_str(), best["marks"].as_str()), ("j=W; s=F", "the best"));
    assert_eq!((best["best"].as_str(), best["guarantee_given"].as_str()), ("1", "power"));
    let last = rows_of("effect")[4];
    let words = ["settings", "operation", "guarantee"].map(|column| last[column].as_str());
    assert_eq!(words, ["j=W", "all", "less"]);
    assert!((last["times"].parse::<f64>().unwrap() - 0.612).abs() < 0.001);
}

#[test]
fn long_names_break_into_lines_that_fit() {
    let mut run = factorial();
    run.header.plan = run.header.plan.replace("the best", &"a point with a long name ".repeat(3));
    let text = shown("effects", run, false);
    assert!(text.lines().all(|line| line.width() <= STYLE.width), "{text}");
    assert!(text.contains("(a point with a long name"), "{text}");
}

#[test]
fn stores_stand_by_where_they_fall() {
    let first_view = shown("sizes", outgrown(), false);
    let first: Vec<&str> = first_view.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let order = ["sqlite", "redb", "lmdb"].map(|store| first.iter().position(|word| *word == store).unwrap());
    assert!(order.is_sorted(), "{first_view}");
    let head = first_view.lines().find(|line| line.contains("falls by")).unwrap();
    assert!(head.contains("at 0.25x") && head.contains("at 4x"), "{first_view}");
    assert!(first_view.contains("Falls last: redb. Falls least: sqlite."), "{first_view}");
    assert!(first_view.contains("--table"), "{first_view}");
    let full_view = shown("sizes", outgrown(), true);
    assert!(full_view.contains("\nremove\n") && !full_view.contains("--table"), "{full_view}");
    let rows = rows_of("sizes", outgrown());
    assert_eq!(rows.len(), 3 * 7 * 4);
    let row_of =
        |store: &str| rows.iter().find(|row| row["store"] == store && row["operation"] == "insert").unwrap();
    assert_eq!((row_of("redb")["cliff"].as_str(), row_of("redb")["falls_last"].as_str()), ("at", "1"));
    assert_eq!((row_of("sqlite")["cliff"].as_str(), row_of("sqlite")["cliff_low"].as_str()), ("none", ""));
}

#[test]
fn places_are_a_map_for_each_store() {
    let stores = ["sqlite", "lmdb", "redb", "fjall", "leveldb"];
    let samples_of = |store: &&str| {
        [("ext4:1024", 1e4), ("ntfs:65536", 4e6)].map(|(place, ns)| Sample::new(store).place(place).ns(ns))
    };
    let run = blocks("box", &[stores.iter().flat_map(samples_of).collect()]);
    let first_view = shown("clusters", run.clone(), false);
    assert!(first_view.contains("box, process, sqlite") && !first_view.contains("leveldb"), "{first_view}");
    assert!(first_view.contains("--table shows all 5 tables; here are 4."), "{first_view}");
    let mut words = first_view.lines().map(str::split_whitespace);
    assert!(words.any(|words| words.eq(["ext4", "10.0", "µs*"])), "{first_view}");
    let full_view = shown("clusters", run, true);
    assert!(full_view.contains("leveldb") && !full_view.contains("--table"), "{full_view}");
    let runs = [run_for("clusters")];
    let merged = Merged::new(&runs, &[]);
    let section = find("clusters").unwrap();
    let page = page::section::html(section, Report::new(&merged).blocks(section)).into_string();
    assert!(page.contains("<td class=\"h0\"><b>9.97 µs</b><br><small>×1.00</small></td>"), "{page}");
    assert!(page.contains("<td class=\"h3\">19.9 µs<br>") && page.contains("<td class=\"h6\">"), "{page}");
}

#[test]
fn maps_of_heat_are_in_the_pages_data() {
    let runs = [run_for("clusters")];
    let merged = Merged::new(&runs, &[]);
    let maps = serde_json::to_value(page::heats::heats(&Report::new(&merged))).unwrap();
    let map = maps.as_array().unwrap().iter().find(|map| map["title"].as_str().unwrap().contains("sqlite"));
    let text = map.unwrap().to_string();
    for part in
        ["9.97 µs", "×1.00", "ext4", "ntfs", "4096", "cluster size in bytes", "Green is near", "\"shade\":0"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn an_operation_is_told_by_what_it_asks_of_its_disk() {
    let text = shown("requests", on_a_disk(), true);
    insta::assert_snapshot!(text);
    let rows = rows_of("requests", on_a_disk());
    let row_of = |part: &str| rows.iter().find(|row| row["part"] == part).unwrap();
    let figures = |part: &str| {
        ["times", "writes", "written_bytes", "journal_bytes", "flushes", "seeks", "reads"]
            .map(|column| row_of(part)[column].clone())
    };
    assert_eq!(figures("insert"), ["1000", "3", "12288", "4096", "2", "2", "0"]);
    assert_eq!(figures("get"), ["1000", "0", "0", "", "0", "0.1", "0.1"]);
    assert_eq!(figures("loading")[..3], ["100", "1", "4096"]);
    // The whole trial, without what was counted separately.
    assert_eq!(figures("rest"), ["1", "1400", "5734400", "", "1000", "900", "1400"]);
    assert_eq!(row_of("insert")["why"], "flushes 67 %; seeks and turns are 90 % of its work");
}

#[test]
fn what_cuts_faults_and_kills_did_is_told_in_figures_and_in_words() {
    for section in ["cuts", "faults", "recovery"] {
        insta::assert_snapshot!(section, shown(section, run_for(section), true));
    }
}

#[test]
fn an_estimate_stands_where_it_is_near_on_the_disk_that_was_recorded_on() {
    let text = shown("estimates", estimating(), true);
    insta::assert_snapshot!("estimates", text);
    let rows = rows_of("estimates", estimating());
    let figures_of = |part: &str, disk: &str| {
        let row = rows.iter().find(|row| row["part"] == part && row["disk"] == disk).unwrap();
        ["recorded_on", "recorded_ns", "estimated_ns", "own_ratio"].map(|column| row[column].clone())
    };
    assert_eq!(figures_of("insert", "sd-a1"), ["hdd-7200", "1000000", "4000000", "1.1"]);
    assert_eq!(figures_of("get", "steady"), ["hdd-7200", "1000000", "", "2"]);
}

#[test]
fn rounds_are_shown_from_the_first_to_the_last() {
    let run = || run_for("rounds");
    let first_view = shown("rounds", run(), false);
    let lines: Vec<Vec<&str>> = first_view.lines().map(|line| line.split_whitespace().collect()).collect();
    let files = lines.iter().find(|line| line.first() == Some(&"files")).unwrap();
    assert_eq!((&files[1..3], files.last()), (&["49.8", "KiB"][..], Some(&"×4.00")), "{first_view}");
    assert!(lines.iter().any(|line| line.starts_with(&["lmdb", "ops/s"])), "{first_view}");
    assert!(!first_view.contains("redb") && first_view.contains("--table"), "{first_view}");
    assert!(shown("rounds", run(), true).contains("round 2 "));
}

#[test]
fn what_a_load_costs_has_its_interval_or_its_range() {
    assert!(shown("load", run_for("load"), false).contains("×2.00 [2.00, 2.00]"));
    let block = |times: f64| {
        let disturbed = Sample::new("lmdb").background(Background::Cpu(1)).ns(1000.0 * times);
        vec![Sample::new("lmdb").ns(1000.0), disturbed]
    };
    let runs = [blocks("box", &[block(2.0), block(2e3)])];
    let text = terminal::overview(&Report::new(&Merged::new(&runs, &[])), STYLE);
    assert!(text.contains("×63.2 (2.00..2,000)") && text.matches("(a..b)").count() == 1, "{text}");
}
