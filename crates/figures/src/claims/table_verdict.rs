//! Checks claims against the published tables of winners of the claim's own paper, by the same rule, as far as winners alone allow.

use serde::Serialize;
use storebench_model::axis::Axis;
use storebench_model::cell::{Data, GuaranteeChoice};

use super::claim::Claim;
use super::expect::{Expect, MoreAt, MoreWins, Order, Unchanged, Winner};
use super::figure::Figure;
use super::pool::Scope;
use super::verdict::{CheckTally, Outcome, Verdict};
use crate::layout::Position;
use crate::published::Table;

/// The result of a claim's rule on published figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableVerdict {
    /// The table's name, or the names of two that are compared.
    pub table: String,
    pub verdict: Verdict,
    /// The combinations by outcome; those that winners alone can't decide count as missing.
    #[serde(rename = "checks")]
    pub tally: CheckTally,
}

/// A combination of a table: its figure's name, its place, and the winner.
struct TableWin<'t> {
    figure: &'t str,
    position: Position,
    store: &'t str,
}

/// Checks a claim on its tables, or on the tables of its groups. Empty if winners say nothing about it.
pub fn check_tables(claim: &Claim, study_stores: &[String], tables: &[Table]) -> Vec<TableVerdict> {
    if claim.is_of_average() {
        return Vec::new();
    }
    let claim_tables = tables.iter().filter(|table| match &claim.tables {
        Some(names) => names.contains(&table.name),
        None => !table.by_name_alone && claim.admits(&table_scope(table)),
    });
    let claim_tables: Vec<&Table> = claim_tables.collect();
    let check_table = |table: &&Table| {
        let won = table_wins(claim, table);
        let outcomes: Vec<Outcome> = match &claim.expect {
            Expect::Winner(winner) => {
                won.iter().map(|won| check_winner(claim, study_stores, winner, won)).collect()
            }
            Expect::Order(order) => won.iter().map(|won| check_order(order, won)).collect(),
            Expect::MoreAt(more) => check_more_at(claim, study_stores, more, &won),
            _ => Vec::new(),
        };
        table_verdict(claim, table.name.clone(), &outcomes)
    };
    let verdicts: Vec<TableVerdict> = match (&claim.expect, claim.expect.axis().zip(claim.expect.sides())) {
        (_, None) => claim_tables.iter().map(check_table).collect(),
        (expect, Some((axis, (a, b)))) => pair_tables(&claim_tables, axis, (a, b))
            .map(|(a, b)| {
                let (won_a, won_b) = (table_wins(claim, a), table_wins(claim, b));
                let outcomes = match expect {
                    Expect::Unchanged(Unchanged { .. }) => check_unchanged(&won_a, &won_b),
                    Expect::MoreWins(more) => check_more_wins(more, &won_a, &won_b),
                    _ => Vec::new(),
                };
                table_verdict(claim, format!("{} and {}", a.name, b.name), &outcomes)
            })
            .collect(),
    };
    verdicts.into_iter().filter(|verdict| verdict.tally.missing < verdict.tally.total()).collect()
}

fn table_verdict(claim: &Claim, table: String, outcomes: &[Outcome]) -> TableVerdict {
    let tally = CheckTally::count(outcomes.iter().copied());
    TableVerdict { table, tally, verdict: tally.verdict(claim.share.0) }
}

/// The scope of a table's figures: stores as shipped.
fn table_scope(table: &Table) -> Scope {
    Scope {
        hardware: table.hardware.clone(),
        guarantee: Some((GuaranteeChoice::Default, None)),
        facets: vec![(Axis::PLACE, table.place.clone()), (Axis::BACKGROUND, table.background.to_string())],
        method: String::new(),
    }
}

