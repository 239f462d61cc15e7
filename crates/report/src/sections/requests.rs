//! The requests of operations to a simulated disk, and why a store is slow there.

use storebench_core::result::OVERALL;
use storebench_core::units::{rough_bytes, rough_ns};

use crate::column::Unit;
use crate::data::matrix::SortedTrials;
use crate::data::merge::{Group, Merged};
use crate::data::names::join_parts;
use crate::data::requests::{Part, PartRequests, requests_by_part};
use crate::layout::words::position_in_full;
use crate::section::{
    Block, Cell, Column, ColumnRole, FoldState, PagePosition, Section, Shape, Table, Visibility,
};

pub const SECTION: Section = Section {
    name: "requests",
    title: "Requests to the simulated disk, as it counted them",
    link: "Requests",
    stands: PagePosition::Above,
    at_end: true,
    shapes: &[&REQUESTS],
    blocks,
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
    merged.groups.iter().for_each(|group| group_requests(merged, group, &mut folds));
    if folds.is_empty() {
        return Vec::new();
    }
    folds.push(Block::Note(LEGEND.into()));
    folds
}

fn group_requests(merged: &Merged<'_>, group: &Group<'_>, folds: &mut Vec<Block>) {
    let sorted = SortedTrials::new(merged, group);
    for (position, here) in &sorted.entries {
        let at = join_parts([merged.label(&group.key).as_str(), &position_in_full(position)]);
        let (mut table, mut notes) = (Table::new(&REQUESTS), Vec::new());
        for (store, entries) in here {
            let all = requests_by_part(entries);
            let name = merged.readable.name(store);
            for one in &all {
                let head = [
                    ("hardware", Cell::text(&group.key.hardware)),
                    ("title", Cell::text(&at)),
                    ("store", Cell::store(store, name.clone())),
                    ("trials", Cell::from_count(entries.len())),
                ];
                table.push(Visibility::Always, head.into_iter().chain(row(one)));
            }
            notes.extend(slowest(&all).map(|one| Block::Note(sentence(&name, one))));
        }
        if !table.rows.is_empty() {
            let title = join_parts([group.key.hardware.as_str(), &at]);
            let told = notes.into_iter().chain([Block::Table(table)]).collect();
            folds.push(Block::fold(title, FoldState::Part(folds.len()), told));
        }
    }
}

fn row(one: &PartRequests) -> [(&'static str, Cell); 14] {
    let asked = &one.requests;
    let each = |number: u64| Cell::real(one.per_operation(number));
    [
        ("part", Cell::text(one.part.id()).with_text(one.part.name())),
        ("times", Cell::count(one.times)),
        ("reads", each(asked.reads.requests)),
        ("read", each(asked.reads.bytes)),
        ("writes", each(asked.writes.requests)),
        ("written", each(asked.writes.bytes)),
        ("journal", Cell::or_none(asked.journal, |journal| each(journal.bytes))),
        ("flushes", each(asked.flushes)),
        ("discards", each(asked.discards.requests)),
        ("seeks", each(asked.tally.seeks)),
        ("merges", each(asked.tally.merges)),
        ("disk_time", each(asked.modelled_ns)),
        ("latency_mean", Cell::or_none(one.latency_ns, Cell::real)),
        ("why", Cell::or_none(largest_request(one), |(kind, why)| Cell::text(why).with_text(kind))),
    ]
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// The kind of request that takes most of the disk's time; also with the device's most frequent work.
fn largest_request(one: &PartRequests) -> Option<(String, String)> {
    let kind = one.kind()?;
    let kind = format!("{} {}", kind.name, percent(kind.share));
    let why = match one.work() {
        Some(work) => format!("{kind}; {} are {} of its work", work.name, percent(work.share)),
        None => kind.clone(),
    };
    Some((kind, why))
}

/// The operation that a store is slowest at.
fn slowest(all: &[PartRequests]) -> Option<&PartRequests> {
    let operations = all.iter().filter(|one| one.part.is_operation() && one.requests.all() > 0);
    operations.max_by(|a, b| a.latency_ns.unwrap_or_default().total_cmp(&b.latency_ns.unwrap_or_default()))
}

/// An operation in a line: its requests to the disk, and which of them take the time.
fn sentence(store: &str, one: &PartRequests) -> String {
    let asked = &one.requests;
    let some = |number: u64, one_of: &str, many: &str| {
        let each = Unit::Count.show(one.per_operation(number));
        (number > 0).then(|| format!("{each} {}", if each == "1" { one_of } else { many }))
    };
    let bytes = asked.reads.bytes + asked.writes.bytes;
    let journal = asked.journal.filter(|journal| journal.bytes > 0).map(|journal| {
        format!(" ({} to the file system's journal)", percent(journal.bytes as f64 / bytes as f64))
    });
    let bytes = (bytes > 0)
        .then(|| format!("{}{}", rough_bytes(one.per_operation(bytes)), journal.unwrap_or_default()));
    let parts = [
        some(asked.reads.requests, "read", "reads"),
        some(asked.writes.requests, "write", "writes"),
        bytes,
        some(asked.flushes, "flush", "flushes"),
        some(asked.tally.seeks, "seek", "seeks"),
        some(asked.tally.merges, "copied unit", "copied units"),
    ];
    let parts = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let own = one.latency_ns.unwrap_or_default();
    let (disk, late) = (one.per_operation(asked.modelled_ns), one.per_operation(asked.late_ns));
    let share = if own > 0.0 { disk / own } else { 0.0 };
    let name = match &one.part {
        Part::Operation { name, mixed: false, puts_back: false } if name != OVERALL => {
            format!("one {}", one.part.name())
        }
        part => part.name(),
    };
    let head = format!("{store}: {name} = {parts}");
    match largest_request(one) {
        Some((_, why)) if share >= 0.5 => {
            format!("{head}. Of the {} that the disk takes for them: {why}.", rough_ns(disk))
        }
        _ if disk + late >= own / 2.0 => format!(
            "{head}. The disk takes {} for them, {} of the operation's {}, and is simulated {} late.",
            rough_ns(disk),
            percent(share),
            rough_ns(own),
            rough_ns(late)
        ),
        _ => format!(
            "{head}. The disk takes {} for them, {} of the operation's {}: it is slow by something else.",
            rough_ns(disk),
            percent(share),
            rough_ns(own)
        ),
    }
}

#[cfg(test)]
mod tests {
    use storebench_core::result::Requests;

    use super::*;

    /// The model takes 5 of the 11.9 µs.
    fn said(late_ns: u64) -> String {
        let requests = Requests { modelled_ns: 5000, late_ns, ..Requests::default() };
        let part = Part::Operation { name: "update".into(), mixed: false, puts_back: false };
        sentence("leveldb", &PartRequests { part, times: 1, requests, latency_ns: Some(11_900.0) })
    }

    #[test]
    fn the_lateness_of_the_disk_is_not_called_something_else() {
        assert!(
            said(5100).ends_with("42 % of the operation's 11.9 µs, and is simulated 5.10 µs late."),
            "{}",
            said(5100)
        );
        assert!(said(100).ends_with("it is slow by something else."), "{}", said(100));
    }
}
