//! Made stores that grow old in known ways: the study finds them, and reports their sizes.

use storebench_core::error::Exit;
use storebench_core::result::Measurements;
use storebench_host::run::Run;

use crate::cli::support::Scratch;

/// The least that is reported of a stall of 200 ms, by a clock that may be off by a hundredth.
const STALL_NS: u64 = 198_000_000;
/// The same of the 4 us that a scan takes for each mark that it passes.
const MARK_NS: u64 = 3_960;

/// The trial of a run of one made store.
fn lived(scratch: &Scratch, rest: &str) -> Measurements {
    scratch.faulty(&format!("run life --quick --guarantee process {rest}")).ends(Exit::Success);
    let Run { trials, .. } = scratch.results();
    trials.into_iter().find_map(|trial| trial.measured).unwrap()
}

/// The figures of a section's only line by their names.
fn section(scratch: &Scratch, name: &str) -> impl Fn(&str) -> String + use<> {
    let csv = scratch.faulty(&format!("report latest --csv-section {name}")).ends(Exit::Success).out.clone();
    move |column| {
        // From the right, as titles have commas, too.
        let mut lines = csv.lines().map(|line| line.rsplit(',').collect::<Vec<_>>());
        let (heads, line) = (lines.next().unwrap(), lines.next().unwrap());
        line[heads.iter().position(|head| *head == column).unwrap()].to_owned()
    }
}

/// 20,000 updates have two stalls, at the ends of the fifth tenth and of the last.
#[test]
fn a_stall_each_10_000_writes_is_found_with_its_length_and_its_cause() {
    let scratch = Scratch::new();
    let run = "--store stalls --records 2000 --record-size 100B --churn uniform --turnover 10";
    let measured = lived(&scratch, run);
    let pauses = measured.pauses.unwrap();
    assert!(pauses.by_call["update"] >= 2 && pauses.longest_ns >= STALL_NS, "{pauses:?}");
    assert!(pauses.total_ns >= 2 * STALL_NS && pauses.calls == 20_000, "{pauses:?}");
    let [stall] = pauses.upkeep.as_slice() else { panic!("{pauses:?}") };
    assert_eq!((stall.work.as_str(), stall.after, stall.otherwise), ("stall", 2, 0));
    for tenth in [4, 9] {
        let round = &measured.rounds[tenth].operations[0];
        assert!(round.latency.max_ns >= STALL_NS, "{tenth}: {round:?}");
    }
    let said = scratch.faulty("report latest --table").ends(Exit::Success);
    assert!(said.out.contains("Pauses") && said.out.contains("stall"), "{said}");
}

/// Each tenth writes as many bytes as the set has, so that the files grow by 1 % of it: of what they have at last, 1/110. Blocks of 4 KiB make
/// that 9 or 10 of 1,074.
#[test]
fn a_leak_of_1_percent_is_found_with_its_size() {
    let scratch = Scratch::new();
    let run = "--store leaks --records 1000 --record-size 4000B --churn uniform --turnover 10";
    let measured = lived(&scratch, run);
    assert_eq!(measured.rounds.len(), 10);
    let trends = section(&scratch, "trends");
    assert_eq!(trends("files_trend"), "rises");
    let share: f64 = trends("files_a_round_share").parse().unwrap();
    assert!((0.0083..0.0094).contains(&share), "{share}");
    // Logs can explain so little.
    assert_eq!(trends("rounds_until_twice"), "");
}

/// A queue of 200 records, written five times over, leaves 1,000 marks before its first record, a hundred more each tenth.
#[test]
fn marks_that_scans_of_a_queue_pass_are_seen_tenth_by_tenth() {
    let scratch = Scratch::new();
    let run = "--store keeps-marks --records 200 --record-size 100B --churn queue --turnover 5";
    let measured = lived(&scratch, run);
    for (tenth, round) in (0..).zip(&measured.rounds) {
        let scans = round.operations.iter().find(|one| one.operation == "scan").unwrap();
        assert!(scans.latency.p50_ns >= tenth * 100 * MARK_NS, "{tenth}: {scans:?}");
    }
    let aged = measured.fragmentation.unwrap().aged_scans_ns;
    assert!(aged.len() == 3 && aged.iter().all(|ns| *ns >= 1_000 * MARK_NS), "{aged:?}");
}
