//! The axes of the workload `life`.

use super::def::{Axis, AxisDef, Presence, Role};
use super::words::{WORDS, one_of};

/// The ways in which a set of constant size is written again and again.
pub const CHURNS: &[&str] = &["uniform", "zipfian", "replace", "queue", "log"];

pub(super) static CHURN: AxisDef = AxisDef {
    name: "churn",
    order: 1033,
    help: "life: how the set is written: uniform and zipfian overwrite records, replace removes one and inserts another, queue the oldest and a new one, log adds new ones and removes the oldest 100 at once",
    many: "kinds of churn",
    presence: Presence::Always(6),
    role: Role::Row,
    known: CHURNS,
    read: |text| one_of(text, "a churn", CHURNS),
    words: |value| format!("churn {value}"),
    ..WORDS
};

/// Whether a reader is held while the set is written.
pub const READERS: &[&str] = &["none", "held"];

pub(super) static READER: AxisDef = AxisDef {
    name: "reader",
    order: 1034,
    help: "life: who reads while the set is written: nobody (none), or one who began before and is held (held), as a long report or a backup is",
    many: "readers",
    presence: Presence::Off("none"),
    role: Role::Row,
    known: READERS,
    read: |text| one_of(text, "a reader", READERS),
    words: |value| if value.text() == "held" { "reader held".into() } else { "no reader".into() },
    ..WORDS
};

#[allow(missing_docs, reason = "the table says what it is")]
impl Axis {
    pub const CHURN: Axis = Axis(&CHURN);
    pub const READER: Axis = Axis(&READER);
}
