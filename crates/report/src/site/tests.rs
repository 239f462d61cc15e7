//! Sites of made-up runs.

use std::collections::BTreeMap;
use storebench_model::stores::NULL;

use storebench_figures::data::merge::Merged;
use storebench_host::run::Run;
use storebench_model::store::Guarantee;
use storebench_samples::{Sample, blocks};

use super::*;
use crate::report::Report;

fn folder(number: usize) -> String {
    format!("runs/{number}")
}

fn analyse(runs: &[Run]) -> Vec<RunFacts> {
    let run_facts = |(number, run): (usize, &Run)| {
        let single_run = std::slice::from_ref(run);
        let source = Source { folder: folder(number), report: Some("../../report.html".into()) };
        facts(&Report::new(&Merged::new(single_run, &[NULL])), source).unwrap()
    };
    runs.iter().enumerate().map(run_facts).collect()
}

fn site(runs: &[Run]) -> BTreeMap<String, String> {
    pages(analyse(runs), &[]).unwrap().into_iter().map(|page| (page.name, page.text)).collect()
}

/// A run in which one store takes `times` times as long as the other.
fn pair(hardware: &str, trials: usize, times: f64) -> Run {
    let block = [Sample::new("a").times(1.0), Sample::new("b").times(times), Sample::new("null")];
    let samples: Vec<Vec<Sample>> = (0..trials)
        .map(|trial| block.iter().map(|sample| sample.clone().times(1.0 + trial as f64 / 100.0)).collect())
        .collect();
    blocks(hardware, &samples)
}

#[test]
fn every_link_of_a_site_leads_to_a_page_of_it() {
    let site = site(&[pair("box", 3, 3.0), pair("other", 1, 3.0)]);
    let names: Vec<&str> = site.keys().map(String::as_str).collect();
    let expected = ["index.html", "pairs/a+b.html", "runs.html", "runs/runs+0.html", "runs/runs+1.html"];
    assert_eq!(names, [&expected[..], &["stores/a.html", "stores/b.html", "style.css"]].concat());
    let mut links = 0;
    for (name, text) in site.iter().filter(|(name, _)| name.ends_with(".html")) {
        let page = text.split("<script").next().unwrap();
        for address in page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            let target = address.split('#').next().unwrap();
            if target.is_empty() || target.starts_with("data:") || target.ends_with("report.html") {
                continue;
            }
            let full = target.strip_prefix("../").unwrap_or(target);
            assert!(site.contains_key(full), "{name}: {address}");
            links += 1;
        }
    }
    assert!(links > 40, "{links}");
}

#[test]
fn pairs_of_many_stores_are_bounded() {
    let names: Vec<String> = (0..MOST_PAIRED + 3).map(|number| format!("s{number:03}")).collect();
    let facts = analyse(&[blocks("box", &[names.iter().map(|name| Sample::new(name)).collect()])]).remove(0);
    assert_eq!(
        (facts.sides.len(), facts.store_pairs.len()),
        (names.len(), MOST_PAIRED * (MOST_PAIRED - 1) / 2)
    );
}

#[test]
fn the_page_of_a_pair_sums_over_machines() {
    let words = |runs: &[Run]| {
        let page = site(runs)["pairs/a+b.html"].clone();
        let part = page
            .split_once("id=\"machines\"")
            .map(|(_, rest)| rest.split("</section>").next().unwrap().to_owned());
        part.map(|part| part.split("<li>").find(|line| line.starts_with("get")).unwrap().to_owned())
    };
    let runs = [pair("one", 3, 3.0), pair("two", 3, 1.5), pair("three", 3, 0.5), pair("four", 1, 3.0)];
    let line = words(&runs).unwrap();
    let expected =
        "get, process: a is better on some machines (2 of 4), by 1.50 to 3.00 times; b on 1; undecided on 1.";
    assert!(line.starts_with(expected), "{line}");
    let line = words(&runs[..2]).unwrap();
    assert!(line.contains("a is better on all machines (2 of 2), by 1.50 to 3.00 times."), "{line}");
    let line = words(&[runs[3].clone(), pair("five", 1, 2.0)]).unwrap();
    assert!(line.contains("neither is better on any of 2 machines; undecided on 2"), "{line}");
    let page = &site(&runs[..2])["pairs/a+b.html"];
    assert!(page.contains("one and two are of one type ("), "{page}");
    assert!(page.contains("and count as 2 machines."), "{page}");
    // Two runs of one machine are one.
    assert_eq!(words(&[pair("one", 3, 3.0), pair("one", 3, 3.0)]), None);
}

