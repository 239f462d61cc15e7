//! Arranges a table for people: titles above groups of lines, and figures under the heads across.

use super::{Cell, Column, ColumnRole, DASH, Table, Visibility};

/// A table laid out.
#[derive(Debug)]
pub struct View<'t> {
    pub(crate) heads: Vec<ColumnHead<'t>>,
    /// The number of columns at the left that name a line.
    pub(crate) labels: usize,
    pub(crate) groups: Vec<Group<'t>>,
}

/// The head of a column.
#[derive(Debug)]
pub struct ColumnHead<'t> {
    pub(crate) text: &'t str,
    pub(crate) right: bool,
    /// Whether the column has a best mark.
    pub(crate) marked: bool,
    /// The mark of a place without a figure.
    pub(crate) empty: &'static str,
}

/// Lines, possibly under a title.
#[derive(Debug)]
pub struct Group<'t> {
    pub(crate) title: Option<String>,
    pub(crate) lines: Vec<Line<'t>>,
}

/// A line: the content of each column: nothing, one cell, or several below each other.
pub type Line<'t> = Vec<Vec<(&'t Column, &'t Cell)>>;

struct OpenLine<'t> {
    key: Vec<Option<String>>,
    cells: Line<'t>,
}

impl Table {
    /// The table for people: everything, or the first view.
    pub(crate) fn view(&self, in_full: bool) -> View<'_> {
        let columns = self.shape.columns;
        let has_text = |words: String| words != DASH;
        let is_shown =
            |place: usize| self.rows.iter().any(|row| cell_text(columns, row, place).is_some_and(has_text));
        let columns_with =
            |wanted: ColumnRole| (0..columns.len()).filter(move |place| columns[*place].place == wanted);
        let is_line = |place: &usize| matches!(columns[*place].place, ColumnRole::Line | ColumnRole::Mark);
        let lines: Vec<usize> = (0..columns.len()).filter(is_line).filter(|place| is_shown(*place)).collect();
        let spread: Vec<usize> = columns_with(ColumnRole::Spread).collect();
        let across = columns_with(ColumnRole::Across).next();
        let first = spread.first().copied().unwrap_or(usize::MAX);
        let labels = lines.iter().filter(|place| **place < first).count();
        let across_heads = if across.is_some() { self.heads.len() } else { 0 };
        let width = lines.len() + across_heads;
        // A line's own columns to the left and right of the spread ones.
        let position_of = |index: usize| if index < labels { index } else { index + across_heads };
        let mut groups: Vec<(Option<String>, Vec<OpenLine<'_>>)> = Vec::new();
        for row in &self.rows {
            let hidden = row.seen == Visibility::InFiles;
            if (row.seen == Visibility::Closer && !in_full) || (hidden && across.is_none()) {
                continue;
            }
            let title =
                columns_with(ColumnRole::Group).next().and_then(|place| cell_text(columns, row, place));
            if groups.last().is_none_or(|(last, _)| *last != title) {
                groups.push((title, Vec::new()));
            }
            let Some((_, open_lines)) = groups.last_mut() else { continue };
            let key: Vec<Option<String>> =
                lines.iter().map(|place| cell_text(columns, row, *place)).collect();
            let line_index = open_lines.iter().position(|line| across.is_some() && line.key == key);
            let line_index = line_index.unwrap_or_else(|| {
                let mut cells: Line<'_> = vec![Vec::new(); width];
                for (index, place) in lines.iter().enumerate() {
                    cells[position_of(index)].push((&columns[*place], &row.cells[*place]));
                }
                open_lines.push(OpenLine { key, cells });
                open_lines.len() - 1
            });
            if hidden {
                continue;
            }
            let head = across.and_then(|place| cell_text(columns, row, place));
            let head = self.heads.iter().position(|text| Some(text) == head.as_ref());
            if let Some(head) = head {
                let filled = spread.iter().filter(|place| cell_text(columns, row, **place).is_some());
                open_lines[line_index].cells[labels + head] =
                    filled.map(|place| (&columns[*place], &row.cells[*place])).collect();
            }
        }
        self.lay_out(groups, &lines, &spread, labels, in_full)
    }

