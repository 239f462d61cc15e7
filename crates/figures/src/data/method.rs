//! The method of a run: everything in its plan about the work itself, and so everything that makes figures of two runs incomparable
//! though their cells are the same. One list for everything that compares runs.

use std::collections::{BTreeMap, BTreeSet};

use storebench_core::workload::parameter::AfterLoad;
use storebench_host::run::Run;
use storebench_model::cell::{Axis, Cell, Tuning};
use toml::{Table, Value};

use crate::data::builds_compared;

/// Keys of a plan that are not part of the method: names, keys that choose cells or end a run, and keys for readers.
const NOT_IN_METHOD: [&str; 32] = [
    "format",
    "name",
    "title",
    "source",
    "trials",
    "timeout",
    "size_limit",
    "precision",
    "budget",
    "axes",
    "at_least",
    "presets",
    "claim",
    "claims",
    "claims_among",
    "claims_over",
    "compare",
    // Estimates do not affect measured figures.
    "disk_estimate",
    // Nor do states after power cuts, which come after the trial.
    "cuts",
    "torn",
    "settling",
    "faults",
    "recovery",
    // The given tier is part of each trial.
    "judge_settings",
    "published",
    // The file's path: its digest is part of the trace's description.
    "trace",
    "one_at_a_time",
    "axes_one_at_a_time",
    "paired",
    "fewer_records",
    "point",
    // Plans from before it was an axis name it here; their cells have it now.
    "compression",
];

/// The key of the seed of data and choices. Runs that differ in it did the same work with other random numbers.
pub const SEED: &str = "seed";

pub const MIX: &str = "mix";

/// The cache of cells with equal caches, which affects no others.
const EQUAL_CACHE: &str = "equal_cache";

/// The beginning of the keys of machines, which affect only the cells of that machine.
const MACHINES: &str = "machines.";

/// The beginning of the keys of drivers, followed by the location's name. They affect only the cells there.
const PLACES: &str = "places.";

/// The beginning of the keys of simulated disks. They affect only the cells on that disk.
const DISKS: &str = "disks.";

/// Keys of a machine that set no limits.
const NOTE_KEYS: [&str; 5] = ["about", "core", "lacks", "optional", "sources"];

/// The method of a run's work, by its plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Method {
    /// Values by key; a key within a table is prefixed with the tables' names: `settings.sqlite.page_size`.
    keys: BTreeMap<String, String>,
    stores: BTreeSet<String>,
    /// Whether any cell has equal caches.
    has_equal_caches: bool,
}

impl Method {
    /// The method of a run; `None` if its plan can't be read.
    pub fn from_run(run: &Run) -> Option<Method> {
        let stores = run.header.stores.iter().map(|store| store.name.clone()).collect();
        let mut method = Method::read(run.plan_keys()?, stores);
        method.keys.extend(unenforced_limits(run));
        method.keys.extend(after_load(run).map(|start| ("after_load".to_owned(), start.to_owned())));
        method.keys.extend(drivers(run));
        Some(method)
    }

    pub fn read(plan: &Table, stores: BTreeSet<String>) -> Method {
        let mut keys = BTreeMap::new();
        for (key, value) in plan.iter().filter(|(key, _)| !NOT_IN_METHOD.contains(&key.as_str())) {
            flatten(key, value, &mut keys);
            keys.retain(|key, _| !is_description(key));
        }
        keys.entry("after_load".to_owned()).or_insert_with(|| AfterLoad::default().name().to_owned());
        let tuning = plan.get("axes").and_then(|axes| axes.get("tuning")).and_then(Value::as_array);
        let has_equal_caches =
            tuning.is_some_and(|list| list.iter().any(|value| value.as_str() == Some(Tuning::Equal.name())));
        Method { keys, stores, has_equal_caches }
    }

    pub fn value(&self, key: &str) -> Option<&str> {
        self.keys.get(key).map(String::as_str)
    }

    /// Everything that distinguishes it from other methods, in words; without keys that only draw random numbers.
    pub fn all(&self) -> String {
        let keys = self.keys.keys().filter(|key| self.affects(key) && !is_drawn(key));
        keys.map(|key| self.describe(key)).collect::<Vec<_>>().join("\n")
    }

