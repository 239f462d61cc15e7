//! The facts of one run that the site's pages use, as its own report has them; nothing here is combined with another run.

use std::borrow::Cow;
use std::collections::BTreeSet;

use indexmap::{IndexMap, IndexSet};
use storebench_figures::claims::Verdict;
use storebench_figures::column::Unit;
use storebench_figures::data::findings::{check, label, words};
use storebench_figures::data::matrix::{Contest, Figure, Matrix, Row as MatrixRow, matrix};
use storebench_figures::data::merge::{Group, GroupKey, Merged};
use storebench_figures::data::method::Method;
use storebench_figures::data::names::join_parts;
use storebench_figures::data::summary::rotation;
use storebench_figures::judge::standing::{self, Pair};
use storebench_figures::layout::Position;
use storebench_model::cell::{Axis, HERE};
use storebench_model::result::RunHeader;
use storebench_model::store::{Evidence, Guarantee, StoreDef};
use xxhash_rust::xxh3::xxh3_64;

use super::frame::page_name;
use super::run;
use crate::findings::RunSentences;
use crate::report::Report;
use crate::section::{Block, Cell, Row, Section, Value};
use crate::sections;

/// The files of a run.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its folder, below the site's source folder.
    pub folder: String,
    /// The address of its own report from a page's folder; `None` if it has none.
    pub report: Option<String>,
}

/// A run as shown on the site.
#[derive(Debug)]
pub struct RunFacts {
    /// Its folder.
    pub folder: String,
    /// The name of its page.
    pub name: String,
    /// Its page.
    pub page: String,
    /// Its header, without the left-out combinations.
    pub header: RunHeader,
    /// Identifies the method of its work: equal numbers mean equal methods.
    pub method: u64,
    /// Each store under each of its conditions.
    pub sides: Vec<Side>,
    /// Each pair of stores that met.
    pub store_pairs: Vec<StorePair>,
    /// The verdicts on published findings.
    pub verdicts: Vec<SentenceVerdict>,
    /// What it says of the sentences of its study, where it is a run of the preset for that.
    pub sentences: Option<RunSentences>,
    /// The rows of the sections [`CHECKS`].
    pub checks: [Vec<Row>; 2],
}

pub const CHECKS: [&str; 2] = ["cuts", "recovery"];

/// The conditions of figures, besides the machine.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Conditions {
    pub(super) tier: Option<Guarantee>,
    /// In words; empty if there is none.
    pub(super) guarantee: String,
    /// The disk and the file system.
    pub(super) disk: String,
    /// Values of other axes that differ from the default, and of the method.
    pub(super) others: String,
    /// The common values of all measured combinations.
    pub(super) common: String,
    /// The combinations, by their differences.
    pub(super) places: Vec<String>,
}

