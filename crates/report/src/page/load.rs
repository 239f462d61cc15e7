//! What background loads cost, over all cells that ran both with and without: the same slow-downs as in the terminal.

use storebench_core::units::{grouped, rough_ns, three_digits};

use super::markup::{element, escape};
use crate::data::merge::Merged;
use crate::data::slowdown::{Slowdown, slowdowns};
use crate::data::spread;
use crate::stats::Estimate;

/// A table for each load; nothing where there was none.
pub fn html(merged: &Merged<'_>) -> String {
    let table = |(hardware, title, rows): (&str, &str, &[Slowdown])| {
        let heads = ["store", "operation", "cells", "undisturbed", "disturbed", "slow-down [95 % interval]"];
        let heads: String = heads.iter().map(|head| format!("<th scope=\"col\">{head}</th>")).collect();
        let rows: String = rows.iter().map(row).collect();
        format!(
            "{}<div class=\"scroll\"><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>",
            element(
                "h3",
                &format!("{hardware}, {title}: over the cells that could be compared, counted below")
            )
        )
    };
    slowdowns(merged).iter().map(|one| table((&one.hardware, &one.title, &one.slowdowns))).collect()
}

fn row(slowdown: &Slowdown) -> String {
    let found = &slowdown.found;
    let figures = [
        grouped(found.cells as u64),
        rough_ns(found.undisturbed_ns),
        rough_ns(found.disturbed_ns),
        times(found.ratio.ratio),
    ];
    let figures: String =
        figures.iter().map(|text| format!("<td class=\"n\">{}</td>", escape(text))).collect();
    let store = escape(&slowdown.store);
    format!("<tr><th scope=\"row\">{store}</th><td>{}</td>{figures}</tr>", escape(&slowdown.operation))
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
        let html = html(&Merged::new(&runs, &[]));
        assert!(html.contains("2.00 times [2.00, 2.00]"), "{html}");
    }

    #[test]
    fn two_blocks_show_their_range() {
        let block = |times: f64| {
            let disturbed = Sample::new("lmdb").background(Background::Cpu(1)).ns(1000.0 * times);
            vec![Sample::new("lmdb").ns(1000.0), disturbed]
        };
        let html = html(&Merged::new(&[blocks("box", &[block(2.0), block(2e3)])], &[]));
        assert!(html.contains("63.2 times (2.00..2,000)"), "{html}");
    }
}
