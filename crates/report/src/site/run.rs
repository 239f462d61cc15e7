//! The page of a run: all of its figures, with the machine, the plan and the command.

use std::collections::BTreeSet;

use storebench_figures::data::matrix::{Contest, Figure, Matrix};
use storebench_figures::data::merge::Merged;
use storebench_figures::data::moment::to_the_second;
use storebench_figures::data::rule::rule_text;
use storebench_figures::data::spread;
use storebench_figures::data::summary::{counts, unfinished};
use storebench_figures::judge::standing::{Contender, Status, status};
use storebench_figures::judge::{Rule, Verdict};
use storebench_model::units::three_digits;

use super::facts::{CHECKS, SentenceVerdict, Source};
use super::frame::{link, page, section, store_link, td};
use crate::markup::{Html, Tag, column, list, note, p, pairs, row, scroll, small, table, tag};
use crate::page::{findings, machine, section as part};
use crate::report::Report;
use crate::sections;

const UP: &str = super::frame::UP;

pub fn run_page(report: &Report<'_>, source: &Source, verdicts: &[SentenceVerdict]) -> String {
    let merged = report.merged;
    let checks = CHECKS.iter().filter_map(|name| sections::find(name));
    let checks: Vec<Html> = checks.map(|section| part::html(section, report.blocks(section))).collect();
    let title = merged.runs.first().map_or("", |run| run.header.title.as_str());
    let parts = (
        section("run", "The run", run_facts(merged, source)),
        section("figures", "Figures", figures(report)),
        checks,
        verdict_list(verdicts),
        section("machine", "The machine", machine::html(merged)),
        section("again", "Do it again", machine::repeat_section(merged)),
    );
    page(title, machine::subtitle(merged), parts)
}

fn run_facts(merged: &Merged<'_>, source: &Source) -> Html {
    let Some(run) = merged.runs.first() else { return Html::default() };
    let header = &run.header;
    let store = |store: &storebench_model::result::StoreInfo| {
        let is_known =
            run.trials.iter().any(|trial| trial.cell.store() == store.name && trial.ok().is_some());
        let name = match is_known && !merged.is_harness(&store.name) {
            true => Html::new(store_link(UP, &store.name)),
            false => Html::new(&store.name),
        };
        Html::new((name, " ", &store.version))
    };
    let report = match &source.report {
        Some(address) => Html::new((
            tag("a").attr("href", address).with("report.html"),
            small(" in the folder of runs, which is published next to this site"),
        )),
        None => Html::new("not in its folder: storebench report RUN --html FILE writes it"),
    };
    let rows = [
        ("folder", Html::new(&source.folder)),
        ("machine", Html::new(&header.hardware)),
        ("study", Html::new(&header.study)),
        ("started", Html::new(to_the_second(&header.started))),
        ("stores", Html::join(header.stores.iter().map(store), ", ")),
        ("results", Html::new(counts(merged))),
        ("the whole report", report),
    ];
    Html::new((pairs(rows), unfinished(merged).into_iter().map(note).collect::<Vec<_>>()))
}

fn figures(report: &Report<'_>) -> Html {
    let merged = report.merged;
    let mut rules: BTreeSet<Rule> = BTreeSet::new();
    let mut html = Html::default();
    for matrix in report.readable().iter().flatten() {
        let title = if matrix.title.is_empty() { &matrix.hardware } else { &matrix.title };
        html.push((tag("h3").with(title), draw_matrix(matrix)));
        html.push(list(matrix.dangers.iter().map(String::as_str).collect()));
        rules.extend(matrix.rules());
    }
    if html.is_empty() {
        return Html::new(p("There are no figures of stores."));
    }
    let rules: Vec<Tag> = rules.into_iter().map(|rule| note(rule_text(rule))).collect();
    html.push((note(spread::LEGEND), rules, note(merged.memory.note())));
    html
}

fn draw_matrix(matrix: &Matrix) -> Tag {
    let contests = || matrix.rows.iter().flat_map(|row| &row.contests);
    let stores = contests().flat_map(|contest| {
        let present = contest.contenders.iter().chain(&contest.riskier);
        let present = present.map(|contender| contender.store.as_str());
        present.chain(contest.absent.iter().map(|absent| absent.store.as_str()))
    });
    let stores: BTreeSet<&str> = stores.collect();
    let mut rows = Vec::new();
    for line in &matrix.rows {
        for (place, contest) in matrix.columns.iter().zip(&line.contests) {
            let position = line.at.merged_with(place).to_string();
            let cells: Vec<Tag> = stores.iter().map(|store| cell(&line.figure, contest, store)).collect();
            rows.push(row(&line.figure.name, (td(position), cells)));
        }
    }
    let heads = ["figure", "where"].into_iter().chain(stores).map(column).collect();
    scroll(table(heads, rows))
}

fn cell(figure: &Figure, contest: &Contest, store: &str) -> Tag {
    let mut contenders = contest.contenders.iter().chain(&contest.riskier);
    if let Some(contender) = contenders.find(|contender| contender.store == store) {
        let mean = contender.figure.mean;
        let interval = spread::describe_after(mean.interval, |end| figure.unit.show(end));
        let text = figure.unit.show(mean.value) + &interval;
        let text = if contender.verdict.wins() { Html::new(tag("b").with(text)) } else { Html::new(text) };
        return td((text, small(describe_standing(contest, contender))));
    }
    let reason = contest.absent.iter().find(|absent| absent.store == store).map(|absent| absent.why.name());
    td(small(reason.unwrap_or("not run")))
}

fn describe_standing(contest: &Contest, contender: &Contender) -> String {
    match status(&contest.contenders, contender) {
        _ if contender.verdict == Verdict::Dangerous => "riskier, not ranked".into(),
        Status::Alone => "nothing to compare with".into(),
        Status::NotJudged => "not judged".into(),
        Status::Candidate => "a candidate".into(),
        Status::Best => "the best here".into(),
        Status::Tied => "too close to call".into(),
        Status::Worse => match contender.times_worse {
            Some(times) => format!("{} times the best's", three_digits(times.ratio.value)),
            None => "worse".into(),
        },
    }
}

fn verdict_list(verdicts: &[SentenceVerdict]) -> Option<Tag> {
    let item = |verdict: &SentenceVerdict| {
        let outcome = verdict.outcome.as_ref()?;
        let finding = link(UP, "findings", &verdict.name, &verdict.says);
        let why = small((" ", &outcome.scope, "; ", &outcome.why));
        Some(Html::new((findings::badge(outcome.verdict), " ", finding, why)))
    };
    let items: Vec<Html> = verdicts.iter().filter_map(item).collect();
    list(items).map(|list| section("findings", "Published findings", list))
}
