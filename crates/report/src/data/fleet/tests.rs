//! Two stores over machines whose effects are planted.

use storebench_core::cell::{Axis, HERE};
use storebench_core::result::{Counters, LimitReport, Limited, MachineReport, Run};
use storebench_core::units::SizeRange;

use super::*;
use crate::data::samples::{Sample, blocks};
use crate::stats::tests::normal;

/// Three blocks on a machine with so many cores and so slow syncs, where the second store takes so many times as long.
fn machine(name: &str, cores: u32, sync_ns: u64, times: f64) -> Run {
    let block =
        |noise: f64| vec![Sample::new("lmdb").ns(1000.0), Sample::new("sqlite").ns(1000.0 * times * noise)];
    let mut run = blocks(name, &[block(1.0), block(1.02), block(0.99)]);
    run.header.environment.cores = cores;
    for measured in run.trials.iter_mut().filter_map(|trial| trial.measured.as_mut()) {
        for one in &mut measured.operations {
            one.counters =
                Some(Counters { syncs: Some(10), sync_ns: Some(10 * sync_ns), ..Counters::default() });
        }
    }
    run
}

fn found(runs: &[Run]) -> Vec<Pair> {
    let fleet = fleet(&Merged::new(runs, &["null"]));
    // Of two stores at one position both tell the same.
    assert_eq!(fleet.pairs, fleet.fastest);
    fleet.pairs
}

#[test]
fn each_machine_counts_once_and_what_they_share_is_told() {
    let times = [1.5, 2.0, 3.0, 0.5, 1.001];
    let runs: Vec<Run> =
        (0..).zip(times).map(|(number, times)| machine(&format!("box {number}"), 4, 1_000, times)).collect();
    let all = found(&runs);
    let get = all.iter().find(|pair| pair.at.operation == "get").unwrap();
    assert_eq!((get.store.as_str(), get.other.as_str(), get.machines.len()), ("lmdb", "sqlite", 5));
    assert_eq!([Faster::First, Faster::Other, Faster::NotTold].map(|faster| get.count(faster)), [3, 1, 1]);
    let (least, most) = get.range(|_| true).unwrap();
    assert!((least / 0.5 - 1.0).abs() < 0.02 && (most / 3.0 - 1.0).abs() < 0.02);
    let mean = (times.iter().map(|times| times.ln()).sum::<f64>() / 5.0).exp();
    assert!((get.times.value / mean - 1.0).abs() < 0.02, "{get:?}");
    assert!(get.times.interval.unwrap().low < 1.0, "one of five goes the other way");
    assert_eq!(get.decides, []);
    assert!(found(&runs[..1]).is_empty(), "one machine says nothing of others");
    assert!(found(&runs[..2]).iter().all(|pair| pair.times.interval.unwrap().is_range()));
}

#[test]
fn machines_of_one_name_are_told_apart_by_their_identities() {
    let named = |name: &str, id: &str, times: f64| {
        let mut run = machine(name, 4, 1_000, times);
        run.header.environment.machine_id = Some(id.into());
        run
    };
    let all = found(&[named("box", "a1", 1.5), named("box", "b7", 2.0), named("desk", "c3", 3.0)]);
    let get = all.iter().find(|pair| pair.at.operation == "get").unwrap();
    let names: BTreeSet<&str> = get.machines.iter().map(|on| on.machine.as_str()).collect();
    assert_eq!(names, ["box with the identity a1", "box with the identity b7", "desk"].into());
}

#[test]
fn a_planted_property_is_found_and_no_other() {
    let run = |(number, sync_ns): (u32, u64)| {
        machine(&format!("box {number}"), 2 + number % 2, sync_ns, (sync_ns as f64).sqrt() / 10.0)
    };
    let runs: Vec<Run> = (0..).zip([1_000, 200, 50_000, 9_000, 700]).map(run).collect();
    assert!(found(&runs).iter().all(|pair| pair.decides == [(Property::Sync, true)]));
    assert!(found(&runs[..4]).iter().all(|pair| pair.decides.is_empty()), "too few");
}

/// Machines differ at random, and are measured with errors of very different sizes: the interval holds the true mean in 95 of 100
/// cases at least.
#[test]
fn the_interval_over_machines_covers_the_mean_of_all_machines() {
    let mut random = fastrand::Rng::with_seed(33);
    for count in [3, 9] {
        let mut covers = 0;
        for _ in 0..2_000 {
            let ratio = |number: i32| {
                let error = if number % 2 == 0 { 0.02 } else { 0.8 };
                (0.3 * normal(&mut random) + error * normal(&mut random)).exp()
            };
            let ratios: Vec<f64> = (0..count).map(ratio).collect();
            let interval = geometric_mean(&ratios).unwrap().interval.unwrap();
            covers += u32::from(interval.low < 1.0 && interval.high > 1.0);
        }
        // Two standard errors of a share of 2,000 are a hundredth.
        assert!(covers >= 1_880, "{covers} of 2,000 with {count} machines");
    }
}

