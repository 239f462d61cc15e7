//! The environment of runs: machine, processor, kernel, and each engine's version and build. Runs that differ
//! in one of these have different methods.

use std::collections::{BTreeMap, BTreeSet};

use storebench_core::store::StoreBuild;
use storebench_host::run::Run;

/// For each run how its environment differs from another run's, by key: `kernel 6.1`, `sqlite 3.40.1`,
/// `rocksdb built with -march=native`.
pub fn otherwise(runs: &[Run]) -> Vec<Vec<(String, String)>> {
    let mut all = on_and_with(runs);
    for (words, built) in all.iter_mut().zip(builds(&runs.iter().collect::<Vec<_>>())) {
        words.extend(built.map(|built| ("build".to_owned(), built)));
    }
    all
}

/// A run's machine, processor, kernel, and engine versions.
fn made_with(run: &Run) -> BTreeMap<String, BTreeSet<&str>> {
    let environment = &run.header.environment;
    let mut made: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    made.entry("processor".into()).or_default().extend(environment.cpu.as_deref());
    made.entry("kernel".into()).or_default().insert(&environment.kernel);
    // Two machines can have one name, such as the one that a system gives to all of its machines.
    if let Some(id) = &environment.machine_id {
        made.entry(format!("{} with the identity", run.header.hardware)).or_default().insert(id);
    }
    for trial in &run.trials {
        let Some(measured) = trial.ok() else { continue };
        made.entry(trial.cell.store().to_owned()).or_default().insert(&measured.store_version);
    }
    made
}

fn on_and_with(runs: &[Run]) -> Vec<Vec<(String, String)>> {
    let made: Vec<BTreeMap<String, BTreeSet<&str>>> = runs.iter().map(made_with).collect();
    let differs = |name: &String| {
        let known: BTreeSet<&BTreeSet<&str>> = made.iter().filter_map(|made| made.get(name)).collect();
        known.len() > 1
    };
    let words = |(name, values): (&String, &BTreeSet<&str>)| {
        let values = if values.is_empty() {
            "unknown".into()
        } else {
            Vec::from_iter(values.iter().copied()).join(" and ")
        };
        (name.clone(), format!("{name} {values}"))
    };
    made.iter().map(|made| made.iter().filter(|(name, _)| differs(name)).map(words).collect()).collect()
}

/// A part of a build, most telling first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum BuildPart<'r> {
    Compiler(&'r str),
    Flag(&'r str),
    Source(&'r str),
}

/// The parts of builds, by store.
type Parts<'r> = BTreeMap<&'r str, BTreeSet<BuildPart<'r>>>;

fn parts(build: &StoreBuild) -> impl Iterator<Item = BuildPart<'_>> {
    // The flags, and after a semicolon the compiler.
    let (flags, compiler) = build.flags.as_deref().map_or(("", None), |all| match all.split_once("; ") {
        Some((flags, compiler)) => (flags, Some(compiler)),
        None => (all, None),
    });
    let flags = flags.split_whitespace().map(BuildPart::Flag);
    flags.chain(compiler.map(BuildPart::Compiler)).chain([BuildPart::Source(&build.source)])
}

/// The builds of a run's engines, if known. A build that is not ranked is never pooled anyway.
fn built_with(run: &Run) -> Parts<'_> {
    let mut built = Parts::new();
    for trial in &run.trials {
        let build = trial.ok().and_then(|measured| measured.store_build.as_ref());
        let Some(build) = build.filter(|build| build.not_ranked.is_none()) else { continue };
        built.entry(trial.cell.store()).or_default().extend(parts(build));
    }
    built
}

/// The parts that all builds of a store have, and those that any has.
type DifferingParts<'r> = BTreeMap<&'r str, (BTreeSet<BuildPart<'r>>, BTreeSet<BuildPart<'r>>)>;

