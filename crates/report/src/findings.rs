//! What came of the studies' published sentences, run by run: how many hold, the figures that decide each, and why one does not hold.
//! `storebench findings` writes it as a document, `storebench site` as a page.

use std::path::Path;
use std::time::Duration;

use indexmap::IndexMap;
use serde::Deserialize;
use storebench_figures::claims::{Finding, Outcome, Verdict};
use storebench_figures::column::Unit;
use storebench_figures::data::findings::words::{
    describe_leaning, describe_needs, describe_published, evidence_with_intervals, judged_without, measured,
    telling,
};
use storebench_figures::data::findings::{CheckedClaim, check as checked, label, why_unmeasured};
use storebench_figures::data::merge::Merged;
use storebench_figures::data::moment::{minute, to_the_second};
use storebench_figures::data::preset;
use storebench_figures::data::published::{
    PublishedCell as Spot, TableComparison, compare_tables, describe_agreement,
};
use storebench_figures::data::spread;
use storebench_figures::data::summary::counts;
use storebench_host::plan::{BuiltInStudy, STUDIES};
use storebench_model::cell::{Axis, Data};
use storebench_model::units::{plural, rough_duration, with_commas};
use strum::{EnumIter, IntoEnumIterator, IntoStaticStr};

use crate::check;
use crate::page::machine::command;
use crate::report::Report;
use crate::section::{Block, Cell, Column, ColumnRole, FoldState, Shape, Table, Visibility};
use crate::terminal::checklist::State;

/// One run of a study.
#[derive(Debug)]
pub struct RunSentences {
    study: &'static BuiltInStudy,
    source: String,
    started: String,
    /// Where it is, what was done, and what disturbed it.
    description: Vec<String>,
    sentences: Vec<Sentence>,
    tables: Vec<Winners>,
}

/// A sentence in one run.
#[derive(Debug)]
struct Sentence {
    says: String,
    /// Where it stands, how it was read, and what the paper's own tables say of it.
    notes: Vec<String>,
    outcome: SentenceOutcome,
    /// The figures behind it in each group, or what it lacks.
    figures: Vec<String>,
}

/// What came of a sentence in all groups of a run together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
enum SentenceOutcome {
    Reproduced,
    #[strum(serialize = "not reproduced")]
    NotReproduced,
    #[strum(serialize = "in part")]
    InPart,
    Undecided,
    #[strum(serialize = "not measurable here")]
    NotMeasurable,
}

impl SentenceOutcome {
    fn is_decided(self) -> bool {
        !matches!(self, SentenceOutcome::Undecided | SentenceOutcome::NotMeasurable)
    }
}

/// A published table of winners next to a group of a run.
#[derive(Debug)]
struct Winners {
    title: String,
    group: String,
    agreement: String,
    /// By figure, size, data and number of records: the published winner, and the mark of this run.
    cells: IndexMap<[String; 3], (String, String)>,
}

/// Why a sentence does not hold.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reason {
    study: String,
    says: String,
    why: String,
    measured: bool,
}

#[derive(Debug, Deserialize)]
struct Reasons {
    #[serde(default)]
    reason: Vec<Reason>,
}

/// The reasons; none where they can't be read, which a test looks for.
fn reasons() -> Vec<Reason> {
    let text = include_str!("../studies/published/reasons.toml");
    toml::from_str::<Reasons>(text).map(|reasons| reasons.reason).unwrap_or_default()
}

/// What a run that stands alone in `report`, in a folder, says of its study's sentences; `notes` say what was odd about its files. `None`
/// where its study has none.
pub fn run_sentences(report: &Report<'_>, folder: &str, notes: &[String]) -> Option<RunSentences> {
    let merged = report.merged;
    let run = merged.runs.first()?;
    let header = &run.header;
    let study = STUDIES.iter().find(|study| study.name == header.study)?;
    let studies = checked(merged);
    let study_checks = studies.first()?;
    let duration = Duration::try_from_secs_f64(run.trials.iter().map(|trial| trial.took_s()).sum()).ok()?;
    let machine = &header.environment;
    let cpu = machine.cpu.as_deref().unwrap_or("unknown processor");
    let disturbances: Vec<String> = check::all(report, Path::new(folder), notes)
        .iter()
        .filter(|group| ["the run", "the machine"].contains(&group.about))
        .flat_map(|group| group.lines.iter().filter(|line| line.state != State::Ok))
        .map(|line| format!("{}: {}", line.name, line.found))
        .collect();
    let disturbances =
        if disturbances.is_empty() { "nothing that a check can see".into() } else { disturbances.join("; ") };
    let description = [
        Some(format!(
            "{folder}: started {}, its trials took {}. {}",
            to_the_second(&header.started),
            rough_duration(duration),
            counts(merged)
        )),
        Some(format!(
            "{}: {cpu}, {} cores, {}; storebench {}: {}",
            header.hardware,
            machine.cores,
            machine.kernel,
            header.storebench,
            command(&header.command)
        )),
        preset::describe_preset(run),
        Some(format!("What disturbed it: {disturbances}.")),
    ];
    Some(RunSentences {
        study,
        source: study_checks.study.source.clone(),
        started: header.started.clone(),
        description: description.into_iter().flatten().collect(),
        sentences: study_checks.checked.iter().map(|checked| build_sentence(merged, checked)).collect(),
        tables: compare_tables(merged, None)
            .iter()
            .filter_map(|comparison| build_winners(merged, comparison))
            .collect(),
    })
}

