//! A process that writes is killed: everything acknowledged must be there.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use storebench_core::workload::kill::steps::{self, Step, expected, record_key, step};
use storebench_model::store::{Batch, Guarantee, Session};

use crate::cli::support::faulty;

use super::subject::{Subject, assert_holds, for_each_keeping_privately, get};

/// The longest value that is written, in bytes: so long that a kill can fall into the middle of writing it.
const MOST_BYTES: usize = 20_000;

/// The longest time for a writer's next step before it counts as hung.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn acknowledged_writes_are_there_after_a_kill() {
    for_each_keeping_privately(|subject| {
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

fn record_value(record: u64, step: u64) -> Vec<u8> {
    steps::record_value(record, step, MOST_BYTES)
}

/// Starts a writer, kills it a little after it has acknowledged `steps` steps, and says how many it has in the end.
fn write_and_kill(subject: &Subject, steps: u64, delay: Duration) -> u64 {
    let log = tempfile::tempfile_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let tier = subject.tier.map_or("default", Guarantee::name);
    let mut writer = Command::new(faulty())
        .args(["write", subject.def.name])
        .arg(subject.directory.path())
        .args([tier, "1000000000", &MOST_BYTES.to_string()])
        .args(subject.def.library.map(|library| &library.path))
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
    let uncertain = under_way.records().count() as u64;
    let certain = expected.keys().filter(|record| !under_way.records().contains(record)).count() as u64;
    drop(session);
    let count = store.count().unwrap();
    assert!(
        (certain..=certain + uncertain).contains(&count),
        "{count} records, not {certain} to {}",
        certain + uncertain
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
    if let (Step::Batch(records) | Step::Transaction(records), Batch::Atomic) = (&step, subject.can().batch) {
        let all = records.clone().count() as u64;
        assert!(done == 0 || done == all, "step {number}: {done} of a batch of {all} are there");
    }
}
