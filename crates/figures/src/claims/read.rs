//! Reads a plan's claims: their lines in its text, their validity, and the claims of a run.

use std::collections::BTreeSet;

use serde::Deserialize;
use storebench_core::workload::table::Workload;
use storebench_host::plan::{ClaimsOver, Plan, STUDIES, explain};
use storebench_model::axis::{Axis, Form, Role, Value};
use storebench_model::cell::Cell;
use storebench_model::error::{Error, Exit, Result, meant};
use storebench_model::sanitize::{quoted, shortened};
use toml::Spanned;

use super::claim::Claim;
use super::design::Design;
use crate::layout::Layout;

/// The claims of a study.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyClaims {
    /// The study's name.
    pub study: String,
    /// The source of its method and findings.
    pub source: String,
    /// The stores that claims compare by default; all if empty.
    pub among: Vec<String>,
    /// The design behind claims that don't narrow it; `None` if unknown.
    pub design: Option<Design>,
    /// The claims, in the order of the plan.
    pub claims: Vec<Claim>,
}

/// The claims in a plan's text, ignoring everything else.
#[derive(Deserialize)]
struct ClaimsText {
    workload: Option<String>,
    #[serde(default = "Vec::new")]
    compare: Vec<Axis>,
    #[serde(default)]
    source: String,
    #[serde(default)]
    claims_among: Vec<String>,
    claims_over: Option<ClaimsOver>,
    #[serde(default = "Vec::new")]
    claim: Vec<Spanned<Claim>>,
}

/// The claims with the lines of the plan's text in which they begin.
fn with_lines(claims: Vec<Spanned<Claim>>, text: &str) -> Vec<Claim> {
    // Continued from claim to claim, as there may be thousands.
    let (mut line, mut counted) = (1, 0);
    let with_line = |claim: Spanned<Claim>| {
        let start = claim.span().start;
        line += explain::ends_of_lines(text.get(counted..start).unwrap_or_default());
        counted = counted.max(start);
        Claim { line, ..claim.into_inner() }
    };
    claims.into_iter().map(with_line).collect()
}

/// The error of the first invalid claim.
fn check_claims(
    claims: &[Claim],
    workload: Workload,
    compare: &[Axis],
    study_stores: &[String],
) -> std::result::Result<(), String> {
    let ranked = ranked_axes(workload, compare);
    let check = |claim: &Claim| {
        claim.check(workload.def().operations, study_stores)?;
        claim.check_axes(&ranked)
    };
    claims.iter().try_for_each(|claim| check(claim).map_err(|message| locate(claim, &message)))
}

/// The axes whose values a plan ranks: those that it compares, otherwise the default.
fn ranked_axes(workload: Workload, compare: &[Axis]) -> Vec<Axis> {
    if !compare.is_empty() {
        return compare.to_vec();
    }
    let axes = workload.def().axes.iter().copied();
    axes.filter(|axis| axis.role() == Role::Contestant).collect()
}

fn locate(claim: &Claim, message: &str) -> String {
    match claim.line {
        0 => format!("the claim {}: {}", quoted(&claim.says), shortened(message)),
        line => format!("line {line}: this claim: {}", shortened(message)),
    }
}

/// Reads the claims of a plan's text; `origin` names its source in messages.
///
/// # Errors
/// [`Exit::BadPlan`] if one is invalid, with its line.
pub fn plan_claims(text: &str, origin: &str) -> Result<Vec<Claim>> {
    let to_error = |message: String| claim_error(origin, &message);
    let ClaimsText { workload, compare, claims_among: among, claim, .. } =
        explain::read(text).map_err(to_error)?;
    let claims = with_lines(claim, text);
    let workload = workload.map_or(Ok(Workload::CRUD), |name| name.parse()).map_err(to_error)?;
    check_claims(&claims, workload, &compare, &among).map_err(to_error)?;
    Ok(claims)
}

/// Checks that everything exists that a plan's claims compare: the `stores`, the values on the plan's
/// ranked axes, and the ranges on its axes or in a preset.
///
/// # Errors
/// [`Exit::BadPlan`], with the claim's line; `origin` names the source of the plan.
pub fn check(claims: &[Claim], plan: &Plan, stores: &[&str], origin: &str) -> Result<()> {
    let ranked = ranked_axes(plan.workload, &plan.compare);
    let values: Vec<String> = ranked.iter().flat_map(|axis| names_on_axis(plan, *axis)).collect();
    let kind = ranked.first().copied().unwrap_or(Axis::STORE);
    let stores = if ranked.contains(&Axis::STORE) { stores } else { &[] };
    // If settings are axes, even only in a preset, a store's name may be followed by them: `sqlite page_size=8192`.
    let presets = plan.presets.values().map(|changes| &changes.axes);
    let has_variants = presets.chain([&plan.axes]).any(|axes| axes.settings().next().is_some());
    // Places are named when the plan runs; contestants that combine several axes are known only from the cells that ran.
    let is_open = plan.compare.len() > 1 || ranked.contains(&Axis::PLACE);
    let exists = |name: &String| {
        let store = name.split(' ').next().filter(|_| has_variants).unwrap_or(name);
        is_open || stores.contains(&store) || values.iter().any(|value| value == store || value == name)
    };
    let describe_unknown = |name: &String| {
        let names = stores.iter().copied().chain(values.iter().map(String::as_str));
        let hint = meant(name, names).map_or(String::new(), |meant| format!(" (did you mean {meant}?)"));
        let there_is = if kind == Axis::STORE { "this version has" } else { "there is" };
        format!("{there_is} no {kind} {}{hint}", quoted(name))
    };
    let to_error = |message: String| claim_error(origin, &message);
    if let Some(name) = plan.claims_among.iter().find(|name| !exists(name)) {
        return Err(to_error(format!("claims_among: {}", describe_unknown(name))));
    }
    for claim in claims {
        let expected = claim.expect.stores();
        if let Some(name) = claim.among.iter().chain(&expected).find(|name| !exists(name)) {
            return Err(to_error(locate(claim, &describe_unknown(name))));
        }
        check_ranges(claim, plan).map_err(|message| to_error(locate(claim, &message)))?;
    }
    Ok(())
}