/// A run with the claims of a study that finds one store faster, and with one that was never run.
fn analyse_claims(hardware: &str, times: f64) -> Vec<RunFacts> {
    const CLAIMS: &str = r#"
[[claim]]
says = "a is faster"
source = "made"
figure = ["get"]
expect.winner = { stores = ["a"] }

[[claim]]
says = "z is faster"
source = "made"
figure = ["get"]
expect.winner = { stores = ["z"] }
"#;
    let runs = [pair(hardware, 3, times)];
    let claims = storebench_figures::claims::run_claims("made", CLAIMS, "test").unwrap().unwrap();
    let merged = Merged::new(&runs, &[NULL]).with_published(vec![claims], Vec::new());
    let source = Source { folder: hardware.to_owned(), report: None };
    facts(&Report::new(&merged), source).into_iter().collect()
}

#[test]
fn a_finding_is_summed_over_machines_and_those_that_nobody_measured_are_one_list() {
    let runs = [("one", 3.0), ("two", 2.0), ("three", 0.5)];
    let facts = runs.iter().flat_map(|(hardware, times)| analyse_claims(hardware, *times)).collect();
    let site: BTreeMap<String, String> =
        pages(facts, &[]).unwrap().into_iter().map(|page| (page.name, page.text)).collect();
    let findings: Vec<&String> = site.keys().filter(|name| name.starts_with("findings/")).collect();
    assert_eq!(findings.len(), 1, "{findings:?}");
    let sum = "holds on most machines (2 of 3), not on 1";
    assert!(site[findings[0]].contains(&format!("Over machines: {sum}.")), "{}", site[findings[0]]);
    assert!(site[findings[0]].contains("one, three and two are of one type ("));
    let index = &site["index.html"];
    assert!(index.contains(sum) && index.contains(findings[0].as_str()));
    let (_, folded) = index.split_once("1 finding of which no run here measured anything").unwrap();
    assert!(folded.contains("z is faster") && !folded.contains("href=\"findings/"), "{folded}");
}

#[test]
fn one_trial_names_candidates_and_three_a_winner() {
    let pair = &site(&[pair("box", 3, 3.0), pair("other", 1, 3.0)])["pairs/a+b.html"];
    let (_, rows) = pair.split_once("<tbody>").unwrap();
    let rows: Vec<&str> = rows.split("<tr>").skip(1).collect();
    assert_eq!(rows.len(), 2, "a row for each machine");
    assert!(rows[0].contains("box") && rows[0].contains("<b>a</b>, 3.00x"), "{}", rows[0]);
    assert!(rows[1].contains("other") && rows[1].contains("undecided"), "{}", rows[1]);
    assert!(!rows[1].contains("<b>a</b>"), "{}", rows[1]);
}

#[test]
fn figures_are_those_of_the_runs_own_report_beside_their_guarantee() {
    let run = pair("box", 3, 3.0);
    let runs = [run];
    let merged = Merged::new(&runs, &[NULL]);
    let report = Report::new(&merged);
    let matrix = report.matrices()[0].as_ref().unwrap();
    let insert = matrix.rows.iter().find(|row| row.figure.name == "insert").unwrap();
    let mean = insert.contests[0].contenders[1].figure.mean.value;
    let site = site(&runs);
    let figure = insert.figure.unit.show(mean);
    let store = &site["stores/b.html"];
    let row = store.split("<tr>").find(|row| row.contains(&figure)).unwrap();
    assert!(row.contains("process") && row.contains("href=\"../runs/runs+0.html\""), "{row}");
    assert!(site["runs/runs+0.html"].contains(&figure));
    assert!(!site.contains_key("stores/null.html"), "the harness's own stores have no pages");
}

