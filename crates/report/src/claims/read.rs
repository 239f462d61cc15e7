//! A plan's claims: where they stand in its text, whether they make sense, and those of a run.

use std::collections::BTreeMap;

use serde::Deserialize;
use storebench_core::axis::{Axis, Form, Role, Value};
use storebench_core::cell::Cell;
use storebench_core::error::{Error, Exit, Result, meant};
use storebench_core::shown::{quoted, shortened};
use storebench_core::workload::table::Workload;
use storebench_host::plan::{ClaimsOver, Plan, STUDIES, explain};
use toml::Spanned;

use super::claim::Claim;
use super::design::Design;
use crate::layout::Layout;

/// The claims of a study.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyClaims {
    /// The study's name.
    pub study: String,
    /// Where its method, and its findings, come from.
    pub source: String,
    /// The stores that claims compare which name none; all where it is empty.
    pub among: Vec<String>,
    /// The design that they are about where they don't narrow it; `None` where it is not known.
    pub design: Option<Design>,
    /// The claims, in the order of the plan.
    pub claims: Vec<Claim>,
}

/// The claims of a plan's text, whatever else it holds.
#[derive(Deserialize)]
struct Text<C> {
    workload: Option<String>,
    #[serde(default = "Vec::new")]
    compare: Vec<Axis>,
    #[serde(default)]
    source: String,
    #[serde(default)]
    claims_among: Vec<String>,
    claims_over: Option<ClaimsOver>,
    #[serde(default = "Vec::new")]
    claim: Vec<C>,
}

