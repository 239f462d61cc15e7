//! Text in columns: aligned by width on the screen, painted or not, and cut into blocks, each with its labels, if it would be too wide.

use anstyle::Style as Paint;
pub use storebench_model::sanitize::one_line;
use unicode_width::UnicodeWidthStr;

use storebench_figures::data::names::HEADING;

/// The style of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Columns of the terminal.
    pub width: usize,
    /// Whether to colour. Colours carry no information of their own.
    pub colour: bool,
}

impl Style {
    /// Wraps text in a paint's escapes, if colours are on.
    pub fn paint(&self, paint: Paint, text: &str) -> String {
        if self.colour { format!("{paint}{text}{paint:#}") } else { text.to_owned() }
    }
}

/// The content of one place of a grid: one or more lines.
#[derive(Debug, Clone, Default)]
pub struct Item {
    lines: Vec<String>,
    paint: Option<Paint>,
    right: bool,
}

impl Item {
    pub(crate) fn new(text: impl Into<String>) -> Item {
        Item { lines: vec![text.into()], ..Item::default() }
    }

    pub(crate) fn from_lines(lines: Vec<String>) -> Item {
        Item { lines, ..Item::default() }
    }

    pub(crate) fn right(self) -> Item {
        Item { right: true, ..self }
    }

    /// Paints it over the whole width of its column.
    pub(crate) fn painted(self, paint: Paint) -> Item {
        Item { paint: Some(paint), ..self }
    }

    fn width(&self) -> usize {
        self.lines.iter().map(|line| line.width()).max().unwrap_or(0)
    }

    fn filled_line(&self, index: usize, width: usize, style: Style) -> String {
        let text = self.lines.get(index).map_or("", String::as_str);
        let space = " ".repeat(width.saturating_sub(text.width()));
        let filled = if self.right { format!("{space}{text}") } else { format!("{text}{space}") };
        match self.paint {
            Some(paint) if !text.is_empty() => style.paint(paint, &filled),
            _ => filled,
        }
    }
}

#[derive(Debug)]
struct Group {
    title: Option<String>,
    rows: Vec<Vec<Item>>,
}

/// A grid. Every row has the same number of items.
#[derive(Debug, Default)]
pub struct Grid {
    /// The number of label columns at the left.
    labels: usize,
    head: Vec<Vec<Item>>,
    groups: Vec<Group>,
}

const GAP: &str = "  ";

impl Grid {
    /// A grid whose first `labels` columns are repeated in every block.
    pub fn new(labels: usize) -> Grid {
        Grid { labels, ..Grid::default() }
    }

    pub(crate) fn head(&mut self, items: Vec<Item>) {
        self.head.push(items);
    }

    pub(crate) fn group(&mut self, rows: Vec<Vec<Item>>) {
        self.groups.push(Group { title: None, rows });
    }

    /// Under a title, which may be wider than the grid.
    pub(crate) fn titled_group(&mut self, title: String, rows: Vec<Vec<Item>>) {
        self.groups.push(Group { title: Some(title), rows });
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths = Vec::new();
        for row in self.head.iter().chain(self.groups.iter().flat_map(|group| &group.rows)) {
            widths.resize(widths.len().max(row.len()), 0);
            for (width, item) in widths.iter_mut().zip(row) {
                *width = item.width().max(*width);
            }
        }
        widths
    }

    pub(crate) fn width(&self) -> usize {
        total_width(&self.widths())
    }

    /// The width without the first column, but with the gap after it.
    pub(crate) fn width_beside_first(&self) -> usize {
        self.widths().iter().skip(1).map(|width| GAP.len() + width).sum()
    }

    /// The text, each line ended. Blocks of columns are as wide as possible, with at least one column.
    pub fn render(&self, style: Style) -> String {
        let widths = self.widths();
        let labels: Vec<usize> = (0..self.labels.min(widths.len())).collect();
        let mut blocks = vec![labels.clone()];
        for column in labels.len()..widths.len() {
            let Some(last) = blocks.last_mut() else { break };
            let taken = total_width(&last.iter().map(|c| widths[*c]).collect::<Vec<_>>());
            if last.len() > labels.len() && taken + GAP.len() + widths[column] > style.width {
                let mut next = labels.clone();
                next.push(column);
                blocks.push(next);
            } else {
                last.push(column);
            }
        }
        let blocks: Vec<String> = blocks.iter().map(|columns| self.block(columns, &widths, style)).collect();
        blocks.join("\n")
    }

