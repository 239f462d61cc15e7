//! Differences between runs: some make figures incomparable, as they could differ though the stores did not change; others are only worth
//! knowing. Versions of the stores are compared on purpose; axes and the number of trials do not count.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use serde::Serialize;
use storebench_figures::data::builds_compared;
use storebench_figures::data::method::{self, Method};
use storebench_host::run::Run;
use storebench_model::cell::Axis;
use storebench_model::result::{LocationInfo, RunHeader};
use storebench_model::units::rough_bytes;

use super::across::Across;

/// A difference of a run from the first of BASE.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Its name, such as `kernel`, or `place here: file system`.
    pub what: String,
    /// The key, where it is in their plans.
    #[serde(skip)]
    pub(crate) key: Option<String>,
    /// The value in the first run of BASE.
    pub base: String,
    /// The value in the other run.
    pub other: String,
    /// The side of the other run: `BASE` or `NEW`.
    pub side: &'static str,
    /// Whether it makes figures incomparable, unless the user overrides that.
    pub refuses: bool,
}

/// The versions of a store on both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Versions {
    pub(crate) store: String,
    pub(crate) base: BTreeSet<String>,
    pub(crate) new: BTreeSet<String>,
}

/// Memory that differs by less than this share is equal: kernels reserve different amounts.
const SAME_MEMORY: f64 = 0.02;

/// All differences of the runs from the first of BASE, once each, the refusing ones first; without those compared `across`.
pub fn differences(base: &[Run], new: &[Run], across: &[Across]) -> Vec<Difference> {
    let Some(first) = base.first() else { return Vec::new() };
    let mut found: Vec<Difference> = Vec::new();
    for (side, runs) in [("BASE", &base[1..]), ("NEW", new)] {
        for run in runs {
            let mut collected = RunDifferences { side, differences: Vec::new() };
            collected.machines(&first.header, &run.header);
            collected.places(&first.header, &run.header);
            collected.plans(first, run);
            // Another engine is another build.
            if side == "BASE" || across.iter().all(|across| across.axis != Axis::STORE) {
                collected.builds(first, run);
            }
            for difference in collected.differences {
                let is_compared_across =
                    side == "NEW" && across.iter().any(|across| across.covers_key(difference.key.as_deref()));
                if !is_compared_across && !found.contains(&difference) {
                    found.push(difference);
                }
            }
        }
    }
    found.sort_by_key(|difference| !difference.refuses);
    found
}

/// Differences that show that two runs are from different machines, or from one with another kernel.
pub fn machines(first: &RunHeader, other: &RunHeader) -> Vec<Difference> {
    let mut compared = RunDifferences { side: "", differences: Vec::new() };
    compared.machines(first, other);
    compared.differences.retain(|difference| difference.refuses);
    compared.differ(false, "kernel", &first.environment.kernel, &other.environment.kernel);
    let mut places = RunDifferences { side: "", differences: Vec::new() };
    places.places(first, other);
    compared.differences.extend(places.differences.into_iter().filter(|difference| difference.refuses));
    compared.differences
}