#[test]
fn the_order_of_runs_is_no_matter() {
    let facts = || analyse(&[pair("box", 3, 3.0), pair("other", 1, 2.0), pair("box", 2, 1.0)]);
    let backwards = facts().into_iter().rev().collect();
    assert_eq!(pages(backwards, &[]).unwrap(), pages(facts(), &[]).unwrap());
}

#[test]
fn versions_stand_below_one_another_where_all_else_was_the_same() {
    let run_of_version = |version: &str, hardware: &str, started: &str| {
        let mut run = blocks(hardware, &[vec![Sample::new("a").guarantee("power").tier(Guarantee::Power)]]);
        run.header.started = started.into();
        run.trials[0].measured.as_mut().unwrap().store_version = version.into();
        run
    };
    let newer = run_of_version("2.0", "box", "2026-02-01T00:00:00Z");
    let runs = [newer, run_of_version("1.0", "box", "2026-01-01T00:00:00Z")];
    let history = |runs: &[Run]| {
        let page = site(runs)["stores/a.html"].clone();
        page.split_once("id=\"history\"").map(|(_, rest)| rest.split("</section>").next().unwrap().to_owned())
    };
    let section = history(&runs).unwrap();
    assert!(section.find("1.0").unwrap() < section.find("2.0").unwrap(), "{section}");
    assert!(section.contains("box, power"), "{section}");
    assert_eq!(history(&runs[..1]), None);
    let mut others = [runs[0].clone(), run_of_version("1.0", "other", "2026-01-01T00:00:00Z")];
    assert_eq!(history(&others), None, "another machine");
    others[1] = runs[1].clone();
    others[1].header.plan.push_str("\noperations = 77\n");
    assert_eq!(history(&others), None, "another plan");
}

#[test]
fn nothing_that_others_wrote_becomes_markup() {
    let evil = "<script>alert(1)</script>'\"&{{content}}/../x";
    let mut run = blocks(evil, &[vec![Sample::new(evil), Sample::new("b")]]);
    run.header.title = evil.into();
    run.header.study = evil.into();
    run.header.locations[0].file_system = Some(evil.into());
    run.trials[0].measured.as_mut().unwrap().store_version = evil.into();
    let site = site(&[run]);
    for (name, text) in &site {
        assert!(!text.contains("<script>alert"), "{name}");
        assert!(name.matches('/').count() <= 1 && !name.contains(['<', '\'', '"']), "{name}");
    }
}

#[test]
fn an_older_version_expires() {
    let run_of = |hardware: &str, version: &str, kernel: &str| {
        let mut run = blocks(hardware, &[vec![Sample::new("a"), Sample::new("b")]]);
        run.header.environment.kernel = kernel.into();
        for trial in run.trials.iter_mut().filter(|trial| trial.cell.store() == "a") {
            trial.measured.as_mut().unwrap().store_version = version.into();
        }
        run
    };
    let expired = |runs: &[Run]| site(runs)["stores/a.html"].matches("expired: ").count();
    assert_eq!(expired(&[run_of("box", "3.9", "k"), run_of("other", "3.9", "k")]), 0);
    let newer = run_of("other", "3.46", "k");
    assert_eq!(expired(&[run_of("box", "3.9", "k"), newer]), 1, "3.9 is older than 3.46");
    let kernels = [("box", "6.1"), ("other", "6.9")].map(|(hardware, version)| {
        run_of(hardware, &format!("Linux {version}"), &format!("Linux {version}.0 x86_64"))
    });
    assert_eq!(expired(&kernels), 0, "no kernel replaces another");
}