    /// Whether a key affects this run: not the settings of a store that takes no part, nor a count of operations if time ends them.
    fn affects(&self, key: &str) -> bool {
        match key.strip_prefix("settings.").and_then(|rest| rest.split_once('.')) {
            Some((store, _)) => self.stores.contains(store),
            None if key == "operations" => !self.keys.contains_key("duration"),
            None if key == EQUAL_CACHE => self.has_equal_caches,
            None if key.starts_with(PLACES) => self.keys.contains_key(key),
            None => true,
        }
    }

    /// A key in words: `page_size=8192`, or that it is not set.
    pub fn describe(&self, key: &str) -> String {
        let name = key.strip_prefix("settings.").or(key.strip_prefix(MACHINES)).or(key.strip_prefix(PLACES));
        let name = name.unwrap_or(key);
        match self.value(key).filter(|_| self.affects(key)) {
            Some(value) => format!("{name}={}", value.replace(['[', ']', '"'], "")),
            None => format!("{name} not set"),
        }
    }
}

/// All that a plan says, by key as in [`Method`].
pub fn keys(plan: &Table) -> BTreeMap<String, String> {
    let mut keys = BTreeMap::new();
    plan.iter().for_each(|(key, value)| flatten(key, value, &mut keys));
    keys
}

/// The key at which plans set what is an axis if cells differ in it.
pub fn key_of(setting: Axis) -> String {
    format!("settings.{setting}")
}

/// Whether a key only draws random numbers, so that runs that differ in it are equal.
pub fn is_drawn(key: &str) -> bool {
    key == SEED
}

/// The keys in which any of these methods differ, in alphabetical order: among the methods that each key affects.
pub fn differing<'m>(methods: &[&'m Method]) -> Vec<&'m str> {
    let keys: BTreeSet<&str> =
        methods.iter().flat_map(|method| method.keys.keys().map(String::as_str)).collect();
    let differs = |key: &&str| {
        let mut values = methods.iter().filter(|method| method.affects(key)).map(|method| method.value(key));
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    keys.into_iter().filter(differs).collect()
}

/// How a run's method differs from that of the built-in study of this name, ignoring the number and kinds of operations.
pub fn differences_from_study(run: &Run, study: &str) -> Vec<String> {
    let Some(method) = Method::from_run(run) else { return vec!["by a plan that can't be read".to_owned()] };
    let standard = storebench_host::plan::find(study).and_then(|plan| plan.to_toml()).ok();
    let standard =
        standard.and_then(|plan| plan.parse().ok()).map(|plan| Method::read(&plan, method.stores.clone()));
    let differing = differing(&standard.iter().chain([&method]).collect::<Vec<_>>());
    let is_local = |key: &str| [MACHINES, PLACES, DISKS].iter().any(|prefix| key.starts_with(prefix));
    let uncounted = ["operations", "rounds", "order", MIX, EQUAL_CACHE, "trace_facts"];
    let is_counted = |key: &&str| !is_local(key) && !uncounted.contains(key) && !is_drawn(key);
    let keys = differing.into_iter().filter(is_counted).filter(|key| method.value(key).is_some());
    keys.map(|key| method.describe(key)).collect()
}

fn machine_of(key: &str) -> Option<(&str, &str)> {
    key.strip_prefix(MACHINES)?.split_once('.')
}

/// Whether a key only describes a machine or a disk.
fn is_description(key: &str) -> bool {
    let describes_machine = machine_of(key)
        .is_some_and(|(_, rest)| NOTE_KEYS.contains(&rest.split('.').next().unwrap_or_default()));
    // A disk's name can have points in it.
    let describes_disk =
        key.starts_with(DISKS) && NOTE_KEYS.iter().any(|about| key.split('.').any(|part| part == *about));
    describes_machine || describes_disk
}

