//! Sections in the terminal.

use std::collections::BTreeSet;

use anstyle::{AnsiColor, Style as Paint};
use storebench_figures::data::names::{FAILURE, GOOD, HEADING, store_style};

use super::grid::{Grid, Item, Style, wrap};
use crate::section::view::{ColumnHead, Line, View};
use crate::section::{Block, Cell, Column, Fold, FoldState, Kind, Section, Tone};

const MOST_SHOWN: usize = 4;

/// The narrowest column for a name before it is broken.
const MIN_NAME_WIDTH: usize = 24;

/// A section's blocks under its title: all of it, or the first view. Empty without blocks. Each line is ended.
pub fn text(section: &Section, blocks: &[Block], style: Style, in_full: bool) -> String {
    if blocks.is_empty() {
        return String::new();
    }
    let mut writer = Writer { style, in_full, out: String::new() };
    let title = wrap(section.title, style.width, "  ");
    writer.out.push_str(&format!("\n{}\n", style.paint(HEADING, title.trim_end())));
    writer.blocks(blocks);
    let parts = blocks.iter().filter(|block| part_number(block).is_some()).count();
    if !in_full && parts > MOST_SHOWN {
        let note = format!("--table shows all {parts} tables; here are {MOST_SHOWN}.");
        writer.out.push_str(&wrap(&note, style.width, "  "));
    } else if !in_full && has_closer(blocks) {
        writer.out.push_str(&wrap("--table shows every operation.", style.width, "  "));
    }
    writer.out
}

fn part_number(block: &Block) -> Option<usize> {
    match block {
        Block::Fold(Fold { open: FoldState::Part(number), .. }) => Some(*number),
        _ => None,
    }
}

fn has_closer(blocks: &[Block]) -> bool {
    blocks.iter().any(|block| match block {
        Block::Fold(fold) => fold.open == FoldState::Closer || has_closer(&fold.blocks),
        _ => false,
    })
}

struct Writer {
    style: Style,
    in_full: bool,
    out: String,
}

impl Writer {
    fn blocks(&mut self, blocks: &[Block]) {
        for block in blocks {
            match block {
                Block::Note(text) if text.is_empty() => {}
                Block::Note(text) => self.out.push_str(&wrap(text, self.style.width, "  ")),
                Block::Table(table) if !table.is_seen() => {}
                Block::Table(table) => {
                    let grid = grid(&table.view(self.in_full), self.style);
                    self.out.push_str(&grid.render(self.style));
                }
                Block::Chart(..) => {}
                Block::Fold(fold) => self.fold(fold),
            }
        }
    }

    fn fold(&mut self, fold: &Fold) {
        let title = wrap(&fold.title, self.style.width, "  ");
        let title = match fold.open {
            FoldState::Part(number) if number >= MOST_SHOWN && !self.in_full => return,
            FoldState::Closer if !self.in_full => return,
            // The first is right below the section's title.
            FoldState::Part(0) => title,
            FoldState::Part(_) => format!("\n{title}"),
            FoldState::Figures | FoldState::Closer => {
                format!("\n{}\n", self.style.paint(HEADING, title.trim_end()))
            }
        };
        self.out.push_str(&title);
        self.blocks(&fold.blocks);
    }
}

/// A table, with names broken into lines if they would push figures out.
fn grid(view: &View<'_>, style: Style) -> Grid {
    let wide = wide_grid(view);
    if wide.width() <= style.width {
        return wide;
    }
    lay_out(view, style.width.saturating_sub(wide.width_beside_first()).max(MIN_NAME_WIDTH))
}

pub fn wide_grid(view: &View<'_>) -> Grid {
    lay_out(view, usize::MAX)
}

fn lay_out(view: &View<'_>, room: usize) -> Grid {
    let mut grid = Grid::new(repeated_columns(view));
    grid.head(view.heads.iter().map(head).collect());
    for group in &view.groups {
        let mut previous = String::new();
        let mut rows = Vec::new();
        for line in &group.lines {
            let mut items: Vec<Item> =
                line.iter().zip(&view.heads).map(|(cells, head)| item(cells, head)).collect();
            let name = line.first().map(|cells| name(cells, room)).unwrap_or_default();
            // Repeated names are shown once.
            if let Some(first) = items.first_mut() {
                let joined = name.join(" ");
                let tone = line.first().and_then(|cells| cells.first()).map(|(_, cell)| paint(&cell.tone));
                let lines = if view.labels > 0 && joined == previous { vec![String::new()] } else { name };
                *first = tone.unwrap_or_default().into_iter().fold(Item::from_lines(lines), Item::painted);
                previous = joined;
            }
            rows.push(items);
        }
        match &group.title {
            Some(title) => grid.titled_group(title.clone(), rows),
            None => grid.group(rows),
        }
    }
    grid
}

