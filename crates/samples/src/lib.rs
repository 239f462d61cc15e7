//! Synthetic runs for tests: deterministic, and with the oddities of real ones.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests alone use it")]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use indexmap::IndexSet;
use serde_json::{Value, json};
use storebench_host::run::Run;
use storebench_model::cell::{Axis, Background, Cell, DEFAULT_PLACE, Data, GuaranteeChoice};
use storebench_model::result::*;
use storebench_model::store::{Guarantee, Setting, StoreBuild};
use storebench_model::units::{CountRange, SizeRange};

const STARTED: &str = "2025-01-02T03:04:05Z";

#[derive(Clone)]
pub struct Sample {
    cell: Cell,
    tier: Guarantee,
    ns: f64,
    outcome: Outcome,
    build: Option<StoreBuild>,
    rounds: u32,
}

impl Sample {
    /// A successful trial: 1 B..1 KiB, 100 records, incompressible, `process`, one microsecond an operation.
    pub fn new(store: &str) -> Sample {
        let cell = Cell::new(store)
            .with(Axis::RECORD_SIZE, SizeRange { from: 1, to: 1024 }.into())
            .with(Axis::RECORDS, CountRange::starting_at(100).into())
            .with(Axis::DATA, Data::Incompressible.into())
            .with(Axis::GUARANTEE, GuaranteeChoice::Tier(Guarantee::Process).into());
        Sample { cell, tier: Guarantee::Process, ns: 1000.0, outcome: Outcome::Ok, build: None, rounds: 0 }
    }

    pub fn guarantee(mut self, choice: &str) -> Sample {
        self.cell.set(Axis::GUARANTEE, Axis::GUARANTEE.read(choice).unwrap());
        self.tier = self.cell.guarantee().tier().unwrap_or(self.tier);
        self
    }

    pub fn tier(self, tier: Guarantee) -> Sample {
        Sample { tier, ..self }
    }

    pub fn data(mut self, data: Data) -> Sample {
        self.cell.set(Axis::DATA, data.into());
        self
    }

    pub fn size(mut self, size: SizeRange) -> Sample {
        self.cell.set(Axis::RECORD_SIZE, size.into());
        self
    }

    pub fn records(mut self, records: CountRange) -> Sample {
        self.cell.set(Axis::RECORDS, records.into());
        self
    }

    pub fn place(mut self, place: &str) -> Sample {
        self.cell.set(Axis::PLACE, Axis::PLACE.read(place).unwrap());
        self
    }

    pub fn background(mut self, background: Background) -> Sample {
        self.cell.set(Axis::BACKGROUND, background.into());
        self
    }

    pub fn setting(mut self, name: &str, value: &str) -> Sample {
        let axis = Axis::find(name).unwrap();
        self.cell.set(axis, axis.read(value).unwrap());
        self
    }

    pub fn data_size(mut self, size: &str) -> Sample {
        self.cell.set(Axis::DATA_SIZE, Axis::DATA_SIZE.read(size).unwrap());
        self
    }

    pub fn cell(self) -> Cell {
        self.cell
    }

    pub fn ns(self, ns: f64) -> Sample {
        Sample { ns, ..self }
    }

    /// This sample, slower by a factor.
    pub fn times(self, factor: f64) -> Sample {
        Sample { ns: self.ns * factor, ..self }
    }

    pub fn failed(mut self, message: &str) -> Sample {
        let log = format!("logs/{}.log", self.cell.store());
        self.outcome = Outcome::Failed { reason: Failure::Store, message: message.into(), log };
        self
    }

    pub fn unsupported(mut self, message: &str) -> Sample {
        self.outcome = Outcome::Unsupported { message: message.into() };
        self
    }

    /// With a distributor's library, with or without assertions.
    pub fn distributed(mut self, assertions: bool) -> Sample {
        self.build = Some(StoreBuild::new("the distribution's library", None, Some(assertions)));
        self
    }

    /// In rounds: each adds a tenth of the first one's time, and leaves 20,000 bytes more.
    pub fn rounds(self, rounds: u32) -> Sample {
        Sample { rounds, ..self }
    }