    fn block(&self, columns: &[usize], widths: &[usize], style: Style) -> String {
        let mut out = String::new();
        for row in &self.head {
            push_row(&mut out, row, columns, widths, style);
        }
        let rule = total_width(&columns.iter().map(|column| widths[*column]).collect::<Vec<_>>());
        out.push_str(&"─".repeat(rule));
        out.push('\n');
        for (index, group) in self.groups.iter().enumerate() {
            if index > 0 {
                out.push('\n');
            }
            if let Some(title) = &group.title {
                out.push_str(&style.paint(HEADING, wrap(title, style.width, GAP).trim_end()));
                out.push('\n');
            }
            for row in &group.rows {
                push_row(&mut out, row, columns, widths, style);
            }
        }
        out
    }
}

fn total_width(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP.len() * widths.len().saturating_sub(1)
}

fn push_row(out: &mut String, row: &[Item], columns: &[usize], widths: &[usize], style: Style) {
    let items: Vec<(&Item, usize)> =
        columns.iter().filter_map(|column| row.get(*column).map(|item| (item, widths[*column]))).collect();
    let height = items.iter().map(|(item, _)| item.lines.len()).max().unwrap_or(0);
    for line in 0..height {
        let texts: Vec<String> =
            items.iter().map(|(item, width)| item.filled_line(line, *width, style)).collect();
        out.push_str(texts.join(GAP).trim_end());
        out.push('\n');
    }
}

/// Breaks text at spaces into lines of at most `width`; all but the first are indented. Longer words stay whole.
pub fn wrap(text: &str, width: usize, indent: &str) -> String {
    let mut out = String::new();
    let mut taken = 0;
    for (index, word) in text.split(' ').enumerate() {
        if index > 0 && taken + 1 + word.width() > width {
            out.push('\n');
            out.push_str(indent);
            taken = indent.width();
        } else if index > 0 {
            out.push(' ');
            taken += 1;
        }
        out.push_str(word);
        taken += word.width();
    }
    out.push('\n');
    out
}

/// Lines under a title, or nothing if there are none.
pub(crate) fn titled(title: &str, lines: &[String], style: Style) -> String {
    match lines.is_empty() {
        true => String::new(),
        false => format!("\n{}\n{}", style.paint(HEADING, &one_line(title)), indented(lines, style)),
    }
}

/// Lines, each wrapped below itself.
pub(crate) fn indented(lines: &[String], style: Style) -> String {
    lines.iter().map(|line| wrap(&format!("  {}", one_line(line)), style.width, "    ")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Style = Style { width: 80, colour: false };

    #[test]
    fn columns_align_by_width_on_the_screen() {
        let mut grid = Grid::new(1);
        grid.head(vec![Item::new("store"), Item::new("time").right()]);
        grid.group(vec![
            vec![Item::new("データ"), Item::new("4.2 µs").right()],
            vec![Item::new("b"), Item::new("1 ns").right()],
        ]);
        assert_eq!(grid.render(PLAIN), "store     time\n──────────────\nデータ  4.2 µs\nb         1 ns\n");
    }

    #[test]
    fn what_is_too_wide_is_cut_into_blocks_with_labels() {
        let mut grid = Grid::new(1);
        grid.head(["x", "aaaa", "bbbb", "cccc"].map(Item::new).into());
        grid.group(vec![["y", "1", "2", "3"].map(Item::new).into()]);
        assert_eq!(grid.width(), 19);
        let text = grid.render(Style { width: 13, colour: false });
        assert_eq!(text, "x  aaaa  bbbb\n─────────────\ny  1     2\n\nx  cccc\n───────\ny  3\n");
    }

    #[test]
    fn paint_fills_the_column_and_only_where_wanted() {
        let mut grid = Grid::new(0);
        grid.head(vec![Item::new("wide")]);
        grid.group(vec![vec![Item::new("a").painted(Paint::new().bold())]]);
        assert_eq!(grid.render(PLAIN), "wide\n────\na\n");
        assert_eq!(grid.render(Style { width: 80, colour: true }), "wide\n────\n\u{1b}[1ma   \u{1b}[0m\n");
    }

    #[test]
    fn text_wraps_at_spaces() {
        assert_eq!(wrap("one two three", 9, "  "), "one two\n  three\n");
    }
}
