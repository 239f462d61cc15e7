//! A plan's claims: where they stand in its text, whether they make sense, and those of a run.

use serde::Deserialize;
use toml::Spanned;

use super::{Plan, STUDIES, explain};
use crate::cell::Axis;
use crate::claims::{Claim, StudyClaims};
use crate::error::{Error, Exit, Result, meant};
use crate::units::{CountRange, SizeRange};
use crate::workload::driver::Operation;

/// The claims of a plan's text, whatever else it holds.
#[derive(Deserialize)]
struct Text<C> {
    #[serde(default)]
    source: String,
    #[serde(default)]
    claims_among: Vec<String>,
    #[serde(default = "Vec::new")]
    claim: Vec<C>,
}

/// Where a place in a text is: its line, from 1.
pub(super) fn line(text: &str, position: usize) -> usize {
    text.bytes().take(position).filter(|byte| *byte == b'\n').count() + 1
}

/// Notes in which lines of the plan's text the claims begin.
pub(super) fn note_lines(claims: &mut [Claim], text: &str) {
    let spans = toml::from_str::<Text<Spanned<toml::Table>>>(text).map(|text| text.claim).unwrap_or_default();
    for (claim, span) in claims.iter_mut().zip(spans) {
        claim.line = line(text, span.span().start);
    }
}

/// What is wrong with the first claim that makes no sense.
pub(super) fn check(claims: &[Claim], of_study: &[String]) -> std::result::Result<(), String> {
    let operations = Operation::ALL.map(Operation::name);
    claims.iter().try_for_each(|claim| claim.check(&operations, of_study).map_err(|wrong| at(claim, &wrong)))
}

fn at(claim: &Claim, wrong: &str) -> String {
    match claim.line {
        0 => format!("the claim {:?}: {wrong}", claim.says),
        line => format!("line {line}: this claim: {wrong}"),
    }
}

impl Plan {
    /// Whether there are the stores that its claims name: those that are `known`, and those on the plan's axis; and the
    /// record sizes and counts, on its axes or in a preset.
    ///
    /// # Errors
    /// [`Exit::BadPlan`], with the claim's line; `origin` is where the plan comes from.
    pub fn check_claims(&self, known: &[&str], origin: &str) -> Result<()> {
        let there = |name: &String| {
            known.contains(&name.as_str()) || self.axes.store.iter().any(|store| store == name)
        };
        let unknown = |name: &String| {
            let all = known.iter().copied().chain(self.axes.store.iter().map(String::as_str));
            let hint = meant(name, all).map_or(String::new(), |meant| format!(" (did you mean {meant}?)"));
            format!("there is no store {name:?}{hint}")
        };
        let wrong = |message: String| {
            Error::new(Exit::BadPlan, format!("the plan {origin} can't be used: {message}"))
        };
        if let Some(name) = self.claims_among.iter().find(|name| !there(name)) {
            return Err(wrong(format!("claims_among: {}", unknown(name))));
        }
        for claim in &self.claims {
            let named = claim.expect.stores();
            if let Some(name) = claim.among.iter().chain(&named).find(|name| !there(name)) {
                return Err(wrong(at(claim, &unknown(name))));
            }
            self.check_ranges(claim).map_err(|message| wrong(at(claim, &message)))?;
        }
        Ok(())
    }
}

impl Plan {
    /// Whether cells can lie within the sizes and counts that a claim speaks of.
    fn check_ranges(&self, claim: &Claim) -> std::result::Result<(), String> {
        let changes = || self.presets.values();
        let sizes = changes().flat_map(|preset| preset.record_size.iter().flatten());
        let sizes: Vec<SizeRange> = self.axes.record_size.iter().chain(sizes).copied().collect();
        let counts = changes().flat_map(|preset| preset.records.iter().flatten());
        let counts: Vec<CountRange> = self.axes.records.iter().chain(counts).copied().collect();
        let holds_none = |axis: Axis, range: String| {
            format!(
                "no {} of the plan lies within {range}: its axis is {}",
                axis.name(),
                match axis {
                    Axis::RecordSize => listed(&sizes),
                    _ => listed(&counts),
                }
            )
        };
        for wide in &claim.at.record_size {
            if !sizes.iter().any(|size| wide.from <= size.from && size.to <= wide.to) {
                return Err(holds_none(Axis::RecordSize, wide.to_string()));
            }
        }
        for wide in &claim.at.records {
            if !counts.iter().any(|count| wide.from <= count.from && count.to <= wide.to) {
                return Err(holds_none(Axis::Records, wide.to_string()));
            }
        }
        for (axis, value) in claim.expect.values() {
            let there = match axis {
                Axis::RecordSize => value.parse().is_ok_and(|size| sizes.contains(&size)),
                Axis::Records => value.parse().is_ok_and(|count| counts.contains(&count)),
                _ => true,
            };
            if !there {
                return Err(holds_none(axis, value.to_owned()));
            }
        }
        Ok(())
    }
}

fn listed<T: ToString>(values: &[T]) -> String {
    values.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

/// The claims that a run is checked against: those of the plan that it was made with; if that has none, those of the
/// built-in study of its name, so that older runs are checked too. `None` where there are none.
///
/// # Errors
/// [`Exit::BadPlan`] when one of them makes no sense, with its line; `origin` is where the plan's text comes from.
pub fn claims_of(study: &str, plan: &str, origin: &str) -> Result<Option<StudyClaims>> {
    let own = read(study, plan, origin)?;
    if own.is_some() {
        return Ok(own);
    }
    match STUDIES.iter().find(|built_in| built_in.name == study) {
        Some(built_in) => read(study, built_in.text, &format!("studies/{study}.toml")),
        None => Ok(None),
    }
}

fn read(study: &str, plan: &str, origin: &str) -> Result<Option<StudyClaims>> {
    let wrong =
        |message: String| Error::new(Exit::BadPlan, format!("the plan in {origin} can't be used: {message}"));
    let text: Text<Claim> = toml::from_str(plan).map_err(|error| wrong(explain(plan, &error)))?;
    let Text { source, claims_among: among, claim: mut claims } = text;
    note_lines(&mut claims, plan);
    check(&claims, &among).map_err(wrong)?;
    Ok((!claims.is_empty()).then(|| StudyClaims { study: study.to_owned(), source, among, claims }))
}
