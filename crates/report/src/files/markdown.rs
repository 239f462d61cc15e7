//! Markdown in which text from others appears as code, so that it can't act as markup or mention anyone.

use storebench_model::sanitize::one_line;

use crate::section::view::View;
use crate::section::{Block, Cell, Column, ColumnRole, Fold};

/// A table, after an empty line.
pub fn table(view: &View<'_>) -> String {
    let head: String = view.heads.iter().map(|head| format!(" {} |", head.text)).collect();
    let rule: String = view.heads.iter().map(|head| if head.right { "---:|" } else { "---|" }).collect();
    let mut out = format!("\n|{}\n|{rule}\n", head.replacen("  |", " |", 1));
    for line in view.groups.iter().flat_map(|group| &group.lines) {
        let cells: String = line.iter().map(|cells| format!(" {} |", text(cells))).collect();
        out.push_str(&format!("|{cells}\n"));
    }
    out
}

/// Blocks, whose folds are parts under headings of this level and those below it.
pub fn parts(blocks: &[Block], level: usize) -> String {
    let render = |block: &Block| match block {
        Block::Note(text) => format!("\n{}\n", escape(text)),
        Block::Table(table) => self::table(&table.view(true)),
        Block::Fold(Fold { title, blocks, .. }) => {
            format!("\n{} {}\n{}", "#".repeat(level), escape(title), parts(blocks, level + 1))
        }
        Block::Chart(..) => String::new(),
    };
    blocks.iter().map(render).collect()
}

/// Text in which nothing is markup.
fn escape(text: &str) -> String {
    let escaped = |c: char| if "\\`*<|".contains(c) { vec!['\\', c] } else { vec![c] };
    one_line(text).chars().flat_map(escaped).collect()
}

/// One place of a table: names as code, numbers and marks as they are.
fn text(cells: &[(&Column, &Cell)]) -> String {
    let render = |(column, cell): &(&Column, &Cell)| {
        let words = cell.text_for_people(column.unit).unwrap_or_default();
        if column.is_right() || column.place == ColumnRole::Mark { words } else { code(&words) }
    };
    cells.iter().map(render).collect::<Vec<_>>().join(" ")
}

/// Text as code; empty text stays empty.
pub fn code(text: &str) -> String {
    let clean = one_line(text);
    if clean.trim().is_empty() {
        return String::new();
    }
    // A fence longer than any inside, and a space if the text begins or ends with one. Tables split at bars even in code.
    let longest = clean.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let space = if longest > 0 { " " } else { "" };
    format!("{fence}{space}{}{space}{fence}", clean.replace('|', "\\|"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leaves_its_code() {
        assert_eq!(code("lmdb"), "`lmdb`");
        assert_eq!(code("a`b``c|d\n@e"), "``` a`b``c\\|d @e ```");
        assert_eq!(code(" \n"), "");
    }
}