#[derive(Debug)]
pub struct Side {
    pub store: String,
    /// Its name in the ranking, with ranked settings.
    pub contestant: String,
    /// The ranked settings, readable; empty if the store itself is ranked.
    pub settings: String,
    pub version: String,
    pub conditions: Conditions,
    pub speeds: Vec<Speed>,
    pub known_proofs: Vec<Proof>,
    pub run_proofs: Vec<Proof>,
    pub recovery: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Proof {
    pub text: String,
    /// Whether any state lost more than the guarantee allows.
    pub is_broken: bool,
}

impl From<&Evidence> for Proof {
    fn from(evidence: &Evidence) -> Proof {
        Proof { text: evidence.describe(), is_broken: evidence.dangers().next().is_some() }
    }
}

#[derive(Debug)]
pub struct Speed {
    pub figure: String,
    /// Over the combinations.
    pub range: String,
    /// Whether the place with the fewest trials has a single one.
    pub is_single: bool,
}

/// Two stores that met, in alphabetical order.
#[derive(Debug)]
pub struct StorePair {
    pub stores: [String; 2],
    pub versions: [String; 2],
    pub conditions: Conditions,
    pub outcomes: Vec<FigureOutcome>,
}

#[derive(Debug, Default)]
pub struct FigureOutcome {
    pub figure: String,
    /// Of each store's figure.
    pub ranges: [String; 2],
    /// The places where each is better, with the factor; without those where a figure is zero.
    pub won: [Vec<(String, Option<f64>)>; 2],
    /// The places where each is the only candidate, with few trials.
    pub candidate: [Vec<(String, Option<f64>)>; 2],
    /// Places that trials can't decide.
    pub close: usize,
    /// Places left open by too few trials or processors.
    pub open: usize,
}

#[derive(Debug)]
pub struct SentenceVerdict {
    /// The name of the finding's page.
    pub name: String,
    pub study: String,
    /// Its number in the study, from 1.
    pub number: usize,
    pub says: String,
    /// The place in the publication.
    pub source: String,
    /// The expectation, and the result on the paper's own figures.
    pub notes: Vec<String>,
    /// The run's result if any part of it was measured.
    pub outcome: Option<Outcome>,
}

#[derive(Debug)]
pub struct Outcome {
    pub verdict: Verdict,
    pub scope: String,
    pub why: String,
}

/// The facts of the single run in `report`; `None` without one.
pub fn facts(report: &Report<'_>, source: Source) -> Option<RunFacts> {
    let merged = report.merged;
    let run = merged.runs.first()?;
    let checks =
        CHECKS.map(|name| sections::find(name).map_or_else(Vec::new, |section| rows(report, section)));
    let mut sides = Vec::new();
    let mut store_pairs = Vec::new();
    for (group, matrix) in merged.groups.iter().zip(report.matrices()) {
        let Some(matrix) = matrix else { continue };
        let figures = contests_by_figure(matrix);
        let conditions = conditions(merged, group, matrix, &figures);
        let contestants = contestants(merged, group);
        for (name, (store, version)) in &contestants {
            let title = join_parts([group.key.hardware.as_str(), &merged.label(&group.key)]);
            sides.push(build_side(merged, (&figures, &title, &conditions), (name, store, version), &checks));
        }
        store_pairs.extend(meetings(merged, group, &contestants, &conditions));
    }
    let verdicts = verdicts(merged);
    let name = page_name(&source.folder);
    let page = run::run_page(report, &source, &verdicts);
    let header = RunHeader { left_out: Vec::new(), ..run.header.clone() };
    let plan = Method::from_run(run).map_or_else(|| run.header.plan.clone(), |method| method.all());
    let method = xxh3_64(format!("{:?} {plan}", run.header.environment.cpu).as_bytes());
    Some(RunFacts {
        folder: source.folder,
        name,
        page,
        header,
        method,
        sides,
        store_pairs,
        verdicts,
        sentences: None,
        checks,
    })
}

fn rows(report: &Report<'_>, section: &Section) -> Vec<Row> {
    let tables = Block::tables(report.blocks(section));
    tables.first().map_or_else(Vec::new, |table| table.rows.clone())
}

/// The disk of a group: simulated, or its kind if known, and the file system.
fn disk(header: &RunHeader, group: &Group<'_>) -> String {
    let cells = group.trials.iter().map(|entry| &entry.trial.cell);
    let cell = cells.chain(group.left_out.iter().map(|omitted| &omitted.cell)).next();
    let place = cell.and_then(|cell| header.locations.iter().find(|place| place.is_location_of(cell)));
    let Some(place) = place else { return "unknown disk".into() };
    let kind = match place.disk() {
        HERE => rotation(place, &header.environment).unwrap_or("unknown disk").to_owned(),
        simulated => format!("simulated {simulated}"),
    };
    join_parts([kind.as_str(), place.file_system.as_deref().unwrap_or_default()])
}

fn conditions(merged: &Merged<'_>, group: &Group<'_>, matrix: &Matrix, figures: &Figures<'_>) -> Conditions {
    let header = &merged.runs[0].header;
    let bare_key = GroupKey { asked: None, ..group.key.clone() };
    let contests = figures.values().flat_map(|(_, contests)| contests);
    let measured = contests.filter(|(_, contest)| !contest.contenders.is_empty());
    let places: IndexSet<String> = measured.map(|(place, _)| place.clone()).collect();
    let (first, common) = common_axes(matrix);
    Conditions {
        tier: group.key.tier,
        guarantee: group.key.guarantee().map(|label| label.to_string()).unwrap_or_default(),
        disk: disk(header, group),
        others: merged.label(&bare_key),
        common: first.map(|first| only_axes(&first, &common).to_string()).unwrap_or_default(),
        places: places.into_iter().collect(),
    }
}

/// The competing contestants of a group, each with its store and version.
fn contestants<'g>(merged: &Merged<'_>, group: &'g Group<'_>) -> IndexMap<Cow<'g, str>, (&'g str, String)> {
    let mut contestants: IndexMap<Cow<'_, str>, (&str, String)> = IndexMap::new();
    for entry in &group.trials {
        let cell = &entry.trial.cell;
        if merged.is_harness(cell.store()) || cell.store().is_empty() {
            continue;
        }
        let version = entry.trial.ok().map(|measured| measured.store_version.clone());
        let name = merged.layout.contestant(cell);
        let contestant = contestants.entry(name).or_insert((cell.store(), String::new()));
        if let Some(version) = version.filter(|_| contestant.1.is_empty()) {
            contestant.1 = version;
        }
    }
    contestants
}

