//! Calls while space is reclaimed, with a store that blocks or refuses writers.

use std::thread;

use storebench_model::cell::Data;
use storebench_model::result::ConcurrentCalls;
use storebench_model::units::SizeRange;

use crate::workload::audit::Record;

use super::super::concurrent_calls::run_with_calls;
use super::*;

const GATE_TIME: Duration = Duration::from_millis(60);

/// Does this in such a store with twenty records.
fn outcome(
    work: impl FnOnce(&FaultyStore, &Records, &[Record]) -> std::result::Result<(), WorkloadError>,
) -> (std::result::Result<ConcurrentCalls, WorkloadError>, Vec<Record>) {
    let folder = tempfile::tempdir().unwrap();
    let options = OpenOptions { sessions: 2, ..OpenOptions::new(folder.path()) };
    let store = FaultyStore::new(Fault::Waits, &options).unwrap();
    let size = SizeRange { from: 10, to: 90 };
    let records = Records::new(7, size, Pool::generate(Data::Incompressible, 7, size));
    let mut existing: Vec<Record> = (0..20).map(|index| (index, 0)).collect();
    let mut session = store.session().unwrap();
    for (index, version) in &existing {
        let mut value = Vec::new();
        records.append_value(*index, *version, &mut value);
        session.insert(&records.key(*index), &value).unwrap();
    }
    drop(session);
    let loaded = existing.clone();
    let outcome =
        run_with_calls(&store, (&records, Churn::Uniform), &mut existing, || work(&store, &records, &loaded));
    (outcome.map(|((), calls)| calls), existing)
}

#[test]
fn who_waits_for_the_work_is_seen_with_the_time_of_it_and_who_does_not_is_not_blamed() {
    let (outcome, existing) = outcome(|store, _, _| {
        let gate = store.refuses.lock().unwrap();
        thread::sleep(GATE_TIME);
        drop(gate);
        Ok(())
    });
    let calls = outcome.unwrap();
    let gate_ns = GATE_TIME.as_nanos() as u64;
    // A write may begin a little after the gate was shut.
    assert!(calls.writes.count >= 1 && calls.writes.longest_ns > gate_ns / 2, "{calls:?}");
    assert!(calls.reads.count > 1 && calls.refused.is_none(), "{calls:?}");
    assert!(calls.reads_before.count > 0 && calls.writes_before.count > 0, "{calls:?}");
    // The first half is read, the second overwritten, as often as reported.
    let writes: u64 = existing.iter().map(|(_, version)| u64::from(*version)).sum();
    assert!(existing[..10].iter().all(|(_, version)| *version == 0));
    assert_eq!(writes, calls.writes_before.count + calls.writes.count);
}

#[test]
fn a_refused_call_is_reported_in_the_stores_words_and_made_again_afterwards() {
    let set_refusing = |store: &FaultyStore, refuses| *store.refuses.lock().unwrap() = refuses;
    let (calls, existing) = outcome(|store, _, _| {
        set_refusing(store, true);
        thread::sleep(GATE_TIME);
        set_refusing(store, false);
        Ok(())
    });
    let calls = calls.unwrap();
    assert_eq!(calls.refused.as_deref(), Some("a write: the file is locked"));
    // The refused one took its time, and its record was written when it was made again.
    let writes: u64 = existing.iter().map(|(_, version)| u64::from(*version)).sum();
    assert_eq!(writes, calls.writes_before.count + calls.writes.count);
    assert!(calls.reads.count > 1, "{calls:?}");
    let (calls, _) = outcome(|store, _, _| {
        set_refusing(store, true);
        thread::sleep(GATE_TIME);
        Ok(())
    });
    let Err(stop) = calls else { panic!("it never works again, and nothing was said") };
    assert!(stop.message.contains("the file is locked"), "{}", stop.message);
}

#[test]
fn a_record_that_is_lost_meanwhile_is_noticed() {
    let (outcome, _) = outcome(|store, records, existing| {
        let mut session = store.session().unwrap();
        for (index, _) in &existing[..10] {
            session.remove(&records.key(*index)).unwrap();
        }
        thread::sleep(GATE_TIME);
        Ok(())
    });
    let Err(stop) = outcome else { panic!("nothing was noticed") };
    assert_eq!(stop.failure, Failure::WrongData);
    assert!(stop.message.contains("is missing or wrong during space reclaim"), "{}", stop.message);
}
