//! Derives a plan's cells and the order of their trials. Pure.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use storebench_disk::random::Random;

use crate::background::disk_file_bytes;
use crate::plan::paired::{Step, steps};
use crate::plan::{ALWAYS_CROSSED, Plan};
use storebench_core::workload::case::Case;
use storebench_model::axis::table::HERE;
use storebench_model::axis::{Axis, Value};
use storebench_model::cell::{Background, Cache, Cell, GuaranteeChoice, Tuning};
use storebench_model::result::{LeftOutCell, LeftOutReason};
use storebench_model::store::{Guarantee, StoreDef};
use storebench_model::units::with_commas;

/// The traits of a place that decide which cells it can have.
#[derive(Debug, Clone)]
pub struct LocationRoom {
    /// Its name.
    pub name: String,
    /// The disk under it: simulated, or `here`.
    pub disk: String,
    /// Bytes that are free there.
    pub free_bytes: u64,
    /// The memory of the machine that works there, in bytes.
    pub memory_bytes: u64,
}

impl LocationRoom {
    /// Whether a cell is in this place.
    fn is_location_of(&self, cell: &Cell) -> bool {
        self.name == cell.location_name() && self.disk == cell.disk()
    }

    /// A place in which everything fits.
    pub fn unbounded(name: &str) -> LocationRoom {
        let (name, disk) = (name.to_owned(), HERE.into());
        LocationRoom { name, disk, free_bytes: u64::MAX, memory_bytes: u64::MAX }
    }
}

/// Says what a cell lacks here, if anything: its place, the needs of its background load, the limits of its machine.
pub type LackCheck<'a> = &'a dyn Fn(&Cell) -> Option<LeftOutReason>;

/// The most combinations that a plan can have, including those that are left out: a slip in a range would use up all memory, and
/// no user has the time to run as many.
pub const MOST_COMBINATIONS: u64 = 100_000;

/// A plan's cells, and the combinations that are left out, each with its reason. If there are more than [`MOST_COMBINATIONS`], the error
/// shows the arithmetic.
pub fn cells(
    plan: &Plan,
    stores: &[StoreDef],
    rooms: &[LocationRoom],
    find_lack: LackCheck<'_>,
) -> Result<(Vec<Cell>, Vec<LeftOutCell>), String> {
    let mut cells = Vec::new();
    let mut left_out = Vec::new();
    for (cell, reason) in judge_cells(plan, stores, rooms, find_lack)? {
        match reason {
            Some(reason) => left_out.push(LeftOutCell { cell, reason }),
            None => cells.push(cell),
        }
    }
    Ok((cells, left_out))
}

/// A plan's combinations in their order, each with the reason if it is left out.
pub fn judge_cells(
    plan: &Plan,
    stores: &[StoreDef],
    rooms: &[LocationRoom],
    find_lack: LackCheck<'_>,
) -> Result<Vec<(Cell, Option<LeftOutReason>)>, String> {
    let places = places(rooms);
    check_count(plan, places.len())?;
    let judge = |mut cell: Cell| {
        let store = stores.iter().find(|store| store.name == cell.store());
        if plan.at_least
            && let Some(stronger) = next_stronger_guarantee(&cell, store).map(GuaranteeChoice::Tier)
            && !plan.axes.values(Axis::GUARANTEE).contains(&stronger.into())
        {
            cell.set(Axis::GUARANTEE, stronger.into());
        }
        if let Some(cell_on_disk) = with_machine_disk(plan, &cell, rooms, find_lack) {
            cell = cell_on_disk;
        }
        let room = rooms.iter().find(|room| room.is_location_of(&cell));
        let case = plan.case(&cell, stores);
        let server_reason = reason_for_running_server(plan, &case, rooms);
        let reason =
            server_reason.or_else(|| reason_to_leave_out(plan, &case, room)).or_else(|| find_lack(&cell));
        (cell, reason)
    };
    Ok(combinations(plan, &places).into_iter().map(judge).collect())
}

