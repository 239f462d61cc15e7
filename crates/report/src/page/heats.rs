//! Heat maps as data: the page shows them as tables, and saves pictures of them.

use serde::Serialize;
use storebench_model::units::three_digits;

use super::section::shade;
use crate::report::Report;
use crate::section::view::Group;
use crate::section::{self, Block, Tone};
use crate::sections::SECTIONS;

#[derive(Debug, PartialEq, Serialize)]
pub struct Heat {
    section: &'static str,
    title: String,
    hardware: String,
    store: String,
    heads: Vec<String>,
    rows: Vec<Row>,
    /// The section's legend of its maps.
    legend: String,
}

#[derive(Debug, PartialEq, Serialize)]
struct Row {
    name: String,
    cells: Vec<Cell>,
}

#[derive(Debug, PartialEq, Serialize)]
struct Cell {
    lines: Vec<String>,
    /// The index of its colour in the page's style; `None` without a figure.
    shade: Option<u32>,
    best: bool,
}

pub fn heats(report: &Report<'_>) -> Vec<Heat> {
    let section_heats = |section: &section::Section| {
        let blocks = report.blocks(section);
        let notes = blocks.iter().filter_map(|block| match block {
            Block::Note(text) => Some(text.as_str()),
            _ => None,
        });
        let legend = format!("{}. {}", section.title, notes.collect::<Vec<_>>().join(" "));
        let mut heats = Vec::new();
        maps(blocks, "", &mut |title, table, heads, group| {
            let first = |id: &str| table.first_word(id).unwrap_or_default();
            let (section, hardware, store) = (section.name, first("hardware"), first("store"));
            let (heads, rows) = (heads.to_vec(), group.lines.iter().map(row).collect());
            heats.push(Heat { section, title, hardware, store, heads, rows, legend: legend.clone() });
        });
        heats
    };
    SECTIONS.iter().flat_map(|section| section_heats(section)).collect()
}

fn maps(blocks: &[Block], title: &str, add: &mut impl FnMut(String, &section::Table, &[String], &Group<'_>)) {
    for block in blocks {
        match block {
            Block::Fold(fold) => maps(&fold.blocks, &fold.title, add),
            Block::Table(table) if table.is_heat() => {
                let view = table.view(true);
                let heads: Vec<String> = view.heads.iter().map(|head| head.text.to_owned()).collect();
                for group in &view.groups {
                    let parts = [title, group.title.as_deref().unwrap_or_default()];
                    let titles: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
                    add(titles.join(": "), table, &heads, group);
                }
            }
            _ => {}
        }
    }
}

fn row(line: &section::view::Line<'_>) -> Row {
    let text = |cells: &[(&section::Column, &section::Cell)]| {
        let texts = cells.iter().filter_map(|(column, cell)| cell.text_for_people(column.unit));
        texts.collect::<Vec<_>>().join(" ")
    };
    let cell = |cells: &Vec<(&section::Column, &section::Cell)>| {
        let text = Some(text(cells)).filter(|text| !text.is_empty()).unwrap_or_else(|| "–".to_owned());
        let best = cells.first().is_some_and(|(_, cell)| cell.best);
        match cells.first().map(|(_, cell)| &cell.tone) {
            Some(Tone::Heat(times)) => Cell {
                lines: vec![text, format!("×{}", three_digits(*times))],
                shade: Some(shade(*times)),
                best,
            },
            _ => Cell { lines: vec![text], shade: None, best },
        }
    };
    let mut cells = line.iter();
    Row { name: cells.next().map(|cells| text(cells)).unwrap_or_default(), cells: cells.map(cell).collect() }
}
