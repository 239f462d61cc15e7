//! The page of a store: at each guarantee the evidence on power cuts, opening after a kill, and speed; figures over versions; checks.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use storebench_model::store::{Evidence, Guarantee, GuaranteeOffer, StoreDef};
use storebench_model::units::plural;

use super::facts::{CHECKS, Conditions, Proof, RunFacts, Side, text};
use super::frame::{
    UP, describe_conditions, guarantee, link, page, pair_name, proof_class, proofs, run_link, section,
    speeds, store_link, table_section, td,
};
use super::index::Site;
use crate::markup::{BREAK, Html, Tag, column, list, note, p, row, scroll, small, table, tag};
use crate::page::section::{cell, inner};
use crate::section::{Row, Table};
use crate::sections;

pub type Line<'f> = (&'f RunFacts, &'f Side);

const EVIDENCE: &str = "power cuts: states broken, of all";

pub fn store_page(store: &str, lines: &[Line<'_>], site: &Site<'_>, entry: Option<&StoreDef>) -> String {
    let machines: BTreeSet<&str> = lines.iter().map(|(run, _)| run.header.hardware.as_str()).collect();
    let runs: BTreeSet<&str> = lines.iter().map(|(run, _)| run.name.as_str()).collect();
    let subtitle = format!("{} on {}", plural(runs.len(), "run"), plural(machines.len(), "machine"));
    let rows = lines.iter().map(|line| fact_row(line, site)).collect();
    let heads = ["guarantee", "version", EVIDENCE, "opens after a kill", "speed", "machine", "where", "run"];
    let explanation = note(
        "A row for each run and guarantee, the strongest guarantee first, then by machine. Speed is a range where several combinations were \
         measured; the run's page has each of them.",
    );
    let content = (
        store_description(entry),
        table_section("facts", "Facts", explanation, &heads, rows),
        history(lines),
        evidence(entry),
        CHECKS.map(|name| checks(name, lines)),
        rival_stores(store, lines),
    );
    page(store, subtitle, content)
}

fn store_description(entry: Option<&StoreDef>) -> Option<Html> {
    let entry = entry?;
    let practice = (!entry.practice.is_empty()).then(|| Html::new((BREAK, entry.practice, ".")));
    let format_offer = |offer: &GuaranteeOffer| {
        let shipped = if offer.guarantee == entry.shipped { ", as shipped" } else { "" };
        Html::new((tag("b").with(offer.guarantee.to_string()), shipped, ": ", offer.settings))
    };
    let promises = list(entry.offers.iter().map(format_offer).collect());
    Some(Html::new((
        p((entry.summary, ".", practice)),
        promises.map(|promises| ("Its guarantees, and the settings that give them:", promises)),
    )))
}

fn fact_row(line: &Line<'_>, site: &Site<'_>) -> Tag {
    let (run, side) = line;
    let checks = &site.checks;
    let newer = site.newest.newer(run, side).map(|newest| small(("expired: ", newest, " is here")));
    let settings = (!side.settings.is_empty()).then(|| tag("small").with(&side.settings));
    row(
        guarantee(&side.conditions),
        (
            td((&side.version, newer, settings)),
            td(proofs(UP, checks.proofs(run, side))),
            td(checks.recovery(run, side).map(|(text, run)| link(UP, "runs", &run.name, text))),
            speeds(run, &side.speeds),
            td(&run.header.hardware),
            td(describe_conditions(&side.conditions)),
            td(run_link(UP, run)),
        ),
    )
}

/// The figures of several versions, if everything else except the kernel was equal.
fn history(lines: &[Line<'_>]) -> Option<Tag> {
    type Setup<'l> = (&'l str, &'l str, &'l Conditions, u64);
    let mut histories: BTreeMap<Setup<'_>, Vec<&Line<'_>>> = BTreeMap::new();
    for line in lines {
        let (run, side) = line;
        let key = (run.header.hardware.as_str(), side.settings.as_str(), &side.conditions, run.method);
        histories.entry(key).or_default().push(line);
    }
    histories.retain(|_, lines| lines.iter().any(|line| line.1.version != lines[0].1.version));
    let format_history = |(key, mut lines): (Setup<'_>, Vec<&Line<'_>>)| {
        lines.sort_by_key(|(run, _)| (&run.header.started, &run.name));
        let (machine, settings, conditions, _) = key;
        let title = [machine, guarantee(conditions), settings].into_iter().filter(|part| !part.is_empty());
        let rows = lines.into_iter().map(|(run, side)| {
            let cells =
                (td(&run.header.environment.kernel), speeds(run, &side.speeds), td(run_link(UP, run)));
            row(&side.version, cells)
        });
        let heads = ["version", "kernel", "speed", "run"].map(column).into();
        let rows: Vec<Tag> = rows.collect();
        (
            tag("h3").with(title.collect::<Vec<_>>().join(", ")),
            note(describe_conditions(conditions)),
            scroll(table(heads, rows)),
        )
    };
    let explanation = "Runs of one plan on one machine and processor, oldest first, where the version differs. A kernel that differs is told: a change may come from it. \
                storebench compare RUN RUN tells which changes are significant.";
    let histories: Vec<_> = histories.into_iter().map(|group| Html::new(format_history(group))).collect();
    (!histories.is_empty()).then(|| section("history", "Over versions", (note(explanation), histories)))
}

fn evidence(entry: Option<&StoreDef>) -> Option<Tag> {
    let format_line = |evidence: &Evidence| {
        let proof = Proof::from(evidence);
        Html::new(tag("span").class(proof_class(&proof)).with(proof.text))
    };
    let evidence = entry?.evidence();
    let sums = Guarantee::ALL.into_iter().filter_map(|guarantee| Evidence::sum_torn(evidence, guarantee));
    let lines: Vec<Html> = sums.map(|sum| format_line(&sum)).collect();
    let explanation = note(
        "States that power cuts can leave in which more was lost than the guarantee allows, of all that were looked at, by version and file \
         system. They come with storebench.",
    );
    list(lines).map(|lines| {
        section("evidence", "Power cuts, by its authors' own runs of the study crash", (explanation, lines))
    })
}

/// The rows of a section of checks for this store, each with its run.
fn checks(name: &'static str, lines: &[Line<'_>]) -> Option<Tag> {
    let section = sections::find(name)?;
    let index = CHECKS.iter().position(|check| *check == name)?;
    let mut table = Table::new(section.shapes.first()?);
    let mut runs: IndexMap<&str, (&RunFacts, BTreeSet<String>)> = IndexMap::new();
    for (run, side) in lines {
        let (_, contestants) = runs.entry(&run.name).or_insert((run, BTreeSet::new()));
        contestants.insert(side.contestant.clone());
    }
    let mut runs_of_rows = Vec::new();
    for (run, contestants) in runs.into_values() {
        let is_of_store =
            |row: &&Row| text(row, name, "store").is_some_and(|store| contestants.contains(store));
        for row in run.checks[index].iter().filter(is_of_store) {
            table.rows.push(row.clone());
            runs_of_rows.push(run);
        }
    }
    let view = table.view(true);
    let mut runs_of_rows = runs_of_rows.into_iter();
    let mut rows = Vec::new();
    for group in &view.groups {
        for line in &group.lines {
            let run = runs_of_rows.next()?;
            let cells = line.iter().zip(&view.heads).skip(1).map(|(cells, head)| cell(cells, head));
            let first =
                (group.title.as_deref(), line.first().map(|cells| tag("small").with(inner(cells, ""))));
            rows.push(row(first, (cells.collect::<Vec<_>>(), td(run_link(UP, run)))));
        }
    }
    let inner_heads = view.heads.iter().skip(1).map(|head| head.text);
    let heads: Vec<&str> = std::iter::once("where").chain(inner_heads).chain(["run"]).collect();
    table_section(section.name, section.title, "", &heads, rows)
}