/// Pairs of tables that differ only in an axis: one with its first value, one with its second.
fn pair_tables<'t>(
    tables: &[&'t Table],
    axis: Axis,
    (a, b): (&str, &str),
) -> impl Iterator<Item = (&'t Table, &'t Table)> {
    let are_sides = move |(first, second): &(&Table, &Table)| {
        let (first, second) = (table_scope(first), table_scope(second));
        first.value(axis).as_deref() == Some(a)
            && second.value(axis).as_deref() == Some(b)
            && first.without_axis(axis).facets == second.without_axis(axis).facets
    };
    let pairs = tables.iter().flat_map(move |first| tables.iter().map(move |second| (*first, *second)));
    pairs.filter(are_sides)
}

/// The combinations of a table that a claim is about.
fn table_wins<'t>(claim: &Claim, table: &'t Table) -> Vec<TableWin<'t>> {
    let mut wins = Vec::new();
    for row in table.rows.iter().filter(|row| claim.figure.contains(&Figure::from_row(&row.figure))) {
        for data in [Data::Incompressible, Data::Compressible] {
            for (records, cell) in table.records.iter().zip(row.cells(data)) {
                let Some(cell) = cell else { continue };
                let position = Position::from_values([
                    (Axis::DATA, data.into()),
                    (Axis::RECORD_SIZE, row.record_size.into()),
                    (Axis::RECORDS, (*records).into()),
                ]);
                if claim.at.holds(&position) {
                    wins.push(TableWin { figure: &row.figure, position, store: &cell.store });
                }
            }
        }
    }
    wins
}

fn check_winner(claim: &Claim, study_stores: &[String], winner: &Winner, won: &TableWin<'_>) -> Outcome {
    let compared = claim.compared(study_stores);
    match winner.stores.iter().any(|store| store == won.store) {
        true => Outcome::Agrees,
        // The distance of the others was not published.
        false if winner.within.is_some() => Outcome::Missing,
        false if !compared.is_empty() && !compared.iter().any(|store| store == won.store) => Outcome::Missing,
        false => Outcome::Disagrees,
    }
}

/// Whether the stores are in order: if one of two won, it is ahead of the other.
fn check_order(order: &Order, won: &TableWin<'_>) -> Outcome {
    match order.stores.iter().position(|store| store == won.store) {
        Some(0) if order.stores.len() == 2 && !order.rest_behind => Outcome::Agrees,
        Some(place) if place > 0 => Outcome::Disagrees,
        None if order.rest_behind => Outcome::Disagrees,
        _ => Outcome::Missing,
    }
}

fn check_more_at(
    claim: &Claim,
    study_stores: &[String],
    more: &MoreAt,
    won: &[TableWin<'_>],
) -> Vec<Outcome> {
    let winner = Winner { stores: more.stores.clone(), within: None };
    let share_of_wins = |has_figure: bool| {
        let selected = won.iter().filter(|won| (Figure::from_row(won.figure) == more.figure) == has_figure);
        let tally = CheckTally::count(selected.map(|won| check_winner(claim, study_stores, &winner, won)));
        (tally.missing == 0 && tally.total() > 0).then(|| tally.agree as f64 / tally.total() as f64)
    };
    let shares = share_of_wins(true).zip(share_of_wins(false)).into_iter();
    shares.map(|(share, others)| if share > others { Outcome::Agrees } else { Outcome::Disagrees }).collect()
}

fn check_unchanged(a: &[TableWin<'_>], b: &[TableWin<'_>]) -> Vec<Outcome> {
    let compare_win = |won: &TableWin<'_>| {
        let other = b.iter().find(|other| other.figure == won.figure && other.position == won.position);
        other.map_or(Outcome::Missing, |other| match other.store == won.store {
            true => Outcome::Agrees,
            false => Outcome::Disagrees,
        })
    };
    a.iter().map(compare_win).collect()
}

fn check_more_wins(more: &MoreWins, a: &[TableWin<'_>], b: &[TableWin<'_>]) -> Vec<Outcome> {
    let count_wins = |won: &[TableWin<'_>]| won.iter().filter(|won| won.store == more.store).count();
    vec![if count_wins(a) > count_wins(b) { Outcome::Agrees } else { Outcome::Disagrees }]
}
