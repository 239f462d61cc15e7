//! The verdicts on published findings in files. The terminal and the page show them claim by claim, with the checks.

use storebench_figures::claims::Finding;
use storebench_figures::data::findings::words::{
    describe_needs, describe_published, judged_without, measured,
};
use storebench_figures::data::findings::{CheckedClaim, Study, check, label, name_needed_groups};
use storebench_figures::data::merge::Merged;

use crate::section::{Block, Cell, Column, PagePosition, Section, Shape, Table, Visibility};

pub const SECTION: Section = Section {
    name: "verdicts",
    title: "Published findings: verdicts",
    link: "Verdicts",
    stands: PagePosition::InFiles,
    at_end: false,
    shapes: &[&VERDICTS],
    blocks,
};

const VERDICTS: Shape = Shape {
    name: "verdicts",
    columns: &[
        Column::text("study"),
        Column::integer("claim"),
        Column::text("says"),
        Column::text("source"),
        Column::text("expected"),
        // Empty if the paper's tables say nothing about it.
        Column::text("published"),
        Column::text("hardware"),
        Column::text("title"),
        Column::text("verdict"),
        // The leaning, if the verdict is unknown.
        Column::text("so_far"),
        Column::text("measured"),
        Column::integer("agree"),
        Column::integer("checks"),
        Column::text("takes"),
        Column::text("without"),
    ],
};

fn blocks(merged: &Merged<'_>) -> Vec<Block> {
    let studies = check(merged);
    let mut table = Table::new(&VERDICTS);
    for study in &studies {
        for (number, checked) in study.checked.iter().enumerate() {
            let findings = checked.findings.iter().map(|finding| row(merged, checked, finding));
            let unmeasured = checked.findings.is_empty().then(|| {
                let needs = format!("needs {}", name_needed_groups(checked.claim));
                vec![("verdict", Cell::text("unknown")), ("takes", Cell::text(needs))]
            });
            for cells in findings.chain(unmeasured) {
                let claim_cells = claim_cells(study, number + 1, checked).into_iter();
                table.push(Visibility::InFiles, claim_cells.chain(cells));
            }
        }
    }
    if table.rows.is_empty() { Vec::new() } else { vec![Block::Table(table)] }
}

fn claim_cells(study: &Study<'_>, number: usize, checked: &CheckedClaim<'_>) -> Vec<(&'static str, Cell)> {
    vec![
        ("study", Cell::text(&study.study.study)),
        ("claim", Cell::from_count(number)),
        ("says", Cell::text(&checked.claim.says)),
        ("source", Cell::text(&checked.claim.source)),
        ("expected", Cell::text(checked.claim.describe())),
        ("published", Cell::or_none(describe_published(checked), Cell::text)),
    ]
}

fn row(merged: &Merged<'_>, checked: &CheckedClaim<'_>, finding: &Finding) -> Vec<(&'static str, Cell)> {
    let so_far = (finding.so_far != finding.verdict).then(|| finding.so_far.name());
    vec![
        ("hardware", Cell::text(&finding.scope.hardware)),
        ("title", Cell::text(label(merged, &finding.scope))),
        ("verdict", Cell::text(finding.verdict.name())),
        ("so_far", Cell::or_none(so_far, Cell::text)),
        ("measured", Cell::or_none(measured(checked.claim, finding), Cell::text)),
        ("agree", Cell::from_count(finding.leaning.agree)),
        ("checks", Cell::from_count(finding.leaning.total())),
        ("takes", Cell::or_none(describe_needs(checked.claim, finding), Cell::text)),
        ("without", Cell::or_none(judged_without(finding), Cell::text)),
    ]
}