/// Counts the combinations before any is made.
fn check_count(plan: &Plan, places: usize) -> Result<(), String> {
    let lengths: Vec<(&str, usize)> =
        plan.lengths(places).into_iter().map(|(axis, length)| (axis.def().many, length)).collect();
    let count: u128 = lengths.iter().map(|(_, length)| *length as u128).fold(1, u128::saturating_mul);
    let needed = if plan.axes_one_at_a_time { plan.combinations(places).into() } else { count };
    if needed <= u128::from(MOST_COMBINATIONS) {
        return Ok(());
    }
    let varied_lengths = lengths.iter().filter(|(_, length)| *length > 1);
    let factors: Vec<String> =
        varied_lengths.map(|(noun, length)| format!("{} {noun}", with_commas(*length as u64))).collect();
    Err(format!(
        "{} = {} combinations are too many: at most {}; narrow the axes",
        factors.join(" x "),
        u64::try_from(count).map_or_else(|_| count.to_string(), with_commas),
        with_commas(MOST_COMBINATIONS)
    ))
}

/// A cell on the simulated disk of its machine, if that is available.
fn with_machine_disk(
    plan: &Plan,
    cell: &Cell,
    rooms: &[LocationRoom],
    find_lack: LackCheck<'_>,
) -> Option<Cell> {
    let moved_cell = cell.clone().with(Axis::DISK, Value::word(&plan.disk_of_machine(cell)?));
    let is_there = rooms.iter().any(|room| room.is_location_of(&moved_cell));
    (is_there && !matches!(find_lack(&moved_cell), Some(LeftOutReason::NoPlace { .. }))).then_some(moved_cell)
}

/// The guarantee at which a cell runs if its store does not offer the one asked for: the next stronger, if offered.
fn next_stronger_guarantee(cell: &Cell, store: Option<&StoreDef>) -> Option<Guarantee> {
    let wanted = cell.guarantee().tier()?;
    let offers = store?.offers.iter().map(|offer| offer.guarantee);
    offers.filter(|offered| *offered >= wanted).min().filter(|offered| *offered != wanted)
}

/// The names of the places, each once.
fn places(rooms: &[LocationRoom]) -> Vec<&str> {
    let mut places: Vec<&str> = Vec::new();
    for room in rooms {
        if !places.contains(&room.name.as_str()) {
            places.push(&room.name);
        }
    }
    places
}

fn combinations(plan: &Plan, places: &[&str]) -> Vec<Cell> {
    let axes = Axis::all().into_iter().filter(|axis| plan.workload.def().axes.contains(axis));
    let values = |axis| match axis {
        place if place == Axis::PLACE => places.iter().map(|place| Value::word(place)).collect(),
        axis => plan.axes.values(axis).into_owned(),
    };
    let axes = steps(&plan.paired, axes, values);
    if plan.axes_one_at_a_time {
        return one_at_a_time(plan, &axes);
    }
    let mut cells = vec![Cell::default()];
    axes.iter().for_each(|steps| spread(&mut cells, steps));
    cells.into_iter().flat_map(|cell| variants(plan, &cell)).collect()
}

/// The first value of each axis, with every variant of each store; then each other value of each axis alone, with the plan's own settings.
fn one_at_a_time(plan: &Plan, axes: &[Vec<Step>]) -> Vec<Cell> {
    let is_crossed = |steps: &[Step]| steps.iter().flatten().any(|(axis, _)| ALWAYS_CROSSED.contains(axis));
    let mut bases = vec![Cell::default()];
    for steps in axes {
        let count = if is_crossed(steps) { steps.len() } else { 1 };
        spread(&mut bases, &steps[..count.min(steps.len())]);
    }
    let mut cells: Vec<Cell> = bases.iter().flat_map(|cell| variants(plan, cell)).collect();
    for steps in axes.iter().filter(|steps| !is_crossed(steps)) {
        let mut varied = bases.clone();
        spread(&mut varied, steps.get(1..).unwrap_or_default());
        cells.append(&mut varied);
    }
    cells
}

/// Multiplies each cell by the steps.
pub(crate) fn spread(cells: &mut Vec<Cell>, steps: &[Step]) {
    let apply_step = |cell: Cell, step: &Step| {
        step.iter().fold(cell, |cell, (axis, value)| cell.with(*axis, value.clone()))
    };
    let spread_cell = |cell: Cell| steps.iter().map(move |step| apply_step(cell.clone(), step));
    *cells = cells.drain(..).flat_map(spread_cell).collect();
}