/// Three stores at two sizes: the second takes twice as long as the first in small records and a quarter less in large ones, the third
/// thrice as long as the first on one of two machines.
fn three(name: &str, third: f64) -> Run {
    let sized = |store: &str, small: f64, large: f64| {
        let of = |to: u64, times: f64| Sample::new(store).size(SizeRange { from: 1, to }).ns(1000.0 * times);
        [of(1024, small), of(4096, large)]
    };
    let block = |noise: f64| {
        [
            sized("lmdb", 1.0, 1.0),
            sized("redb", 2.0 * noise, 0.75 * noise),
            sized("sqlite", third * noise, third),
        ]
        .concat()
    };
    blocks(name, &[1.0, 1.01, 0.99, 1.0].map(block))
}

#[test]
fn every_two_stores_are_compared_over_what_the_same_machines_have() {
    let runs = [three("one", 3.0), three("two", 1.0)];
    let fleet = fleet(&Merged::new(&runs, &["null"]));
    let of = |a: &str, b: &str| {
        let is =
            |pair: &&Pair| pair.at.operation == "get" && (pair.store.as_str(), pair.other.as_str()) == (a, b);
        fleet.pairs.iter().find(is)
    };
    let redb = of("lmdb", "redb").unwrap();
    let mean = (2.0_f64 * 0.75).sqrt();
    assert!((redb.times.value / mean - 1.0).abs() < 0.01, "{redb:?}");
    assert_eq!((redb.combinations, redb.other_way, redb.count(Faster::First)), (2, 1, 2));
    assert_eq!(redb.at.position.value(Axis::RECORD_SIZE), None, "it stands for both");
    let sqlite = of("lmdb", "sqlite").unwrap();
    assert_eq!([Faster::First, Faster::Other, Faster::NotTold].map(|faster| sqlite.count(faster)), [1, 0, 1]);
    // Neither is the fastest: on one machine the one wins, on the other the other, by less.
    let rivals = of("redb", "sqlite").unwrap();
    assert_eq!([Faster::First, Faster::Other].map(|faster| rivals.count(faster)), [1, 1]);
    assert!(rivals.times.value > 1.0, "{rivals:?}");
    // A size that one machine lacks is compared where it is.
    let mut runs = [three("one", 3.0), three("two", 1.0), three("three", 2.0)];
    runs[2].trials.retain(|trial| trial.cell.record_size() == SizeRange { from: 1, to: 1024 }.into());
    let fleet = super::fleet(&Merged::new(&runs, &["null"]));
    let shapes =
        fleet.pairs.iter().map(|pair| (pair.machines.len(), pair.combinations)).collect::<BTreeSet<_>>();
    assert_eq!(shapes, [(2, 1), (3, 1)].into());
}

#[test]
fn the_time_of_a_sync_is_that_of_work_that_all_machines_did() {
    // The slower its syncs, the less the ratio; and a store with quick syncs that only the slow ones have says nothing of them.
    let run = |(number, sync_ns): (u32, u64)| {
        let mut run = machine(&format!("box {number}"), 4, sync_ns, 1e3 / (sync_ns as f64).sqrt());
        let quick = machine(&format!("box {number}"), 4, 1, 1.0);
        let own = |mut trial: storebench_core::result::TrialResult| {
            trial.cell.set(Axis::STORE, Axis::STORE.read("redb").unwrap());
            trial
        };
        if sync_ns > 5_000 {
            run.trials.extend(quick.trials.into_iter().map(own));
        }
        run
    };
    let runs: Vec<Run> = (0..).zip([1_000, 2_000, 50_000, 9_000, 700]).map(run).collect();
    let fleet = fleet(&Merged::new(&runs, &["null"]));
    let own: Vec<&Pair> =
        fleet.pairs.iter().filter(|pair| pair.other == "sqlite" && pair.store == "lmdb").collect();
    assert_eq!(own.len(), 4);
    assert!(own.iter().all(|pair| pair.decides == [(Property::Sync, false)]), "{own:?}");
}

