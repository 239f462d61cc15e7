//! The first page: a search over all results, whose rows are compressed data, and lists that work without the script.

use std::collections::BTreeMap;
use std::io;

use indexmap::IndexSet;
use serde::Serialize;
use storebench_figures::data::moment::{day, to_the_second};
use storebench_model::store::StoreDef;
use storebench_model::units::plural;

use super::facts::{RunFacts, Side};
use super::finding::{self, RunVerdicts};
use super::frame::{
    NO_FIGURE, ONCE, describe_conditions, frame_page, guarantee, link, page_name, pair_name, proofs, section,
    store_link, table_section, td,
};
use super::known_checks::KnownChecks;
use super::newest::Newest;
use super::store::{self, Line};
use crate::findings::{self, blocks};
use crate::markup::{Html, Literal, Tag, column, list, note, p, row, scroll, table, tag};
use crate::page::compress;
use crate::page::section::content;

const SEARCH: &str = include_str!("search.html");
const SCRIPT: &str = include_str!("site.js");

pub struct Site<'f> {
    pub runs: &'f [RunFacts],
    pub stores: BTreeMap<&'f str, Vec<Line<'f>>>,
    pub pairs: Vec<&'f [String; 2]>,
    pub findings: BTreeMap<(&'f str, usize, &'f str), RunVerdicts<'f>>,
    pub checks: KnownChecks<'f>,
    pub newest: Newest<'f>,
}

/// Texts, each once; rows have their indices.
type Texts = IndexSet<String>;

fn intern(texts: &mut Texts, text: impl Into<String>) -> usize {
    texts.insert_full(text.into()).0
}

/// The indices of a figure's name and of its range, and 1 for a single trial.
type Figure = (usize, usize, u8);

#[derive(Default, Serialize)]
struct SearchData {
    words: Texts,
    /// Pieces of HTML, which the program has escaped.
    html: Texts,
    /// The words for a store without a figure, and for figures of one trial.
    none: usize,
    once: usize,
    /// The page, the study and the day of each run.
    runs: Vec<[String; 3]>,
    /// Row by row: store, its page, version, guarantee, disk, machine (words); settings and others (words); evidence (HTML), recovery
    /// (words), the run that has it, the run, and names and ranges of figures (words), with a mark for a single trial.
    rows: Vec<(Vec<usize>, Vec<Figure>)>,
}

pub fn page(site: &Site<'_>, entries: &[StoreDef]) -> io::Result<String> {
    let data = tag("script")
        .attr("type", "application/octet-stream")
        .attr("id", "data")
        .with(compress(&search_data(site))?);
    let heads = ["store", "description", "guarantees measured", "versions", "machines"];
    let stores = table_section("stores", "Stores", "", &heads, store::rows(&site.stores, entries));
    let pairs: Vec<Tag> =
        site.pairs.iter().map(|pair| link("", "pairs", &pair_name(pair), pair.join(" – "))).collect();
    let pairs =
        list(pairs).map(|links| section("pairs", "Pairs: where each is better", links.class("links")));
    let findings = findings(site);
    let empty_note = site.stores.is_empty().then(|| p("No run here has figures of a store."));
    let machines: IndexSet<&str> = site.runs.iter().map(|run| run.header.hardware.as_str()).collect();
    let subtitle = format!(
        "{} on {}, {}, {} that met",
        plural(site.runs.len(), "run"),
        plural(machines.len(), "machine"),
        plural(site.stores.len(), "store"),
        plural(site.pairs.len(), "pair"),
    );
    let content = (Literal(SEARCH), empty_note, stores, pairs, findings);
    let script = (data, tag("script").with(Literal(SCRIPT)));
    Ok(frame_page("", "Results of storebench", subtitle, content, script))
}

fn findings(site: &Site<'_>) -> Option<Tag> {
    let rows = finding::rows(&site.findings);
    let heads = ["study", "finding", "verdicts"].map(column);
    let measured = (!rows.is_empty()).then(|| {
        let explanation =
            "A published finding is checked on each machine separately. It may hold on one and not on another.";
        Html::new((note(explanation), scroll(table(heads.into(), rows))))
    });
    let others = finding::unmeasured(&site.findings);
    let has_papers = site.runs.iter().any(|run| run.sentences.is_some());
    let papers_link =
        has_papers.then(|| p(tag("a").attr("href", PAPERS).with("The papers, sentence by sentence")));
    let has_findings = measured.is_some() || others.is_some();
    has_findings.then(|| section("findings", "Published findings", (papers_link, measured, others)))
}

pub const PAPERS: &str = "papers.html";

/// What came of each sentence in the runs that were made for that; `None` where there is none.
pub fn papers(site: &Site<'_>) -> Option<String> {
    let sentences: Vec<&findings::RunSentences> =
        site.runs.iter().filter_map(|run| run.sentences.as_ref()).collect();
    let run_count = plural(sentences.len(), "run");
    let title = "What came of the papers' sentences";
    (!sentences.is_empty()).then(|| frame_page("", title, run_count, content(&blocks(sentences)), ""))
}

fn search_data(site: &Site<'_>) -> SearchData {
    let mut data = SearchData::default();
    let run_indices: BTreeMap<&str, usize> =
        site.runs.iter().enumerate().map(|(index, run)| (run.name.as_str(), index)).collect();
    let run_index = |run: &RunFacts| run_indices.get(run.name.as_str()).copied().unwrap_or_default();
    [data.none, data.once] = [NO_FIGURE, ONCE].map(|text| intern(&mut data.words, text));
    for run in site.runs {
        let day = day(&run.header.started);
        data.runs.push([&run.name, &run.header.study, day].map(str::to_owned));
    }
    for (run, side) in site.stores.values().flatten() {
        let Side { store, settings, version, conditions, .. } = side;
        let recovery = site.checks.recovery(run, side);
        let evidence = proofs("", site.checks.proofs(run, side));
        let words = &mut data.words;
        let row = vec![
            intern(words, store),
            intern(words, page_name(store)),
            intern(words, version),
            intern(words, guarantee(conditions)),
            intern(words, &conditions.disk),
            intern(words, &run.header.hardware),
            intern(words, settings),
            intern(&mut data.html, describe_conditions(conditions).into_string()),
            intern(&mut data.html, evidence.into_string()),
            intern(words, recovery.map_or("", |(text, _)| text)),
            recovery.map_or(0, |(_, run)| run_index(run)),
            run_index(run),
        ];
        let speed = |speed: &super::facts::Speed| {
            (intern(words, &speed.figure), intern(words, &speed.range), u8::from(speed.is_single))
        };
        let speeds = side.speeds.iter().map(speed).collect();
        data.rows.push((row, speeds));
    }
    data
}

pub fn runs(site: &Site<'_>) -> String {
    let run_row = |run: &RunFacts| {
        let stores: IndexSet<&str> = run.sides.iter().map(|side| side.store.as_str()).collect();
        let stores = Html::join(stores.into_iter().map(|store| store_link("", store)), ", ");
        let folder = link("", "runs", &run.name, &run.folder);
        let cells = [&run.header.hardware, &run.header.study].map(td);
        row(folder, (cells, td(to_the_second(&run.header.started)), td(stores)))
    };
    let heads = ["folder", "machine", "study", "started", "stores"];
    let rows = site.runs.iter().map(run_row).collect();
    let content = table_section("runs", "Every run", "", &heads, rows);
    frame_page("", "Runs", plural(site.runs.len(), "run"), content, "")
}
