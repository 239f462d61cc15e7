//! The axes of the workload `life`.

use super::def::{AxisDef, Presence, Role};
use super::value::Value;
use super::words::{named, read_choice};
use crate::units::parse_count;

/// How a set of constant size is written again and again.
pub const CHURNS: &[&str] = &["uniform", "zipfian", "waves", "replace", "queue", "log"];

pub(super) static CHURN: AxisDef = AxisDef {
    help: "life: how the set is written: uniform and zipfian overwrite records, waves with values that grow and shrink, replace removes one and inserts another, queue removes the oldest, log the oldest 100 at once",
    presence: Presence::Always(6),
    role: Role::Row,
    known: CHURNS,
    read: |text| read_choice(text, "a churn", CHURNS),
    words: |value| format!("churn {value}"),
    ..named("churn", 1033, "kinds of churn")
};

/// What reads while the set is written.
pub const READERS: &[&str] = &["none", "held", "backup"];

pub(super) static READER: AxisDef = AxisDef {
    help: "life: who reads while the set is written: nobody (none), one who began before and is held (held), as a long report is, or a backup that the engine makes in each tenth (backup)",
    presence: Presence::Off("none"),
    role: Role::Row,
    known: READERS,
    read: |text| read_choice(text, "a reader", READERS),
    words: |value| match value.text() {
        "held" => "reader held".into(),
        "backup" => "backup under way".into(),
        _ => "no reader".into(),
    },
    ..named("reader", 1034, "readers")
};

/// What else writes.
pub const WRITERS: &[&str] = &["none", "batch"];

pub(super) static WRITER: AxisDef = AxisDef {
    help: "life: who else writes: nobody (none), or one who inserts a tenth as many records in one batch, and removes them, in each tenth (batch)",
    presence: Presence::Off("none"),
    role: Role::Row,
    known: WRITERS,
    read: |text| read_choice(text, "a writer", WRITERS),
    words: |value| if value.text() == "batch" { "large batches".into() } else { "no other writer".into() },
    ..named("writer", 1038, "writers")
};

/// What runs while a store reclaims space.
pub const SPACE_RECLAIM_KINDS: &[&str] = &["alone", "concurrent"];

pub(super) static SPACE_RECLAIM: AxisDef = AxisDef {
    help: "life: whether the store reclaims space while nobody works on it (alone), or while one session reads records and another overwrites them (concurrent)",
    presence: Presence::Off("alone"),
    role: Role::Row,
    known: SPACE_RECLAIM_KINDS,
    read: |text| read_choice(text, "a kind of space reclaim", SPACE_RECLAIM_KINDS),
    words: |value| match value.text() {
        "concurrent" => "calls during space reclaim".into(),
        _ => "no calls during space reclaim".into(),
    },
    ..named("space_reclaim", 1039, "kinds of space reclaim")
};

/// The word for a set that was only loaded.
pub const FRESH: &str = "fresh";

/// Once would write what is there: the last write of each record writes the loaded value.
const MOST_TIMES: u64 = 100;

pub(super) static AGE: AxisDef = AxisDef {
    value_name: "fresh|N,...",
    help: "The records that operations find: as they were loaded (fresh), or each overwritten N times since, as in an application after a while",
    presence: Presence::Off(FRESH),
    known: &[FRESH],
    read: |text| match text {
        FRESH => Ok(Value::word(FRESH)),
        times => match parse_count(times)? {
            times @ 2..=MOST_TIMES => Ok(Value::word(&times.to_string())),
            times => {
                Err(format!("an age is {times}: use fresh, or how many times overwritten: 2 to {MOST_TIMES}"))
            }
        },
    },
    words: |value| match value.text() {
        FRESH => FRESH.into(),
        times => format!("overwritten {times} times"),
    },
    ..named("age", 65, "ages")
};
