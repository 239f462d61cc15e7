//! The parts of a plan for several machines that do not communicate: the split follows from the plan and the program's stores alone, so
//! that each machine computes the same. Pure. All cells of one position are in one part: contestants are compared on one machine, and so
//! are the guarantees, loads and other groups of that position, whose figures are paired by block.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::fmt::Write as _;
use std::str::FromStr;

use sha2::{Digest, Sha256};

use crate::plan::Plan;
use crate::schedule::{self, LocationRoom};
use storebench_core::measure::probe::Probe;
use storebench_model::axis::{Axis, Role};
use storebench_model::cell::Cell;
use storebench_model::result::{LeftOutReason, PlanParts};
use storebench_model::store::StoreDef;

/// The place whose costs weigh all cells: a measured one would differ between machines.
const USUAL_PLACE: Probe =
    Probe { file_creation_ns: 25_000, sync_ns: 1_000_000, write_bytes_per_s: 200_000_000.0 };

/// The axes that never separate positions, whatever a plan says: a machine that lacks a value moves a cell to another.
const CAN_CHANGE: [Axis; 2] = [Axis::GUARANTEE, Axis::DISK];

/// A part of a plan, as `3/8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Its number, from 1.
    pub part: u32,
    /// The number of parts.
    pub of: u32,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse::<u32>().ok().filter(|_| digits)
        };
        let parts =
            text.split_once('/').and_then(|(part, part_count)| Some((number(part)?, number(part_count)?)));
        let (part, part_count) = parts.ok_or("write it like 3/8, the third part of eight")?;
        match (part, part_count) {
            (_, 0) => Err("there is at least one part: 1/1 is the whole".into()),
            (0, part_count) => {
                Err(format!("parts are numbered from 1: 1/{part_count} to {part_count}/{part_count}"))
            }
            (part, part_count) if part > part_count => {
                Err(format!("there is no part {part} of {part_count}: the last is {part_count}/{part_count}"))
            }
            (_, part_count) if part_count > PlanParts::MOST => {
                Err(format!("{part_count} parts are too many: at most {}", PlanParts::MOST))
            }
            (part, part_count) => Ok(Shard { part, of: part_count }),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.part, self.of)
    }
}

/// All cells at one position of a plan.
#[derive(Debug, Clone, Default)]
struct ComparedCells {
    /// Combinations, including those that are left out.
    combinations: u64,
    /// The estimated time of one trial of each, in microseconds, except those that the plan itself leaves out.
    time_us: u64,
    /// The number of its part, from 1.
    part: u32,
}

/// A plan in parts.
#[derive(Debug, Clone)]
pub struct Split {
    part_count: u32,
    /// The positions, each as a cell with only its values.
    cells_at: BTreeMap<Cell, ComparedCells>,
    /// The index of each combination in the plan's order.
    order: HashMap<Cell, usize>,
    compared_axes: Vec<Axis>,
    moved_axes: Vec<(Axis, Role)>,
    digest: String,
}

impl Split {
    /// Splits a plan over the places of these rooms: the longest position first, each into the part with the least so far.
    pub fn new(
        plan: &Plan,
        stores: &[StoreDef],
        rooms: &[LocationRoom],
        part_count: u32,
    ) -> Result<Split, String> {
        let everywhere: Vec<LocationRoom> = rooms
            .iter()
            .map(|room| LocationRoom { disk: room.disk.clone(), ..LocationRoom::unbounded(&room.name) })
            .collect();
        let combinations = schedule::judge_cells(plan, stores, &everywhere, &|_| None)?;
        let lists = [(Role::Row, &plan.rows), (Role::Column, &plan.columns), (Role::Group, &plan.groups)];
        let moved_axes = lists.iter().flat_map(|(role, axes)| axes.iter().map(|axis| (*axis, *role)));
        let mut split = Split {
            part_count,
            cells_at: BTreeMap::new(),
            order: HashMap::new(),
            compared_axes: plan.compare.clone(),
            moved_axes: moved_axes.collect(),
            digest: String::new(),
        };
        for (index, (cell, reason)) in combinations.into_iter().enumerate() {
            let compared = split.cells_at.entry(split.position(&cell)).or_default();
            compared.combinations += 1;
            // Whether a server is installed depends on the machine.
            if matches!(reason, None | Some(LeftOutReason::NoServer { .. })) {
                let trial_s = plan.time(&cell, stores, &USUAL_PLACE).trial_s;
                compared.time_us = compared.time_us.saturating_add((trial_s * 1e6).round().max(1.0) as u64);
            }
            split.order.entry(cell).or_insert(index);
        }
        split.deal();
        Ok(split)
    }