fn build_sentence(merged: &Merged<'_>, checked: &CheckedClaim<'_>) -> Sentence {
    let claim = checked.claim;
    let findings: Vec<&Finding> = checked.findings.iter().filter(|finding| finding.is_measured()).collect();
    let has_verdict = |verdict: Verdict| findings.iter().any(|finding| finding.verdict == verdict);
    let is_impossible =
        !checked.findings.is_empty() && checked.findings.iter().all(Finding::cannot_be_measured);
    let outcome = match (has_verdict(Verdict::Reproduced), has_verdict(Verdict::NotReproduced)) {
        (true, true) => SentenceOutcome::InPart,
        (true, false) => SentenceOutcome::Reproduced,
        (false, true) => SentenceOutcome::NotReproduced,
        (false, false) if is_impossible => SentenceOutcome::NotMeasurable,
        (false, false) => SentenceOutcome::Undecided,
    };
    let describe_finding = |finding: &&Finding| {
        let verdict = match describe_leaning(finding) {
            "" => finding.verdict.name(),
            so_far => so_far,
        };
        let telling =
            telling(finding).map(|evidence| evidence_with_intervals(evidence, claim.figure.len() > 1));
        let parts = [
            Some(verdict.to_owned()),
            measured(claim, finding),
            describe_needs(claim, finding),
            judged_without(finding),
            telling,
        ];
        format!(
            "{}: {}",
            label(merged, &finding.scope),
            parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
        )
    };
    let published =
        describe_published(checked).map(|published| format!("On the paper's own figures: {published}."));
    let rule = format!("{}. Expected: {}.", claim.source, claim.describe());
    Sentence {
        says: claim.says.clone(),
        notes: [Some(rule), claim.note.clone(), published].into_iter().flatten().collect(),
        outcome,
        figures: if findings.is_empty() {
            vec![why_unmeasured(checked)]
        } else {
            findings.iter().map(describe_finding).collect()
        },
    }
}

/// A table next to a group on the same kind of disk; `None` for another group, and where the run has none of its combinations.
fn build_winners(merged: &Merged<'_>, comparison: &TableComparison<'_>) -> Option<Winners> {
    let has_combinations = comparison.places.iter().any(|place| place.found.is_some());
    let is_same_disk =
        comparison.scope.is_at(Axis::PLACE, HARD_DISK) == (comparison.table.place == HARD_DISK);
    let cell = |place: &Spot<'_>| {
        let data = if place.data == Data::Compressible { ", compressible" } else { "" };
        let column = format!("{} records{data}", with_commas(place.records.from));
        let best = place.found.as_ref().and_then(|found| found.shown.first());
        let mark = match place.found.as_ref().map(|found| found.outcome) {
            Some(Outcome::Agrees) => "=".into(),
            Some(Outcome::Close) => "~".into(),
            Some(Outcome::Disagrees) => format!("x {}", best.map_or("", |best| best.who.as_str())),
            Some(Outcome::Missing) | None => "?".into(),
        };
        let key = [place.row.figure.clone(), place.row.record_size.to_string(), column];
        (key, (place.published.store.clone(), mark))
    };
    (has_combinations && is_same_disk).then(|| Winners {
        title: format!("Winners, {}", comparison.table.title),
        group: label(merged, &comparison.scope),
        agreement: describe_agreement(comparison.agreement()),
        cells: comparison.places.iter().map(cell).collect(),
    })
}

/// What claims call the place of a hard disk.
const HARD_DISK: &str = "hdd";

static COUNTS: Shape = Shape {
    name: "findings",
    columns: &[
        Column::text("study").role(ColumnRole::Line, "study"),
        Column::text("run").role(ColumnRole::Line, "run"),
        Column::integer("sentences").role(ColumnRole::Line, "sentences"),
        Column::integer("reproduced").role(ColumnRole::Line, "reproduced"),
        Column::integer("not_reproduced").role(ColumnRole::Line, "not reproduced"),
        Column::integer("in_part").role(ColumnRole::Line, "in part"),
        Column::integer("undecided").role(ColumnRole::Line, "undecided"),
        Column::integer("not_measurable").role(ColumnRole::Line, "not measurable here"),
        Column::real("decided", Unit::Share).role(ColumnRole::Line, "decided, of the measurable"),
    ],
};

