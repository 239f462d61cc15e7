//! The list of sections. An entry appears in the terminal, the page, CSV, JSON and SQL.

mod bursts;
mod clusters;
mod concurrent_work;
mod cuts;
mod effects;
mod estimates;
mod faults;
mod fragmentation;
mod pauses;
mod recovery;
mod requests;
mod rounds;
mod sizes;
mod slowdown;
mod space_reclaim;
mod space_reclaim_concurrent;
mod store_rows;
mod trends;
mod verdicts;
mod weakest;

pub use self::cuts::SECTION as CUTS;
use crate::report::Report;
use crate::section::Section;

/// Every section, in the order of reports.
pub const SECTIONS: &[&Section] = &[
    &weakest::SECTION,
    &effects::SECTION,
    &sizes::SECTION,
    &clusters::SECTION,
    &slowdown::SECTION,
    &cuts::SECTION,
    &faults::SECTION,
    &recovery::SECTION,
    &requests::SECTION,
    &estimates::SECTION,
    &rounds::SECTION,
    &trends::SECTION,
    &fragmentation::SECTION,
    &pauses::SECTION,
    &concurrent_work::SECTION,
    &bursts::SECTION,
    &space_reclaim::SECTION,
    &space_reclaim_concurrent::SECTION,
    &verdicts::SECTION,
];

/// The answers of studies with another question than which store is fastest.
pub fn answers(report: &Report<'_>) -> Vec<String> {
    let merged = report.merged;
    let has_content = |section: &Section| !report.blocks(section).is_empty();
    let mut answers = if has_content(&cuts::SECTION) { cuts::answer(merged) } else { Vec::new() };
    answers.extend(has_content(&weakest::SECTION).then(|| weakest::answer(merged)).flatten());
    answers.extend(has_content(&effects::SECTION).then(|| effects::answer(merged)).flatten());
    answers.extend(has_content(&sizes::SECTION).then(|| sizes::answer(merged)).into_iter().flatten());
    answers
}

/// The section of this name.
pub fn find(name: &str) -> Option<&'static Section> {
    SECTIONS.iter().copied().find(|section| section.name == name)
}

#[cfg(test)]
mod tests;
