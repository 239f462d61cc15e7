//! A disk's figures as on makers' sheets: some common loads, in virtual time.

use crate::disks::Disk;
use crate::pace::{per_second, run_closed_loop};
use crate::random::Random;
use crate::request::{Nanos, Request};

/// The image and the file in it, in bytes.
const IMAGE: u64 = 1 << 30;
const FILE: u64 = 128 << 20;
/// Bytes of a small request, and of a sequential one.
const BLOCK: u64 = 4 << 10;
const LARGE: u64 = 512 << 10;
const COUNT: u64 = 2_000;

/// A load that devices are judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Load {
    /// Reads of 4 KiB all over a file of 128 MiB, this many at once.
    RandomReads(u32),
    /// Writes of 4 KiB all over it, one after the other, without a flush.
    RandomWrites,
    /// A write of 4 KiB at the end of a growing file and a flush, one after the other: what a log of transactions does.
    SyncedWrites,
    /// The file is read from its beginning to its end.
    SequentialReads,
    /// It is written likewise, with a flush at the end.
    SequentialWrites,
}

/// The loads that are shown, in their order.
pub const LOADS: [Load; 6] = [
    Load::RandomReads(1),
    Load::RandomReads(32),
    Load::RandomWrites,
    Load::SyncedWrites,
    Load::SequentialReads,
    Load::SequentialWrites,
];

impl Load {
    /// For tables.
    pub fn describe(self) -> String {
        match self {
            Load::RandomReads(1) => "random reads of 4 KiB, one at a time".into(),
            Load::RandomReads(depth) => format!("random reads of 4 KiB, {depth} at once"),
            Load::RandomWrites => "random writes of 4 KiB, one at a time".into(),
            Load::SyncedWrites => "writes of 4 KiB in sequence, each flushed".into(),
            Load::SequentialReads => "reads in sequence".into(),
            Load::SequentialWrites => "writes in sequence".into(),
        }
    }

    /// Whether the rate is in megabytes, else in requests.
    pub fn is_in_bytes(self) -> bool {
        matches!(self, Load::SequentialReads | Load::SequentialWrites)
    }

