//! The time of opening each store after a kill, a power cut and a close, by number of records.

use std::collections::BTreeMap;

use storebench_figures::column::Unit;
use storebench_figures::data::matrix::collect_by_store;
use storebench_figures::data::merge::Merged;
use storebench_figures::data::names::join_parts;
use storebench_figures::stats::quantile;
use storebench_model::result::{Recovery, RecoveryCheck, Reopening};
use storebench_model::units::plural;
use storebench_model::words::words;

use super::store_rows::head_cells;
use crate::section::{Block, Cell, Column, ColumnRole, FoldState, Section, Shape, Table, Visibility};

pub const SECTION: Section = Section {
    name: "recovery",
    title: "Opening: how long a store takes after a kill, after a power cut, and after it was closed",
    link: "Recovery",
    shapes: &[&RECOVERY, &OPENINGS],
    blocks,
    ..Section::ABOVE
};

const RECOVERY: Shape = Shape {
    name: "recovery",
    columns: &[
        Column::text("hardware"),
        Column::text("title").role(ColumnRole::Group, ""),
        Column::text("store").role(ColumnRole::Line, ""),
        Column::integer("records").role(ColumnRole::Line, "records"),
        Column::integer("kills"),
        Column::real("open_p50", Unit::Nanoseconds).role(ColumnRole::Line, "killed"),
        Column::real("open_most", Unit::Nanoseconds).role(ColumnRole::Line, "longest"),
        Column::real("first_read_p50", Unit::Nanoseconds).role(ColumnRole::Line, "read"),
        Column::real("first_write_p50", Unit::Nanoseconds).role(ColumnRole::Line, "write"),
        Column::real("closed_p50", Unit::Nanoseconds).role(ColumnRole::Line, "closed"),
        Column::real("cold_killed_p50", Unit::Nanoseconds).role(ColumnRole::Line, "killed, cold"),
        Column::real("cold_closed_p50", Unit::Nanoseconds).role(ColumnRole::Line, "closed, cold"),
        Column::real("cut_p50", Unit::Nanoseconds).role(ColumnRole::Line, "power cut"),
        Column::text("not_made"),
    ],
};

const OPENINGS: Shape = Shape {
    name: "openings",
    columns: &[
        Column::text("hardware"),
        Column::text("title").role(ColumnRole::Group, ""),
        Column::text("store").role(ColumnRole::Line, ""),
        Column::integer("records").role(ColumnRole::Line, "records"),
        Column::text("after").role(ColumnRole::Line, "after"),
        Column::integer("openings"),
        Column::real("open_p50", Unit::Nanoseconds).role(ColumnRole::Line, "open"),
        Column::real("first_read_p50", Unit::Nanoseconds).role(ColumnRole::Line, "read"),
        Column::real("first_write_p50", Unit::Nanoseconds).role(ColumnRole::Line, "write"),
        Column::real("close_p50", Unit::Nanoseconds).role(ColumnRole::Line, "close"),
        Column::real("memory_p50", Unit::Bytes).role(ColumnRole::Line, "memory"),
        Column::real("read_p50", Unit::Bytes).role(ColumnRole::Line, "by calls"),
        Column::real("fetched_p50", Unit::Bytes).role(ColumnRole::Line, "from disk"),
    ],
};

const LEGEND: &str = "\
Each store was filled in batches of 1,000 records of up to 400 bytes, killed, opened by a new process, given up to a tenth as many more, killed \
again, five times in all, then closed, and opened a second time. Its files were in the memory of the kernel. killed, longest: from the call that \
opens it until it returns, in the median and at most; a server is started in it. read: from there until the record that was acknowledged last had \
been read; write: from there until it had been overwritten, both in the median. closed: the call that opens it, after the store was closed. \
killed, cold; closed, cold: the same once more each, when the kernel's memory had been emptied of its files. power cut: the same, after what it \
had not synced was undone and it was killed; of stores at power, whose writes can be seen. --table shows what each opening costs.";

