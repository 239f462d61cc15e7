//! A process that writes is killed: all that it was told is written must be there.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use storebench_core::store::{Batch, Guarantee, Session};

use crate::cli::support::faulty;
use crate::steps::{BATCH_RECORDS, Step, record_key, record_value, step};

use super::subject::{Subject, assert_holds, for_each_keeping, get};

/// The longest time for a writer's next step before it counts as hung.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn acknowledged_writes_are_there_after_a_kill() {
    for_each_keeping(|subject| {
        if subject.guarantee() < Guarantee::Process {
            return;
        }
        for _ in 0..2 {
            let subject = subject.anew();
            let random = RandomState::new().hash_one(0);
            let steps = 16 + random % subject.operations(300);
            let delay = Duration::from_micros(random >> 32 & 0xFFF);
            let acknowledged = write_and_kill(&subject, steps, delay);
            check(&subject, acknowledged);
        }
    });
}

/// Starts a writer, kills it once it has acknowledged `steps` steps and a little time has passed, and says how many it
/// has acknowledged in the end.
fn write_and_kill(subject: &Subject, steps: u64, delay: Duration) -> u64 {
    let log = tempfile::tempfile_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let tier = subject.tier.map_or("default", Guarantee::name);
    let mut writer = Command::new(faulty())
        .args(["write", subject.def.name])
        .arg(subject.directory.path())
        .args([tier, "1000000000"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log.try_clone().unwrap())
        .spawn()
        .unwrap();
    let output = BufReader::new(writer.stdout.take().unwrap());
    // Bounded, so that a writer can't run far ahead of the kill and fill the disk.
    let (send, lines) = mpsc::sync_channel(16);
    let reader = std::thread::spawn(move || {
        output.lines().map_while(Result::ok).try_for_each(|line| send.send(line)).is_ok()
    });
    let mut acknowledged = 0;
    let mut take = |line: String| {
        assert_eq!(line, acknowledged.to_string(), "the steps come in order");
        acknowledged += 1;
    };
    let mut hung_or_ended = false;
    for _ in 0..steps {
        match lines.recv_timeout(PATIENCE) {
            Ok(line) => take(line),
            Err(_) => {
                hung_or_ended = true;
                break;
            }
        }
    }
    std::thread::sleep(delay);
    writer.kill().unwrap();
    writer.wait().unwrap();
    lines.iter().for_each(&mut take);
    assert!(reader.join().unwrap());
    assert!(!hung_or_ended, "the writer stopped after {acknowledged} steps: {}", text_of(log));
    acknowledged
}

fn text_of(mut file: std::fs::File) -> String {
    let mut text = String::new();
    std::io::Seek::rewind(&mut file).unwrap();
    std::io::Read::read_to_string(&mut file, &mut text).unwrap();
    text
}

/// The records that a store must hold after the first `steps` steps, each with the step that wrote its value.
fn expected(steps: u64) -> BTreeMap<u64, u64> {
    let mut held = BTreeMap::new();
    for number in 0..steps {
        let step = step(number);
        for record in step.records() {
            match step {
                Step::Remove(_) => held.remove(&record),
                _ => held.insert(record, number),
            };
        }
    }
    held
}

/// Holds the store to the acknowledged steps. The step after them was under way: it may have happened or not.
fn check(subject: &Subject, acknowledged: u64) {
    let store = subject.open();
    let mut session = store.session().unwrap();
    let expected = expected(acknowledged);
    let under_way = step(acknowledged);
    let touched: Vec<u64> = (0..acknowledged).flat_map(|number| step(number).records()).collect();
    for record in touched.iter().filter(|record| !under_way.records().contains(record)) {
        let value = expected.get(record).map(|&number| record_value(*record, number));
        assert_holds(&mut *session, record_key(*record).as_bytes(), value.as_deref());
    }
    check_step_under_way(subject, &mut *session, acknowledged, &expected);
    let unsure = under_way.records().count() as u64;
    let surely = expected.keys().filter(|record| !under_way.records().contains(record)).count() as u64;
    drop(session);
    let count = store.count().unwrap();
    assert!(
        (surely..=surely + unsure).contains(&count),
        "{count} records, not {surely} to {}",
        surely + unsure
    );
    // And life goes on.
    store.session().unwrap().insert(record_key(u64::MAX).as_bytes(), b"new").unwrap();
    store.close().unwrap();
    let store = subject.open();
    assert_holds(&mut *store.session().unwrap(), record_key(u64::MAX).as_bytes(), Some(b"new"));
}

/// Holds the records of the step that was under way to what the store declares of torn values and batches.
fn check_step_under_way(
    subject: &Subject,
    session: &mut dyn Session,
    number: u64,
    before: &BTreeMap<u64, u64>,
) {
    let step = step(number);
    let mut done = 0;
    for record in step.records() {
        let found = get(session, record_key(record).as_bytes());
        let old = before.get(&record).map(|&number| record_value(record, number));
        let new = (!matches!(step, Step::Remove(_))).then(|| record_value(record, number));
        done += u64::from(found == new);
        assert!(
            found == old || found == new || !subject.offer().atomic_replace,
            "step {number}, {step:?}, was killed and left a part: {:?} bytes; old {:?}, new {:?}",
            found.map(|value| value.len()),
            old.map(|value| value.len()),
            new.map(|value| value.len())
        );
    }
    if let (Step::Batch(records), Batch::Atomic) = (&step, subject.can().batch) {
        let all = records.clone().count() as u64;
        assert!(done == 0 || done == all, "step {number}: {done} of a batch of {all} are there");
    }
}

#[test]
fn steps_touch_only_what_must_be_there() {
    let mut held = BTreeSet::new();
    let mut kinds = [0; 4];
    for number in 0..1_000 {
        match step(number) {
            Step::Insert(record) => {
                kinds[0] += 1;
                assert!(held.insert(record), "step {number}");
            }
            Step::Update(record) => {
                kinds[1] += 1;
                assert!(held.contains(&record), "step {number}");
            }
            Step::Remove(record) => {
                kinds[2] += 1;
                assert!(held.remove(&record), "step {number}");
            }
            Step::Batch(records) => {
                kinds[3] += 1;
                assert!(records.clone().all(|record| held.insert(record)), "step {number}");
                assert_eq!(records.count() as u64, BATCH_RECORDS);
            }
        }
    }
    assert!(kinds.iter().all(|&kind| kind > 50), "{kinds:?}");
    assert_eq!(held, expected(1_000).into_keys().collect());
}

#[test]
fn expected_names_the_last_step_that_wrote() {
    assert_eq!(expected(0), BTreeMap::new());
    assert_eq!(expected(4)[&BATCH_RECORDS], 3);
    assert_eq!(expected(6)[&(4 * BATCH_RECORDS)], 4);
    assert_eq!(expected(7).get(&(4 * BATCH_RECORDS)), None);
}
