//! The requests of operations to a simulated disk, and why a store is slow there.

use storebench_figures::column::Unit;
use storebench_figures::data::merge::Merged;
use storebench_figures::data::names::join_parts;
use storebench_figures::data::requests::{Part, PartRequests, requests_by_part};
use storebench_model::result::OVERALL;
use storebench_model::units::{rough_bytes, rough_ns};

use super::store_rows::{group_positions, head_cells};
use crate::section::{Block, Cell, Column, ColumnRole, FoldState, Section, Shape, Table, Visibility};

pub const SECTION: Section = Section {
    name: "requests",
    title: "Requests to the simulated disk, as it counted them",
    link: "Requests",
    shapes: &[&REQUESTS],
    blocks,
    ..Section::ABOVE
};

const REQUESTS: Shape = Shape {
    name: "disk_requests",
    columns: &[
        Column::text("hardware"),
        Column::text("title"),
        Column::text("store").role(ColumnRole::Group, ""),
        Column::text("part").role(ColumnRole::Line, ""),
        Column::integer("trials"),
        Column::integer("times"),
        Column::real("reads", Unit::Count).role(ColumnRole::Line, "reads"),
        Column::real("read", Unit::Bytes),
        Column::real("writes", Unit::Count).role(ColumnRole::Line, "writes"),
        Column::real("written", Unit::Bytes).role(ColumnRole::Line, "written"),
        // Empty if the journal's place is unknown.
        Column::real("journal", Unit::Bytes),
        Column::real("flushes", Unit::Count).role(ColumnRole::Line, "flushes"),
        Column::real("discards", Unit::Count),
        Column::real("seeks", Unit::Count).role(ColumnRole::Line, "seeks"),
        Column::real("merges", Unit::Count),
        Column::real("disk_time", Unit::Nanoseconds).role(ColumnRole::Line, "disk"),
        Column::real("latency_mean", Unit::Nanoseconds).role(ColumnRole::Line, "mean"),
        Column::text("why").role(ColumnRole::Line, "mostly"),
    ],
};

const LEGEND: &str = "Requests are those that the disk answered during an operation, whoever made them, over the operations, warm-ups \
     included: what a store leaves to the kernel, or to threads of its own, counts where it reached the disk. disk: the time that its \
     model was busy with them; mean: the operation's mean latency; mostly: the kind of request that takes most of the disk's time. Seeks are those of a hard disk.";

fn blocks(merged: &Merged<'_>) -> Vec<Block> {
    let mut folds = Vec::new();
    for (group, label, stores) in group_positions(merged) {
        let (mut table, mut notes) = (Table::new(&REQUESTS), Vec::new());
        for (store, entries) in &stores {
            let parts = requests_by_part(entries);
            let name = merged.readable.name(store);
            for part in &parts {
                let head = head_cells(group, Cell::text(&label), Cell::store(store, name.clone()));
                let trials = ("trials", Cell::from_count(entries.len()));
                table.push(Visibility::Always, head.into_iter().chain([trials]).chain(row(part)));
            }
            notes.extend(slowest(&parts).map(|part| Block::Note(sentence(&name, part))));
        }
        if !table.rows.is_empty() {
            let title = join_parts([group.key.hardware.as_str(), &label]);
            let contents = notes.into_iter().chain([Block::Table(table)]).collect();
            folds.push(Block::fold(title, FoldState::Part(folds.len()), contents));
        }
    }
    if !folds.is_empty() {
        folds.push(Block::Note(LEGEND.into()));
    }
    folds
}