const COSTS: &str = "\
after: creating, the first opening; kill, close, power cut as above; with a cold cache where that is said. close: closing the store, after \
up to a tenth as many records were added (after: close) or none. memory: that is resident more than before, once a record was read and \
overwritten. by calls: bytes that read calls took until then. from disk: bytes that the kernel had to read from the disk until then, through \
mappings too.";

/// The ways of opening, with their words in the table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::VariantNames)]
#[strum(serialize_all = "lowercase")]
enum OpeningKind {
    Creating,
    Kill,
    Close,
    #[strum(serialize = "kill, cold")]
    ColdKill,
    #[strum(serialize = "close, cold")]
    ColdClose,
    #[strum(serialize = "power cut")]
    Cut,
}

words!(OpeningKind);

type OpeningsByKind = BTreeMap<OpeningKind, Vec<Reopening>>;

/// The openings of one store by number of records, and why others are missing.
#[derive(Default)]
struct StoreOpenings {
    sizes: BTreeMap<u64, OpeningsByKind>,
    not_made: Option<String>,
    not_cut: Option<String>,
}

fn blocks(merged: &Merged<'_>) -> Vec<Block> {
    let (mut table, mut costs, mut notes) = (Table::new(&RECOVERY), Table::new(&OPENINGS), Vec::new());
    for group in &merged.groups {
        let label = merged.label(&group.key);
        let title = join_parts([group.key.hardware.as_str(), &label]);
        for (store, checks) in collect_by_store(merged, group, |trial| trial.ok()?.recovery_check.as_ref()) {
            let mut openings = StoreOpenings::default();
            checks.into_iter().for_each(|check| openings.add_check(check));
            let name = merged.readable.name(&store).into_owned();
            let head = |records: u64| {
                let head = head_cells(group, Cell::text(&title), Cell::store(&store, name.clone()));
                head.into_iter().chain([("records", Cell::count(records))])
            };
            for (records, by_kind) in &openings.sizes {
                let not_made = ("not_made", Cell::or_none(openings.not_made.as_deref(), Cell::text));
                table.push(Visibility::Always, head(*records).chain([not_made]).chain(row(by_kind)));
                for (kind, reopened) in by_kind {
                    costs.push(Visibility::Always, head(*records).chain(cost_cells(*kind, reopened)));
                }
            }
            let full_name = join_parts([name.as_str(), &label]);
            notes.extend(openings.not_made.iter().map(|why| {
                let more = if openings.sizes.is_empty() { "" } else { " with more records" };
                Block::Note(format!("{full_name}: not measured{more}: {why}."))
            }));
            notes.extend(
                openings.not_cut.iter().map(|why| Block::Note(format!("{full_name}: no power cut: {why}."))),
            );
            notes.extend(describe_growth(&full_name, &openings).map(Block::Note));
        }
    }
    if table.rows.is_empty() {
        return notes;
    }
    let mut blocks = vec![Block::Table(table)];
    if !notes.is_empty() {
        blocks.push(Block::fold("In words", FoldState::Part(0), notes));
    }
    blocks.push(Block::Note(LEGEND.into()));
    let costs = vec![Block::Table(costs), Block::Note(COSTS.into())];
    blocks.push(Block::fold("What each opening costs", FoldState::Closer, costs));
    blocks
}

impl StoreOpenings {
    fn add_check(&mut self, check: &RecoveryCheck) {
        check.sizes.iter().for_each(|recovery| self.add(recovery));
        self.not_made = check.not_made.clone().or_else(|| self.not_made.take());
        let not_cut = check.sizes.iter().find_map(|recovery| recovery.not_cut.clone());
        self.not_cut = not_cut.or_else(|| self.not_cut.take());
    }

    fn add(&mut self, recovery: &Recovery) {
        let by_kind = self.sizes.entry(recovery.records).or_default();
        let mut add = |kind, reopened: &Reopening| by_kind.entry(kind).or_default().push(*reopened);
        recovery.killed.iter().for_each(|reopened| add(OpeningKind::Kill, reopened));
        add(OpeningKind::Close, &recovery.closed);
        recovery.cold_killed.iter().for_each(|reopened| add(OpeningKind::ColdKill, reopened));
        recovery.cold_closed.iter().for_each(|reopened| add(OpeningKind::ColdClose, reopened));
        recovery.cut.iter().for_each(|reopened| add(OpeningKind::Cut, reopened));
        if recovery.created_ns > 0 {
            add(OpeningKind::Creating, &Reopening { open_ns: recovery.created_ns, ..Reopening::default() });
        }
    }
}

