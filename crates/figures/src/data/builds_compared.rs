//! The environment of runs: machine, processor, kernel, engines' versions and builds. Runs that differ in one have different methods.

use std::collections::{BTreeMap, BTreeSet};

use storebench_host::run::Run;
use storebench_model::store::StoreBuild;

/// How each run's environment differs from another's, by key: `kernel 6.1`, `sqlite 3.40.1`, `rocksdb built with -march=native`.
pub fn environment_differences(runs: &[Run]) -> Vec<Vec<(String, String)>> {
    let mut words_by_run = describe_environments(runs);
    for (words, builds) in words_by_run.iter_mut().zip(builds(&runs.iter().collect::<Vec<_>>())) {
        words.extend(builds.map(|text| ("build".to_owned(), text)));
    }
    words_by_run
}

/// A run's machine, processor, kernel, and engine versions.
fn environment_facts(run: &Run) -> BTreeMap<String, BTreeSet<&str>> {
    let environment = &run.header.environment;
    let mut facts: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    facts.entry("processor".into()).or_default().extend(environment.cpu.as_deref());
    facts.entry("kernel".into()).or_default().insert(&environment.kernel);
    // Two machines can have one name, such as the one that a system gives to all of its machines.
    if let Some(id) = &environment.machine_id {
        facts.entry(format!("{} with the identity", run.header.hardware)).or_default().insert(id);
    }
    for trial in &run.trials {
        let Some(measured) = trial.ok() else { continue };
        facts.entry(trial.cell.store().to_owned()).or_default().insert(&measured.store_version);
    }
    facts
}

fn describe_environments(runs: &[Run]) -> Vec<Vec<(String, String)>> {
    let by_run: Vec<BTreeMap<String, BTreeSet<&str>>> = runs.iter().map(environment_facts).collect();
    let differs = |name: &String| {
        let values: BTreeSet<&BTreeSet<&str>> = by_run.iter().filter_map(|facts| facts.get(name)).collect();
        values.len() > 1
    };
    let words = |(name, values): (&String, &BTreeSet<&str>)| {
        let joined = Vec::from_iter(values.iter().copied()).join(" and ");
        let values = if values.is_empty() { "unknown".to_owned() } else { joined };
        (name.clone(), format!("{name} {values}"))
    };
    by_run.iter().map(|facts| facts.iter().filter(|(name, _)| differs(name)).map(words).collect()).collect()
}

/// A part of a build, most telling first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum BuildPart<'r> {
    Compiler(&'r str),
    Flag(&'r str),
    Source(&'r str),
}

type Parts<'r> = BTreeMap<&'r str, BTreeSet<BuildPart<'r>>>;

fn parts(build: &StoreBuild) -> impl Iterator<Item = BuildPart<'_>> {
    // The flags, and after a semicolon the compiler.
    let (flags, compiler) = build.flags.as_deref().map_or(("", None), |text| match text.split_once("; ") {
        Some((flags, compiler)) => (flags, Some(compiler)),
        None => (text, None),
    });
    let flags = flags.split_whitespace().map(BuildPart::Flag);
    flags.chain(compiler.map(BuildPart::Compiler)).chain([BuildPart::Source(&build.source)])
}

/// The builds of a run's engines, if known. A build that is not ranked is never pooled anyway.
fn parts_of_run(run: &Run) -> Parts<'_> {
    let mut parts_by_store = Parts::new();
    for trial in &run.trials {
        let build = trial.ok().and_then(|measured| measured.store_build.as_ref());
        let Some(build) = build.filter(|build| build.not_ranked.is_none()) else { continue };
        parts_by_store.entry(trial.cell.store()).or_default().extend(parts(build));
    }
    parts_by_store
}

/// The parts that all builds of a store have, and those that any has.
type DifferingParts<'r> = BTreeMap<&'r str, (BTreeSet<BuildPart<'r>>, BTreeSet<BuildPart<'r>>)>;

