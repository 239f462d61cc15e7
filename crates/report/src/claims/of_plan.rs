//! A plan's claims: where they stand in its text, whether they make sense, and those of a run.

use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::{Bytes, Plan, STUDIES, explain};
use crate::cell::{Axis, Cell, Data};
use crate::claims::{Claim, Design, Position, StudyClaims};
use crate::error::{Error, Exit, Result, meant};
use crate::shown::{quoted, shortened};
use crate::units::{CountRange, SizeRange};
use crate::workload::driver::Operation;

/// The claims of a plan's text, whatever else it holds.
#[derive(Deserialize)]
struct Text<C> {
    #[serde(default)]
    source: String,
    #[serde(default)]
    claims_among: Vec<String>,
    claims_over: Option<ClaimsOver>,
    #[serde(default = "Vec::new")]
    claim: Vec<C>,
}

/// What a plan's claims are about where they don't narrow it: the study in full, which runs keep however they were narrowed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct ClaimsOver {
    pub record_size: Vec<SizeRange>,
    pub records: Vec<CountRange>,
    pub data: Vec<Data>,
    /// Records that are inserted at most, which decides how large a combination is.
    pub operations: u64,
    /// Combinations with as many value bytes are no part of it.
    pub size_limit: Bytes,
}

impl ClaimsOver {
    /// What a plan covers.
    pub fn of(plan: &Plan) -> ClaimsOver {
        let axes = &plan.axes;
        ClaimsOver {
            record_size: axes.record_size.clone(),
            records: axes.records.clone(),
            data: axes.data.clone(),
            operations: plan.most_inserts(),
            size_limit: plan.size_limit,
        }
    }

    /// Whether there is anything in it.
    pub(super) fn check(&self) -> std::result::Result<(), String> {
        match self.design().positions.is_empty() {
            true => Err(
                "claims_over holds no combination: name record_size, records and data below its size_limit"
                    .into(),
            ),
            false => Ok(()),
        }
    }

    fn design(&self) -> Design {
        let mut positions = Vec::new();
        for record_size in &self.record_size {
            for records in &self.records {
                let cell = Cell { record_size: *record_size, records: *records, ..Cell::default() };
                if cell.expected_bytes(self.operations) < self.size_limit.0 as f64 {
                    let at =
                        |data: &Data| Position { data: *data, record_size: *record_size, records: *records };
                    positions.extend(self.data.iter().map(at));
                }
            }
        }
        Design { positions }
    }
}

impl Plan {
    /// The most records that a trial inserts, warm-up included; without bound for a duration.
    pub fn most_inserts(&self) -> u64 {
        if self.duration.is_some() { u64::MAX / 2 } else { self.operations + self.warm_up }
    }
}

/// Notes in which lines of the plan's text the claims begin.
pub(super) fn note_lines(claims: &mut [Claim], text: &str) {
    let spans = toml::from_str::<Text<Spanned<toml::Table>>>(text).map(|text| text.claim).unwrap_or_default();
    // Counted on from claim to claim, as there may be thousands.
    let (mut line, mut counted) = (1, 0);
    for (claim, span) in claims.iter_mut().zip(spans) {
        let start = span.span().start;
        line += explain::ends_of_lines(text.get(counted..start).unwrap_or_default());
        counted = counted.max(start);
        claim.line = line;
    }
}

/// What is wrong with the first claim that makes no sense.
pub(super) fn check(claims: &[Claim], of_study: &[String]) -> std::result::Result<(), String> {
    let operations = Operation::ALL.map(Operation::name);
    claims.iter().try_for_each(|claim| claim.check(&operations, of_study).map_err(|wrong| at(claim, &wrong)))
}

fn at(claim: &Claim, wrong: &str) -> String {
    match claim.line {
        0 => format!("the claim {}: {}", quoted(&claim.says), shortened(wrong)),
        line => format!("line {line}: this claim: {}", shortened(wrong)),
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
            format!("there is no store {}{hint}", quoted(name))
        };
        let wrong = |message: String| {
            Error::new(Exit::BadPlan, format!("the plan {origin} can't be used: {message}"))
        };
        if let Some(name) = self.claims_among.iter().find(|name| !there(name)) {
            return Err(wrong(format!("claims_among: {}", unknown(name))));
        }
        let ranges = self.ranges();
        for claim in &self.claims {
            let named = claim.expect.stores();
            if let Some(name) = claim.among.iter().chain(&named).find(|name| !there(name)) {
                return Err(wrong(at(claim, &unknown(name))));
            }
            ranges.check(claim).map_err(|message| wrong(at(claim, &message)))?;
        }
        Ok(())
    }
}

/// The sizes and counts on a plan's axes or in a preset.
struct Ranges {
    sizes: Vec<SizeRange>,
    counts: Vec<CountRange>,
}

impl Plan {
    fn ranges(&self) -> Ranges {
        let changes = || self.presets.values();
        let sizes = changes().flat_map(|preset| preset.record_size.iter().flatten());
        let counts = changes().flat_map(|preset| preset.records.iter().flatten());
        Ranges {
            sizes: self.axes.record_size.iter().chain(sizes).copied().collect(),
            counts: self.axes.records.iter().chain(counts).copied().collect(),
        }
    }
}

impl Ranges {
    /// Whether cells can lie within the sizes and counts that a claim speaks of.
    fn check(&self, claim: &Claim) -> std::result::Result<(), String> {
        let Ranges { sizes, counts } = self;
        let holds_none = |axis: Axis, range: String| {
            format!(
                "no {} of the plan lies within {range}: its axis is {}",
                axis.name(),
                match axis {
                    Axis::RecordSize => listed(sizes),
                    _ => listed(counts),
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
    let more = if values.len() > LISTED { ", ..." } else { "" };
    values.iter().take(LISTED).map(T::to_string).collect::<Vec<_>>().join(", ") + more
}

/// So many values of an axis are named in a message.
const LISTED: usize = 20;

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
    let text: Text<Claim> = explain::read(plan).map_err(wrong)?;
    let Text { source, claims_among: among, claims_over, claim: mut claims } = text;
    note_lines(&mut claims, plan);
    check(&claims, &among).map_err(wrong)?;
    if claims.is_empty() {
        return Ok(None);
    }
    // A run of before `claims_over` was may be of a narrowed plan: only of a study that comes with us the whole is known.
    let built_in = STUDIES.iter().find(|built_in| built_in.name == study);
    let over = claims_over.or_else(|| {
        let whole = built_in.map_or(plan, |built_in| built_in.text);
        Plan::parse(whole, origin)
            .ok()
            .map(|plan| plan.claims_over.clone().unwrap_or_else(|| ClaimsOver::of(&plan)))
    });
    let design = over.map(|over| over.design());
    Ok(Some(StudyClaims { study: study.to_owned(), source, among, design, claims }))
}