    /// Assigns the positions to parts.
    fn deal(&mut self) {
        let mut longest: Vec<(String, &mut ComparedCells)> =
            self.cells_at.iter_mut().map(|(position, compared)| (position.id(), compared)).collect();
        longest.sort_by(|a, b| (Reverse(a.1.time_us), &a.0).cmp(&(Reverse(b.1.time_us), &b.0)));
        let mut loads = vec![0_u64; self.part_count as usize];
        let mut text = format!("{}\n", self.part_count);
        for (id, compared) in longest {
            let least = loads.iter().enumerate().min_by_key(|(_, load)| **load).map_or(0, |(part, _)| part);
            loads[least] = loads[least].saturating_add(compared.time_us);
            compared.part = least as u32 + 1;
            let _ = writeln!(text, "{} {} {id}", compared.part, compared.combinations);
        }
        let digest = Sha256::digest(text.as_bytes());
        self.digest = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    }

    /// The values of a cell on the axes of a matrix's rows, columns and halves.
    fn position(&self, cell: &Cell) -> Cell {
        let role = |axis: Axis| {
            let moved = self.moved_axes.iter().rev().find(|(moved_axis, _)| *moved_axis == axis);
            moved.map_or(axis.role(), |(_, role)| *role)
        };
        let is_within = |axis: Axis| {
            !CAN_CHANGE.contains(&axis) && !self.compared_axes.contains(&axis) && role(axis).is_within()
        };
        let values = cell.values().filter(|(axis, _)| is_within(*axis));
        values.fold(Cell::default(), |position, (axis, value)| position.with(axis, value.clone()))
    }

    /// The number of the part that a cell is in, from 1; `None` for a cell at no position of the plan.
    pub fn part_of(&self, cell: &Cell) -> Option<u32> {
        self.cells_at.get(&self.position(cell)).map(|compared| compared.part)
    }

    /// Whether a cell is in one of some parts.
    pub fn covers(&self, parts: &PlanParts, cell: &Cell) -> bool {
        self.part_of(cell).is_some_and(|part| parts.parts.contains(&part))
    }

    /// The index of a combination in the plan's order; those that a machine changed come last.
    pub fn position_of(&self, cell: &Cell) -> usize {
        self.order.get(cell).copied().unwrap_or(usize::MAX)
    }

    /// The combinations in a part, in the plan's order, except those that a machine changes.
    pub fn combinations(&self, part: u32) -> Vec<&Cell> {
        let mut cells: Vec<&Cell> =
            self.order.keys().filter(|cell| self.part_of(cell) == Some(part)).collect();
        cells.sort_by_key(|cell| self.position_of(cell));
        cells
    }

    /// A part, as a run's header records it.
    pub fn parts(&self, part: u32) -> PlanParts {
        let combinations = self.cells_of_part(part).map(|compared| compared.combinations).sum();
        PlanParts { parts: vec![part], of: self.part_count, combinations, split: self.digest.clone() }
    }

    /// The share of a part in the estimated time of all.
    pub fn share(&self, part: u32) -> f64 {
        let time_us = |compared: &ComparedCells| compared.time_us as f64;
        // The sum of nothing would be -0.
        let total = self.cells_at.values().map(time_us).fold(0.0, |sum, time| sum + time);
        self.cells_of_part(part).map(time_us).fold(0.0, |sum, time| sum + time) / total.max(1.0)
    }

    /// The number of positions with something to measure: in a part, and in all.
    pub fn positions(&self, part: u32) -> (usize, usize) {
        let has_work = |compared: &&ComparedCells| compared.time_us > 0;
        (self.cells_of_part(part).filter(has_work).count(), self.cells_at.values().filter(has_work).count())
    }