    fn lay_out<'t>(
        &'t self,
        groups: Vec<(Option<String>, Vec<OpenLine<'t>>)>,
        lines: &[usize],
        spread: &[usize],
        labels: usize,
        in_full: bool,
    ) -> View<'t> {
        let columns = self.shape.columns;
        let column_head = |place: &usize| {
            let column = &columns[*place];
            (column.title, column.is_right(), if column.is_right() { "-" } else { "" })
        };
        let right = spread.first().is_some_and(|place| columns[*place].is_right());
        let heads = lines[..labels].iter().map(column_head);
        let heads = heads.chain(self.heads.iter().map(|head| (head.as_str(), right, "-")));
        let heads: Vec<_> = heads.chain(lines[labels..].iter().map(column_head)).collect();
        // Heads without content, such as those of hidden rounds, are left out.
        let is_spread = |index: usize| (labels..labels + self.heads.len()).contains(&index);
        let has_content = |index: usize| {
            !is_spread(index)
                || groups.iter().flat_map(|(_, lines)| lines).any(|line| !line.cells[index].is_empty())
        };
        let shown: Vec<usize> = (0..heads.len()).filter(|index| in_full || has_content(*index)).collect();
        let groups: Vec<Group<'t>> = groups
            .into_iter()
            .map(|(title, lines)| {
                let line =
                    |line: OpenLine<'t>| shown.iter().map(|index| line.cells[*index].clone()).collect();
                Group { title, lines: lines.into_iter().map(line).collect() }
            })
            .collect();
        let heads = shown.iter().enumerate().map(|(index, source)| {
            let (text, right, empty) = heads[*source];
            let mut cells = groups.iter().flat_map(|group| &group.lines).flat_map(|line| &line[index]);
            ColumnHead { text, right, marked: cells.any(|(_, cell)| cell.best), empty }
        });
        let is_named = lines.first().is_none_or(|place| columns[*place].place != ColumnRole::Mark);
        View { heads: heads.collect(), labels: if is_named { labels.max(1) } else { 0 }, groups }
    }
}

fn cell_text(columns: &[Column], row: &super::Row, place: usize) -> Option<String> {
    row.cells[place].text_for_people(columns[place].unit)
}

#[cfg(test)]
mod tests {
    use super::super::{Kind, Shape};
    use super::*;

    const SHAPE: Shape = Shape {
        name: "tested",
        columns: &[
            Column::text("store").role(ColumnRole::Line, "store"),
            Column::integer("size").role(ColumnRole::Across, ""),
            Column::integer("figure").role(ColumnRole::Spread, ""),
            Column::text("why").role(ColumnRole::Line, "why"),
            Column::text("unknown").role(ColumnRole::Line, "unknown"),
        ],
    };

    #[test]
    fn figures_stand_across_and_what_nobody_tells_is_left_out() {
        let mut table = Table::new(&SHAPE).with_columns(vec!["1".into(), "2".into(), "4".into()]);
        for (store, size, visibility) in [
            ("a", 1, Visibility::Always),
            ("a", 2, Visibility::Always),
            ("b", 2, Visibility::Closer),
            ("c", 4, Visibility::InFiles),
        ] {
            let cells = [("store", Cell::text(store)), ("size", Cell::from_count(size))];
            table.push(
                visibility,
                cells.into_iter().chain([("figure", Cell::from_count(10 * size)), ("why", Cell::text("w"))]),
            );
        }
        let view_texts = |in_full: bool| {
            let view = table.view(in_full);
            let heads: Vec<String> = view.heads.iter().map(|head| head.text.to_owned()).collect();
            let lines = view.groups[0].lines.iter().map(|line| {
                let cell = |cells: &Vec<(&Column, &Cell)>| {
                    let texts = cells.iter().filter_map(|(column, cell)| cell.text_for_people(column.unit));
                    texts.collect::<String>()
                };
                line.iter().map(cell).collect::<Vec<_>>().join("|")
            });
            (heads.join("|"), lines.collect::<Vec<_>>())
        };
        assert_eq!(view_texts(false), ("store|1|2|why".into(), vec!["a|10|20|w".into(), "c|||w".into()]));
        assert_eq!(view_texts(true).1, ["a|10|20||w", "b||20||w", "c||||w"]);
        assert_eq!(SHAPE.columns[1].kind, Kind::Whole);
    }
}
