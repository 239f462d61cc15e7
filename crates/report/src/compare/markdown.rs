//! A comparison as Markdown, for a pull request: what changed on top, the rest folded away.

use storebench_core::units::counted;

use super::words::{self, Axes};
use super::{Comparison, FigureChange};
use crate::terminal::grid::one_line;

/// Rows without a significant change: comments on pull requests have a limit.
const OTHERS: usize = 100;

/// The comparison. Text that others wrote stands in code, where it can't be markup, nor call anyone by name.
pub fn text(comparison: &Comparison<'_>) -> String {
    let axes = Axes::of(comparison);
    let split = comparison.figures.partition_point(FigureChange::is_significant);
    let (significant, others) = comparison.figures.split_at(split);
    let mut out = format!("### storebench: NEW against BASE\n\n**{}**\n", words::headline(comparison));
    out.push_str(&table(significant, &axes));
    let broken = comparison.broken.len();
    if broken > 0 {
        out.push_str(&format!("\n**{} that BASE measured failed in NEW.**\n", counted(broken, "cell")));
    }
    let shown = &others[..others.len().min(OTHERS)];
    if !shown.is_empty() {
        let more =
            if others.len() > shown.len() { format!(", of which these are {OTHERS}") } else { String::new() };
        let title = format!("Without a significant change: {}{more}", counted(others.len(), "figure"));
        out.push_str(&details(&title, &table(shown, &axes)));
    }
    let common = (!axes.common.is_empty()).then(|| format!("all cells: {}", axes.common.join(", ")));
    let sides = [("BASE", &comparison.base), ("NEW", &comparison.new)];
    let sides = sides.map(|(name, side)| format!("{name}: {}", words::side(side)));
    let lines = sides.into_iter().chain(common).chain(words::circumstances(comparison));
    let lines = lines.chain(words::cells(comparison)).chain(words::stores(comparison));
    let list: String =
        lines.chain(words::controls(comparison)).map(|line| format!("- {}\n", code(&line))).collect();
    let rules: String = words::rules(comparison).iter().map(|rule| format!("- {rule}\n")).collect();
    out.push_str(&details("What was compared, and how", &format!("\n{list}\n{rules}")));
    out
}

fn details(title: &str, content: &str) -> String {
    format!("\n<details><summary>{title}</summary>\n{content}\n</details>\n")
}

fn table(figures: &[FigureChange], axes: &Axes) -> String {
    if figures.is_empty() {
        return String::new();
    }
    let row = |figure: &FigureChange| {
        let [base, new] = [figure.base, figure.new].map(|side| figure.unit.show(side.mean.value));
        let place = axes.place(figure);
        let texts = [code(&figure.contestant), code(&words::name(figure)), code(&place)];
        format!(
            "| {} | {} | {} | {base} | {new} | {} |\n",
            figure.verdict.name(),
            words::change(figure),
            words::detectable(figure),
            texts.join(" | ")
        )
    };
    let rows: String = figures.iter().map(row).collect();
    format!(
        "\n| | change [95 % interval] | seen | BASE | NEW | store | figure | where |\n|---|---:|---:|---:|---:|---|---|---|\n{rows}"
    )
}

/// Text as code; empty text stays empty.
fn code(text: &str) -> String {
    let clean = one_line(text);
    if clean.trim().is_empty() {
        return String::new();
    }
    // A fence longer than any within, and a space where the text begins or ends with one. Tables split at bars even in code.
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
