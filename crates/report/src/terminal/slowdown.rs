//! What background loads cost, in the terminal.

use indexmap::IndexSet;
use storebench_core::units::{rough_ns, three_digits};

use super::grid::{Grid, Item, Style, wrap};
use crate::data::merge::Merged;
use crate::data::names::{HEADING, joined, store_style};
use crate::data::slowdown::{Found, slowdowns};
use crate::data::spread;
use crate::stats::MIN_BLOCKS;

/// The slow-downs for people; empty where there are none. Each line is ended.
pub fn text(merged: &Merged<'_>, style: Style) -> String {
    let all = slowdowns(merged);
    if all.is_empty() {
        return String::new();
    }
    let operations: IndexSet<&str> =
        all.iter().flat_map(|one| &one.slowdowns).map(|slowdown| slowdown.operation.as_str()).collect();
    let mut grid = Grid::new(2);
    let labels = [Item::new(""), Item::new("cells").right()];
    grid.head(labels.into_iter().chain(operations.iter().map(|name| Item::new(*name))).collect());
    for one in &all {
        let rows = one.slowdowns.chunk_by(|a, b| a.store == b.store).map(|of_store| {
            let cells = of_store.iter().map(|slowdown| slowdown.found.cells).max().unwrap_or(0);
            let store = of_store.first().map_or("", |slowdown| slowdown.store.as_str());
            let labels = [Item::new(store).painted(store_style(store)), Item::new(cells.to_string()).right()];
            let items = operations.iter().map(|operation| {
                let found = of_store.iter().find(|slowdown| slowdown.operation == *operation);
                found.map_or_else(|| Item::new("-"), |slowdown| item(&slowdown.found))
            });
            labels.into_iter().chain(items).collect()
        });
        grid.titled_group(joined([one.hardware.as_str(), &one.title]), rows.collect());
    }
    let title = style.paint(HEADING, "What a load in the background costs: mean latency without and with it");
    let ranges =
        all.iter().flat_map(|one| &one.slowdowns).filter_map(|slowdown| slowdown.found.ratio.ratio.interval);
    let ranges = if ranges.clone().any(|interval| interval.is_range()) { spread::LEGEND } else { "" };
    let note = format!(
        "Geometric means over the cells that were measured both ways. × says how many times longer operations take, paired by \
         block, with a 95 % interval from {MIN_BLOCKS} blocks on. {ranges}"
    );
    format!("\n{title}\n{}\n{}", grid.render(style), wrap(note.trim_end(), style.width, "  "))
}

fn item(found: &Found) -> Item {
    let mut times = format!("×{}", three_digits(found.ratio.ratio.value));
    let reach = spread::text(found.ratio.ratio.interval, three_digits);
    times.extend(reach.map(|reach| format!(" {reach}")));
    let latencies = format!("{} → {}", rough_ns(found.undisturbed_ns), rough_ns(found.disturbed_ns));
    Item::lines(vec![latencies, times])
}