    /// Its rate on a disk at rest: megabytes or requests per second. Fails when the disk can't be modelled.
    pub fn rate_on(self, disk: &Disk) -> Result<f64, String> {
        let mut device = disk.device(IMAGE, 1)?;
        let mut random = Random::seeded(1);
        let mut anywhere = || random.below(FILE / BLOCK) * BLOCK;
        let in_sequence = (0..FILE / LARGE).map(|n| n * LARGE);
        let mut run = |depth: u32, requests: Vec<Request>| -> Nanos {
            run_closed_loop(device.as_mut(), depth, requests.into_iter())
        };
        let time = match self {
            Load::RandomReads(depth) => {
                run(depth, (0..COUNT).map(|_| Request::read(anywhere(), BLOCK)).collect())
            }
            Load::RandomWrites => run(1, (0..COUNT).map(|_| Request::write(anywhere(), BLOCK)).collect()),
            Load::SyncedWrites => {
                let pairs = (0..COUNT).flat_map(|n| [Request::write(n * BLOCK, BLOCK), Request::flush()]);
                run(1, pairs.collect())
            }
            Load::SequentialReads => run(1, in_sequence.map(|offset| Request::read(offset, LARGE)).collect()),
            Load::SequentialWrites => {
                let writes = in_sequence.map(|offset| Request::write(offset, LARGE));
                run(1, writes.chain([Request::flush()]).collect())
            }
        };
        Ok(if self.is_in_bytes() { per_second(FILE, time) / 1e6 } else { per_second(COUNT, time) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disks::{NAMES, shipped};

    /// Each load's known bounds on a disk, in the order of [`LOADS`], with their source.
    const KNOWN: [(&str, &str); 13] = [
        // Amazon: 3,000 requests and 125 MiB a second; one at a time its latency is the limit.
        ("ebs-gp3", "1200..1700 2970..3060 1000..1450 1000..1450 125..133 125..133"),
        // Samsung: 11,000 and 13,000 requests, 250 and 125 MB/s.
        ("emmc-5.1", "10500..11500 10500..11500 12500..13500 300..500 200..251 110..126"),
        // Hitachi: a seek of 12 ms and half a turn of 5.6 ms; one turn of 11.1 ms for a flushed write after the other.
        ("hdd-5400", "55..66 100..180 100..260 85..91 40..72 40..72"),
        // A seek of 8.5 ms and half a turn of 4.2 ms: real disks read 75-80 a second, 150-200 with NCQ, 120 turns a second.
        ("hdd-7200", "75..88 150..260 150..350 115..121 70..126 60..126"),
        ("hdd-7200-uncached", "75..88 150..260 70..88 115..121 70..126 30..126"),
        ("network-1ms", "850..1000 25000..32000 850..1000 420..500 400..480 400..480"),
        ("recorder", "999..1001 31500..32100 999..1001 499..501 520..525 520..525"),
        // Samsung: 10,000 reads a second at depth 1, 94,000 to 98,000 at depth 32, 40,000 writes at depth 1, 540 and 520 MB/s.
        ("sata-ssd", "9900..10100 94000..101000 39000..41000 900..1000 450..541 450..521"),
        ("sata-ssd-capacitor", "9900..10100 94000..101000 39000..41000 20000..25000 450..541 450..541"),
        // SD Association: at least 1,500 reads and 500 writes a second, and 10 MB/s in sequence.
        ("sd-a1", "1500..1600 1500..1600 500..600 500..600 22..25 10..10.5"),
        // 32 units for 5 that are open: most writes copy one, which takes a second.
        ("sd-cheap", "1000..1100 1000..1100 1..2 200..260 18..20 3.9..4.1"),
        ("steady", "999..1001 999..1001 999..1001 499..501 520..525 520..525"),
        // Samsung: 19,000 and 14,000 requests, 350 and 150 MB/s.
        ("ufs-2.0", "18500..19500 18500..19500 13500..14500 600..1000 320..351 140..151"),
    ];

    #[test]
    fn each_disk_does_what_is_known_of_it() {
        assert_eq!(KNOWN.map(|(name, _)| name), NAMES);
        let mut problems = Vec::new();
        for (name, bounds) in KNOWN {
            let disk = shipped(name).unwrap();
            assert_eq!(bounds.split(' ').count(), LOADS.len(), "{name}");
            for (load, known) in LOADS.into_iter().zip(bounds.split(' ')) {
                let rate = load.rate_on(&disk).unwrap();
                let (least, most) = known.split_once("..").unwrap();
                if !(least.parse().unwrap()..most.parse::<f64>().unwrap()).contains(&rate) {
                    problems.push(format!("{name}: {} at {rate:.1}, not {known}", load.describe()));
                }
            }
        }
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }

    #[test]
    fn what_a_volume_allows_does_not_grow_with_the_depth() {
        let disk = shipped("ebs-gp3").unwrap();
        for depth in [4, 8, 32, 256] {
            let rate = Load::RandomReads(depth).rate_on(&disk).unwrap();
            assert!((2_970.0..3_060.0).contains(&rate), "{depth}: {rate}");
        }
    }

    #[test]
    fn the_outer_tracks_of_a_desktop_s_disk_are_read_as_fast_as_its_maker_says() {
        let mut disk = shipped("hdd-7200").unwrap();
        // As one extent, so that nothing is spread.
        disk.rotating =
            disk.rotating.map(|data| crate::rotating::HardDiskSpec { extent_mib: 200_000.0, ..data });
        let rate = Load::SequentialReads.rate_on(&disk).unwrap();
        assert!((120.0..126.5).contains(&rate), "{rate}");
    }
}
