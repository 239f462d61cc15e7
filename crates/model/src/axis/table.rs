//! The table of axes.

use storebench_disk::disks;

use super::def::{Axis, AxisDef, Form, Presence, Role};
use super::file_system::FileSystem;
use super::file_system::kind::KINDS;
use super::value::Value;
use super::values::{Background, Cache, Compression, Data, GuaranteeChoice, Rate, Tuning};
use super::words::{WORDS, named, read, read_count};
use super::{device, life, shop, sql, table, ycsb};
use crate::sanitize::quoted;
use crate::units::{CountRange, Sizes, exact_bytes, plural, with_commas};

/// More threads would try the machine, not a store.
pub const MOST_THREADS: u64 = 1024;

/// The largest record size, in bytes.
pub const MOST_BYTES: u64 = 1 << 30;

/// The value for this machine without limits, and for its own disk.
pub const HERE: &str = "here";

/// The name of the place where nothing else is said.
pub const DEFAULT_PLACE: &str = "here";

static PLACES: [&str; KINDS.len() + 1] = {
    let (mut names, mut index) = ([DEFAULT_PLACE; KINDS.len() + 1], 0);
    while index < KINDS.len() {
        names[index + 1] = KINDS[index].name;
        index += 1;
    }
    names
};

static PLACE: AxisDef = AxisDef {
    value_name: "PLACE,...",
    help: "Places that --at names, or file systems in images: here, ext4:4096, xfs, btrfs, ntfs:4096, tmpfs",
    presence: Presence::Off(DEFAULT_PLACE),
    known: &PLACES,
    read: read_place,
    split: Some(FileSystem::split_places),
    words: |value| format!("place {value}"),
    ..named("place", 10, "places")
};

/// A location's name is any word; a file system must be known.
fn read_place(text: &str) -> Result<Value, String> {
    let text = text.trim();
    if FileSystem::is_meant(text) { read::<FileSystem>(text) } else { (WORDS.read)(text) }
}

static DISK: AxisDef = AxisDef {
    help: "Simulated disks under the file systems of the axis place: here (none), a disk that `storebench disks` lists, or one of the plan",
    presence: Presence::Off(HERE),
    known: &DISKS,
    read: |text| {
        read_name(text, b"-.", "the name of a disk: use lower-case letters, digits, hyphens and points")
    },
    words: |value| {
        if value.text() == HERE { "disk of the place".into() } else { format!("simulated disk {value}") }
    },
    ..named("disk", 12, "disks")
};

static DISKS: [&str; disks::NAMES.len() + 1] = {
    let (mut names, mut index) = ([HERE; disks::NAMES.len() + 1], 0);
    while index < disks::NAMES.len() {
        names[index + 1] = disks::NAMES[index];
        index += 1;
    }
    names
};

static MACHINE: AxisDef = AxisDef {
    help: "Machines that limits stand in for: here (no limits), a machine that `storebench machines` lists, or one of the plan",
    presence: Presence::Off(HERE),
    known: &["here", "beaglebone-black", "laptop-hdd", "phone-2020", "raspberry-pi-zero-2"],
    read: |text| read_name(text, b"-", "the name of a machine: use lower-case letters, digits and hyphens"),
    words: |value| format!("machine {value}"),
    ..named("machine", 15, "machines")
};

static BACKGROUND: AxisDef = AxisDef {
    value_name: "LOAD,...",
    help: "Load that runs during the trial: none, cpu, cpu:2, disk, disk:50MiB/s, memory, memory:25%, video",
    presence: Presence::Off("none"),
    known: &["none", "cpu", "disk", "memory", "video"],
    read: read::<Background>,
    words: |value| format!("background {value}"),
    ..named("background", 20, "backgrounds")
};

static THREADS: AxisDef = AxisDef {
    value_name: "N,...",
    help: "Threads that use the store at once",
    presence: Presence::Off("1"),
    form: Form::Number,
    read: |text| read_count(text, "threads", 4),
    check: |threads| match threads.lower() {
        0 => Err("a number of threads is 0: it must be at least 1".into()),
        1..=MOST_THREADS => Ok(()),
        _ => Err(format!("{threads} threads are too many: at most {MOST_THREADS}")),
    },
    words: |value| format!("threads {value}"),
    ..named("threads", 30, "thread counts")
};

static RATE: AxisDef = AxisDef {
    value_name: "RATE,...",
    help: "closed (start an operation when the one before has ended), or operations per second: 5000/s",
    presence: Presence::Off("closed"),
    known: &["closed"],
    read: read::<Rate>,
    words: |value| match value.lower() {
        0 => format!("rate {value}"),
        rate => format!("rate {}/s", with_commas(rate)),
    },
    ..named("rate", 40, "rates")
};