/// A cell with each variant of its store.
fn variants(plan: &Plan, cell: &Cell) -> Vec<Cell> {
    let apply_variant = |variant: Vec<(Axis, Value)>| {
        variant.into_iter().fold(cell.clone(), |cell, (axis, value)| cell.with(axis, value))
    };
    plan.variants(cell.store()).into_iter().map(apply_variant).collect()
}

/// Why a cell can't be measured on a server that was running before: another place than the first, limits, an empty cache.
fn reason_for_running_server(plan: &Plan, case: &Case<'_>, rooms: &[LocationRoom]) -> Option<LeftOutReason> {
    let cell = case.cell;
    if !case.is_on_running_server() {
        None
    } else if rooms.first().is_some_and(|first| first.name != cell.location_name()) || cell.disk() != HERE {
        Some(LeftOutReason::PlaceElsewhere)
    } else if cell.cache() == Cache::Cold {
        Some(LeftOutReason::CacheElsewhere)
    } else if plan.machine(cell.machine()).is_some() {
        Some(LeftOutReason::MachineElsewhere)
    } else {
        None
    }
}

fn reason_to_leave_out(plan: &Plan, case: &Case<'_>, room: Option<&LocationRoom>) -> Option<LeftOutReason> {
    let workload = plan.workload.def();
    // If the place does not exist, that is the reason, whatever room it had.
    let (free_bytes, had_bytes) =
        room.map_or((u64::MAX, u64::MAX), |room| (room.free_bytes, room.memory_bytes));
    if let Some(reason) = (workload.reason)(case) {
        return Some(reason);
    }
    let missing_need = case.store().filter(|_| !case.is_on_running_server()).and_then(StoreDef::missing_need);
    if let Some(why) = missing_need {
        return Some(LeftOutReason::NoServer { why });
    }
    if case.cell.tuning() == Tuning::Share && case.memory_limit.is_none() {
        return Some(LeftOutReason::NothingToShare { machine: case.cell.machine().to_owned() });
    }
    let load_file_bytes = match case.cell.background() {
        Background::Disk(_) => disk_file_bytes(free_bytes),
        _ => 0,
    };
    let needed_bytes = plan.required_bytes(case) + load_file_bytes as f64;
    if needed_bytes > free_bytes as f64 {
        return Some(LeftOutReason::NoRoom { needed_bytes, free_bytes });
    }
    let limit = plan.machine(case.cell.machine()).and_then(|machine| machine.memory);
    // Memory that is prepared ahead of the work is not charged to a limit.
    let limited_need = limit.map(|memory| (case.bytes_in_memory((workload.stored_bytes)(case)), memory.0));
    let needs = [Some(((workload.memory)(case), had_bytes)), limited_need];
    let shortage = needs.into_iter().flatten().find(|(needed, available)| *needed > *available as f64);
    shortage.map(|(needed_bytes, had_bytes)| LeftOutReason::NoMemory { needed_bytes, had_bytes })
}

/// The seed of a block's data and choices, the same for all its cells: the plan's own in the first block, then the further numbers of its
/// stream, so that an interval over blocks includes the effect of other keys, values and choices.
pub fn seed(block: u32, plan_seed: u64) -> u64 {
    let mut random = Random::seeded(plan_seed);
    (0..block).map(|_| random.number()).last().unwrap_or(plan_seed)
}