/// The first place of a matrix, and the axes on which all others have its value.
fn common_axes(matrix: &Matrix) -> (Option<Position>, BTreeSet<Axis>) {
    let row_places =
        |row: &MatrixRow| matrix.columns.iter().map(|column| row.at.merged_with(column)).collect::<Vec<_>>();
    let places: Vec<Position> = matrix.rows.iter().flat_map(row_places).collect();
    let Some(first) = places.first() else { return (None, BTreeSet::new()) };
    let is_common = |axis: &Axis| places.iter().all(|place| place.value(*axis) == first.value(*axis));
    let axes = first.axes().filter(is_common).collect();
    (Some(first.clone()), axes)
}

fn only_axes(place: &Position, axes: &BTreeSet<Axis>) -> Position {
    let others: Vec<Axis> = place.axes().filter(|axis| !axes.contains(axis)).collect();
    others.into_iter().fold(place.clone(), |place, axis| place.without_axis(axis))
}

/// A figure with its contests and their places, named by their differences.
type Contests<'m> = (&'m Figure, Vec<(String, &'m Contest)>);

type Figures<'m> = IndexMap<&'m str, Contests<'m>>;

fn contests_by_figure(matrix: &Matrix) -> Figures<'_> {
    let mut figures = Figures::new();
    let (_, common) = common_axes(matrix);
    for row in &matrix.rows {
        let entry = figures.entry(row.figure.name.as_str()).or_insert((&row.figure, Vec::new()));
        let place = |column: &Position| {
            common.iter().fold(row.at.merged_with(column), |place, axis| place.without_axis(*axis))
        };
        let places = matrix.columns.iter().map(|column| place(column).to_string());
        entry.1.extend(places.zip(&row.contests));
    }
    figures
}

