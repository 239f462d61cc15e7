//! What background loads cost, over all cells that ran both with and without: the same slow-downs as in the terminal.

use storebench_core::units::{grouped, rough_ns, three_digits};

use crate::data::merge::Merged;
use crate::data::slowdown::{Slowdown, slowdowns};
use crate::data::spread;
use crate::markup::{Html, Tag, column, number, row as table_row, scroll, table, tag};
use crate::stats::Estimate;

/// A table for each load; nothing where there was none.
pub fn html(merged: &Merged<'_>) -> Html {
    let of_load = |(hardware, title, rows): (&str, &str, &[Slowdown])| {
        let heads = ["store", "operation", "cells", "undisturbed", "disturbed", "slow-down [95 % interval]"];
        let title = format!("{hardware}, {title}: over the cells measured both ways");
        let table = table(heads.map(column).into(), rows.iter().map(row).collect::<Vec<_>>());
        (tag("h3").with(title), scroll(table))
    };
    let slowdowns = slowdowns(merged);
    Html::of(
        slowdowns.iter().map(|one| of_load((&one.hardware, &one.title, &one.slowdowns))).collect::<Vec<_>>(),
    )
}

fn row(slowdown: &Slowdown) -> Tag {
    let found = &slowdown.found;
    let figures = [
        grouped(found.cells as u64),
        rough_ns(found.undisturbed_ns),
        rough_ns(found.disturbed_ns),
        times(found.ratio.ratio),
    ];
    table_row(&slowdown.store, (tag("td").with(&slowdown.operation), figures.map(number)))
}

fn times(ratio: Estimate) -> String {
    let reach =
        spread::text(ratio.interval, three_digits).map_or_else(String::new, |reach| format!(" {reach}"));
    format!("{} times{reach}", three_digits(ratio.value))
}

#[cfg(test)]
mod tests {
    use storebench_core::cell::Background;

    use super::*;
    use crate::data::samples::{Sample, blocks};

    #[test]
    fn a_slow_down_has_its_interval() {
        let block = |times: f64| {
            let disturbed = Sample::new("lmdb").background(Background::Cpu(1)).ns(2000.0 * times);
            vec![Sample::new("lmdb").ns(1000.0 * times), disturbed]
        };
        let runs = [blocks("box", &[block(1.0), block(1.5), block(1.2)])];
        let html = html(&Merged::new(&runs, &[])).into_string();
        assert!(html.contains("2.00 times [2.00, 2.00]"), "{html}");
    }

    #[test]
    fn two_blocks_show_their_range() {
        let block = |times: f64| {
            let disturbed = Sample::new("lmdb").background(Background::Cpu(1)).ns(1000.0 * times);
            vec![Sample::new("lmdb").ns(1000.0), disturbed]
        };
        let html = html(&Merged::new(&[blocks("box", &[block(2.0), block(2e3)])], &[])).into_string();
        assert!(html.contains("63.2 times (2.00..2,000)"), "{html}");
    }
}
