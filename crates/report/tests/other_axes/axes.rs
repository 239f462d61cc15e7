//! Axes that no table of the program has.

use std::sync::Once;

use storebench_core::axis::table::{WORDS, read};
use storebench_core::axis::{Axis, AxisDef, Form, Presence, Role, own};
use storebench_core::units::SizeRange;

static MOTION: AxisDef = AxisDef {
    name: "motion",
    order: 2_000,
    many: "motions",
    presence: Presence::Always(20),
    role: Role::Contestant,
    ..WORDS
};

static CHUNK_SIZE: AxisDef = AxisDef {
    name: "chunk_size",
    order: 2_010,
    many: "chunk sizes",
    presence: Presence::Always(21),
    role: Role::Row,
    form: Form::Range,
    unit: "bytes",
    read: read::<SizeRange>,
    ..WORDS
};

static EXTENT: AxisDef = AxisDef {
    name: "extent",
    order: 2_020,
    many: "extents",
    presence: Presence::Always(22),
    role: Role::Column,
    form: Form::Range,
    unit: "bytes",
    read: read::<SizeRange>,
    words: |value| format!("extent {value}"),
    ..WORDS
};

static FLUSH: AxisDef = AxisDef {
    name: "flush",
    order: 1_990,
    many: "flush modes",
    presence: Presence::Off("no"),
    role: Role::Half,
    words: |value| format!("flush {value}"),
    ..WORDS
};

static QUEUE: AxisDef =
    AxisDef { name: "queue", order: 1_980, many: "queues", presence: Presence::Off("1"), ..WORDS };

static OWN: [&AxisDef; 5] = [&MOTION, &CHUNK_SIZE, &EXTENT, &FLUSH, &QUEUE];

/// One of them, by its name.
pub fn axis(name: &str) -> Axis {
    static ADDED: Once = Once::new();
    ADDED.call_once(|| own::add(&OWN));
    Axis::named(name).unwrap()
}