static TUNING: AxisDef = AxisDef {
    value_name: "HOW,...",
    help: "Cache sizes of the engines: default (as shipped), equal (the same for each), share (each its share of the machine's \
           memory)",
    known: &["default", "equal", "share"],
    read: read::<Tuning>,
    words: |value| format!("tuning {value}"),
    ..named("tuning", 50, "tunings")
};

static COMPRESSION: AxisDef = AxisDef {
    value_name: "WHEN,...",
    help: "Compression of values: auto (for compressible data), on, off",
    presence: Presence::Off("auto"),
    known: &["auto", "on", "off"],
    read: read::<Compression>,
    words: |value| format!("compression {value}"),
    ..named("compression", 55, "ways to compress")
};

static CACHE: AxisDef = AxisDef {
    value_name: "STATE,...",
    help: "State of the page cache for reads: warm, cold (store reopened, cache emptied)",
    presence: Presence::Off("warm"),
    known: &["warm", "cold"],
    read: read::<Cache>,
    words: |value| format!("cache {value}"),
    ..named("cache", 60, "cache states")
};

static GUARANTEE: AxisDef = AxisDef {
    value_name: "TIER,...",
    help: "What an acknowledged write survives: none, process (a killed process), power (a power cut), node (the loss of a machine, too), default (as shipped)",
    presence: Presence::Always(5),
    known: &["default", "none", "process", "power", "node"],
    read: read::<GuaranteeChoice>,
    ..named("guarantee", 1010, "guarantees")
};

static DATA: AxisDef = AxisDef {
    value_name: "KIND,...",
    help: "Kind of values: incompressible, compressible",
    presence: Presence::Always(4),
    role: Role::Half,
    known: &["incompressible", "compressible"],
    read: read::<Data>,
    ..named("data", 1020, "kinds of data")
};

static RECORD_SIZE: AxisDef = AxisDef {
    value_name: "RANGE,...",
    help: "Sizes of values: a size, a range, or parts with their shares (90%:1KiB..4KiB+10%:1MiB) each",
    presence: Presence::Always(2),
    role: Role::Row,
    form: Form::Range,
    unit: "bytes",
    read: read::<Sizes>,
    words: |value| value.typed::<Sizes>().map_or_else(|| value.text().into(), |sizes| sizes.describe()),
    // A range does not include its upper bound.
    check: |size| match size.upper().saturating_sub(1) {
        0..=MOST_BYTES => Ok(()),
        largest => {
            let [largest, most] = [largest, MOST_BYTES].map(exact_bytes);
            Err(format!("record sizes go up to {largest} ({size}): at most {most}"))
        }
    },
    ..named("record_size", 1030, "record sizes")
};

static RECORDS: AxisDef = AxisDef {
    value_name: "COUNT,...",
    help: "Numbers of records, with or without an upper bound: 1000..5000",
    presence: Presence::Always(3),
    role: Role::Column,
    form: Form::Range,
    read: read::<CountRange>,
    words: |value| plural(value.lower(), "record"),
    completed: |value, known| {
        let open = CountRange::starting_at(value.lower()).to == value.upper();
        let known_range = known.iter().find(|range| open && range.lower() == value.lower());
        known_range.cloned().unwrap_or(value)
    },
    ..named("records", 1040, "record counts")
};

static STORE: AxisDef = AxisDef {
    help: "Stores, by name",
    presence: Presence::Always(1),
    role: Role::Contestant,
    ..named("store", 1050, "stores")
};

/// Makes the table from the entries in these modules, and a constant for code from each.
macro_rules! axes {
    ($($module:ident: $($name:ident)+;)+) => {
        /// The axes that come with storebench.
        pub(super) static ALL: &[&AxisDef] = &[$($(&$module::$name),+),+];

        #[allow(missing_docs, reason = "the entries say what each is")]
        impl Axis {
            $($(pub const $name: Axis = Axis(&$module::$name);)+)+
        }
    };
}

axes! {
    table: PLACE DISK MACHINE BACKGROUND THREADS RATE TUNING COMPRESSION CACHE GUARANTEE DATA RECORD_SIZE RECORDS STORE;
    device: PATTERN BLOCK_SIZE FILE_SIZE IO SYNC;
    sql: ROWS STATEMENTS TRANSACTIONS;
    ycsb: WORKLOAD DISTRIBUTION;
    life: CHURN READER WRITER SPACE_RECLAIM AGE;
    shop: DATA_SIZE INDEX LOAD_ORDER;
}

/// A name in a plan's table and in ids: letters, digits and `marks`.
fn read_name(text: &str, marks: &[u8], expected: &str) -> Result<Value, String> {
    let is_good = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || marks.contains(&byte);
    match text.trim() {
        name if !name.is_empty() && name.bytes().all(is_good) => Ok(Value::word(name)),
        _ => Err(format!("{} is not {expected}", quoted(text))),
    }
}