    fn trial(&self, block: u32, position: u64) -> TrialResult {
        let measured = (self.outcome == Outcome::Ok).then(|| Measurements {
            guarantee: self.tier,
            rounds: (0..self.rounds).map(|number| round(self.ns, number)).collect(),
            store_build: self.build.clone(),
            ..measured(self.ns)
        });
        let background = (self.cell.background() != Background::None).then(|| BackgroundReport {
            description: "decoded a video".into(),
            unit: "frames".into(),
            progress: 45.0,
            at_work_share: 1.0,
        });
        let json = json!({
            "format": FORMAT_VERSION, "cell": {}, "block": block, "position": position, "started": STARTED,
            "wall_s": 1.5, "load_1min": 0.25, "file_creation_ns": 25_000, "outcome": { "status": "ok" }
        });
        TrialResult {
            cell: self.cell.clone(),
            background,
            outcome: self.outcome.clone(),
            measured,
            ..serde_json::from_value(json).unwrap()
        }
    }
}

/// The measurements of a trial with mean latency `ns`, which determines everything else.
pub fn measured(ns: f64) -> Measurements {
    let factors = [("insert", 1.0), ("get", 0.5), ("update", 1.25), ("remove", 0.8)];
    Measurements {
        guarantee: Guarantee::Process,
        store_version: "1.2.3".into(),
        settings: vec![Setting::read_back("page_size", 4096)],
        load: Load {
            records: 100,
            value_bytes: 51_200,
            store_ns: 2_000_000,
            counters: Some(counters(4, 60_000)),
            aged: None,
            rest: Some(Rest { took_ns: 50_000_000, at_rest: true }),
        },
        operations: factors.map(|(name, factor)| operation(name, ns * factor)).into(),
        settle_ns: 3_000_000,
        settle_counters: Some(counters(1, 4096)),
        memory: Memory {
            base_bytes: 4 << 20,
            peak_above_base_bytes: (ns * 1024.0) as u64,
            ..Memory::default()
        },
        cpu: Cpu { user_ns: 5_000_000, system_ns: 1_000_000 },
        disk: Disk { allocated_bytes: (40_960.0 + ns * 10.0) as u64, apparent_bytes: 60_000, files: 3 },
        stored: StoredRecords { records: 100, key_bytes: 3_200, value_bytes: 51_200 },
        written: Some(WrittenRecords { records: 2_100, key_bytes: 67_200, value_bytes: 1_075_200 }),
        device: Some(Device {
            name: "nvme0n1".into(),
            shared: true,
            burst: traffic(1 << 20),
            settled: traffic(3 << 20),
            idle_written_bytes_per_s: Some(12_288.0),
        }),
        processors: Some(Processors { idle_share: 0.5, io_wait_share: 0.125 }),
        audit: Some(Audit {
            records: 100,
            read_back: 100,
            seen_gone: 1000,
            removed: 16,
            reopened: 2,
            took_ns: 4_000_000,
        }),
        kill_check: Some(KillCheck::Held {
            steps: 256,
            undone: true,
            why_not_undone: None,
            took_ns: 300_000_000,
        }),
        ..Measurements::default()
    }
}

fn round(ns: f64, number: u32) -> Round {
    let results = measured(ns * (1.0 + f64::from(number) / 10.0));
    // The files' lengths stay the same, and the blocks that hold them do not.
    let disk = measured(ns).disk;
    let allocated_bytes = disk.allocated_bytes / 3 * (3 + u64::from(number));
    Round { operations: results.operations, disk: Disk { allocated_bytes, ..disk } }
}

fn operation(name: &str, ns: f64) -> OperationResult {
    let times = |factor: f64| (ns * factor) as u64;
    OperationResult {
        operation: name.into(),
        count: 1000,
        wall_ns: times(1200.0),
        sum_ns: times(1000.0),
        harness_share: Some(0.125),
        value_bytes: if name == "remove" { 0 } else { 512_000 },
        put_back: if name == "remove" { 1000 } else { 0 },
        latency: Latency {
            mean_ns: ns,
            stdev_ns: ns / 4.0,
            min_ns: times(0.5),
            p50_ns: times(0.9),
            p90_ns: times(1.5),
            p99_ns: times(4.0),
            p999_ns: times(9.0),
            max_ns: times(20.0),
            histogram: histogram(ns),
        },
        counters: Some(match name {
            "get" => counters(0, 0),
            _ => Counters { sync_ns: Some(times(400.0)), ..counters(1000, 640_000) },
        }),
        ..OperationResult::default()
    }
}

