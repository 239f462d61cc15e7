//! The axis of the workload `life`.

use super::def::{Axis, AxisDef, Presence, Role};
use super::value::Value;
use super::words::WORDS;
use crate::shown::quoted;

/// The ways in which a set of constant size is written again and again.
pub const CHURNS: &[&str] = &["uniform", "zipfian", "replace", "queue"];

pub(super) static CHURN: AxisDef = AxisDef {
    name: "churn",
    order: 1033,
    help: "life: how the set is written: uniform and zipfian overwrite records, replace removes one and inserts another, queue the oldest and a new one",
    many: "kinds of churn",
    presence: Presence::Always(6),
    role: Role::Row,
    known: CHURNS,
    read: |text| match CHURNS.iter().position(|known| *known == text) {
        Some(place) => Ok(Value::new(text, place as u64, 0)),
        None => Err(format!("{} is no churn: use {}", quoted(text), CHURNS.join(", "))),
    },
    words: |value| format!("churn {value}"),
    ..WORDS
};

#[allow(missing_docs, reason = "the table says what it is")]
impl Axis {
    pub const CHURN: Axis = Axis(&CHURN);
}