static WINNERS: Shape = Shape {
    name: "winners",
    columns: &[
        Column::text("figure").role(ColumnRole::Line, "figure"),
        Column::text("record_size").role(ColumnRole::Line, "record size"),
        Column::text("at").role(ColumnRole::Across, ""),
        Column::text("winner").role(ColumnRole::Spread, ""),
    ],
};

const HEAD: &str = "Each sentence of a paper was checked by the same rule in every run of its study below. Reproduced, not reproduced: in all groups of a \
     run (machine, place, load) that decide it; in part: in some of them. Undecided says what it would take. What this machine has not \
     (a file system, a store) is not measurable, and counts in no share.";

const BEHIND: &str = "The trials behind a figure: take its store and what stands before it. storebench report RUN --table lists them; each is a line \
     of JSON in RUN/results.jsonl, packed: zgrep '\"store\":\"lmdb\"' RUN/results.jsonl.gz | grep '\"records\":\"100..500\"'.";

/// All of it, study by study, the oldest run of each first.
pub fn blocks(mut runs: Vec<&RunSentences>) -> Vec<Block> {
    let study_index = |run: &RunSentences| STUDIES.iter().position(|study| study.name == run.study.name);
    runs.sort_by(|a, b| study_index(a).cmp(&study_index(b)).then_with(|| a.started.cmp(&b.started)));
    let mut table = Table::new(&COUNTS);
    for run in &runs {
        let count = |outcome: SentenceOutcome| {
            run.sentences.iter().filter(|sentence| sentence.outcome == outcome).count()
        };
        let measurable = run.sentences.len() - count(SentenceOutcome::NotMeasurable);
        let decided = run.sentences.iter().filter(|sentence| sentence.outcome.is_decided()).count();
        let cells = COUNTS.columns[3..]
            .iter()
            .zip(SentenceOutcome::iter())
            .map(|(column, outcome)| (column.id, Cell::from_count(count(outcome))));
        let first = [
            ("study", Cell::text(run.study.name)),
            ("run", Cell::text(minute(&run.started))),
            ("sentences", Cell::from_count(run.sentences.len())),
        ];
        let share = ("decided", Cell::real(decided as f64 / measurable.max(1) as f64));
        table.push(Visibility::Always, first.into_iter().chain(cells).chain([share]));
    }
    let reasons = reasons();
    let notes = [HEAD, BEHIND, spread::LEGEND].map(|note| Block::Note(note.to_owned()));
    let studies = runs.chunk_by(|a, b| a.study.name == b.study.name).map(|runs| study_block(runs, &reasons));
    notes.into_iter().chain([Block::Table(table)]).chain(studies).collect()
}

fn study_block(runs: &[&RunSentences], reasons: &[Reason]) -> Block {
    let first = runs[0];
    let mut blocks = vec![Block::Note(study_question(first.study.text)), Block::Note(first.source.clone())];
    blocks.extend(runs.iter().flat_map(|run| &run.description).map(|line| Block::Note(line.clone())));
    if let [a, b] = runs {
        let decided: Vec<(SentenceOutcome, SentenceOutcome)> = a
            .sentences
            .iter()
            .zip(&b.sentences)
            .map(|(a, b)| (a.outcome, b.outcome))
            .filter(|(a, b)| a.is_decided() && b.is_decided())
            .collect();
        let equal = decided.iter().filter(|(a, b)| a == b).count();
        blocks.push(Block::Note(format!(
            "Both runs decide {}, and {equal} of them alike.",
            plural(decided.len(), "sentence")
        )));
    }
    blocks.extend(first.tables.iter().map(|table| table_block(table, runs)));
    for (index, sentence) in first.sentences.iter().enumerate() {
        let results: Vec<&Sentence> = runs.iter().filter_map(|run| run.sentences.get(index)).collect();
        let outcomes: Vec<&str> = results.iter().map(|result| result.outcome.into()).collect();
        let notes = sentence.notes.iter().cloned();
        let figures = runs.iter().zip(&results).flat_map(|(run, result)| {
            result.figures.iter().map(move |line| format!("{}: {line}", minute(&run.started)))
        });
        let explanations =
            reasons.iter().filter(|reason| reason.study == first.study.name && reason.says == sentence.says);
        let explanations = explanations.map(|reason| {
            format!("Why, {}: {}", if reason.measured { "measured" } else { "a guess" }, reason.why)
        });
        let lines = notes.chain(figures).chain(explanations).map(Block::Note).collect();
        blocks.push(Block::fold(
            format!("{}. {}: {}", index + 1, sentence.says, outcomes.join("; ")),
            FoldState::Closer,
            lines,
        ));
    }
    Block::fold(first.study.name, FoldState::Part(0), blocks)
}