/// The limits in a run's plan that were not enforced, or only in part.
fn unenforced_limits(run: &Run) -> BTreeMap<String, String> {
    let mut limits = BTreeMap::new();
    for machine in
        run.trials.iter().filter(|trial| trial.ok().is_some()).filter_map(|trial| trial.machine.as_ref())
    {
        for limit in &machine.limits {
            let words = match (&limit.in_force, &limit.remark) {
                (None, _) => "not held".to_owned(),
                (Some(_), Some(remark)) => format!("held in part ({remark})"),
                (Some(_), None) => continue,
            };
            limits.insert(format!("{MACHINES}{}.{}", machine.name, limit.limit), words);
        }
    }
    limits
}

/// When a run's operations began after loading: older versions never waited, and their plans don't say so.
fn after_load(run: &Run) -> Option<&'static str> {
    let loads = run.trials.iter().filter_map(|trial| trial.ok()).map(|measured| &measured.load);
    let (rested, at_once): (Vec<_>, Vec<_>) =
        loads.filter(|load| load.records > 0).partition(|load| load.rest.is_some());
    match (rested.is_empty(), at_once.is_empty()) {
        (true, true) => None,
        (false, true) => Some(AfterLoad::Rest.name()),
        (true, false) => Some(AfterLoad::AtOnce.name()),
        (false, false) => Some("rest in part of the trials"),
    }
}

/// The drivers that mounted the file systems of a run's locations, if storebench made them.
fn drivers(run: &Run) -> BTreeMap<String, String> {
    let places = run.header.locations.iter();
    places.filter_map(|place| Some((format!("{PLACES}{}", place.name), place.driver.clone()?))).collect()
}

fn flatten(key: &str, value: &Value, keys: &mut BTreeMap<String, String>) {
    match value {
        Value::Table(table) => {
            table.iter().for_each(|(name, value)| flatten(&format!("{key}.{name}"), value, keys));
        }
        Value::String(text) => drop(keys.insert(key.to_owned(), text.clone())),
        other => drop(keys.insert(key.to_owned(), other.to_string())),
    }
}

#[derive(Debug)]
pub struct Methods {
    /// The words for each run, by key. Empty if all are equal.
    words: Vec<Vec<(String, String)>>,
}

impl Methods {
    pub fn new(runs: &[Run]) -> Methods {
        let mut words = Methods::plan_differences(runs);
        for (words, environment) in words.iter_mut().zip(builds_compared::environment_differences(runs)) {
            words.extend(environment);
        }
        Methods { words }
    }

    fn plan_differences(runs: &[Run]) -> Vec<Vec<(String, String)>> {
        let is_alike = |run: &Run| {
            let first = &runs[0];
            run.header.plan == first.header.plan
                && unenforced_limits(run) == unenforced_limits(first)
                && drivers(run) == drivers(first)
                && after_load(run) == after_load(first)
        };
        if runs.iter().all(is_alike) {
            return vec![Vec::new(); runs.len()];
        }
        let methods: Vec<Option<Method>> = runs.iter().map(Method::from_run).collect();
        let readable: Vec<&Method> = methods.iter().flatten().collect();
        let mut keys = differing(&readable);
        keys.retain(|key| !is_drawn(key));
        let words = |(index, method): (usize, &Option<Method>)| match method {
            Some(method) => keys.iter().map(|key| ((*key).to_owned(), method.describe(key))).collect(),
            None => {
                // An unreadable plan equals only itself.
                let plan = &runs[index].header.plan;
                let first = runs.iter().position(|run| run.header.plan == *plan).unwrap_or(index);
                vec![(String::new(), format!("with the plan of run {first}, which can't be read"))]
            }
        };
        methods.iter().enumerate().map(words).collect()
    }