/// Differences that show that two runs are not parts of one plan, made in one way on any machines.
pub fn parts(first: &Run, other: &Run) -> Vec<Difference> {
    let plans = (first.plan_keys().map(method::keys), other.plan_keys().map(method::keys));
    let (first, other) = (&first.header, &other.header);
    let mut compared = RunDifferences { side: "", differences: Vec::new() };
    compared.differ(true, "storebench", &first.storebench, &other.storebench);
    let names: BTreeSet<&str> =
        [first, other].iter().flat_map(|header| &header.stores).map(|store| store.name.as_str()).collect();
    for name in names {
        // The path of a library depends on the machine.
        let describe_store = |header: &RunHeader| {
            let store = header.stores.iter().find(|store| store.name == name);
            store.map_or("takes no part".to_owned(), |store| match &store.library {
                Some(library) => format!("{} of the library {}", store.version, library.sha256),
                None => store.version.clone(),
            })
        };
        compared.differ(true, &format!("store {name}"), &describe_store(first), &describe_store(other));
    }
    match plans {
        (Some(a), Some(b)) => {
            let value = |keys: &BTreeMap<String, String>, key: &str| {
                keys.get(key).cloned().unwrap_or_else(|| "not set".into())
            };
            for key in a.keys().chain(b.keys()).collect::<BTreeSet<_>>() {
                compared.differ_at(true, key, &value(&a, key), &value(&b, key));
            }
        }
        _ => compared.differ(true, "plan", &first.plan, &other.plan),
    }
    let count_parts = |header: &RunHeader| header.shard.as_ref().map_or(1, |shard| shard.of).to_string();
    compared.differ(true, "number of parts", &count_parts(first), &count_parts(other));
    let names = |header: &RunHeader| {
        header.locations.iter().map(|location| location.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    compared.differ(true, "locations", &names(first), &names(other));
    if compared.differences.is_empty() {
        // A digest of the rest of the plan's results: built-in stores that offer something else.
        let split = |header: &RunHeader| header.shard.as_ref().map_or("", |shard| &shard.split).to_owned();
        compared.differ(true, "split of the plan", &split(first), &split(other));
    }
    compared.differences
}

/// The versions of stores that take part on both sides, in the order of BASE.
pub fn versions(base: &[Run], new: &[Run]) -> Vec<Versions> {
    let versions_by_store = |runs: &[Run]| {
        let mut stores: IndexMap<String, BTreeSet<String>> = IndexMap::new();
        for store in runs.iter().flat_map(|run| &run.header.stores) {
            stores.entry(store.name.clone()).or_default().insert(store.version.clone());
        }
        stores
    };
    let mut new = versions_by_store(new);
    let bases = versions_by_store(base).into_iter();
    bases
        .filter_map(|(store, base)| new.swap_remove(&store).map(|new| Versions { store, base, new }))
        .collect()
}

struct RunDifferences {
    side: &'static str,
    differences: Vec<Difference>,
}

impl RunDifferences {
    fn differ(&mut self, refuses: bool, what: &str, base: &str, other: &str) {
        if base != other {
            let (what, base, other) = (what.into(), base.into(), other.into());
            self.differences.push(Difference { what, key: None, base, other, side: self.side, refuses });
        }
    }

    fn differ_or_unknown(&mut self, refuses: bool, what: &str, base: Option<&str>, other: Option<&str>) {
        self.differ(refuses, what, base.unwrap_or("unknown"), other.unwrap_or("unknown"));
    }

    /// At a key of their plans.
    fn differ_at(&mut self, refuses: bool, key: &str, base: &str, other: &str) {
        let known_count = self.differences.len();
        self.differ(refuses, &format!("plan, {key}"), base, other);
        self.differences[known_count..]
            .iter_mut()
            .for_each(|difference| difference.key = Some(key.to_owned()));
    }

    fn builds(&mut self, first: &Run, run: &Run) {
        if let [Some(base), Some(other)] = builds_compared::builds(&[first, run]).as_slice() {
            self.differ(false, "builds of engines", base, other);
        }
    }

    fn machines(&mut self, first: &RunHeader, run: &RunHeader) {
        let (a, b) = (&first.environment, &run.environment);
        self.differ(true, "hardware", &first.hardware, &run.hardware);
        if let (Some(a), Some(b)) = (&a.machine_id, &b.machine_id) {
            self.differ(true, "identity", a, b);
        }
        self.differ_or_unknown(true, "processor", a.cpu.as_deref(), b.cpu.as_deref());
        self.differ(true, "processors", &a.cores.to_string(), &b.cores.to_string());
        if !is_similar(a.memory_bytes, b.memory_bytes) {
            let memory =
                |bytes: Option<u64>| bytes.map_or("unknown".into(), |bytes| rough_bytes(bytes as f64));
            self.differ(true, "memory", &memory(a.memory_bytes), &memory(b.memory_bytes));
        }
        let virtualisation = (a.virtualisation.as_deref(), b.virtualisation.as_deref());
        self.differ_or_unknown(true, "virtualisation", virtualisation.0, virtualisation.1);
        self.differ_or_unknown(true, "frequency governor", a.governor.as_deref(), b.governor.as_deref());
        self.differ(false, "kernel", &a.kernel, &b.kernel);
        self.differ_or_unknown(false, "distribution", a.distribution.as_deref(), b.distribution.as_deref());
        self.differ(false, "clock", &a.clock, &b.clock);
        self.differ(false, "storebench", &first.storebench, &run.storebench);
    }

    fn places(&mut self, first: &RunHeader, run: &RunHeader) {
        for a in &first.locations {
            let Some(b) = run.locations.iter().find(|location| location.name == a.name) else { continue };
            let mut differ = |refuses: bool, what: &str, read: fn(&LocationInfo) -> Option<&str>| {
                self.differ_or_unknown(refuses, &format!("place {}: {what}", a.name), read(a), read(b));
            };
            differ(true, "file system", |location| location.file_system.as_deref());
            differ(true, "driver", |location| location.driver.as_deref());
            differ(true, "model of the device", |location| location.device_model.as_deref());
            differ(true, "rotates", |location| {
                location.rotates.map(|rotates| if rotates { "yes" } else { "no" })
            });
            differ(false, "mount options", |location| location.mount_options.as_deref());
            differ(false, "device", |location| location.device.as_deref());
        }
    }

    fn plans(&mut self, first: &Run, run: &Run) {
        let (Some(a), Some(b)) = (Method::from_run(first), Method::from_run(run)) else {
            // An unreadable plan can only be compared with itself.
            return self.differ(true, "plan", &first.header.plan, &run.header.plan);
        };
        self.differ(false, "study", &first.header.study, &run.header.study);
        for key in method::differing(&[&a, &b]) {
            let refuses = !method::is_drawn(key);
            let value = |method: &Method| method.value(key).unwrap_or("not set").to_owned();
            self.differ_at(refuses, key, &value(&a), &value(&b));
        }
    }
}

fn is_similar(a: Option<u64>, b: Option<u64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.abs_diff(b) as f64 <= SAME_MEMORY * a.max(b) as f64,
        (a, b) => a == b,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use storebench_samples::{Sample, run};

    use super::*;
    use storebench_model::store::StoreBuild;

    /// A run of a store that was built with these flags.
    pub fn run_with_flags(flags: &str) -> [Run; 1] {
        let mut run = run("box", &[Sample::new("lmdb")]);
        let build = StoreBuild::new("its crate", Some(flags.to_owned()), Some(false));
        run.trials[0].measured.as_mut().unwrap().store_build = Some(build);
        [run]
    }

    fn differences_after(change: impl Fn(&mut Run)) -> Vec<Difference> {
        let base = run("box", &[Sample::new("lmdb")]);
        let mut new = base.clone();
        change(&mut new);
        differences(&[base], &[new], &[])
    }

    fn names(found: &[Difference], refuses: bool) -> Vec<&str> {
        let found = found.iter().filter(|difference| difference.refuses == refuses);
        found.map(|difference| difference.what.as_str()).collect()
    }

    #[test]
    fn a_run_is_like_itself_and_a_new_build_is_no_difference() {
        let found = differences_after(|run| {
            run.header.stores[0].version = "9.9".into();
            run.header.started = "2026-01-01T00:00:00Z".into();
            run.header.environment.memory_bytes = Some((8 << 30) - (64 << 20));
            run.header.locations[0].path = "/elsewhere".into();
            run.header.plan = "name = \"crud\"\ntrials = 9\n[axes]\nstore = [\"lmdb\"]\n".into();
        });
        assert_eq!(found, []);
    }

    #[test]
    fn another_machine_refuses_and_another_kernel_is_told() {
        let found = differences_after(|run| {
            run.header.hardware = "other".into();
            run.header.environment.cpu = None;
            run.header.environment.cores = 4;
            run.header.environment.memory_bytes = Some(4 << 30);
            run.header.environment.governor = Some("powersave".into());
            run.header.environment.kernel = "Linux 7".into();
            run.header.locations[0].file_system = Some("xfs".into());
            run.header.locations[0].device = Some("vdb".into());
        });
        let refusing = [
            "hardware",
            "processor",
            "processors",
            "memory",
            "frequency governor",
            "place here: file system",
        ];
        assert_eq!(names(&found, true), refusing);
        assert_eq!(names(&found, false), ["kernel", "place here: device"]);
        assert_eq!((found[1].base.as_str(), found[1].other.as_str()), ("Example CPU 9000", "unknown"));
    }

    #[test]
    fn another_build_of_an_engine_is_told() {
        let found = differences(&run_with_flags("-O2"), &run_with_flags("-O3"), &[]);
        let [Difference { what, base, other, refuses: false, .. }] = found.as_slice() else {
            panic!("{found:?}")
        };
        assert_eq!([what, base, other], ["builds of engines", "lmdb built with -O2", "lmdb built with -O3"]);
        assert_eq!(differences(&run_with_flags("-O2"), &run_with_flags("-O2"), &[]), []);
        let count_across = |text: &str| {
            let across = [text.parse::<Across>().unwrap()];
            differences(&run_with_flags("-O2"), &run_with_flags("-O3"), &across).len()
        };
        assert_eq!([count_across("store=lmdb,redb"), count_across("guarantee=process,power")], [0, 1]);
    }

    #[test]
    fn other_work_refuses_also_a_kind_that_is_not_known_yet() {
        let plan = "seed = 1\nnew_thing = 3\n[settings.sqlite]\npage_size = \"8192\"\n[settings.lmdb]\nmap = \"1GiB\"\n";
        let found = differences_after(|run| run.header.plan = plan.into());
        // Only lmdb takes part.
        assert_eq!(names(&found, true), ["plan, new_thing", "plan, settings.lmdb.map"]);
        // Another seed is the same work with other random numbers.
        assert_eq!(names(&found, false), ["plan, seed"]);
        assert_eq!((found[2].base.as_str(), found[2].other.as_str()), ("not set", "1"));
        assert_eq!(names(&differences_after(|run| run.header.plan = "= no plan".into()), true), ["plan"]);
    }

    #[test]
    fn runs_of_one_side_must_be_alike_too() {
        let base = run("box", &[Sample::new("lmdb")]);
        let mut odd = base.clone();
        odd.header.environment.cores = 64;
        let found = differences(&[base.clone(), odd.clone()], &[base, odd], &[]);
        let sides: Vec<&str> = found.iter().map(|difference| difference.side).collect();
        assert_eq!(sides, ["BASE", "NEW"]);
    }
}