/// The comment that a study's text begins with.
fn study_question(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("# ")).collect();
    lines.join(" ")
}

/// A table in every run that has it next to the same group.
fn table_block(table: &Winners, runs: &[&RunSentences]) -> Block {
    let copies = runs.iter().filter_map(|run| {
        let copy =
            run.tables.iter().find(|other| other.title == table.title && other.group == table.group)?;
        Some((minute(&run.started), copy))
    });
    let copies: Vec<(String, &Winners)> = copies.collect();
    let mut heads: Vec<String> = Vec::new();
    let mut cells = Table::new(&WINNERS);
    for (key, (published, _)) in &table.cells {
        if !heads.contains(&key[2]) {
            heads.push(key[2].clone());
        }
        let marks: Vec<&str> =
            copies.iter().filter_map(|(_, copy)| Some(copy.cells.get(key)?.1.as_str())).collect();
        let [figure, record_size, column] = key.clone().map(Cell::text);
        let winner = Cell::text(format!("{published} {}", marks.join(" ")));
        cells.push(
            Visibility::Always,
            [("figure", figure), ("record_size", record_size), ("at", column), ("winner", winner)],
        );
    }
    let agreement =
        copies.iter().map(|(run, copy)| Block::Note(format!("{run}, {}: {}", copy.group, copy.agreement)));
    let legend =
        "The published winner, then for each run: = the same, ~ tied with it, x another, ? not measured.";
    let blocks =
        agreement.chain([Block::Note(legend.into()), Block::Table(cells.with_columns(heads))]).collect();
    Block::fold(table.title.clone(), FoldState::Closer, blocks)
}

#[cfg(test)]
mod tests {
    use storebench_figures::claims;
    use storebench_figures::published;
    use storebench_samples as samples;

    use super::*;
    use crate::files::markdown;
    use storebench_model::stores::NULL;

    /// True of any run, and false of any, by arithmetic.
    const PLANTED: &str = "
        [[claim]]
        says = \"What takes less than a day is done\"
        source = \"planted\"
        figure = [\"get\"]
        expect.value = { stores = [\"sqlite\"], range = \"..86400s\" }
        [[claim]]
        says = \"What takes more than a day is done\"
        source = \"planted\"
        figure = [\"get\"]
        expect.value = { stores = [\"sqlite\"], range = \"86400s..\" }
        [[claim]]
        says = \"On Mars all is different\"
        source = \"planted\"
        figure = [\"get\"]
        at.place = [\"mars\"]
        expect.winner = { stores = [\"sqlite\"] }
    ";

    fn planted(started: &str) -> RunSentences {
        let mut run = samples::study();
        run.header.started = started.into();
        let runs = [run];
        let claims = claims::run_claims("another", PLANTED, "test").unwrap();
        let merged = Merged::new(&runs, &[NULL])
            .with_published(claims.into_iter().collect(), published::tables("crud").unwrap());
        run_sentences(&Report::new(&merged), "runs/a", &[]).unwrap()
    }

    #[test]
    fn a_true_sentence_holds_in_both_runs_and_a_false_one_in_none() {
        let runs = [planted("2026-12-01T03:30:00Z"), planted("2026-12-01T01:00:00Z")];
        let outcomes: Vec<SentenceOutcome> =
            runs[0].sentences.iter().map(|sentence| sentence.outcome).collect();
        assert_eq!(
            outcomes,
            [SentenceOutcome::Reproduced, SentenceOutcome::NotReproduced, SentenceOutcome::Undecided]
        );
        let text = markdown::parts(&blocks(runs.iter().collect()), 2);
        for part in [
            "\n## crud\n",
            "which store is fastest",
            "| `crud` | `2026-12-01 01:00` | 3 | 1 | 1 | 0 | 1 | 0 | 66.7 % |",
            "Both runs decide 2 sentences, and 2 of them alike.",
            "\n### 1. What takes less than a day is done: reproduced; reproduced\n",
            "\n### 3. On Mars all is different: undecided; undecided\n",
            "What disturbed it: ",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        // The oldest run comes first, with the figures and their intervals.
        let figures = text.split("### 1. ").nth(1).unwrap();
        let first = figures.lines().find(|line| line.starts_with("2026-12-")).unwrap();
        assert!(
            first.starts_with("2026-12-01 01:00: ") && first.contains("sqlite ") && first.contains('['),
            "{first}"
        );
    }

    #[test]
    fn every_reason_is_of_a_sentence() {
        toml::from_str::<Reasons>(include_str!("../studies/published/reasons.toml")).unwrap();
        for Reason { study, says, .. } in reasons() {
            let claims = claims::study_claims(&study).unwrap().unwrap().claims;
            assert!(claims.iter().any(|claim| claim.says == says), "{study}: {says}");
        }
    }
}
