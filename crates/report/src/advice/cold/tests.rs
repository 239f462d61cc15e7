//! Cold reads are reported if they were cold.

use storebench_host::run::Run;
use storebench_model::cell::{Axis, Cache};
use storebench_model::units::CountRange;
use storebench_samples::{Sample, blocks};

use super::super::question::Question;
use super::super::remarks::remarks;
use super::super::tests::{advice, question};

/// Three blocks of warm and three of cold trials, of a thousand reads each, with the nanoseconds of a cold operation and lmdb's noise.
fn runs(records: u64, lmdb: f64, redb: f64, noise: [f64; 3]) -> [Run; 2] {
    let records = CountRange { from: records, to: records * 5 };
    let run_of = |lmdb: f64, redb: f64, noise: [f64; 3]| {
        let block = |noise: f64| {
            let lmdb = Sample::new("lmdb").records(records).ns(lmdb * noise);
            vec![lmdb, Sample::new("redb").records(records).ns(redb)]
        };
        blocks("box", &noise.map(block))
    };
    let mut cold = run_of(lmdb, redb, noise);
    cold.trials.iter_mut().for_each(|trial| trial.cell.set(Axis::CACHE, Cache::Cold.into()));
    [run_of(50_000.0, 90_000.0, [1.0; 3]), cold]
}

fn describe_cold(records: u64, lmdb: f64, redb: f64, noise: [f64; 3]) -> String {
    let asked = Question { records, ..question() };
    remarks(&advice(&asked, &runs(records, lmdb, redb, noise)).unwrap()).join(" ")
}

#[test]
fn cold_reads_say_whether_the_recommended_store_is_still_fastest() {
    for (lmdb, noise, words) in [
        (1e6, [1.0; 3], "lmdb is still fastest (lmdb 500 µs, redb 1.00 ms"),
        (3e6, [1.0; 3], "redb is fastest, lmdb is 1.50x slower (redb "),
        (2.1e6, [1.0, 1.3, 0.8], "lmdb is too close to call with redb (redb "),
    ] {
        let text = describe_cold(1000, lmdb, 2e6, noise);
        assert!(text.contains(&format!("Read cold, from disk: {words}")), "{text}");
    }
}

#[test]
fn more_reads_than_records_are_not_called_cold() {
    assert!(!describe_cold(999, 1e6, 2e6, [1.0; 3]).contains("Read cold"));
}