/// The columns at the left that are repeated where a table is cut: those before figures across, or as few as tell its lines apart.
fn repeated_columns(view: &View<'_>) -> usize {
    if view.labels < view.heads.len() {
        return view.labels;
    }
    let lines = || view.groups.iter().flat_map(|group| &group.lines);
    let names = |cells: &&Vec<(&Column, &Cell)>| {
        cells.iter().all(|(column, _)| matches!(column.kind, Kind::Text | Kind::Whole))
    };
    let most = lines().next().map_or(1, |line| line.iter().take_while(names).count().max(1));
    let tell_apart = |count: &usize| {
        let start = |line: &Line<'_>| -> Vec<Vec<String>> {
            line.iter().take(*count).map(|cells| name(cells, usize::MAX)).collect()
        };
        let starts = |lines: &[Line<'_>]| lines.iter().map(start).collect::<BTreeSet<_>>().len();
        view.groups.iter().all(|group| starts(&group.lines) == group.lines.len())
    };
    (1..most).find(tell_apart).unwrap_or(most)
}

fn head(head: &ColumnHead<'_>) -> Item {
    // Room for the mark, so that figures stay aligned.
    let text = if head.marked && head.right { format!("{} ", head.text) } else { head.text.to_owned() };
    let item = Item::new(text);
    if head.right { item.right() } else { item }
}

/// The name of a line, broken if it is wider than its room, and the notes below it.
fn name(cells: &[(&Column, &Cell)], room: usize) -> Vec<String> {
    let break_lines =
        |text: &str| -> Vec<String> { wrap(text, room, "  ").lines().map(str::to_owned).collect() };
    let item_lines = |(column, cell): &(&Column, &Cell)| {
        let best = if cell.best { "*" } else { "" };
        let text = format!("{}{best}", cell.text_for_people(column.unit).unwrap_or_default());
        let notes = cell.notes.iter().flat_map(|note| break_lines(&format!("  {note}")));
        break_lines(&text).into_iter().chain(notes.collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    cells.iter().flat_map(item_lines).collect()
}

fn item(cells: &[(&Column, &Cell)], head: &ColumnHead<'_>) -> Item {
    let mark = |cell: &Cell| match (cell.best, head.marked && head.right) {
        (true, _) => "*",
        (false, true) => " ",
        (false, false) => "",
    };
    let line = |(column, cell): &(&Column, &Cell)| {
        let text = cell.text_for_people(column.unit).unwrap_or_else(|| head.empty.to_owned());
        format!("{text}{}", mark(cell))
    };
    let text = match cells {
        [] => head.empty.to_owned(),
        cells => cells.iter().map(line).collect::<Vec<_>>().join("\n"),
    };
    let item = Item::from_lines(text.split('\n').map(str::to_owned).collect());
    let item = if head.right { item.right() } else { item };
    let tone = cells.first().and_then(|(_, cell)| paint(&cell.tone));
    tone.into_iter().fold(item, Item::painted)
}

fn paint(tone: &Tone) -> Option<Paint> {
    let colour = |colour: AnsiColor| Some(Paint::new().fg_color(Some(colour.into())));
    match tone {
        Tone::Plain => None,
        Tone::Store(name) => Some(store_style(name)),
        Tone::Dim => Some(Paint::new().dimmed()),
        Tone::Worse => Some(FAILURE),
        Tone::Better => Some(GOOD),
        // Green near the best, yellow from a quarter more, red from twice as much.
        Tone::Heat(times) if *times < 1.25 => colour(AnsiColor::Green),
        Tone::Heat(times) if *times < 2.0 => colour(AnsiColor::Yellow),
        Tone::Heat(_) => colour(AnsiColor::Red),
    }
}