/// A thousand latencies about a mean, with a tail, as a trial writes them down.
fn histogram(ns: f64) -> String {
    // A growing histogram is made far sooner than one with room for an hour.
    let mut histogram = Histogram::<u64>::new(3).unwrap();
    for number in 0..1000_u32 {
        let tail = 1.0 / f64::from(1001 - number).sqrt();
        histogram.record((ns * (0.5 + f64::from(number) / 2000.0 + 10.0 * tail)) as u64).unwrap();
    }
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(&histogram, &mut bytes).unwrap();
    BASE64.encode(bytes)
}

fn counters(syncs: u64, written_bytes: u64) -> Counters {
    Counters {
        syncs: Some(syncs),
        sync_ns: Some(syncs * 300),
        syncs_by_call: [("fdatasync".to_owned(), syncs)].into(),
        written_bytes: Some(written_bytes),
        read_bytes: Some(0),
        minor_faults: 20,
        voluntary_switches: syncs,
        involuntary_switches: 3,
        cpu_ns: Some(500_000),
        took_ns: Some(1_000_000),
        ..Counters::default()
    }
}

/// The report of a machine called small, with these limits.
pub fn machine(limits: Vec<LimitReport>) -> ProfileReport {
    ProfileReport {
        name: "small".into(),
        limits,
        memory_limit_hits: None,
        throttled_periods: None,
        throttled_ns: None,
    }
}

fn traffic(written_bytes: u64) -> Traffic {
    Traffic { read_bytes: 0, written_bytes, flushes: Some(1000) }
}

/// A run of one block.
pub fn run(hardware: &str, samples: &[Sample]) -> Run {
    blocks(hardware, &[samples.to_vec()])
}

/// A run of several blocks.
pub fn blocks(hardware: &str, blocks: &[Vec<Sample>]) -> Run {
    let mut trials = Vec::new();
    for (block, samples) in blocks.iter().enumerate() {
        for sample in samples {
            trials.push(sample.trial(block as u32, trials.len() as u64));
        }
    }
    let names: IndexSet<&str> = trials.iter().map(|trial| trial.cell.store()).collect();
    let stores = names.into_iter().map(|name| json!({ "name": name, "version": "1.2.3" }));
    Run::new(header(hardware, stores.collect()), trials)
}

fn header(hardware: &str, stores: Vec<Value>) -> RunHeader {
    let json = json!({
        "format": FORMAT_VERSION, "storebench": "0.1.0", "study": "crud", "hardware": hardware, "started": STARTED,
        "title": "File system or embedded key-value database", "command": ["storebench", "run", "crud"],
        "plan": "name = \"crud\"\n",
        "environment": {
            "cpu": "Example CPU 9000", "cores": 2, "memory_bytes": 8_u64 << 30, "kernel": "Linux 6.1.0", "load_1min": 0.1,
            "distribution": "Debian GNU/Linux 12", "virtualisation": "none", "clock_ns": 10.0, "clock": "tsc"
        },
        "locations": [{
            "name": DEFAULT_PLACE, "path": "/srv/bench", "file_system": "ext4", "mount_options": "rw,relatime",
            "device": "nvme0n1", "device_model": "Example 980", "rotates": false, "free_bytes": 100_u64 << 30
        }],
        "stores": stores, "left_out": []
    });
    serde_json::from_value(json).unwrap()
}

const SIZES: [(u64, u64); 4] = [(1, 1024), (1024, 10_240), (10_240, 102_400), (102_400, 1 << 20)];