/// A quantile of a figure over openings; empty if none has it.
fn quantile_cell(reopened: &[Reopening], share: f64, read: fn(&Reopening) -> Option<u64>) -> Cell {
    Cell::quantile(&reopened.iter().filter_map(read).collect::<Vec<u64>>(), share)
}

/// A new store has nothing to read. Earlier versions did not measure writing.
fn nonzero(ns: u64) -> Option<u64> {
    Some(ns).filter(|ns| *ns > 0)
}

fn row(by_kind: &OpeningsByKind) -> Vec<(&'static str, Cell)> {
    let open_cell =
        |reopened: &[Reopening], share| quantile_cell(reopened, share, |opening| Some(opening.open_ns));
    let open = |kind| by_kind.get(&kind).map_or_else(Cell::none, |reopened| open_cell(reopened, 0.5));
    let mut cells = vec![
        ("closed_p50", open(OpeningKind::Close)),
        ("cold_killed_p50", open(OpeningKind::ColdKill)),
        ("cold_closed_p50", open(OpeningKind::ColdClose)),
        ("cut_p50", open(OpeningKind::Cut)),
    ];
    if let Some(killed) = by_kind.get(&OpeningKind::Kill) {
        cells.extend([
            ("kills", Cell::from_count(killed.len())),
            ("open_p50", open_cell(killed, 0.5)),
            ("open_most", open_cell(killed, 1.0)),
            ("first_read_p50", quantile_cell(killed, 0.5, |opening| nonzero(opening.first_read_ns))),
            ("first_write_p50", quantile_cell(killed, 0.5, |opening| nonzero(opening.first_write_ns))),
        ]);
    }
    cells
}

fn cost_cells(kind: OpeningKind, reopened: &[Reopening]) -> [(&'static str, Cell); 9] {
    let median = |read: fn(&Reopening) -> Option<u64>| quantile_cell(reopened, 0.5, read);
    [
        ("after", Cell::text(kind.name())),
        ("openings", Cell::from_count(reopened.len())),
        ("open_p50", median(|opening| Some(opening.open_ns))),
        ("first_read_p50", median(|opening| nonzero(opening.first_read_ns))),
        ("first_write_p50", median(|opening| nonzero(opening.first_write_ns))),
        ("close_p50", median(|opening| opening.close_ns)),
        ("memory_p50", median(|opening| opening.memory_bytes)),
        ("read_p50", median(|opening| opening.read_bytes)),
        ("fetched_p50", median(|opening| opening.fetched_bytes)),
    ]
}

/// The factor from which opening times are reported as growing.
const MIN_GROWTH: f64 = 2.0;

/// A sentence on a store whose recovery grows with its size; `None` without two sizes that show it.
fn describe_growth(name: &str, openings: &StoreOpenings) -> Option<String> {
    let killed = |(records, by_kind): (&u64, &OpeningsByKind)| {
        let open_ns = by_kind.get(&OpeningKind::Kill)?.iter().map(|opening| opening.open_ns);
        Some((*records, open_ns.collect::<Vec<u64>>()))
    };
    let (fewest, few) = killed(openings.sizes.first_key_value()?)?;
    let (most, many) = killed(openings.sizes.last_key_value()?)?;
    let (least, median) = (quantile(&few, 0.5)?, quantile(&many, 0.5)?);
    let all_longer = many.iter().min()? > few.iter().max()?;
    let times = median as f64 / least.max(1) as f64;
    (most > fewest && all_longer && times >= MIN_GROWTH).then(|| {
        format!(
            "{name}: each opening after a kill took longer with {} than with {}: {times:.1} times as long in the median, with {:.0} times the records.",
            plural(most, "record"),
            plural(fewest, "record"),
            most as f64 / fewest as f64,
        )
    })
}