/// Notes in which lines of the plan's text the claims begin.
fn note_lines(claims: &mut [Claim], text: &str) {
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

/// The error of the first claim that makes no sense.
fn first_wrong(
    claims: &[Claim],
    workload: Workload,
    compare: &[Axis],
    of_study: &[String],
) -> std::result::Result<(), String> {
    let ranked = ranked(workload, compare);
    let check = |claim: &Claim| {
        claim.check(workload.def().operations, of_study)?;
        claim.check_axes(&ranked)
    };
    claims.iter().try_for_each(|claim| check(claim).map_err(|wrong| at(claim, &wrong)))
}

/// The axes whose values a plan ranks: those that it compares, else those that are ranked by default.
fn ranked(workload: Workload, compare: &[Axis]) -> Vec<Axis> {
    if !compare.is_empty() {
        return compare.to_vec();
    }
    let axes = workload.def().axes.iter().copied();
    axes.filter(|axis| axis.role() == Role::Contestant).collect()
}

fn at(claim: &Claim, wrong: &str) -> String {
    match claim.line {
        0 => format!("the claim {}: {}", quoted(&claim.says), shortened(wrong)),
        line => format!("line {line}: this claim: {}", shortened(wrong)),
    }
}

/// Reads the claims of a plan's text; `origin` is where it comes from, for messages.
///
/// # Errors
/// [`Exit::BadPlan`] when one of them makes no sense, with its line.
pub fn of_plan(text: &str, origin: &str) -> Result<Vec<Claim>> {
    let wrong = |message: String| wrong(origin, &message);
    let Text { workload, compare, claims_among: among, claim: mut claims, .. }: Text<Claim> =
        explain::read(text).map_err(wrong)?;
    note_lines(&mut claims, text);
    let workload = workload.map_or(Ok(Workload::CRUD), |name| name.parse()).map_err(wrong)?;
    first_wrong(&claims, workload, &compare, &among).map_err(wrong)?;
    Ok(claims)
}

/// Whether there is what a plan's claims compare: the stores that are `known`, and the values on the plan's axes that are
/// ranked; and the ranges that they name, on its axes or in a preset.
///
/// # Errors
/// [`Exit::BadPlan`], with the claim's line; `origin` is where the plan comes from.
pub fn check(claims: &[Claim], plan: &Plan, known: &[&str], origin: &str) -> Result<()> {
    let ranked = ranked(plan.workload, &plan.compare);
    let own: Vec<String> = ranked.iter().flat_map(|axis| names(plan, *axis)).collect();
    let kind = ranked.first().copied().unwrap_or(Axis::STORE);
    let known = if ranked.contains(&Axis::STORE) { known } else { &[] };
    // Where settings are axes, if only in a preset, a store's name may be followed by theirs: `sqlite page_size=8192`.
    let presets = plan.presets.values().map(|changes| &changes.axes);
    let variants = presets.chain([&plan.axes]).any(|axes| axes.settings().next().is_some());
    // Places are named when the plan runs; what several axes are ranked as together, by the cells that ran.
    let open = plan.compare.len() > 1 || ranked.contains(&Axis::PLACE);
    let there = |name: &String| {
        let store = name.split(' ').next().filter(|_| variants).unwrap_or(name);
        open || known.contains(&store) || own.iter().any(|own| own == store || own == name)
    };
    let unknown = |name: &String| {
        let all = known.iter().copied().chain(own.iter().map(String::as_str));
        let hint = meant(name, all).map_or(String::new(), |meant| format!(" (did you mean {meant}?)"));
        let there_is = if kind == Axis::STORE { "this version has" } else { "there is" };
        format!("{there_is} no {kind} {}{hint}", quoted(name))
    };
    let wrong = |message: String| wrong(origin, &message);
    if let Some(name) = plan.claims_among.iter().find(|name| !there(name)) {
        return Err(wrong(format!("claims_among: {}", unknown(name))));
    }
    let ranges = Ranges::of(plan);
    for claim in claims {
        let named = claim.expect.stores();
        if let Some(name) = claim.among.iter().chain(&named).find(|name| !there(name)) {
            return Err(wrong(at(claim, &unknown(name))));
        }
        ranges.check(claim).map_err(|message| wrong(at(claim, &message)))?;
    }
    Ok(())
}

/// The names of the values of an axis that a plan ranks, in the plan and in its presets.
fn names(plan: &Plan, axis: Axis) -> Vec<String> {
    let presets = plan.presets.values().filter(|preset| preset.axes.names(axis));
    let of_presets: Vec<Value> = presets.flat_map(|preset| preset.axes.values(axis).into_owned()).collect();
    let values = plan.axes.values(axis);
    let layout = Layout::of_axes(plan.compare.clone(), [axis]);
    let name = |value: &Value| layout.contestant(&Cell::default().with(axis, value.clone())).into_owned();
    values.iter().chain(&of_presets).map(name).collect()
}

fn wrong(origin: &str, message: &str) -> Error {
    Error::new(Exit::BadPlan, format!("the plan {origin} can't be used: {message}"))
}

/// The values of axes that hold ranges, on a plan's axes or in a preset.
struct Ranges(BTreeMap<Axis, Vec<Value>>);

impl Ranges {
    fn of(plan: &Plan) -> Ranges {
        let of_form = |axis: &Axis| axis.def().form == Form::Range;
        let all = Axis::as_written().into_iter().filter(of_form).map(|axis| {
            let presets = plan.presets.values().filter(|preset| preset.axes.names(axis));
            let of_presets = presets.flat_map(|preset| preset.axes.values(axis).into_owned());
            (axis, plan.axes.values(axis).iter().cloned().chain(of_presets).collect())
        });
        Ranges(all.collect())
    }

    /// Whether cells can lie within the ranges that a claim speaks of.
    fn check(&self, claim: &Claim) -> std::result::Result<(), String> {
        for (axis, own) in &self.0 {
            let holds_none = |range: &str| {
                format!("no {axis} of the plan lies within {range}: its axis is {}", listed(own))
            };
            for wide in claim.at.values(*axis) {
                if !own.iter().any(|value| wide.holds(value)) {
                    return Err(holds_none(wide.text()));
                }
            }
            for (_, value) in claim.expect.values().into_iter().filter(|(of, _)| of == axis) {
                if !axis.read(value).is_ok_and(|value| own.contains(&value)) {
                    return Err(holds_none(value));
                }
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
pub fn of_run(study: &str, plan: &str, origin: &str) -> Result<Option<StudyClaims>> {
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
    let wrong = |message: String| wrong(&format!("in {origin}"), &message);
    let text: Text<Claim> = explain::read(plan).map_err(wrong)?;
    let Text { workload, compare, source, claims_among: among, claims_over, claim: mut claims } = text;
    note_lines(&mut claims, plan);
    // Of a workload that only another program has nothing can be checked, and its figures are there all the same.
    let workload = workload.map_or(Ok(Workload::CRUD), |name| name.parse());
    let Ok(workload) = workload else { return Ok(None) };
    first_wrong(&claims, workload, &compare, &among).map_err(wrong)?;
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
    let design = over.map(|over| Design::of(&over));
    Ok(Some(StudyClaims { study: study.to_owned(), source, among, design, claims }))
}

#[cfg(test)]
mod tests;
