//! Verdicts on made runs, in all reports.

use storebench_figures::claims::{self, Coverage, Figure, TableVerdict, Verdict};
use storebench_figures::data::findings::words::{self, describe_missing};
use storebench_figures::data::findings::{CheckedClaim, NOT_MEASURABLE, Study, check, counts, pools};
use storebench_figures::data::merge::Merged;
use storebench_figures::published::{self, Table};
use storebench_host::plan;
use storebench_host::run::Run;
use storebench_model::cell::{Axis, Background, Data};
use storebench_model::result::{LeftOutCell, LeftOutReason};
use storebench_model::store::Guarantee;
use storebench_model::stores::NULL;
use storebench_model::units::SizeRange;
use storebench_samples::{self as samples, Sample, run};
use unicode_width::UnicodeWidthStr;

use crate::files::json;
use crate::page;
use crate::report::Report;
use crate::terminal;
use crate::terminal::findings::text;
use crate::terminal::grid::Style;

/// A few claims, of which some can't be checked.
const CLAIMS: &str = r#"
source = "A. Author, A Study, 2024"
claims_among = ["sqlite", "leveldb", "rocksdb", "berkeleydb"]

[[claim]]
says = "LevelDB is among the fastest at small records"
source = "section 1"
figure = ["insert", "get"]
at = { record_size = ["1B..1KiB"], records = ["100..5000"] }
expect.winner = { stores = ["leveldb"], within = 1.5 }

[[claim]]
says = "SQLite is the fastest at updating"
source = "section 2"
note = "Not <b>seen</b> elsewhere."
figure = ["update"]
share = "75%"
expect.winner = { stores = ["sqlite"] }

[[claim]]
says = "RocksDB inserts compressible data faster"
source = "section 3"
figure = ["insert"]
average = "comparisons"
at = { record_size = ["1B..10KiB"] }
expect.ratio = { axis = "data", of = "compressible", to = "incompressible", stores = ["rocksdb"], range = "..0.9" }

[[claim]]
says = "LevelDB and Berkeley DB take equally long to get"
source = "section 4"
figure = ["get"]
at = { record_size = ["1KiB..10KiB"] }
expect.ratio = { of = "leveldb", to = "berkeleydb", range = "99%..101%" }

[[claim]]
says = "A video changes nothing"
source = "section 5"
figure = ["get"]
expect.unchanged = { axis = "background", between = ["none", "video"] }

[[claim]]
says = "On hard disks all is different"
source = "section 6"
figure = ["get"]
at.place = ["hdd"]
expect.winner = { stores = ["sqlite"] }
"#;

/// A run of three blocks that differ by a thousandth, so that everything in it is settled.
fn run_three_times(samples: &[Sample]) -> Run {
    let block = |wobble: f64| samples.iter().map(|sample| sample.clone().times(wobble)).collect();
    samples::blocks("box", &[1.0, 1.001, 0.999].map(block))
}

fn merge_claims<'a>(runs: &'a [Run], claims: &str) -> Merged<'a> {
    let claims = claims::run_claims("another", claims, "test").unwrap();
    Merged::new(runs, &[NULL]).with_published(claims.into_iter().collect(), Vec::new())
}

fn verdicts(merged: &Merged<'_>) -> Vec<Vec<Verdict>> {
    let studies = check(merged);
    let checked_claims = studies.iter().flat_map(|study| &study.checked);
    checked_claims.map(|checked| checked.findings.iter().map(|finding| finding.verdict).collect()).collect()
}