/// The same work under limits that stand in for a machine, of so much memory; `here` without.
fn limited(hardware: &str, profile: &str, memory: u64, times: f64) -> Run {
    let mut run = machine(hardware, 8, 1_000, times);
    if profile == HERE {
        return run;
    }
    run.header.plan.push_str(&format!(
        "\n[machines.{profile}]\nmemory = \"{}MiB\"\nprocessors = 1\ndisk = \"sd-a1\"\n",
        memory >> 20
    ));
    for trial in &mut run.trials {
        trial.cell.set(Axis::MACHINE, Axis::MACHINE.read(profile).unwrap());
        trial.cell.set(Axis::DISK, Axis::DISK.read("sd-a1").unwrap());
        let held = |limit, in_force| LimitReport {
            limit,
            asked: in_force,
            in_force: Some(in_force),
            by: None,
            remark: None,
        };
        trial.machine = Some(MachineReport {
            name: profile.into(),
            limits: vec![held(Limited::Memory, memory), held(Limited::Processors, 1)],
            memory_limit_hits: None,
            throttled_periods: None,
            throttled_ns: None,
        });
    }
    run
}

#[test]
fn machines_that_limits_stand_in_for_are_compared_where_each_run_has_one() {
    let profiles = ["beaglebone-black", "phone-2020", "laptop-hdd", "raspberry-pi-zero-2", HERE];
    let run = |(number, profile): (i32, &str)| {
        limited("desk", profile, (64 << 20) << number, 1.5 + f64::from(number))
    };
    let runs: Vec<Run> = (0..).zip(profiles).map(run).collect();
    let pairs = found(&runs);
    let names: Vec<&str> = pairs[0].machines.iter().map(|on| on.machine.as_str()).collect();
    let expected = [
        "desk",
        "desk as beaglebone-black",
        "desk as laptop-hdd",
        "desk as phone-2020",
        "desk as raspberry-pi-zero-2",
    ];
    assert_eq!(names, expected);
    // The memory is that of the limits; of the host's it would be the same four times.
    assert!(pairs.iter().all(|pair| pair.decides == [(Property::Memory, true)]), "{pairs:?}");
    let told = fleet(&Merged::new(&runs, &["null"])).remarks;
    assert!(told.len() == 1 && told[0].contains("are one host under limits"), "{told:?}");
    // A run of two machines tells them apart itself.
    let mut both = limited("desk", HERE, 0, 2.0);
    both.trials.extend(limited("desk", "phone-2020", 64 << 20, 2.0).trials);
    assert!(found(&[both, limited("desk", "laptop-hdd", 64 << 20, 2.0)]).is_empty());
}

#[test]
fn machines_with_processors_and_kernels_of_their_own_are_compared_and_one_of_two_kernels_counts_once() {
    let of = |name: &str, version: &str, day: u32, times: f64| {
        let mut run = machine(name, 4, 1_000, times);
        run.header.environment.cpu = Some(format!("processor of {name}"));
        run.header.environment.kernel = format!("Linux {version} x86_64");
        run.header.started = format!("2026-01-0{day}T00:00:00Z");
        // The version of files in folders is the kernel's.
        for trial in run.trials.iter_mut().filter(|trial| trial.cell.store() == "sqlite") {
            trial.cell.set(Axis::STORE, Axis::STORE.read("flat-folder").unwrap());
            trial.measured.as_mut().unwrap().store_version = format!("Linux {version}");
        }
        run
    };
    let runs = [of("box", "6.1", 1, 2.0), of("other", "6.9", 2, 3.0), of("box", "6.12", 3, 4.0)];
    let pairs = found(&runs);
    assert_eq!(pairs.len(), 4);
    let times: Vec<(&str, f64)> =
        pairs[0].machines.iter().map(|on| (on.machine.as_str(), on.times.ratio.value.round())).collect();
    assert_eq!(times, [("box", 4.0), ("other", 3.0)], "the newest counts, and once");
    assert!(found(&[runs[0].clone(), runs[2].clone()]).is_empty(), "one machine with two kernels is one");
    // An engine of another version is another.
    let mut runs = [machine("box", 4, 1_000, 2.0), machine("other", 4, 1_000, 2.0)];
    for trial in &mut runs[1].trials {
        trial.measured.as_mut().unwrap().store_version = "9.9".into();
    }
    assert!(found(&runs).is_empty());
}