/// The order of the cells in a block: every cell once, in an order drawn from the seed.
pub fn block(cells: usize, block: u32, seed: u64) -> Vec<usize> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ (u64::from(block) << 32));
    let mut drawn: Vec<usize> = (0..cells).collect();
    for last in (1..drawn.len()).rev() {
        let picked = ((u128::from(random.next_u64()) * (last as u128 + 1)) >> 64) as usize;
        drawn.swap(last, picked);
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan;
    use std::collections::HashSet;
    use storebench_model::cell::{Cache, Rate};
    use storebench_model::store::StoreKind;
    use storebench_model::stores::{FLAT_FOLDER, MEMORY, NULL, ONE_FILE};

    fn plan() -> Plan {
        let mut plan = plan::find("crud").unwrap();
        plan.axes.set(Axis::STORE, ["memory", "null"].map(Value::word));
        plan.axes.set(Axis::GUARANTEE, [GuaranteeChoice::Default]);
        plan
    }

    /// The plan with one size, one count and one kind of data.
    fn small_plan() -> Plan {
        let mut plan = plan();
        [Axis::RECORD_SIZE, Axis::RECORDS, Axis::DATA].into_iter().for_each(|axis| plan.axes.cut(axis, 1));
        plan
    }

    fn rooms(free_bytes: u64) -> Vec<LocationRoom> {
        vec![LocationRoom { free_bytes, ..LocationRoom::unbounded("here") }]
    }

    #[test]
    fn each_axis_is_varied_alone_from_the_first_values() {
        let mut plan = plan();
        plan.axes_one_at_a_time = true;
        plan.axes.set(Axis::THREADS, ["1", "4"].map(|count| Axis::THREADS.read(count).unwrap()));
        let (cells, left_out) = cells(&plan, &[NULL, MEMORY], &rooms(u64::MAX), &|_| None).unwrap();
        // For each of two stores: the base, three more sizes, four more counts, another kind of data, four threads.
        assert_eq!(cells.len() + left_out.len(), 2 * (1 + 3 + 4 + 1 + 1));
        assert_eq!(plan.combinations(1), 20);
        let ids: HashSet<String> = cells.iter().map(Cell::id).collect();
        assert_eq!(ids.len(), cells.len(), "none twice");
        let base = "null/1B..1KiB/100..500/incompressible/default";
        assert!(ids.contains(base) && ids.contains(&base.replace("100..500", "1000..5000")), "{ids:?}");
        let two_changes = base.replace("1B..1KiB", "1KiB..10KiB").replace("100..500", "1000..5000");
        assert!(!ids.contains(&two_changes), "two at a time: {ids:?}");
    }

    #[test]
    fn what_is_too_large_is_left_out_as_in_the_paper() {
        let (cells, left_out) = cells(&plan(), &[NULL, MEMORY], &rooms(u64::MAX), &|_| None).unwrap();
        // 4 sizes x 5 counts, less the three combinations that paper 000's tables leave empty; 2 kinds of data, 2 stores.
        assert_eq!((cells.len(), left_out.len()), (17 * 4, 3 * 4));
        let is_too_large = |left: &LeftOutCell| matches!(left.reason, LeftOutReason::TooLarge { .. });
        assert!(left_out.iter().all(is_too_large), "{left_out:?}");
        let ids: HashSet<_> = cells.iter().map(Cell::id).collect();
        assert_eq!(ids.len(), cells.len());
    }

    #[test]
    fn a_small_disk_and_a_missing_guarantee_are_reasons_too() {
        let mut plan = plan();
        let (cells, left_out) = super::cells(&plan, &[NULL, MEMORY], &rooms(1000), &|_| None).unwrap();
        assert!(cells.is_empty());
        assert!(matches!(left_out[0].reason, LeftOutReason::NoRoom { free_bytes: 1000, .. }), "{left_out:?}");
        // Data that are kept in memory have to fit there; those that are kept nowhere fit.
        let small = [LocationRoom { memory_bytes: 1 << 30, ..LocationRoom::unbounded("here") }];
        let (cells, left_out) = super::cells(&plan, &[NULL, MEMORY], &small, &|_| None).unwrap();
        const HAD: u64 = 1 << 30;
        let lacks_memory =
            |left: &&LeftOutCell| matches!(left.reason, LeftOutReason::NoMemory { had_bytes: HAD, .. });
        let mut stores = left_out.iter().filter(lacks_memory).map(|left| left.cell.store());
        assert!(stores.next() == Some("memory") && stores.all(|store| store == "memory"), "{left_out:?}");
        assert!(cells.iter().any(|cell| cell.store() == "memory"));
        plan.axes.set(Axis::GUARANTEE, [GuaranteeChoice::Tier(Guarantee::Power)]);
        plan.axes.set(Axis::STORE, ["null", "nosuch"].map(Value::word));
        let (cells, left_out) = super::cells(&plan, &[NULL, MEMORY], &rooms(u64::MAX), &|_| None).unwrap();
        assert!(cells.is_empty());
        let not_offered = LeftOutReason::NotOffered { store: "null".into(), guarantee: Guarantee::Power };
        assert_eq!(left_out[0].reason, not_offered);
        assert_eq!(left_out[1].reason, LeftOutReason::UnknownStore { store: "nosuch".into() });
    }

    #[test]
    fn a_recovery_check_has_its_room_too() {
        let mut plan = plan();
        plan.axes.set(Axis::STORE, ["flat-folder", "engine", "memory"].map(Value::word));
        plan.axes.set(Axis::GUARANTEE, [GuaranteeChoice::Default]);
        let engine = StoreDef { name: "engine", kind: StoreKind::Engine, ..ONE_FILE };
        let stores = [FLAT_FOLDER, engine, MEMORY];
        let room = |plan: &Plan, store: &str| {
            let (cells, _) = super::cells(plan, &stores, &rooms(u64::MAX), &|_| None).unwrap();
            let cell = cells.iter().find(|cell| cell.store() == store).unwrap();
            plan.required_bytes(&plan.case(cell, &stores))
        };
        let before = ["flat-folder", "engine", "memory"].map(|store| room(&plan, store));
        plan.recovery = vec![1000, 10_000_000];
        let after = ["flat-folder", "engine", "memory"].map(|store| room(&plan, store));
        // Seven tenths as many are added, each with a file in a folder; keys and values have 232 bytes on average.
        assert_eq!(after[0], 17e6 * 4096.0);
        assert_eq!(after[1], 17e6 * 232.0 * 4.0);
        assert!(before[0] < after[0] && before[1] < after[1]);
        assert_eq!(after[2], before[2], "its store is gone when its process is");
        let (_, left_out) = super::cells(&plan, &stores, &rooms(10_000_000_000), &|_| None).unwrap();
        assert!(left_out.iter().any(|left| {
            left.cell.store() == "engine"
                && matches!(left.reason, LeftOutReason::NoRoom { needed_bytes: 15.776e9, .. })
        }));
    }

    #[test]
    fn at_least_a_guarantee_is_asked_for_where_a_plan_says_so() {
        let offer = |guarantee| storebench_model::store::GuaranteeOffer { guarantee, ..NULL.offers[0] };
        let power: &'static [_] = Box::leak(Box::new([offer(Guarantee::None), offer(Guarantee::Power)]));
        let process: &'static [_] = Box::leak(Box::new([offer(Guarantee::None), offer(Guarantee::Process)]));
        let stores = [StoreDef { offers: power, ..MEMORY }, StoreDef { offers: process, ..NULL }];
        let mut plan = small_plan();
        let run = |plan: &Plan| -> (Vec<String>, usize) {
            let (cells, left_out) = super::cells(plan, &stores, &rooms(u64::MAX), &|_| None).unwrap();
            let cells = cells.iter().map(|cell| format!("{} {}", cell.store(), cell.guarantee()));
            (cells.collect(), left_out.len())
        };
        let tier = GuaranteeChoice::Tier;
        plan.axes.set(Axis::GUARANTEE, [tier(Guarantee::Process)]);
        assert_eq!(run(&plan), (vec!["null process".into()], 1));
        plan.at_least = true;
        assert_eq!(run(&plan), (vec!["memory power".into(), "null process".into()], 0));
        // Never a weaker one, and none twice.
        plan.axes.set(Axis::GUARANTEE, [tier(Guarantee::Process), tier(Guarantee::Power)]);
        assert_eq!(run(&plan), (vec!["null process".into(), "memory power".into()], 2));
        plan.axes.set(Axis::GUARANTEE, [GuaranteeChoice::Default]);
        assert_eq!(run(&plan).0, ["memory default", "null default"]);
    }

    #[test]
    fn a_store_that_forgets_when_it_is_closed_has_no_cold_reads() {
        let mut plan = plan();
        plan.axes.set(Axis::CACHE, [Cache::Warm, Cache::Cold]);
        let (cells, left_out) = super::cells(&plan, &[NULL, MEMORY], &rooms(u64::MAX), &|_| None).unwrap();
        let cold = |cell: &&Cell| cell.cache() == Cache::Cold;
        let forgets = LeftOutReason::KeepsNothing { store: "memory".into() };
        assert!(cells.iter().filter(cold).all(|cell| cell.store() == "null"));
        assert_eq!(cells.iter().filter(cold).count(), 17 * 2);
        assert_eq!(left_out.iter().filter(|left| left.reason == forgets).count(), 20 * 2);
    }

    #[test]
    fn loads_that_the_machine_can_t_run_are_left_out() {
        let mut plan = plan();
        plan.axes.set(Axis::BACKGROUND, [Background::None, Background::Video]);
        let no_player = LeftOutReason::NoBackground { why: "apt-get install ffmpeg".into() };
        let find_lack = |cell: &Cell| (cell.background() == Background::Video).then(|| no_player.clone());
        let (cells, left_out) = super::cells(&plan, &[NULL, MEMORY], &rooms(u64::MAX), &find_lack).unwrap();
        assert_eq!(cells.len(), 17 * 4);
        assert!(cells.iter().all(|cell| cell.background() == Background::None));
        assert_eq!(left_out.iter().filter(|left| left.reason == no_player).count(), 17 * 4);
    }

    #[test]
    fn a_machine_has_no_more_memory_than_its_limit() {
        let mut plan = plan();
        plan.machines.insert("small".into(), toml::from_str("memory = \"4MiB\"").unwrap());
        plan.axes.set(Axis::MACHINE, ["here", "small"].map(Value::word));
        let (cells, left_out) = super::cells(&plan, &[NULL, MEMORY], &rooms(u64::MAX), &|_| None).unwrap();
        let in_memory = |cell: &Cell| cell.store() == "memory" && cell.machine() == "small";
        let mut limited = 0;
        for left in &left_out {
            if let LeftOutReason::NoMemory { had_bytes, .. } = left.reason {
                assert!(in_memory(&left.cell) && had_bytes == 4 << 20, "{left:?}");
                limited += 1;
            }
        }
        assert!(limited > 0 && cells.iter().any(in_memory), "{left_out:?}");
    }

    #[test]
    fn caches_have_a_share_of_a_limit_alone_and_a_setting_that_is_given_stays() {
        use storebench_model::store::{MemoryShare, SettingDef};
        const CACHE: SettingDef = SettingDef::new("cache", "", "", "").share(MemoryShare::one_in(4, "", ""));
        let store = StoreDef { settings: &[CACHE], ..NULL };
        let mut plan = small_plan();
        plan.machines.insert("small".into(), toml::from_str("memory = \"64MiB\"").unwrap());
        plan.axes.set(Axis::MACHINE, ["here", "small"].map(Value::word));
        plan.axes.set(Axis::TUNING, [Tuning::Default, Tuning::Share]);
        plan.axes.set(Axis::STORE, [Value::word("null")]);
        let stores = [store];
        let (cells, left_out) = super::cells(&plan, &stores, &rooms(u64::MAX), &|_| None).unwrap();
        assert_eq!((cells.len(), left_out.len()), (3, 1));
        assert_eq!(left_out[0].reason, LeftOutReason::NothingToShare { machine: "here".into() });
        let opened = |plan: &Plan| -> Vec<Option<String>> {
            cells.iter().map(|cell| plan.settings_to_open(cell, &stores).remove("cache")).collect()
        };
        assert_eq!(opened(&plan), [None, None, Some("16777216".into())]);
        plan.settings.insert("null".into(), [("cache".to_owned(), "7".to_owned())].into());
        assert_eq!(opened(&plan), [(); 3].map(|()| Some("7".into())));
    }

    fn threads(count: u32) -> Value {
        Axis::THREADS.read(&count.to_string()).unwrap()
    }

    #[test]
    fn too_many_combinations_are_counted_and_not_made() {
        let mut plan = plan();
        plan.axes.set(Axis::THREADS, (1..=1024).map(threads));
        plan.axes.set(Axis::RATE, (1..=3000).map(Rate::PerSecond));
        let error = super::cells(&plan, &[NULL, MEMORY], &rooms(u64::MAX), &|_| None).unwrap_err();
        let arithmetic = "2 stores x 4 record sizes x 5 record counts x 2 kinds of data x 1,024 thread counts x 3,000 rates \
            = 245,760,000 combinations are too many: at most 100,000";
        assert!(error.starts_with(arithmetic), "{error}");
        let mut plan = self::plan();
        plan.axes.set(Axis::THREADS, (1..=1024).map(threads));
        assert_eq!(super::cells(&plan, &[NULL], &rooms(u64::MAX), &|_| None).unwrap().1.len() % 1024, 0);
    }

    #[test]
    fn a_setting_is_swept_for_its_own_store_alone() {
        let mut plan = small_plan();
        let setting = |name| Axis::find(name).unwrap();
        plan.axes.set(setting("null.a"), ["1", "2", "3"].map(Value::word));
        plan.axes.set(setting("null.b"), ["x", "y"].map(Value::word));
        let (cells, _) = super::cells(&plan, &[NULL, MEMORY], &rooms(u64::MAX), &|_| None).unwrap();
        let count_cells = |store: &str| cells.iter().filter(|cell| cell.store() == store).count();
        assert_eq!((count_cells("memory"), count_cells("null")), (1, 6));
        assert_eq!(plan.combinations(1), 7);
        let ids: HashSet<_> = cells.iter().map(Cell::id).collect();
        assert!(ids.contains("null/1B..1KiB/100..500/incompressible/default/null.a=3/null.b=y"), "{ids:?}");
        let again = Plan::parse(&plan.to_toml().unwrap(), "again").unwrap();
        assert_eq!(again.axes, plan.axes);
    }

    #[test]
    fn every_block_holds_every_cell_once_in_an_order_of_its_own() {
        for number in 0..3 {
            assert_eq!(block(50, number, 7).into_iter().collect::<HashSet<_>>(), (0..50).collect());
        }
        assert_ne!(block(50, 0, 7), block(50, 1, 7));
        assert_ne!(block(50, 0, 7), (0..50).collect::<Vec<_>>());
        assert_eq!(block(50, 2, 7), block(50, 2, 7));
        assert_ne!(block(50, 0, 7), block(50, 0, 8));
    }
    #[test]
    fn every_block_has_a_seed_of_its_own_that_follows_from_the_plan_s() {
        assert_eq!(seed(0, 7), 7);
        assert_eq!(seed(3, 7), seed(3, 7));
        let seeds: HashSet<u64> =
            (0..100).flat_map(|plan| (0..100).map(move |block| seed(block, plan))).collect();
        assert_eq!(seeds.len(), 100 * 100);
    }

    #[test]
    fn each_place_is_on_each_disk_and_has_the_room_that_is_there() {
        let mut plan = plan();
        plan.axes.set(Axis::DISK, ["here", "steady"].map(Value::word));
        let room = |name: &str, disk: &str, free_bytes: u64| LocationRoom {
            disk: disk.into(),
            free_bytes,
            ..LocationRoom::unbounded(name)
        };
        let rooms =
            [room("here", "here", u64::MAX), room("here", "steady", 1000), room("ext4", "steady", u64::MAX)];
        let find_lack = |cell: &Cell| {
            let has_room =
                rooms.iter().any(|room| room.name == cell.location_name() && room.disk == cell.disk());
            (!has_room).then(|| LeftOutReason::NoPlace { why: "there is none".into() })
        };
        let (cells, left_out) = super::cells(&plan, &[NULL], &rooms, &find_lack).unwrap();
        let sites: HashSet<String> = cells.iter().map(|cell| cell.location_on_disk().to_string()).collect();
        assert_eq!(sites, ["here", "ext4 on simulated steady"].map(str::to_owned).into());
        let of_a_place = |left: &&LeftOutCell| {
            matches!(left.reason, LeftOutReason::NoPlace { .. } | LeftOutReason::NoRoom { .. })
        };
        let for_a_place = left_out.iter().filter(of_a_place);
        let sites: HashSet<String> =
            for_a_place.map(|left| left.cell.location_on_disk().to_string()).collect();
        assert_eq!(sites, ["ext4", "here on simulated steady"].map(str::to_owned).into());
    }
}