fn build_side(
    merged: &Merged<'_>,
    (figures, title, conditions): (&Figures<'_>, &str, &Conditions),
    (name, store, version): (&str, &str, &str),
    checks: &[Vec<Row>; 2],
) -> Side {
    let speed = |(figure, (head, contests)): (&&str, &Contests<'_>)| {
        let contenders = || {
            let contenders = contests.iter().flat_map(|(_, contest)| &contest.contenders);
            contenders.filter(|contender| contender.store == name)
        };
        let is_single = contenders().any(|contender| contender.figure.trials < 2);
        Some(Speed { figure: (*figure).to_owned(), range: head.range(contenders())?, is_single })
    };
    let evidence =
        merged.stores.iter().find(|entry| entry.name == store).map_or(&[] as &[_], StoreDef::evidence);
    // Other settings may break what those of the guarantee have kept.
    let version_evidence: Vec<Evidence> =
        evidence.iter().filter(|sum| name == store && sum.is_for_version(version)).cloned().collect();
    let sum = conditions.tier.and_then(|tier| Evidence::sum_torn(&version_evidence, tier));
    let known_proofs = sum.iter().map(Proof::from).collect();
    let [cuts, recovery] = checks;
    let run_proofs = contestant_rows(cuts, CHECKS[0], title, name).map(proof).collect();
    let recovery = contestant_rows(recovery, CHECKS[1], title, name).last();
    let recovery = recovery.and_then(|row| {
        let [open, records] = ["open_p50", "records"].map(|id| row_text(row, CHECKS[1], id));
        Some(format!("{} with {} records", open?, records?))
    });
    let settings = if name == store { String::new() } else { merged.readable.name(name).into_owned() };
    Side {
        store: store.to_owned(),
        contestant: name.to_owned(),
        settings,
        version: version.to_owned(),
        conditions: conditions.clone(),
        speeds: figures.iter().filter_map(speed).collect(),
        known_proofs,
        run_proofs,
        recovery,
    }
}

fn contestant_rows<'r>(
    rows: &'r [Row],
    section: &'static str,
    title: &'r str,
    name: &'r str,
) -> impl Iterator<Item = &'r Row> {
    let is_of_contestant = move |row: &&Row| {
        text(row, section, "store") == Some(name) && text(row, section, "title") == Some(title)
    };
    rows.iter().filter(is_of_contestant)
}

/// A row's cell in a column of its section's table, with the column's unit.
fn cell<'r>(row: &'r Row, section: &str, id: &str) -> Option<(&'r Cell, Unit)> {
    let shape = sections::find(section)?.shapes.first()?;
    let place = shape.columns.iter().position(|column| column.id == id)?;
    Some((row.cells.get(place)?, shape.columns[place].unit))
}

pub fn text<'r>(row: &'r Row, section: &str, id: &str) -> Option<&'r str> {
    match &cell(row, section, id)?.0.value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

fn row_text(row: &Row, section: &str, id: &str) -> Option<String> {
    let (cell, unit) = cell(row, section, id)?;
    cell.text_for_people(unit)
}

fn proof(row: &Row) -> Proof {
    let states = row_text(row, CHECKS[0], "states").unwrap_or_default();
    let holds = row_text(row, CHECKS[0], "holds");
    let text = match holds.as_deref() {
        Some("yes") => format!("{states} states: holds"),
        Some(_) => format!("{states} states: broken"),
        None => format!("{states} states: too few for a verdict"),
    };
    Proof { text, is_broken: holds.as_deref() == Some("no") }
}

/// The most stores of a group with a page for each pair: the number of pages grows with the square.
pub const MOST_PAIRED: usize = 100;

/// The pairs of stores of a group, in alphabetical order, each ranked as a pair.
fn meetings<'g>(
    merged: &Merged<'_>,
    group: &'g Group<'_>,
    contestants: &IndexMap<Cow<'g, str>, (&'g str, String)>,
    conditions: &Conditions,
) -> Vec<StorePair> {
    let plain = contestants.iter().filter(|(name, (store, version))| name == store && !version.is_empty());
    let mut stores: Vec<(&str, &str)> =
        plain.map(|(_, (store, version))| (*store, version.as_str())).collect();
    stores.sort_unstable();
    stores.truncate(MOST_PAIRED);
    let mut store_pairs = Vec::new();
    for (index, a) in stores.iter().enumerate() {
        for b in &stores[index + 1..] {
            let pair = [a.0, b.0];

            let mut pair_group = Group { key: group.key.clone(), trials: Vec::new(), left_out: Vec::new() };
            let trials = group.trials.iter().filter(|entry| pair.contains(&entry.trial.cell.store()));
            pair_group.trials.extend(trials);
            let Some(matrix) = matrix(merged, &pair_group) else { continue };
            let figures = contests_by_figure(&matrix).into_values();
            let outcomes = figures.filter_map(|(figure, contests)| figure_outcome(pair, figure, &contests));
            store_pairs.push(StorePair {
                stores: pair.map(str::to_owned),
                versions: [a.1, b.1].map(str::to_owned),
                conditions: conditions.clone(),
                outcomes: outcomes.collect(),
            });
        }
    }
    store_pairs
}