/// The study of the snapshots: six stores and the harness's, four sizes, three counts, both kinds of data, two guarantees,
/// four blocks; with a tie, a failure, something unsupported, something left out and something that did not run.
pub fn study() -> Run {
    let stores = [
        ("sqlite", 9_000.0, 1.3),
        ("leveldb", 2_000.0, 1.9),
        ("rocksdb", 3_000.0, 1.6),
        ("berkeleydb", 2_040.0, 1.9),
        ("nested-folder", 40_000.0, 1.02),
        ("unqlite", 12_000.0, 1.4),
        ("null", 20.0, 1.0),
    ];
    let mut samples_by_block: Vec<Vec<Sample>> = vec![Vec::new(); 4];
    for (block, samples) in samples_by_block.iter_mut().enumerate() {
        for guarantee in [Guarantee::Process, Guarantee::Power] {
            for data in [Data::Incompressible, Data::Compressible] {
                for (step, (from, to)) in SIZES.into_iter().enumerate() {
                    for records in [100, 1_000, 1_000_000] {
                        for (index, (store, ns, growth)) in stores.into_iter().enumerate() {
                            let wobble =
                                1.0 + ((block * 31 + index * 17 + step * 7).pow(2) % 101) as f64 / 600.0;
                            let safety = if guarantee == Guarantee::Power { 50.0 } else { 1.0 };
                            let shrinks = data == Data::Compressible && store == "rocksdb";
                            let safety = if shrinks { safety * 0.6 } else { safety };
                            let scale = (records as f64).log10() / 2.0;
                            let sample = Sample::new(store)
                                .guarantee(guarantee.name())
                                .data(data)
                                .size(SizeRange { from, to })
                                .records(CountRange::starting_at(records))
                                .ns(ns * f64::powi(growth, 3 * step as i32) * wobble * safety * scale);
                            samples.extend(add_exceptions(sample, block));
                        }
                    }
                }
            }
        }
    }
    let mut run = blocks("mybox", &samples_by_block);
    leave_out(&mut run);
    run
}

/// A sample, or the failure or gap that occurs in reality.
fn add_exceptions(sample: Sample, block: usize) -> Option<Sample> {
    let cell = &sample.cell;
    let size = cell.record_size().span().from;
    let many = cell.records().from == 1_000_000;
    let power = cell.guarantee() == GuaranteeChoice::Tier(Guarantee::Power);
    match cell.store() {
        _ if size == 102_400 && many => None,
        "unqlite" if power => {
            Some(sample.unsupported("unqlite can't give power in this build: see docs/guarantees.md"))
        }
        "leveldb" if block == 2 && many && size == 1 => {
            Some(sample.failed("IO error: LOCK: Resource temporarily unavailable"))
        }
        "rocksdb" if size == 1024 && many && cell.data() == Data::Compressible && power => None,
        _ if size == 10_240 && cell.records().from == 1_000 && power => Some(sample.failed("disk I/O error")),
        _ => Some(sample),
    }
}

fn leave_out(run: &mut Run) {
    let reason = "537 GB of values: over the size limit of 10 GiB";
    for store in run.header.stores.clone() {
        for data in ["incompressible", "compressible"] {
            for guarantee in ["process", "power"] {
                let sample = Sample::new(&store.name).data(data.parse().unwrap()).guarantee(guarantee);
                let size = SizeRange { from: 100 << 10, to: 1 << 20 };
                let cell = sample.size(size).records(CountRange::starting_at(1_000_000)).cell();
                let reason = LeftOutReason::Sentence(reason.into());
                run.header.left_out.push(LeftOutCell { cell, reason });
            }
        }
    }
}

/// A run of `cells` cells, in two trials each: ten stores, and enough record counts. No figure equals another.
pub fn many(cells: usize) -> Run {
    let stores = "sqlite leveldb rocksdb berkeleydb lmdb unqlite redb fjall flat-folder nested-folder";
    let stores: Vec<&str> = stores.split(' ').collect();
    let guarantees = ["process", "power"];
    let mut samples = Vec::with_capacity(cells);
    for number in 0..cells {
        let (store, rest) = (stores[number % 10], number / 10);
        let (guarantee, rest) = (guarantees[rest % 2], rest / 2);
        let (data, rest) = (["incompressible", "compressible"][rest % 2], rest / 2);
        let ((from, to), rest) = (SIZES[rest % SIZES.len()], rest / SIZES.len());
        let ns = 300.0 + (number as f64 * 0.618_033_988_7).fract() * 2e5;
        let sample = Sample::new(store).guarantee(guarantee).data(data.parse().unwrap()).ns(ns);
        let records = CountRange::starting_at(100 * (rest as u64 + 1));
        samples.push(sample.size(SizeRange { from, to }).records(records));
    }
    let mut run = run("mybox", &samples);
    let second_block: Vec<TrialResult> =
        run.trials.iter().enumerate().map(|(i, trial)| repeat_trial(trial, i)).collect();
    run.trials.extend(second_block);
    run
}