fn page_of(merged: &Merged<'_>) -> String {
    let mut bytes = Vec::new();
    page::write(&Report::new(merged), None, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn json_of(merged: &Merged<'_>) -> serde_json::Value {
    let mut bytes = Vec::new();
    json::write(&Report::new(merged), &mut bytes).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

/// The claims of `crud` on a run, with its paper's tables or without.
fn merge_crud(runs: &[Run], tables: Vec<Table>) -> Merged<'_> {
    let claims = claims::run_claims("crud", "", "test").unwrap().unwrap();
    Merged::new(runs, &[NULL]).with_published(vec![claims], tables)
}

#[test]
fn verdicts_in_the_terminal() {
    let runs = [samples::study()];
    let merged = merge_claims(&runs, CLAIMS);
    for width in [80, 100, 160] {
        let text = text(&merged, Style { width, colour: false });
        assert!(text.lines().all(|line| line.width() <= width), "{text}");
        insta::assert_snapshot!(format!("findings_{width}"), text);
    }
    let coloured = text(&merged, Style { width: 100, colour: true });
    insta::assert_snapshot!("findings_100_colour", coloured.replace('\u{1b}', "‹"));
    let brief = terminal::end_text(&Report::new(&merged), Style { width: 100, colour: false });
    assert!(brief.contains("of 6") && !brief.contains("SQLite is the fastest"), "{brief}");
    let overview = terminal::overview(&Report::new(&merged), Style { width: 100, colour: false });
    assert!(overview.contains("SQLite is the fastest") && !overview.contains("A video"), "{overview}");
    let open = "3 not decided: 1 needs another group, such as another place, load or number of threads; 1 needs combinations of which none was run; 1 \
        needs more trials. The page and --table list them.";
    assert!(overview.replace("\n  ", " ").contains(open), "{overview}");
    let full = terminal::full(&Report::new(&merged), Style { width: 100, colour: false });
    assert!(full.contains("  5 A video changes nothing (section 5): needs background video"), "{full}");
}

#[test]
fn every_claim_of_crud_can_be_checked_at_any_width() {
    let runs = [samples::study()];
    let merged = merge_crud(&runs, Vec::new());
    let number = merged.claims[0].claims.len();
    assert_eq!(verdicts(&merged).len(), number);
    for width in [80, 100, 160] {
        let text = text(&merged, Style { width, colour: false });
        assert!(text.lines().all(|line| line.width() <= width), "{text}");
        // Each is there with its number.
        assert!((1..=number).all(|n| text.lines().any(|l| l.starts_with(&format!("{n:>3} ")))), "{text}");
    }
}

#[test]
fn older_runs_have_the_claims_of_the_built_in_study() {
    let number = |study: &str, plan: &str| {
        claims::run_claims(study, plan, "test").unwrap().map_or(0, |claims| claims.claims.len())
    };
    assert!(number("crud", "name = \"crud\"\n") > 40);
    assert_eq!((number("crud", CLAIMS), number("mine", "name = \"mine\"\n")), (6, 0));
    assert!(text(&merge_claims(&[samples::study()], ""), Style { width: 80, colour: false }).is_empty());
}

#[test]
fn stores_as_shipped_are_compared_though_their_tiers_differ() {
    let samples = [
        Sample::new("sqlite").guarantee("default").tier(Guarantee::Power).ns(9000.0),
        Sample::new("leveldb").guarantee("default").tier(Guarantee::Process).ns(1000.0),
        Sample::new("sqlite").guarantee("power").ns(9000.0),
        Sample::new("leveldb").guarantee("process").ns(1000.0),
    ];
    let claims = r#"
claims_among = ["sqlite", "leveldb"]
[[claim]]
says = "LevelDB is the fastest"
source = "1"
figure = ["get"]
expect.winner = { stores = ["leveldb"] }
"#;
    let runs = [run_three_times(&samples)];
    let merged = merge_claims(&runs, claims);
    // Tiers that were asked for stay separate.
    assert_eq!(verdicts(&merged), [[Verdict::Reproduced, Verdict::Unknown, Verdict::Unknown]]);
    let text = text(&merged, Style { width: 100, colour: false });
    assert!(text.contains("reproduced: default (as shipped) 1/1"), "{text}");
    assert!(text.contains("never mix guarantees"), "{text}");
}

#[test]
fn a_load_is_compared_with_none() {
    let sample = |store: &str, ns: f64, background| Sample::new(store).background(background).ns(ns);
    let samples = [
        sample("sqlite", 1000.0, Background::None),
        sample("leveldb", 2000.0, Background::None),
        sample("sqlite", 9000.0, Background::Video),
        sample("leveldb", 8000.0, Background::Video),
    ];
    let claims = CLAIMS.replace(", \"rocksdb\", \"berkeleydb\"", "");
    let claims =
        claims.split("[[claim]]").filter(|part| part.contains("video") || part.contains("claims_among"));
    let runs = [run_three_times(&samples)];
    let merged = merge_claims(&runs, &claims.collect::<Vec<_>>().join("[[claim]]"));
    let text = text(&merged, Style { width: 160, colour: false });
    let expected = "not reproduced: background compared 0/1\n      1B..1KiB, 100 records, incompressible: sqlite, none 500 ns, leveldb, \
                    video 4.00 µs";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn what_nothing_was_measured_of_is_one_line_of_the_page() {
    let runs = [run("box", &[Sample::new("sqlite").background(Background::Cpu(1))])];
    let merged = merge_claims(&runs, CLAIMS);
    let page = page_of(&merged);
    let (_, findings) = page.split_once("id=\"findings\"").unwrap();
    let (findings, _) = findings.split_once("</section>").unwrap();
    assert!(!findings.contains("class=\"claims\"") && !findings.contains("<table"), "{findings}");
    let claims = merged.claims[0].claims.len();
    assert!(findings.contains(&format!("None of the {claims} findings can be checked")), "{findings}");
    assert_eq!(findings.matches("<li value").count(), claims);
    let brief = terminal::end_text(&Report::new(&merged), Style { width: 80, colour: false });
    let ending = format!("\nPublished findings: none of the {claims} was measured in this run.\n");
    assert!(brief.ends_with(&ending) && !brief.contains("Details:"), "{brief}");
}

#[test]
fn the_page_and_the_json_have_them() {
    let runs = [samples::study()];
    let merged = merge_claims(&runs, CLAIMS);
    let page = page_of(&merged);
    assert_eq!(page.matches("class=\"verdict no\"").count(), 2, "in both guarantees");
    assert!(page.contains("Not &lt;b&gt;seen&lt;/b&gt; elsewhere.") && !page.contains("Not <b>seen"));
    assert!(page.contains("Expected: sqlite the best by update, in 75% of the checks."));
    assert!(page.contains("measured 31.8 % of 22 checks"), "{page}");
    let document = json_of(&merged);
    let claim = &document["findings"][0]["claims"][1];
    assert_eq!(claim["findings"][0]["verdict"], "not-reproduced");
    let evidence = claim["findings"][0]["evidence"].as_array().unwrap();
    let checks = &claim["findings"][0]["checks"];
    let total: u64 =
        ["agree", "disagree", "close", "missing"].iter().map(|n| checks[n].as_u64().unwrap()).sum();
    assert_eq!(evidence.len() as u64, total);
}

#[test]
fn what_was_failed_or_left_out_is_what_is_missing() {
    let samples = [Sample::new("sqlite"), Sample::new("leveldb").failed("broken")];
    let runs = [run("box", &samples)];
    let claims = r#"
[[claim]]
says = "SQLite is the fastest"
source = "1"
figure = ["get"]
expect.winner = { stores = ["sqlite"] }
"#;
    let merged = merge_claims(&runs, claims);
    let studies = check(&merged);
    let finding = &studies[0].checked[0].findings[0];
    assert_eq!((finding.verdict, finding.is_measured()), (Verdict::Unknown, false));
    assert_eq!(describe_missing(finding), "leveldb at 1B..1KiB, 100 records, incompressible");
}

#[test]
fn what_cannot_be_had_here_counts_in_no_group() {
    let mut runs = [run_three_times(&[Sample::new("sqlite"), Sample::new("leveldb").times(2.0)])];
    let (cell, reason) = (Sample::new("rocksdb").cell(), LeftOutReason::Sentence("no driver".into()));
    runs[0].header.left_out.push(LeftOutCell { cell, reason });
    let claim = |store| {
        format!(
            "[[claim]]\nsays = \"x\"\nsource = \"1\"\nfigure = [\"get\"]\nexpect.winner.stores = [\"{store}\"]\n"
        )
    };
    let merged = merge_claims(&runs, &["sqlite", "leveldb", "rocksdb"].map(claim).concat());
    let [(_, of_group), cannot] = counts(&merged, &check(&merged)[0]).try_into().unwrap();
    assert_eq!((of_group, cannot), ([1, 1, 0], (NOT_MEASURABLE.to_owned(), [0, 0, 1])));
    let text = text(&merged, Style { width: 100, colour: false });
    assert!(text.contains("Not measurable here, and counted in no share: 1."), "{text}");
}

/// A run of every size with 100 records, with the data of `crud`'s preset `quick`, at one guarantee, twice.
fn quick() -> Run {
    let plan = plan::find("crud").unwrap();
    let mut quick = plan.clone();
    quick.apply_preset("quick").unwrap();
    let mut samples = Vec::new();
    for data in quick.axes.list::<Data>(Axis::DATA) {
        for size in plan.axes.list(Axis::RECORD_SIZE) {
            for (index, store) in plan.claims_among.iter().enumerate() {
                let ns = if store == "berkeleydb" { 1e6 } else { 1000.0 + 500.0 * index as f64 };
                let sample = Sample::new(store).data(data).size(size).ns(ns);
                samples.push(sample.records(plan.axes.list(Axis::RECORDS)[0]));
            }
        }
    }
    let second_block = samples.iter().map(|sample| sample.clone().times(1.01)).collect();
    samples::blocks("box", &[samples, second_block])
}

fn claim_of<'s, 'a>(study: &'s Study<'a>, says: &str) -> &'s CheckedClaim<'a> {
    let mut checked = study.checked.iter();
    checked.find(|checked| checked.claim.says == says).unwrap_or_else(|| panic!("{says}"))
}

#[test]
fn a_quick_run_gives_no_verdict_on_what_it_hardly_measured() {
    let runs = [quick()];
    let merged = merge_crud(&runs, Vec::new());
    let studies = check(&merged);
    let finding = |text: &str| &claim_of(&studies[0], text).findings[0];
    let fastest = finding("Berkeley DB is the fastest at inserting and updating");
    assert_eq!((fastest.verdict, fastest.so_far), (Verdict::Unknown, Verdict::NotReproduced));
    let more = ["1,000", "10,000", "100,000", "1,000,000"].map(|count| format!("{count} records"));
    let coverage =
        |measured, whole, short: &[String]| Some(Coverage { measured, whole, short: short.to_vec() });
    assert_eq!(fastest.coverage, coverage(8, 68, &more));
    assert_eq!((fastest.tally.disagree, fastest.tally.total()), (8, 8));
    // Few records are 100 and 1,000, of both kinds of data: all are needed.
    let few = finding("Few records favour the flat folder over the nested");
    assert_eq!((few.verdict, few.so_far), (Verdict::Unknown, Verdict::Reproduced));
    assert_eq!(few.coverage, coverage(16, 64, &["compressible".to_owned(), more[0].clone()]));
    for width in [80, 100] {
        let text = text(&merged, Style { width, colour: false });
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for words_expected in [
            "unknown: process 0/8 so far looks wrong (8 of 68 combinations measured)",
            "(8 of 68 combinations measured); takes half of its combinations for each of 1,000 records, 10,000 records",
            "unknown: process 16/16 so far looks right (16 of 64 combinations measured)",
            "(16 of 64 combinations measured); takes half of its combinations for each of compressible, 1,000 records",
        ] {
            assert!(words.contains(words_expected), "{words_expected}: {text}");
        }
    }
    let page = page_of(&merged);
    let words = "unknown</span> process; so far looks wrong; 0 of 8 checks agree; measured 0.0 % of 8";
    assert!(page.contains(words));
    let document = json_of(&merged);
    let first = &document["findings"][0]["claims"][0]["findings"][0];
    assert_eq!((&first["verdict"], &first["so_far"]), (&"unknown".into(), &"not-reproduced".into()));
    assert_eq!(first["coverage"], serde_json::json!({ "measured": 8, "whole": 68, "short": more }));
    assert_eq!(first["measured"], "0.0 % of 8 checks");
    assert!(first["takes"].as_str().unwrap().starts_with("takes half of its combinations"), "{first}");
}

/// The claims of `crud` on the published tables of their paper.
#[test]
fn the_papers_own_figures_are_put_to_the_same_rule() {
    let runs = [quick()];
    let merged = merge_crud(&runs, published::tables("crud").unwrap());
    let studies = check(&merged);
    let fastest = claim_of(&studies[0], "Berkeley DB is the fastest at inserting and updating");
    let [TableVerdict { table, tally, verdict }] = fastest.published.as_slice() else { panic!() };
    assert_eq!((table.as_str(), tally.agree, tally.total()), ("ext4", 50, 68));
    assert_eq!(*verdict, Verdict::NotReproduced);
    let page = page_of(&merged);
    assert!(page.contains("own figures: ext4 73.5 % of 68 checks: not reproduced."));
    let document = json_of(&merged);
    let table_document = &document["findings"][0]["claims"][0]["published"][0];
    assert_eq!((&table_document["table"], &table_document["checks"]["agree"]), (&"ext4".into(), &50.into()));
}

/// A run with the places of the published tables for 100 small records.
fn paper_like_run(berkeleydb: f64, background: Background) -> Run {
    let stores = ["sqlite", "leveldb", "rocksdb", "berkeleydb", "flat-folder", "nested-folder"];
    let mut samples = Vec::new();
    for data in [Data::Incompressible, Data::Compressible] {
        for (from, to) in [(1, 1024), (1024, 10_240)] {
            for (index, store) in stores.into_iter().enumerate() {
                let ns = if store == "berkeleydb" { berkeleydb } else { 1000.0 + 500.0 * index as f64 };
                let sample = Sample::new(store).data(data).size(SizeRange { from, to }).ns(ns);
                samples.push(sample.background(background));
            }
        }
    }
    run("box", &samples)
}

fn merge_tables<'a>(runs: &'a [Run]) -> Merged<'a> {
    Merged::new(runs, &[]).with_published(Vec::new(), published::tables("crud").unwrap())
}

#[test]
fn places_that_agree_are_counted() {
    use storebench_figures::data::published::{Agreement, compare_tables};
    let count = |berkeleydb: f64| {
        let runs = [paper_like_run(berkeleydb, Background::None)];
        let merged = merge_tables(&runs);
        let comparisons = compare_tables(&merged, None);
        let names: Vec<&str> = comparisons.iter().map(|comparison| comparison.table.name.as_str()).collect();
        assert_eq!(names, ["ext4", "hdd"], "those without a video");
        comparisons[1].agreement()
    };
    // Figure 4.2 at 100 records below 10 KiB: Berkeley DB at insert, update and remove, and at half the gets.
    let alone = count(100.0);
    assert_eq!((alone.same, alone.close, alone.compared() + alone.absent), (14, 0, 170));
    // 20 of 170: too little of the table for a share.
    assert_eq!(alone.share(), None);
    let partial = Agreement { same: 60, close: 10, other: 30, lacking: 0, absent: 100 };
    assert_eq!((partial.share(), Agreement { absent: 101, ..partial }.share()), (Some(0.7), None));
    // As quick as SQLite, it is too close to call.
    let tied = count(1000.0);
    assert!(tied.close >= 14 && tied.same == 0, "{tied:?}");
    assert_eq!(count(1e6).same, 3, "SQLite for space, but for one");
    assert_eq!(Agreement::default().share(), None);
}

#[test]
fn published_tables_in_all_reports() {
    use crate::terminal::published::text;
    let runs = [paper_like_run(100.0, Background::Video)];
    let merged = merge_tables(&runs);
    for width in [80, 100, 160] {
        let text = text(&merged, None, Style { width, colour: false });
        assert!(text.lines().all(|line| line.width() <= width), "{text}");
        insta::assert_snapshot!(format!("published_{width}"), text);
    }
    let named = text(&merged, Some("ext4"), Style { width: 100, colour: false });
    assert!(named.contains("Published table ext4") && !named.contains("table hdd"), "{named}");
    let page = page_of(&merged);
    assert!(page.contains("hdd-video: hard disk, a video playing in the browser"));
    assert!(page.contains("berkeleydb 100 ns<br><small>= berkeleydb 2 µs</small>"), "{page}");
    let document = json_of(&merged);
    let tables: Vec<&str> =
        document["published"].as_array().unwrap().iter().map(|t| t["table"].as_str().unwrap()).collect();
    assert_eq!(tables, ["ssd-video", "hdd-video"]);
}

#[test]
fn a_run_without_the_tables_places_is_told_which_to_run() {
    use crate::terminal::published::text;
    let runs = [run("box", &[Sample::new("sqlite").records("200..1000".parse().unwrap())])];
    let shown = text(&merge_tables(&runs), None, Style { width: 100, colour: false });
    assert!(shown.contains("No combination can be compared") && shown.contains("--records"), "{shown}");
    let page = page_of(&merge_tables(&runs));
    let sentence = "<p>Published tables that this run has nothing to compare with: ext4, hdd.</p>";
    assert!(page.contains(sentence), "{page}");
    assert!(!page.contains("Published tables next to this run"));
    let loaded = [run("box", &[Sample::new("sqlite").background(Background::Cpu(1))])];
    let shown = text(&merge_tables(&loaded), None, Style { width: 100, colour: false });
    assert!(shown.contains("No published table was measured like this run"), "{shown}");
}

#[test]
fn a_build_with_assertions_is_no_evidence() {
    let samples = [Sample::new("rocksdb").ns(1.0).distributed(true), Sample::new("lmdb")];
    let runs = [run("box", &samples)];
    let merged = Merged::new(&runs, &[]);
    let pools = pools(&merged, &[Figure::from_row("get")]);
    let cells: Vec<_> = pools[0][0].cells.values().collect();
    assert!(cells[0]["rocksdb"].is_empty() && cells[0]["lmdb"].len() == 1, "{cells:?}");
}

#[test]
fn a_finding_is_summed_over_machines() {
    use Verdict::{NotReproduced as No, Reproduced as Yes, Unknown as Open};
    let line = |verdicts: &[(&'static str, Verdict)]| {
        words::describe_machines(verdicts.iter().map(|(machine, verdict)| ((*machine).into(), *verdict)))
    };
    let verdicts = [("a", Yes), ("b", Yes), ("c", Yes), ("d", No)];
    assert_eq!(line(&verdicts).unwrap(), "holds on most machines (3 of 4), not on 1");
    assert_eq!(line(&verdicts[..3]).unwrap(), "holds on all machines (3 of 3)");
    let mix = [("a", Yes), ("a", Open), ("b", Yes), ("b", No), ("c", Open), ("d", No)];
    assert_eq!(line(&mix).unwrap(), "holds on some machines (1 of 4), not on 1, in part on 1, unknown on 1");
    assert_eq!(line(&verdicts[3..]), None);
    let none = line(&[("c", Open), ("d", No)]).unwrap();
    assert_eq!(none, "holds on none of 2 machines, not on 1, unknown on 1");
}