/// The values of an axis, in the plan and in its presets.
fn values_on_axis(plan: &Plan, axis: Axis) -> Vec<Value> {
    let presets = plan.presets.values().filter(|preset| preset.axes.names(axis));
    let preset_values = presets.flat_map(|preset| preset.axes.values(axis).into_owned());
    plan.axes.values(axis).iter().cloned().chain(preset_values).collect()
}

fn names_on_axis(plan: &Plan, axis: Axis) -> Vec<String> {
    let layout = Layout::from_axes(plan.compare.clone(), [axis]);
    let name = |value: Value| layout.contestant(&Cell::default().with(axis, value)).into_owned();
    values_on_axis(plan, axis).into_iter().map(name).collect()
}

fn claim_error(origin: &str, message: &str) -> Error {
    Error::new(Exit::BadPlan, format!("the plan {origin} can't be used: {message}"))
}

/// Checks that cells can be within the ranges of a claim.
fn check_ranges(claim: &Claim, plan: &Plan) -> std::result::Result<(), String> {
    let ranges = Axis::as_written().into_iter().filter(|axis| axis.def().form == Form::Range);
    for axis in ranges.collect::<BTreeSet<Axis>>() {
        let values = values_on_axis(plan, axis);
        let is_missed = |claimed: &&Value| !values.iter().any(|value| claimed.holds(value));
        let missed = claim.at.values(axis).iter().find(is_missed).map(Value::text);
        let mut named = claim.expect.values().into_iter().filter(|(other, _)| *other == axis);
        let exists = |name: &str| axis.read(name).is_ok_and(|value| values.contains(&value));
        let missed = missed.or_else(|| Some(named.find(|(_, name)| !exists(name))?.1));
        if let Some(range) = missed {
            let listed = join_first(&values);
            return Err(format!("no {axis} of the plan lies within {range}: its axis is {listed}"));
        }
    }
    Ok(())
}

fn join_first(values: &[Value]) -> String {
    let ellipsis = if values.len() > MAX_LISTED { ", ..." } else { "" };
    values.iter().take(MAX_LISTED).map(Value::text).collect::<Vec<_>>().join(", ") + ellipsis
}

/// Values of an axis that a message names.
const MAX_LISTED: usize = 20;

/// The claims of a run's plan; if that has none, the claims of the
/// built-in study of its name, so that older runs are checked too. `None` if there are none.
///
/// # Errors
/// [`Exit::BadPlan`] if one is invalid, with its line; `origin` names the source of the plan's text.
pub fn run_claims(study: &str, plan: &str, origin: &str) -> Result<Option<StudyClaims>> {
    read_claims(study, plan, origin)?.map_or_else(|| study_claims(study), |claims| Ok(Some(claims)))
}

/// The claims of a built-in study, as this version has them. `None` where it has none.
///
/// # Errors
/// [`Exit::BadPlan`] when one of them makes no sense, which would be a mistake of ours.
pub fn study_claims(study: &str) -> Result<Option<StudyClaims>> {
    match STUDIES.iter().find(|built_in| built_in.name == study) {
        Some(built_in) => read_claims(study, built_in.text, &format!("studies/{study}.toml")),
        None => Ok(None),
    }
}

fn read_claims(study: &str, plan: &str, origin: &str) -> Result<Option<StudyClaims>> {
    let to_error = |message: String| claim_error(&format!("in {origin}"), &message);
    let text: ClaimsText = explain::read(plan).map_err(to_error)?;
    let ClaimsText { workload, compare, source, claims_among: among, claims_over, claim } = text;
    let claims = with_lines(claim, plan);
    // For an unknown workload nothing can be checked, but its figures exist.
    let workload = workload.map_or(Ok(Workload::CRUD), |name| name.parse());
    let Ok(workload) = workload else { return Ok(None) };
    check_claims(&claims, workload, &compare, &among).map_err(to_error)?;
    if claims.is_empty() {
        return Ok(None);
    }
    // Runs from before `claims_over` may have a narrowed plan: the full design is known only for built-in studies.
    let built_in = STUDIES.iter().find(|built_in| built_in.name == study);
    let covered = claims_over.or_else(|| {
        let text = built_in.map_or(plan, |built_in| built_in.text);
        Plan::parse(text, origin)
            .ok()
            .map(|plan| plan.claims_over.clone().unwrap_or_else(|| ClaimsOver::from_plan(&plan)))
    });
    let design = covered.map(|covered| Design::from_claims(&covered));
    Ok(Some(StudyClaims { study: study.to_owned(), source, among, design, claims }))
}

#[cfg(test)]
mod tests;
