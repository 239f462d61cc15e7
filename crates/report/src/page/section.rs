//! Renders sections in the page.

use storebench_model::units::three_digits;

use crate::markup::{BREAK, Html, Literal, Tag, column, folded, note, row, scroll, small, table, tag};
use crate::section::view::{ColumnHead, Group, View};
use crate::section::{Block, Cell, Column, Drawing, Fold, FoldState, Section, Table, Tone};

/// The number of shades between the best and four times as much.
const SHADES: f64 = 6.0;

/// A section with its title; empty without content.
pub fn html(section: &Section, blocks: &[Block]) -> Html {
    if blocks.is_empty() {
        return Html::default();
    }
    let content = (tag("h2").with(section.title), content(blocks));
    Html::new(tag("section").attr("id", section.name).attr("tabindex", "-1").with(content))
}

pub fn link(section: &Section, blocks: &[Block]) -> Html {
    let link = tag("a").attr("href", format!("#go={}", section.name)).with(section.link);
    Html::new((!blocks.is_empty()).then(|| tag("li").with(link)))
}

pub fn content(blocks: &[Block]) -> Html {
    let mut html = Html::default();
    for block in blocks {
        match block {
            Block::Note(text) if text.is_empty() => {}
            Block::Note(text) => html.push(note(text)),
            Block::Table(table) if !table.is_seen() => {}
            Block::Table(table) => html.push(figures(table)),
            Block::Chart(name, number) => html.push(chart(name, *number)),
            Block::Fold(Fold { title, open: FoldState::Part(0), blocks }) => {
                html.push((tag("h3").with(title), content(blocks)));
            }
            Block::Fold(Fold { title, blocks, .. }) => html.push(folded(title, content(blocks))),
        }
    }
    html
}

/// Room for a drawing by the scripts: of the page's data by number, or of the cells that the filters select.
fn chart(name: &str, number: usize) -> Html {
    match name {
        "dots" => Html::new(tag("div").class("dots").attr("data-dots", number.to_string())),
        _ => Html::new(Literal("<p class=\"where\"></p><div class=\"content\"></div>")),
    }
}

pub fn figures(table: &Table) -> Html {
    let view = table.view(true);
    if !table.is_heat() {
        return Html::new(scroll(self::table(heads(&view), rows(&view, &view.groups, true))));
    }
    let draw_map = |group: &Group<'_>| {
        let caption = tag("figcaption").with(group.title.as_deref());
        let rows = rows(&view, std::slice::from_ref(group), false);
        tag("figure").with((caption, scroll(self::table(heads(&view), rows).class("heat"))))
    };
    Html::new(tag("div").class("heats").with(view.groups.iter().map(draw_map).collect::<Vec<_>>()))
}

fn heads(view: &View<'_>) -> Vec<Tag> {
    view.heads.iter().map(|head| column(head.text)).collect()
}

fn rows(view: &View<'_>, groups: &[Group<'_>], has_titles: bool) -> Vec<Tag> {
    let mut rows = Vec::new();
    for group in groups {
        if let Some(title) = group.title.as_ref().filter(|_| has_titles) {
            let head = tag("th").attr("scope", "rowgroup").attr("colspan", view.heads.len().to_string());
            rows.push(tag("tr").with(head.with(title)));
        }
        for line in &group.lines {
            let (labels, rest) = line.split_at(view.labels.min(1));
            let heads = view.heads.iter().skip(labels.len());
            let rest: Vec<Tag> = rest.iter().zip(heads).map(|(cells, head)| cell(cells, head)).collect();
            rows.push(match labels {
                [] => tag("tr").with(rest),
                [name, ..] => row(inner(name, ""), rest),
            });
        }
    }
    rows
}

pub fn shade(times: f64) -> u32 {
    (times.max(1.0).ln() / 4f64.ln() * SHADES).round().min(SHADES) as u32
}

pub(crate) fn cell(cells: &[(&Column, &Cell)], head: &ColumnHead<'_>) -> Tag {
    let inner = inner(cells, head.empty);
    match cells.first().map(|(_, cell)| &cell.tone) {
        Some(Tone::Dim) => tag("td").class("none").with(small(inner)),
        Some(Tone::Worse) => tag("td").class("worse").with(inner),
        Some(Tone::Better) => tag("td").class("better").with(inner),
        Some(Tone::Heat(times)) => tag("td").class(&format!("h{}", shade(*times))).with((
            inner,
            BREAK,
            small(("×", three_digits(*times))),
        )),
        _ if head.right => tag("td").class("n").with(inner),
        _ => tag("td").with(inner),
    }
}

/// The content of a place: its cells below each other, the best in bold.
pub(crate) fn inner(cells: &[(&Column, &Cell)], empty: &'static str) -> Html {
    let render = |(column, cell): &(&Column, &Cell)| {
        let text = cell.text_for_people(column.unit).unwrap_or_else(|| empty.replace('-', "–"));
        if let Some(drawing) = &cell.drawing {
            return Html::new(draw_change(drawing, &text));
        }
        let text = if cell.best { Html::new(tag("b").with(text)) } else { Html::new(text) };
        let notes = cell.notes.iter().map(|note| (BREAK, small(note)));
        Html::new((text, notes.collect::<Vec<_>>()))
    };
    match cells {
        [] => Html::new(empty.replace('-', "–")),
        cells => Html::join(cells.iter().map(render), BREAK),
    }
}

/// A drawing of a change: no change in the middle, the interval as a line, the value as a dot.
fn draw_change(drawing: &Drawing, words: &str) -> Tag {
    let x = |share: f64| 100.0 + share * 98.0;
    let line = |start: f64, end: f64, above: &str, below: &str| {
        let line = tag("line").attr("x1", format!("{start:.1}")).attr("x2", format!("{end:.1}"));
        line.attr("y1", above).attr("y2", below)
    };
    let interval = drawing.ends.map(|[low, high]| line(x(low), x(high), "10", "10"));
    let value = tag("circle").attr("cx", format!("{:.1}", x(drawing.value))).attr("cy", "10");
    let svg = tag("svg").class("span").attr("viewBox", "0 0 200 20").attr("role", "img");
    let svg = svg.attr("aria-label", words);
    svg.with((line(100.0, 100.0, "0", "20").class("none"), interval, value.attr("r", "4")))
}