/// How each run's builds differ: by the parts that only some of them have, or by the compilers alone if these differ.
pub fn builds(runs: &[&Run]) -> Vec<Option<String>> {
    let parts_by_run: Vec<Parts<'_>> = runs.iter().copied().map(parts_of_run).collect();
    let stores: BTreeSet<&str> = parts_by_run.iter().flat_map(|parts| parts.keys().copied()).collect();
    let parts_of = |store| parts_by_run.iter().filter_map(move |parts: &Parts<'_>| parts.get(store));
    let mut differing = DifferingParts::new();
    for store in stores {
        let union: BTreeSet<BuildPart<'_>> = parts_of(store).flatten().copied().collect();
        let shared: BTreeSet<BuildPart<'_>> =
            union.iter().copied().filter(|part| parts_of(store).all(|parts| parts.contains(part))).collect();
        if shared.len() < union.len() {
            differing.insert(store, (shared, union));
        }
    }
    let describe = |short: bool| -> Vec<Option<String>> {
        parts_by_run.iter().map(|parts| describe_parts(parts, &differing, short)).collect()
    };
    let count_different = |words: &[Option<String>]| words.iter().collect::<BTreeSet<_>>().len();
    let (short, long) = (describe(true), describe(false));
    if count_different(&short) < count_different(&long) { long } else { short }
}

fn describe_parts(parts_by_store: &Parts<'_>, differing: &DifferingParts<'_>, short: bool) -> Option<String> {
    let (mut stores, mut added, mut missing) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for (store, (shared, union)) in differing {
        let Some(own_parts) = parts_by_store.get(store) else { continue };
        stores.push(*store);
        added.extend(own_parts.difference(shared).copied());
        missing.extend(union.difference(own_parts).copied());
    }
    let engines = match stores.as_slice() {
        [] => return None,
        [.., _] if stores.len() > 2 => format!("{} engines", stores.len()),
        few => few.join(" and "),
    };
    let (word, parts) = if added.is_empty() { ("without", missing) } else { ("with", added) };
    let is_ready = word == "with" && parts.iter().all(|part| matches!(part, BuildPart::Source(_)));
    let is_compiler = |part: &BuildPart<'_>| matches!(part, BuildPart::Compiler(_));
    let by_compiler = short && parts.iter().any(is_compiler);
    let words = parts.into_iter().filter(|part| !by_compiler || is_compiler(part)).map(|part| match part {
        // One compiler has a name for each of its languages.
        BuildPart::Compiler(name) => name.replacen("c++ (", "cc (", 1),
        BuildPart::Flag(name) | BuildPart::Source(name) => name.to_owned(),
    });
    let mut words: Vec<String> = words.collect();
    words.dedup();
    // Nothing else is known of a prebuilt library.
    let relation = if is_ready { "from".into() } else { format!("built {word}") };
    Some(format!("{engines} {relation} {}", words.join(", ")))
}

#[cfg(test)]
mod tests {
    use storebench_samples::{Sample, run};

    use super::*;

    fn texts(runs: &[Run]) -> Vec<String> {
        let words =
            |words: Vec<(String, String)>| words.into_iter().map(|(_, words)| words).collect::<Vec<_>>();
        environment_differences(runs).into_iter().map(|words_of_run| words(words_of_run).join(", ")).collect()
    }

    fn run_of(stores: &[&str]) -> Run {
        run("box", &stores.iter().map(|store| Sample::new(store)).collect::<Vec<_>>())
    }

    fn built(stores: &[&str], flags: &str) -> Run {
        let mut run = run_of(stores);
        for trial in &mut run.trials {
            let build = StoreBuild::new("its authors' sources", Some(flags.to_owned()), Some(false));
            trial.measured.as_mut().unwrap().store_build = Some(build);
        }
        run
    }

    #[test]
    fn another_processor_kernel_or_engine_version_is_told() {
        let run_with = |change: &dyn Fn(&mut Run)| {
            let mut changed = run_of(&["lmdb"]);
            change(&mut changed);
            texts(&[run_of(&["lmdb"]), changed])
        };
        let changed = run_with(&|run| run.header.environment.cpu = Some("other".into()));
        assert!(changed[0] != changed[1] && changed[1] == "processor other", "{changed:?}");
        assert_eq!(run_with(&|run| run.header.environment.cpu = None)[1], "processor unknown");
        assert_eq!(run_with(&|run| run.header.environment.kernel = "Linux 9".into())[1], "kernel Linux 9");
        // Two known builds of one name: an unknown one says nothing.
        let with_machine_id =
            |id: &'static str| move |run: &mut Run| run.header.environment.machine_id = Some(id.into());
        assert_eq!(run_with(&with_machine_id("b7")), ["", ""]);
        let machines = ["a1", "b7"].map(|id| {
            let mut run = run_of(&["lmdb"]);
            with_machine_id(id)(&mut run);
            run
        });
        assert_eq!(texts(&machines), ["box with the identity a1", "box with the identity b7"]);
        let newer = |run: &mut Run| run.trials[0].measured.as_mut().unwrap().store_version = "9.9".into();
        assert_eq!(run_with(&newer)[1], "lmdb 9.9");
        assert_eq!(texts(&[run_of(&["lmdb"]), run_of(&["redb"])]), ["", ""], "each has one alone");
    }

    #[test]
    fn another_build_of_one_version_is_told_by_what_differs() {
        let gcc = "-O2 -fPIC; c++ (Debian 12.2.0) 12.2.0";
        let clang = "-O2 -fPIC; clang version 20.1.2";
        assert_eq!(
            texts(&[built(&["rocksdb"], gcc), built(&["rocksdb"], clang)]),
            ["rocksdb built with cc (Debian 12.2.0) 12.2.0", "rocksdb built with clang version 20.1.2"]
        );
        assert_eq!(texts(&[built(&["rocksdb"], gcc), built(&["rocksdb"], gcc)]), ["", ""]);
        let native = "-O2 -fPIC -march=native; clang version 20.1.2";
        assert_eq!(
            texts(&[built(&["lmdb", "rocksdb"], clang), built(&["lmdb", "rocksdb"], native)]),
            ["lmdb and rocksdb built without -march=native", "lmdb and rocksdb built with -march=native"]
        );
        let sized = "-O3 -fPIC; clang version 20.1.2";
        assert_eq!(
            texts(&[built(&["rocksdb"], gcc), built(&["rocksdb"], clang), built(&["rocksdb"], sized)]),
            [
                "rocksdb built with cc (Debian 12.2.0) 12.2.0, -O2",
                "rocksdb built with clang version 20.1.2, -O2",
                "rocksdb built with clang version 20.1.2, -O3"
            ],
            "the compiler alone would make one of two builds"
        );
        // With many engines, the number is shown, and what both runs have.
        let (four, three) = (["leveldb", "lmdb", "redb", "rocksdb"], ["leveldb", "lmdb", "redb"]);
        let lines = texts(&[built(&four, gcc), built(&three, clang)]);
        assert_eq!(lines[1], "3 engines built with clang version 20.1.2");
        let ready = run("box", &[Sample::new("rocksdb").distributed(false)]);
        assert_eq!(texts(&[built(&["rocksdb"], gcc), ready])[1], "rocksdb from the distribution's library");
        let older = run_of(&["rocksdb"]);
        assert_eq!(texts(&[built(&["rocksdb"], gcc), older]), ["", ""], "it does not know its build");
    }

    #[test]
    fn a_build_that_is_not_ranked_sets_no_run_apart() {
        let run_with = |assertions| run("box", &[Sample::new("rocksdb").distributed(assertions)]);
        assert_eq!(texts(&[run_with(true), run_with(false)]), ["", ""]);
    }
}