    fn cells_of_part(&self, part: u32) -> impl Iterator<Item = &ComparedCells> {
        self.cells_at.values().filter(move |compared| compared.part == part)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::plan;
    use storebench_model::axis::Value;
    use storebench_model::cell::GuaranteeChoice;
    use storebench_model::stores::{MEMORY, NULL};

    const STORES: [StoreDef; 2] = [NULL, MEMORY];

    fn study(name: &str) -> Plan {
        let mut plan = plan::find(name).unwrap();
        if plan.workload.def().axes.contains(&Axis::STORE) {
            plan.axes.set(Axis::STORE, ["memory", "null"].map(Value::word));
            plan.axes.set(Axis::GUARANTEE, [GuaranteeChoice::Default]);
        }
        plan
    }

    fn rooms() -> [LocationRoom; 1] {
        [LocationRoom::unbounded("here")]
    }

    fn split(plan: &Plan, part_count: u32) -> Split {
        Split::new(plan, &STORES, &rooms(), part_count).unwrap()
    }

    #[test]
    fn parts_are_written_as_people_do() {
        assert_eq!("3/8".parse(), Ok(Shard { part: 3, of: 8 }));
        assert_eq!(Shard { part: 3, of: 8 }.to_string(), "3/8");
        for (text, reason) in [
            ("", "like 3/8"),
            ("3", "like 3/8"),
            ("a/b", "like 3/8"),
            ("+1/2", "like 3/8"),
            ("1/-2", "like 3/8"),
            ("1/2/3", "like 3/8"),
            ("99999999999/2", "like 3/8"),
            ("0/8", "numbered from 1"),
            ("0/0", "at least one"),
            ("9/8", "the last is 8/8"),
            ("1/10001", "too many"),
        ] {
            let error = text.parse::<Shard>().unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn every_cell_is_in_one_part_and_a_machine_that_lacks_some_comes_to_the_same(
            study_at in 0..plan::STUDIES.len(), part_count in 1_u32..40, free_bytes in 1_u64..1 << 40
        ) {
            let plan = study(plan::STUDIES[study_at].name);
            let split = split(&plan, part_count);
            let small = [LocationRoom { free_bytes, ..LocationRoom::unbounded("here") }];
            let small_split = Split::new(&plan, &STORES, &small, part_count).unwrap();
            prop_assert_eq!(&small_split.digest, &split.digest);
            let (cells, left_out) = schedule::cells(&plan, &STORES, &small, &|_| None).unwrap();
            let all_cells: Vec<&Cell> = cells.iter().chain(left_out.iter().map(|left| &left.cell)).collect();
            let parts: Vec<PlanParts> = (1..=part_count).map(|part| split.parts(part)).collect();
            let counted: u64 = parts.iter().map(|parts| parts.combinations).sum();
            prop_assert_eq!(counted, all_cells.len() as u64);
            for parts in &parts {
                let covered = all_cells.iter().filter(|cell| small_split.covers(parts, cell)).count();
                prop_assert_eq!(covered as u64, parts.combinations);
            }
            let shares: f64 = (1..=part_count).map(|part| split.share(part)).sum();
            prop_assert!((shares - 1.0).abs() < 1e-9 || shares == 0.0, "{}", shares);
        }
    }

    #[test]
    fn contestants_and_groups_of_a_position_are_together() {
        let plan = study("crud");
        let split = split(&plan, 7);
        let mut parts: BTreeMap<String, BTreeSet<Option<u32>>> = BTreeMap::new();
        for cell in split.order.keys() {
            let values = [Axis::RECORD_SIZE, Axis::RECORDS, Axis::DATA].map(|axis| cell.text(axis));
            parts.entry(values.join(" ")).or_default().insert(split.part_of(cell));
        }
        assert_eq!(parts.len(), 40);
        assert!(parts.values().all(|parts| parts.len() == 1), "{parts:?}");
        assert_eq!(parts.into_values().flatten().collect::<BTreeSet<_>>().len(), 7);
    }

    #[test]
    fn no_part_has_more_than_its_share_and_one_position() {
        let plan = study("crud");
        let longest = split(&plan, 40).cells_at.values().map(|compared| compared.time_us).max().unwrap();
        for part_count in [2, 3, 8] {
            let split = split(&plan, part_count);
            let total_us: u64 = split.cells_at.values().map(|compared| compared.time_us).sum();
            for part in 1..=part_count {
                let load: u64 = split.cells_of_part(part).map(|compared| compared.time_us).sum();
                let most = total_us / u64::from(part_count) + longest;
                assert!(load <= most, "{part}/{part_count}: {load} of {total_us}");
            }
        }
    }

    #[test]
    fn more_parts_than_positions_leave_some_without_work() {
        let mut plan = study("crud");
        plan.axes.cut(Axis::RECORD_SIZE, 1);
        plan.axes.cut(Axis::RECORDS, 2);
        plan.axes.cut(Axis::DATA, 1);
        let split = split(&plan, 3);
        assert_eq!([1, 2, 3].map(|part| split.positions(part)), [(1, 2), (1, 2), (0, 2)]);
        assert_eq!((split.share(3), split.parts(3).combinations), (0.0, 0));
    }

    #[test]
    fn the_split_of_a_plan_stays_as_it_is() {
        // Programs on several machines make parts of one run: a change of the split must be deliberate.
        let mut plan = study("crud");
        plan.axes.cut(Axis::RECORD_SIZE, 2);
        plan.axes.cut(Axis::RECORDS, 2);
        let split = split(&plan, 3);
        let of_null = |part| -> Vec<String> {
            let cells = split.combinations(part).into_iter().filter(|cell| cell.store() == "null");
            cells
                .map(|cell| {
                    [Axis::RECORD_SIZE, Axis::RECORDS, Axis::DATA].map(|axis| cell.text(axis)).join(" ")
                })
                .collect()
        };
        let first = ["1B..1KiB 100..500", "1B..1KiB 1000..5000", "1KiB..10KiB 1000..5000"];
        assert_eq!(of_null(1), first.map(|values| format!("{values} compressible")));
        assert_eq!(of_null(2), first.map(|values| format!("{values} incompressible")));
        assert_eq!(of_null(3), ["1KiB..10KiB 100..500 incompressible", "1KiB..10KiB 100..500 compressible"]);
    }
}