/// A second block's trial: every figure differs a little, each by another factor. Its histograms stay, as making
/// them takes longest.
fn repeat_trial(trial: &TrialResult, number: usize) -> TrialResult {
    let mut trial = TrialResult { block: 1, position: trial.position + 1_000_000, ..trial.clone() };
    let Some(measured) = &mut trial.measured else { return trial };
    let mut step = number as f64;
    let mut change = |value: &mut u64| {
        step += 0.618_033_988_7;
        *value = (*value as f64 * (1.0 + step.fract() / 5.0)) as u64;
    };
    for operation in &mut measured.operations {
        let latency = &mut operation.latency;
        let percentiles =
            [&mut latency.p50_ns, &mut latency.p90_ns, &mut latency.p99_ns, &mut latency.p999_ns];
        percentiles.into_iter().for_each(&mut change);
        let other_times =
            [&mut latency.min_ns, &mut latency.max_ns, &mut operation.sum_ns, &mut operation.wall_ns];
        other_times.into_iter().for_each(&mut change);
    }
    let trial_figures = [
        &mut measured.memory.peak_above_base_bytes,
        &mut measured.cpu.user_ns,
        &mut measured.cpu.system_ns,
        &mut measured.disk.allocated_bytes,
        &mut measured.load.store_ns,
        &mut measured.settle_ns,
    ];
    trial_figures.into_iter().for_each(change);
    trial
}

/// The plan of [`factorial`].
pub const FACTORIAL_PLAN: &str = "format = 1\nname = \"x\"\ntitle = \"t\"\nworkload = \"crud\"\nseed = 1\nsize_limit = \"1GiB\"\ntimeout = \"1m\"\n\
    [settings.sqlite]\nj = \"D\"\ns = \"N\"\n[[point]]\nname = \"the best\"\nsqlite = { j = \"W\", s = \"F\" }\n\
    [axes]\nstore = [\"sqlite\"]\nrecord_size = [\"1KiB\"]\nrecords = [\"100\"]\ndata = [\"compressible\"]\n\
    guarantee = [\"default\"]\n\"sqlite.j\" = [\"D\", \"W\"]\n\"sqlite.s\" = [\"N\", \"F\"]\n";

/// A run of four combinations: W halves, F triples, and both together take half as much again as the product.
pub fn factorial() -> Run {
    let cell = |j: &str, s: &str, ns: f64, tier| {
        let sample = Sample::new("sqlite").guarantee("default").tier(tier).ns(ns);
        sample.setting("sqlite.j", j).setting("sqlite.s", s)
    };
    let block = |wobble: f64| {
        vec![
            cell("D", "N", 1000.0 * wobble, Guarantee::Process),
            cell("W", "N", 500.0 * wobble, Guarantee::None),
            cell("D", "F", 3000.0 * wobble, Guarantee::Power),
            cell("W", "F", 2250.0 * wobble, Guarantee::Power),
        ]
    };
    let mut run = blocks("box", &[block(1.0), block(1.1), block(0.9), block(1.3)]);
    run.header.plan = FACTORIAL_PLAN.into();
    run
}

const TIMES: [&str; 7] = ["0.25x", "0.5x", "0.75x", "1x", "1.5x", "2x", "4x"];

/// Two stores that fall right after 0.75x and 1.5x, to a tenth and to half, and one that does not fall.
pub fn outgrown() -> Run {
    let fall = |store: &str, text: &str| {
        let x: f64 = text.trim_end_matches('x').parse().unwrap();
        match store {
            "lmdb" if x > 0.75 => 10.0,
            "redb" if x > 1.5 => 2.0,
            _ => 1.0,
        }
    };
    let block = |number: u32| {
        let mut samples = Vec::new();
        for (place, store) in ["lmdb", "redb", "sqlite"].into_iter().enumerate() {
            for (step, text) in TIMES.into_iter().enumerate() {
                let wobble = 1.0
                    + f64::from((number * 31 + place as u32 * 17 + step as u32 * 7).pow(2) % 101) / 2000.0;
                let weather = 1.0 + f64::from(number) / 10.0;
                let ns = 1e4 * fall(store, text) * wobble * weather;
                samples.push(Sample::new(store).data_size(text).ns(ns));
            }
        }
        samples
    };
    blocks("box", &[block(0), block(1), block(2)])
}

/// A draw from the standard normal distribution (G. Box and M. Muller, 1958).
pub fn normal(random: &mut fastrand::Rng) -> f64 {
    let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.f64()).cos()
}