/// For each run how its builds differ from another run's: by the parts that only some of these
/// builds have, or by the compilers alone if these differ.
pub fn builds(runs: &[&Run]) -> Vec<Option<String>> {
    let built: Vec<Parts<'_>> = runs.iter().copied().map(built_with).collect();
    let stores: BTreeSet<&str> = built.iter().flat_map(|built| built.keys().copied()).collect();
    let of = |store| built.iter().filter_map(move |built: &Parts<'_>| built.get(store));
    let mut differing = DifferingParts::new();
    for store in stores {
        let any: BTreeSet<BuildPart<'_>> = of(store).flatten().copied().collect();
        let all: BTreeSet<BuildPart<'_>> =
            any.iter().copied().filter(|part| of(store).all(|own| own.contains(part))).collect();
        if all.len() < any.len() {
            differing.insert(store, (all, any));
        }
    }
    let told = |short: bool| -> Vec<Option<String>> {
        built.iter().map(|built| describe_parts(built, &differing, short)).collect()
    };
    let different = |told: &[Option<String>]| told.iter().collect::<BTreeSet<_>>().len();
    let (short, whole) = (told(true), told(false));
    if different(&short) < different(&whole) { whole } else { short }
}

fn describe_parts(built: &Parts<'_>, differing: &DifferingParts<'_>, short: bool) -> Option<String> {
    let (mut stores, mut with, mut without) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for (store, (all, any)) in differing {
        let Some(own) = built.get(store) else { continue };
        stores.push(*store);
        with.extend(own.difference(all).copied());
        without.extend(any.difference(own).copied());
    }
    let who = match stores.as_slice() {
        [] => return None,
        [.., _] if stores.len() > 2 => format!("{} engines", stores.len()),
        few => few.join(" and "),
    };
    let (word, parts) = if with.is_empty() { ("without", without) } else { ("with", with) };
    let is_ready = word == "with" && parts.iter().all(|part| matches!(part, BuildPart::Source(_)));
    let is_compiler = |part: &BuildPart<'_>| matches!(part, BuildPart::Compiler(_));
    let by_compiler = short && parts.iter().any(is_compiler);
    let told = parts.into_iter().filter(|part| !by_compiler || is_compiler(part)).map(|part| match part {
        // One compiler has a name for each of its languages.
        BuildPart::Compiler(name) => name.replacen("c++ (", "cc (", 1),
        BuildPart::Flag(name) | BuildPart::Source(name) => name.to_owned(),
    });
    let mut told: Vec<String> = told.collect();
    told.dedup();
    // Nothing else is known of a prebuilt library.
    let how = if is_ready { "from".into() } else { format!("built {word}") };
    Some(format!("{who} {how} {}", told.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::samples::{Sample, run};

    fn said(runs: &[Run]) -> Vec<String> {
        let words =
            |words: Vec<(String, String)>| words.into_iter().map(|(_, words)| words).collect::<Vec<_>>();
        otherwise(runs).into_iter().map(|all| words(all).join(", ")).collect()
    }

    fn of(stores: &[&str]) -> Run {
        run("box", &stores.iter().map(|store| Sample::new(store)).collect::<Vec<_>>())
    }

    fn built(stores: &[&str], flags: &str) -> Run {
        let mut run = of(stores);
        for trial in &mut run.trials {
            let build = StoreBuild::new("its authors' sources", Some(flags.to_owned()), Some(false));
            trial.measured.as_mut().unwrap().store_build = Some(build);
        }
        run
    }

    #[test]
    fn another_processor_kernel_or_engine_version_is_told() {
        let with = |change: &dyn Fn(&mut Run)| {
            let mut other = of(&["lmdb"]);
            change(&mut other);
            said(&[of(&["lmdb"]), other])
        };
        let other = with(&|run| run.header.environment.cpu = Some("other".into()));
        assert!(other[0] != other[1] && other[1] == "processor other", "{other:?}");
        assert_eq!(with(&|run| run.header.environment.cpu = None)[1], "processor unknown");
        assert_eq!(with(&|run| run.header.environment.kernel = "Linux 9".into())[1], "kernel Linux 9");
        // Two known builds of one name: an unknown one says nothing.
        let known =
            |id: &'static str| move |run: &mut Run| run.header.environment.machine_id = Some(id.into());
        assert_eq!(with(&known("b7")), ["", ""]);
        let two = ["a1", "b7"].map(|id| {
            let mut run = of(&["lmdb"]);
            known(id)(&mut run);
            run
        });
        assert_eq!(said(&two), ["box with the identity a1", "box with the identity b7"]);
        let newer = |run: &mut Run| run.trials[0].measured.as_mut().unwrap().store_version = "9.9".into();
        assert_eq!(with(&newer)[1], "lmdb 9.9");
        assert_eq!(said(&[of(&["lmdb"]), of(&["redb"])]), ["", ""], "each has one alone");
    }

    #[test]
    fn another_build_of_one_version_is_told_by_what_differs() {
        let gcc = "-O2 -fPIC; c++ (Debian 12.2.0) 12.2.0";
        let clang = "-O2 -fPIC; clang version 20.1.2";
        assert_eq!(
            said(&[built(&["rocksdb"], gcc), built(&["rocksdb"], clang)]),
            ["rocksdb built with cc (Debian 12.2.0) 12.2.0", "rocksdb built with clang version 20.1.2"]
        );
        assert_eq!(said(&[built(&["rocksdb"], gcc), built(&["rocksdb"], gcc)]), ["", ""]);
        let native = "-O2 -fPIC -march=native; clang version 20.1.2";
        assert_eq!(
            said(&[built(&["lmdb", "rocksdb"], clang), built(&["lmdb", "rocksdb"], native)]),
            ["lmdb and rocksdb built without -march=native", "lmdb and rocksdb built with -march=native"]
        );
        let sized = "-O3 -fPIC; clang version 20.1.2";
        assert_eq!(
            said(&[built(&["rocksdb"], gcc), built(&["rocksdb"], clang), built(&["rocksdb"], sized)]),
            [
                "rocksdb built with cc (Debian 12.2.0) 12.2.0, -O2",
                "rocksdb built with clang version 20.1.2, -O2",
                "rocksdb built with clang version 20.1.2, -O3"
            ],
            "the compiler alone would make one of two builds"
        );
        // With many engines, the number is shown, and what both runs have.
        let all = said(&[
            built(&["leveldb", "lmdb", "redb", "rocksdb"], gcc),
            built(&["leveldb", "lmdb", "redb"], clang),
        ]);
        assert_eq!(all[1], "3 engines built with clang version 20.1.2");
        let ready = run("box", &[Sample::new("rocksdb").distributed(false)]);
        assert_eq!(said(&[built(&["rocksdb"], gcc), ready])[1], "rocksdb from the distribution's library");
        assert_eq!(
            said(&[built(&["rocksdb"], gcc), of(&["rocksdb"])]),
            ["", ""],
            "an older run does not know its build"
        );
    }

    #[test]
    fn a_build_that_is_not_ranked_sets_no_run_apart() {
        let with = |assertions| run("box", &[Sample::new("rocksdb").distributed(assertions)]);
        assert_eq!(said(&[with(true), with(false)]), ["", ""]);
    }
}