    /// How the method of a run's cell differs from the other runs': `operations=100, sqlite.page_size=8192`. Empty if it doesn't.
    pub fn describe(&self, run: usize, cell: &Cell) -> String {
        let applies = |key: &str| match (machine_of(key), key.strip_prefix(PLACES)) {
            _ if key.starts_with(DISKS) => key.starts_with(&format!("{DISKS}{}.", cell.disk())),
            (Some((machine, _)), _) => machine == cell.machine(),
            (None, Some(place)) => place == cell.location_on_disk().to_string(),
            (None, None) => key != EQUAL_CACHE || cell.tuning() == Tuning::Equal,
        };
        let words = self.words.get(run).into_iter().flatten().filter(|(key, _)| applies(key));
        words.map(|(_, words)| words.as_str()).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use storebench_model::cell::Axis;
    use storebench_model::result::{LimitKind, LimitReport, LocationInfo, Rest};

    use storebench_samples::{Sample, machine, run};

    fn planned(store: &str, plan: &str) -> Run {
        let mut run = run("box", &[Sample::new(store)]);
        run.header.plan = plan.into();
        run
    }

    fn differences(runs: &[Run]) -> Vec<String> {
        let methods = Methods::new(runs);
        runs.iter().enumerate().map(|(index, run)| methods.describe(index, &run.trials[0].cell)).collect()
    }

    #[test]
    fn only_what_differs_is_named_and_only_where_it_bears() {
        let first = "operations = 1000\norder = [\"insert\", \"get\"]\nvisit = \"hash\"\nseed = 1\n";
        let second = "operations = 1000\norder = [\"get\"]\nvisit = \"hash\"\nseed = 2\ntrials = 9\n[settings.sqlite]\npage_size = \"8192\"\n";
        let lines = ["order=insert, get, sqlite.page_size not set", "order=get, sqlite.page_size=8192"];
        assert_eq!(differences(&[planned("sqlite", first), planned("sqlite", second)]), lines);
        // The settings of a store that did not run do not matter.
        assert_eq!(differences(&[planned("sqlite", first), planned("lmdb", second)])[1], "order=get");
        assert_eq!(differences(&[planned("sqlite", first), planned("sqlite", first)]), ["", ""]);
        assert_eq!(differences(&[planned("sqlite", first)]), [""]);
    }

    #[test]
    fn all_that_says_what_is_done_tells_runs_apart() {
        let base = "operations = 1000\norder = [\"get\"]\nbatch = 100\nvisit = \"hash\"\n";
        for (key, value) in [
            ("operations", "500"),
            ("order", "[\"insert\"]"),
            ("batch", "1"),
            ("visit", "\"copy\""),
            ("text", "\"/usr/share/doc\""),
            ("warm_up", "10"),
            ("workload", "\"other\""),
            ("not_known_yet", "3"),
        ] {
            let lines = base.lines().filter(|line| !line.starts_with(key));
            let plan = lines.chain([format!("{key} = {value}").as_str()]).collect::<Vec<_>>().join("\n");
            let lines = differences(&[planned("lmdb", base), planned("lmdb", &plan)]);
            let has_key = lines.iter().all(|line| line.starts_with(key));
            assert!(has_key && lines[0] != lines[1], "{key}: {lines:?}");
        }
        for same in
            ["seed = 9", "trials = 7", "timeout = \"1h\"", "title = \"x\"", "claims_among = [\"lmdb\"]"]
        {
            let lines = differences(&[planned("lmdb", base), planned("lmdb", &format!("{base}{same}\n"))]);
            assert_eq!(lines, ["", ""], "{same}");
        }
    }

    #[test]
    fn what_has_no_effect_tells_nothing_apart() {
        let timed = |operations: u32| format!("operations = {operations}\nduration = \"10s\"\n");
        assert_eq!(differences(&[planned("lmdb", &timed(1)), planned("lmdb", &timed(2))]), ["", ""]);
        let cached = |mib: u32, tuning: &str| {
            format!("equal_cache = \"{mib}MiB\"\n[axes]\ntuning = [\"default\", \"{tuning}\"]\n")
        };
        let shipped = [planned("lmdb", &cached(64, "default")), planned("lmdb", &cached(128, "default"))];
        assert_eq!(differences(&shipped), ["", ""]);
        let runs = [planned("lmdb", &cached(64, "equal")), planned("lmdb", &cached(128, "equal"))];
        assert_eq!(differences(&runs), ["", ""], "a cell as shipped");
        let equal = runs[0].trials[0].cell.clone().with(Axis::TUNING, Tuning::Equal.into());
        assert_eq!(Methods::new(&runs).describe(1, &equal), "equal_cache=128MiB");
    }

    #[test]
    fn machines_of_other_limits_are_told_apart_in_their_own_cells() {
        let plan_with = |memory: &str, about: &str| {
            format!(
                "batch = 1\n[machines.small]\nabout = \"{about}\"\nmemory = \"{memory}\"\nsources = {{ memory = \"{about}\" }}\n"
            )
        };
        let mut runs = [planned("lmdb", &plan_with("64MiB", "a")), planned("lmdb", &plan_with("32MiB", "b"))];
        assert_eq!(differences(&runs), ["", ""], "cells of this machine are alike");
        let small = runs[0].trials[0].cell.clone().with(Axis::MACHINE, Axis::MACHINE.read("small").unwrap());
        let differences = |runs: &[Run]| [0, 1].map(|run| Methods::new(runs).describe(run, &small));
        assert_eq!(differences(&runs), ["small.memory=64MiB", "small.memory=32MiB"]);
        runs[1].header.plan = runs[0].header.plan.clone();
        assert_eq!(differences(&runs), ["", ""]);
        // An unenforced limit differs from an enforced one.
        let not_held =
            LimitReport { limit: LimitKind::Memory, asked: 64 << 20, in_force: None, by: None, remark: None };
        runs[1].trials[0].machine = Some(machine(vec![not_held]));
        assert_eq!(differences(&runs), ["small.memory=64MiB", "small.memory=not held"]);
    }

    #[test]
    fn drivers_of_one_file_system_are_told_apart_in_their_own_cells() {
        let run_with = |driver: &str| {
            let mut run = planned("lmdb", "batch = 1\n");
            let location = run.header.locations[0].clone();
            run.header.locations.push(LocationInfo {
                name: "ntfs:4096".into(),
                driver: Some(driver.into()),
                disk: None,
                ..location
            });
            run
        };
        let runs = [run_with("kernel (ntfs3)"), run_with("FUSE (ntfs-3g)")];
        assert_eq!(differences(&runs), ["", ""], "cells elsewhere are alike");
        let cell = runs[0].trials[0].cell.clone().with(Axis::PLACE, Axis::PLACE.read("ntfs:4096").unwrap());
        let differences = |runs: &[Run]| [0, 1].map(|run| Methods::new(runs).describe(run, &cell));
        assert_eq!(differences(&runs), ["ntfs:4096=kernel (ntfs3)", "ntfs:4096=FUSE (ntfs-3g)"]);
        assert_eq!(differences(&[run_with("kernel (ntfs3)"), run_with("kernel (ntfs3)")]), ["", ""]);
        assert_eq!(differences(&[run_with("kernel (ntfs3)"), planned("lmdb", "batch = 1\n")]), ["", ""]);
    }

    #[test]
    fn what_began_right_after_loading_is_never_pooled_with_what_did_not() {
        let run = |plan: &str, rest: Option<Rest>| {
            let mut run = planned("lmdb", plan);
            run.trials[0].measured.as_mut().unwrap().load.rest = rest;
            run
        };
        let rest = Some(Rest { took_ns: 1, at_rest: true });
        let rested = || run("a = 1", rest);
        // A run of an older version, whose plan doesn't say.
        assert_eq!(differences(&[rested(), run("a = 1", None)]), ["after_load=rest", "after_load=at-once"]);
        let at_once = run("a = 1\nafter_load = \"at-once\"", None);
        assert_eq!(differences(&[at_once, run("a = 1", None)]), ["", ""]);
        assert_eq!(differences(&[rested(), run("a = 1\nafter_load = \"rest\"", rest)]), ["", ""]);
        let nothing_loaded = |mut run: Run| {
            run.trials[0].measured.as_mut().unwrap().load = Default::default();
            run
        };
        assert_eq!(differences(&[nothing_loaded(rested()), nothing_loaded(run("a = 1", None))]), ["", ""]);
    }

    #[test]
    fn a_plan_that_can_t_be_read_is_like_itself_alone() {
        let runs = [planned("lmdb", "= no"), planned("lmdb", "a = 1"), planned("lmdb", "= no")];
        let lines = differences(&runs);
        assert_eq!((&lines[0], lines[1].as_str()), (&lines[2], ""));
        assert!(lines[0].contains("the plan of run 0"), "{lines:?}");
    }
}
