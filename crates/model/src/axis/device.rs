//! The axes of the workload `device`, which reads and writes one file.

pub mod values;

use strum::VariantNames;

use self::values::{BLOCK_BYTES, Io, Pattern, SECTOR_BYTES, Sync};
use super::def::{AxisDef, Form, Presence, Role};
use super::value::Value;
use super::words::{named, read_word};
use crate::units::{exact_bytes, parse_bytes};

const MOST_FILE_BYTES: u64 = 1 << 40;

pub(super) static PATTERN: AxisDef = AxisDef {
    help: "device: access to the file: seq-read, seq-write, rand-read, rand-write",
    presence: Presence::Always(11),
    role: Role::Contestant,
    known: Pattern::VARIANTS,
    read: |text| read_word("pattern", text, Pattern::VARIANTS),
    ..named("pattern", 1055, "patterns")
};

pub(super) static BLOCK_SIZE: AxisDef = AxisDef {
    value_name: "SIZE,...",
    help: "device: bytes in one read or write: 512B to 16MiB",
    presence: Presence::Always(12),
    role: Role::Row,
    form: Form::Quantity,
    read: read_size,
    check: |size| match size.lower() {
        bytes if BLOCK_BYTES.contains(&bytes) && bytes.is_multiple_of(SECTOR_BYTES) => Ok(()),
        _ => Err(format!("a block of {size} can't be: it is a multiple of 512B, from 512B to 16MiB")),
    },
    ..named("block_size", 1035, "block sizes")
};

pub(super) static FILE_SIZE: AxisDef = AxisDef {
    value_name: "SIZE,...",
    help: "device: size of the file",
    presence: Presence::Always(13),
    role: Role::Column,
    form: Form::Quantity,
    read: read_size,
    check: |size| match size.lower() {
        SECTOR_BYTES..=MOST_FILE_BYTES => Ok(()),
        _ => Err(format!("a file of {size} can't be: from 512B to 1TiB")),
    },
    words: |value| format!("{value} file"),
    ..named("file_size", 1045, "file sizes")
};

pub(super) static IO: AxisDef = AxisDef {
    value_name: "HOW,...",
    help: "device: how the file is opened: buffered, direct (O_DIRECT), dsync (O_DSYNC), direct-dsync",
    presence: Presence::Always(14),
    role: Role::Half,
    known: Io::VARIANTS,
    read: |text| read_word("way to open the file", text, Io::VARIANTS),
    ..named("io", 1025, "ways to open the file")
};

pub(super) static SYNC: AxisDef = AxisDef {
    value_name: "WHEN,...",
    help: "device: when writes are synced: none, fsync, fdatasync, or after every N writes: fdatasync/16",
    presence: Presence::Off("none"),
    known: &["none", "fsync", "fdatasync"],
    read: read_sync,
    words: |value| format!("sync {value}"),
    ..named("sync", 70, "ways to sync")
};

fn read_size(text: &str) -> Result<Value, String> {
    parse_bytes(text).map(|bytes| Value::new(&exact_bytes(bytes), bytes, bytes))
}

fn read_sync(text: &str) -> Result<Value, String> {
    let sync: Sync = text.parse()?;
    let (sync_rank, writes_per_sync) = match sync {
        Sync::None => (0, 0),
        Sync::Each(_, writes_per_sync) => (1, writes_per_sync.into()),
    };
    Ok(Value::new(&sync.to_string(), sync_rank, writes_per_sync))
}

#[cfg(test)]
mod tests {
    use crate::axis::Axis;

    #[test]
    fn values_are_read_as_they_are_written_and_within_bounds() {
        for (axis, good) in [
            (Axis::PATTERN, "rand-read"),
            (Axis::BLOCK_SIZE, "4KiB"),
            (Axis::FILE_SIZE, "1GiB"),
            (Axis::IO, "direct-dsync"),
            (Axis::SYNC, "fdatasync/16"),
        ] {
            assert_eq!(axis.read(good).unwrap().text(), good);
        }
        assert_eq!(Axis::SYNC.read("fsync/1").unwrap().text(), "fsync");
        for (axis, bad) in [
            (Axis::PATTERN, "backwards"),
            (Axis::BLOCK_SIZE, "100B"),
            (Axis::BLOCK_SIZE, "32MiB"),
            (Axis::FILE_SIZE, "0"),
            (Axis::IO, "mapped"),
            (Axis::SYNC, "fsync/0"),
            (Axis::SYNC, "none/2"),
        ] {
            assert!(axis.read(bad).is_err(), "{axis} {bad}");
        }
    }
}