#[test]
fn machines_of_one_type_count_as_several_and_are_named() {
    let of = |name: &str, cores: u32, memory_bytes: u64, kernel: &str| {
        let mut run = machine(name, cores, 1_000, 2.0);
        run.header.environment.memory_bytes = Some(memory_bytes);
        run.header.environment.kernel = kernel.into();
        run
    };
    let mut runs =
        [of("a", 4, 8 << 30, "6.1"), of("b", 4, (8 << 30) - 4096, "6.9"), of("c", 4, 16 << 30, "6.1")];
    let told = |runs: &[Run]| fleet(&Merged::new(runs, &["null"])).remarks;
    let remarks = told(&runs);
    assert_eq!(remarks.len(), 1);
    assert!(
        remarks[0].starts_with("a and b are of one type (") && remarks[0].contains("count as 2 machines"),
        "{remarks:?}"
    );
    assert_eq!(found(&runs)[0].machines.len(), 3);
    runs[1].header.environment.cores = 2;
    assert_eq!(told(&runs), Vec::<String>::new());
    runs[1].header.environment.cores = 4;
    runs[1].header.environment.cpu = None;
    assert_eq!(told(&runs), Vec::<String>::new(), "what is not known is like nothing");
}

/// The sentences on these runs, without the remarks on machines.
fn said(runs: &[Run]) -> Vec<String> {
    let merged = Merged::new(runs, &["null"]);
    words::sentences(&merged, &fleet(&merged).pairs)
}

#[test]
fn a_sentence_tells_on_which_part_of_the_machines_a_store_is_faster() {
    let runs = |times: &[f64]| -> Vec<Run> {
        (0..).zip(times).map(|(number, times)| machine(&format!("box {number}"), 4, 1_000, *times)).collect()
    };
    for (times, words) in [
        (
            &[2.0, 3.0, 4.0][..],
            "get at process: lmdb beats sqlite on all machines (3 of 3), by 2.01 to 4.01 times; mean ",
        ),
        (
            &[2.0, 3.0, 1.0],
            "lmdb beats sqlite on most machines (2 of 3), by 2.01 to 3.01 times; on 1 the trials can't tell; mean ",
        ),
        (
            &[2.0, 1.0, 1.0],
            "lmdb beats sqlite on some machines (1 of 3), by 2.01 times; on 2 the trials can't tell; mean ",
        ),
        (
            &[0.5, 1.0, 0.25, 2.0],
            "sqlite beats lmdb on some machines (2 of 4), by 1.99 to 3.99 times; lmdb beats sqlite on 1, by 2.01 times",
        ),
        (&[1.0, 1.0], "none of 2 machines tells "),
    ] {
        let said = said(&runs(times));
        let get = said.iter().find(|said| said.starts_with("get")).unwrap();
        assert!(get.contains(words), "{get}");
    }
}

#[test]
fn all_machines_together_may_tell_what_none_tells_by_itself() {
    let run = |number: i32| {
        let block =
            |noise: f64| vec![Sample::new("lmdb").ns(1000.0), Sample::new("sqlite").ns(2500.0 * noise)];
        let times = 1.0 + f64::from(number) / 10.0;
        blocks(&format!("box {number}"), &[block(3.0 * times), block(times / 3.0), block(times)])
    };
    let runs: Vec<Run> = (0..6).map(run).collect();
    let get = said(&runs).into_iter().find(|said| said.starts_with("get")).unwrap();
    let words =
        "none of 6 machines tells lmdb from sqlite by its own trials; all together do, lmdb is faster: mean ";
    assert!(get.contains(words), "{get}");
}

#[test]
fn of_many_comparisons_those_furthest_apart_are_told_and_the_others_counted() {
    let run = |name: &str| {
        let stores = [("lmdb", 1.0), ("redb", 2.0), ("sqlite", 4.0), ("sled", 8.0)];
        let block = |noise: f64| -> Vec<Sample> {
            stores.iter().map(|(store, times)| Sample::new(store).ns(1000.0 * times * noise)).collect()
        };
        blocks(name, &[block(1.0), block(1.02), block(0.99)])
    };
    let said = said(&[run("one"), run("two")]);
    // Six pairs and four operations.
    assert_eq!(said.len(), 11);
    assert!(said[0].contains("lmdb beats sled on all machines (2 of 2), by 8.00 times"), "{}", said[0]);
    let rest = "14 more are in the table of every two stores (--table). Of all 24 comparisons one store is faster on all machines in 24, \
                on most in 0, on some in 0, on none in 0.";
    assert_eq!(said[10], rest);
}

#[test]
fn small_ratios_are_told_the_other_way_round() {
    assert_eq!([2.776, 0.653, 0.9999, 1.0].map(words::times), ["2.78x", "1/1.53x", "1.00x", "1.00x"]);
}