fn rival_stores(store: &str, lines: &[Line<'_>]) -> Option<Tag> {
    let pairs = lines.iter().flat_map(|(run, _)| &run.store_pairs).map(|pair| &pair.stores);
    let pairs: BTreeSet<&[String; 2]> = pairs.filter(|pair| pair.iter().any(|name| name == store)).collect();
    let link_rival = |pair: &[String; 2]| {
        let rival = pair.iter().find(|name| *name != store)?;
        Some(link(UP, "pairs", &pair_name(pair), rival.as_str()))
    };
    let links: Vec<Tag> = pairs.into_iter().filter_map(link_rival).collect();
    list(links).map(|links| section("against", "Against", links.class("links")))
}

pub fn rows<'f>(stores: &BTreeMap<&'f str, Vec<Line<'f>>>, entries: &[StoreDef]) -> Vec<Tag> {
    let words = |lines: &[Line<'_>], read_word: fn(&Line<'_>) -> String| {
        lines.iter().map(read_word).filter(|text| !text.is_empty()).collect::<BTreeSet<String>>()
    };
    let format_row = |(store, lines): (&&str, &Vec<Line<'_>>)| {
        let entry = entries.iter().find(|entry| entry.name == *store);
        let [guarantees, versions, machines] = [
            words(lines, |(_, side)| guarantee(&side.conditions).to_owned()),
            words(lines, |(_, side)| side.version.clone()),
            words(lines, |(run, _)| run.header.hardware.clone()),
        ];
        let join = |words: BTreeSet<String>| words.into_iter().collect::<Vec<_>>().join(", ");
        let cells = (
            td(entry.map_or("", |entry| entry.summary)),
            td(join(guarantees)),
            td(join(versions)),
            tag("td").class("n").with(machines.len().to_string()),
        );
        row(store_link("", store), cells)
    };
    stores.iter().map(format_row).collect()
}