fn row(part: &PartRequests) -> [(&'static str, Cell); 14] {
    let requests = &part.requests;
    let per_operation = |number: u64| Cell::real(part.per_operation(number));
    [
        ("part", Cell::text(part.part.id()).with_text(part.part.name())),
        ("times", Cell::count(part.times)),
        ("reads", per_operation(requests.reads.requests)),
        ("read", per_operation(requests.reads.bytes)),
        ("writes", per_operation(requests.writes.requests)),
        ("written", per_operation(requests.writes.bytes)),
        ("journal", Cell::or_none(requests.journal, |journal| per_operation(journal.bytes))),
        ("flushes", per_operation(requests.flushes)),
        ("discards", per_operation(requests.discards.requests)),
        ("seeks", per_operation(requests.tally.seeks)),
        ("merges", per_operation(requests.tally.merges)),
        ("disk_time", per_operation(requests.modelled_ns)),
        ("latency_mean", Cell::or_none(part.latency_ns, Cell::real)),
        ("why", Cell::or_none(largest_request(part), |(kind, why)| Cell::text(why).with_text(kind))),
    ]
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// The kind of request that takes most of the disk's time; also with the device's most frequent work.
fn largest_request(part: &PartRequests) -> Option<(String, String)> {
    let kind = part.kind()?;
    let kind = format!("{} {}", kind.name, percent(kind.share));
    let why = match part.work() {
        Some(work) => format!("{kind}; {} are {} of its work", work.name, percent(work.share)),
        None => kind.clone(),
    };
    Some((kind, why))
}

fn slowest(parts: &[PartRequests]) -> Option<&PartRequests> {
    let operations = parts.iter().filter(|part| part.part.is_operation() && part.requests.all() > 0);
    operations.max_by(|a, b| a.latency_ns.unwrap_or_default().total_cmp(&b.latency_ns.unwrap_or_default()))
}

/// An operation in a line: its requests to the disk, and which of them take the time.
fn sentence(store: &str, part: &PartRequests) -> String {
    let requests = &part.requests;
    let count_words = |number: u64, singular: &str, plural: &str| {
        let each = Unit::Count.show(part.per_operation(number));
        (number > 0).then(|| format!("{each} {}", if each == "1" { singular } else { plural }))
    };
    let bytes = requests.reads.bytes + requests.writes.bytes;
    let journal = requests.journal.filter(|journal| journal.bytes > 0).map(|journal| {
        format!(" ({} to the file system's journal)", percent(journal.bytes as f64 / bytes as f64))
    });
    let bytes = (bytes > 0)
        .then(|| format!("{}{}", rough_bytes(part.per_operation(bytes)), journal.unwrap_or_default()));
    let parts = [
        count_words(requests.reads.requests, "read", "reads"),
        count_words(requests.writes.requests, "write", "writes"),
        bytes,
        count_words(requests.flushes, "flush", "flushes"),
        count_words(requests.tally.seeks, "seek", "seeks"),
        count_words(requests.tally.merges, "copied unit", "copied units"),
    ];
    let parts = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let latency = part.latency_ns.unwrap_or_default();
    let (disk, late) = (part.per_operation(requests.modelled_ns), part.per_operation(requests.late_ns));
    let share = if latency > 0.0 { disk / latency } else { 0.0 };
    let name = match &part.part {
        Part::Operation { name, mixed: false, puts_back: false } if name != OVERALL => {
            format!("one {}", part.part.name())
        }
        part => part.name(),
    };
    let head = format!("{store}: {name} = {parts}");
    match largest_request(part) {
        Some((_, why)) if share >= 0.5 => {
            format!("{head}. Of the {} that the disk takes for them: {why}.", rough_ns(disk))
        }
        _ if disk + late >= latency / 2.0 => format!(
            "{head}. The disk takes {} for them, {} of the operation's {}, and is simulated {} late.",
            rough_ns(disk),
            percent(share),
            rough_ns(latency),
            rough_ns(late)
        ),
        _ => format!(
            "{head}. The disk takes {} for them, {} of the operation's {}: it is slow by something else.",
            rough_ns(disk),
            percent(share),
            rough_ns(latency)
        ),
    }
}

#[cfg(test)]
mod tests {
    use storebench_model::result::Requests;

    use super::*;

    /// The model takes 5 of the 11.9 µs.
    fn describe_late(late_ns: u64) -> String {
        let requests = Requests { modelled_ns: 5000, late_ns, ..Requests::default() };
        let part = Part::Operation { name: "update".into(), mixed: false, puts_back: false };
        sentence("leveldb", &PartRequests { part, times: 1, requests, latency_ns: Some(11_900.0) })
    }

    #[test]
    fn the_lateness_of_the_disk_is_not_called_something_else() {
        let (late, timely) = (describe_late(5100), describe_late(100));
        assert!(late.ends_with("42 % of the operation's 11.9 µs, and is simulated 5.10 µs late."), "{late}");
        assert!(timely.ends_with("it is slow by something else."), "{timely}");
    }
}