/// The outcome of a figure between two; `None` if they never met.
fn figure_outcome(
    pair: [&str; 2],
    figure: &Figure,
    contests: &[(String, &Contest)],
) -> Option<FigureOutcome> {
    let shared: Vec<_> = contests.iter().filter(|(_, contest)| contest.contenders.len() == 2).collect();
    let range = |store: &str| {
        let contenders = shared.iter().flat_map(|(_, contest)| &contest.contenders);
        figure.range(contenders.filter(|contender| contender.store == store))
    };
    let ranges = [range(pair[0])?, range(pair[1])?];
    let mut outcome = FigureOutcome { figure: figure.name.clone(), ranges, ..FigureOutcome::default() };
    for (place, contest) in shared {
        let [best, other] = contest.contenders.as_slice() else { continue };
        let winner = usize::from(best.store == pair[1]);
        let won = (place.clone(), other.times_worse.map(|ratio| ratio.ratio.value));
        match standing::pair(other) {
            Pair::Better => outcome.won[winner].push(won),
            Pair::Candidate => outcome.candidate[winner].push(won),
            Pair::Close => outcome.close += 1,
            Pair::Open => outcome.open += 1,
        }
    }
    Some(outcome)
}

fn verdicts(merged: &Merged<'_>) -> Vec<SentenceVerdict> {
    let mut verdicts = Vec::new();
    for study in check(merged) {
        for (index, checked) in study.checked.iter().enumerate() {
            let claim = checked.claim;
            let published = words::describe_published(checked)
                .map(|words| format!("On the paper's own figures: {words}."));
            let expected = [format!("Expected: {}.", claim.describe())];
            let verdict_with = |outcome: Option<Outcome>| SentenceVerdict {
                name: finding_name(&study.study.study, &claim.says),
                study: study.study.study.clone(),
                number: index + 1,
                says: claim.says.clone(),
                source: join_parts([study.study.source.as_str(), &claim.source]),
                notes: expected.iter().chain(&published).cloned().collect(),
                outcome,
            };
            let measured: Vec<_> = checked.findings.iter().filter(|finding| finding.is_measured()).collect();
            if measured.is_empty() {
                verdicts.push(verdict_with(None));
            }
            for finding in measured {
                let score = format!("{} of {} checks agree", finding.leaning.agree, finding.leaning.total());
                let with_figure = claim.figure.len() > 1;
                let telling =
                    words::telling(finding).map(|evidence| words::evidence_line(evidence, with_figure));
                let leaning = Some(words::describe_leaning(finding).to_owned());
                let needs = words::describe_needs(claim, finding);
                let parts = [leaning, Some(score), needs, words::judged_without(finding), telling];
                let parts = parts.into_iter().flatten();
                let why: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
                let (verdict, scope, why) = (finding.verdict, label(merged, &finding.scope), why.join("; "));
                verdicts.push(verdict_with(Some(Outcome { verdict, scope, why })));
            }
        }
    }
    verdicts
}

fn finding_name(study: &str, says: &str) -> String {
    format!("{}-{:08x}", page_name(study), xxh3_64(says.as_bytes()) >> 32)
}
