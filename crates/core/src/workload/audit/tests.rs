//! Tests of the records that the audit chooses, and of the faults that it notices.

use storebench_model::result::Failure;
use storebench_model::store::OpenOptions;
use storebench_model::stores::{FLAT_FOLDER, MEMORY};
use storebench_model::units::SizeRange;

use super::*;
use crate::record::pool::Pool;

fn expected(shares: &[&[u8]], loaded: u64) -> ExpectedRecords {
    let versions = shares.iter().map(|share| share.to_vec()).collect();
    ExpectedRecords { seed: 3, loaded, versions, removes: true, seen_gone: 0 }
}

#[test]
fn few_records_are_all_read_in_the_order_of_their_indexes() {
    // Two threads; the second inserted one more than the first.
    let expected = expected(&[&[0, 7, 0], &[1, 0, 0, 9]], 4);
    let records: Vec<_> = (0..6).zip([0, 1, 7, 0, 0, 0]).chain([(7, 9)]).collect();
    assert_eq!(expected.choose(7), records);
    assert_eq!(expected.live(), 7);
}

#[test]
fn of_many_records_a_sample_is_read_and_those_touched_come_first() {
    let mut versions = vec![0; 50_000];
    versions[..2_000].fill(1);
    let expected = expected(&[&versions], 40_000);
    let count = |most: u64| {
        let chosen = expected.choose(most);
        assert_eq!(chosen, expected.choose(most), "the same each time");
        let touched = chosen.iter().filter(|record| expected.is_touched(**record)).count();
        (touched, chosen.len() - touched)
    };
    // 12,000 were touched: 2,000 updated, 10,000 inserted.
    let (touched, rest) = count(20_000);
    assert!(touched == 12_000 && (7_500..8_500).contains(&rest), "{touched} {rest}");
    let (touched, rest) = count(5_000);
    assert!((4_200..4_800).contains(&touched) && (350..650).contains(&rest), "{touched} {rest}");
    assert_eq!(count(50_000), (12_000, 38_000));
}

#[test]
fn how_many_are_read_depends_on_their_size() {
    assert_eq!(most_records(100.0), MOST_RECORDS);
    assert_eq!(most_records(f64::from(1 << 20)), 256);
    assert_eq!(most_records(1e12), FEWEST_RECORDS);
}

#[test]
fn some_records_from_all_over_are_removed_for_good() {
    for live in [0, 1, 2, 3, 31, 32, 33, 1000] {
        let records: Vec<(u64, u8)> = (0..live).map(|index| (index, 0)).collect();
        let (removed, kept) = expected(&[], 0).split_removed(records.clone());
        assert_eq!(removed.len(), REMOVED.min(records.len() / 2), "{live}");
        let mut removed_and_kept = [removed.clone(), kept].concat();
        removed_and_kept.sort_unstable();
        assert_eq!(removed_and_kept, records, "{live}");
        assert!(live < 1000 || removed.last().unwrap().0 > 900, "{removed:?}");
    }
}

#[test]
fn less_disk_than_incompressible_values_is_warned_of() {
    let stored = StoredRecords { records: 10, key_bytes: 320, value_bytes: 10_000 };
    let disk = |allocated_bytes| Disk { allocated_bytes, apparent_bytes: 50_000, files: 1 };
    assert_eq!(warnings(Data::Incompressible, &stored, &disk(10_000)), []);
    assert_eq!(warnings(Data::Compressible, &stored, &disk(4_096)), []);
    let warnings = warnings(Data::Incompressible, &stored, &disk(4_096));
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].reason.contains("10000") && warnings[0].reason.contains("4096"), "{warnings:?}");
}

fn audit(
    def: &storebench_model::store::StoreDef,
    opening: AuditOpening,
    change_store: impl FnOnce(&dyn Store, &Records),
) -> Result<Audit, WorkloadError> {
    let size = SizeRange { from: 20, to: 300 };
    let records = Records::new(5, size, Pool::generate(Data::Incompressible, 5, size));
    let folder = tempfile::tempdir().unwrap();
    let options = OpenOptions::new(folder.path());
    let mut bench = Bench::open(def.open.unwrap(), options).unwrap();
    let mut versions = vec![0; 40];
    versions[7] = 3;
    for (index, version) in (0..).zip(&versions) {
        let mut value = Vec::new();
        records.append_value(index, *version, &mut value);
        bench.store().unwrap().session().unwrap().insert(&records.key(index), &value).unwrap();
    }
    change_store(bench.store().unwrap(), &records);
    expected(&[&versions], 40).audit(&mut bench, &records, opening)
}

#[test]
fn a_store_that_holds_what_was_written_passes() {
    let open = audit(&MEMORY, AuditOpening::Open, |_, _| ()).unwrap();
    assert_eq!((open.records, open.read_back, open.removed, open.reopened), (40, 40, 16, 0));
    let anew = audit(&FLAT_FOLDER, AuditOpening::Anew, |_, _| ()).unwrap();
    assert_eq!((anew.records, anew.read_back, anew.removed, anew.reopened), (40, 40, 16, 2));
    assert!(anew.took_ns > 0);
}

#[test]
fn what_is_wrong_missing_or_too_much_is_noticed() {
    let failure_message = |def, opening, change_store: &dyn Fn(&dyn Store, &Records)| {
        let stop = audit(def, opening, change_store).unwrap_err();
        assert_eq!(stop.failure, Failure::WrongData, "{}", stop.message);
        stop.message
    };
    let write_old_value = |store: &dyn Store, records: &Records| {
        let mut value = Vec::new();
        records.append_value(7, 2, &mut value);
        store.session().unwrap().update(&records.key(7), &value).unwrap();
    };
    let remove_last = |store: &dyn Store, records: &Records| {
        store.session().unwrap().remove(&records.key(39)).unwrap();
    };
    let insert_another = |store: &dyn Store, records: &Records| {
        store.session().unwrap().insert(&records.key(40), b"one too many").unwrap();
    };
    for (def, opening) in [(&MEMORY, AuditOpening::Open), (&FLAT_FOLDER, AuditOpening::Anew)] {
        let message = failure_message(def, opening, &write_old_value);
        let is_described = message.contains("record 7 ") && message.contains("is not what was written last");
        assert!(is_described, "{message}");
        assert!(failure_message(def, opening, &remove_last).contains("record 39 "));
        let message = failure_message(def, opening, &insert_another);
        assert!(message.contains("counts 25 records, but should hold 24"), "{message}");
    }
    let message = failure_message(&MEMORY, AuditOpening::Anew, &|_, _| ());
    assert!(message.contains("is missing") && message.contains("closed and opened anew"), "{message}");
}
