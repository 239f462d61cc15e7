//! Reads and writes of one file beside fio's (<https://github.com/axboe/fio>): the same file size, blocks and ways of opening
//! it, by turns (ours, fio, fio, ours, ...), on one and the same file, in the current directory or the one in
//! `STOREBENCH_BENCH_DIRECTORY`. An argument names the cases to run, by a part of their names. Reads from memory, where the harness weighs most, are also held to a loop without a clock.

#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark prints, and may give up"
)]

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use storebench_core::axis::device::values::{Io, Pattern, Sync, SyncCall};
use storebench_core::measure::clock::Clock;
use storebench_core::measure::latency::Latencies;
use storebench_core::measure::process;
use storebench_core::workload::device::{Amount, Error, Prepared, Spec};

const FILE_BYTES: u64 = 256 << 20;
const ROUNDS: usize = 8;
const TIME: Duration = Duration::from_secs(2);

struct Case {
    name: &'static str,
    pattern: Pattern,
    block: u64,
    io: Io,
    sync: Sync,
    cold: bool,
    /// Whether the file is written once, and the time until it is durable counts; else it goes on for [`TIME`].
    to_the_end: bool,
}

const PLAIN: Case = Case {
    name: "",
    pattern: Pattern::RandRead,
    block: 4096,
    io: Io::Buffered,
    sync: Sync::None,
    cold: false,
    to_the_end: false,
};

const CASES: &[Case] = &[
    Case {
        name: "seq write 1 MiB, fsync at the end",
        pattern: Pattern::SeqWrite,
        block: 1 << 20,
        cold: true,
        to_the_end: true,
        ..PLAIN
    },
    Case {
        name: "seq read 128 KiB, direct",
        pattern: Pattern::SeqRead,
        block: 128 << 10,
        io: Io::Direct,
        ..PLAIN
    },
    Case { name: "rand read 512 B, warm", block: 512, ..PLAIN },
    Case { name: "rand read 4 KiB, warm", ..PLAIN },
    Case { name: "rand read 4 KiB, direct", io: Io::Direct, ..PLAIN },
    Case {
        name: "rand write 4 KiB, fsync at the end",
        pattern: Pattern::RandWrite,
        to_the_end: true,
        ..PLAIN
    },
    Case { name: "rand write 4 KiB, direct", pattern: Pattern::RandWrite, io: Io::Direct, ..PLAIN },
    Case {
        name: "rand write 4 KiB, fdatasync each",
        pattern: Pattern::RandWrite,
        sync: Sync::Each(SyncCall::Fdatasync, 1),
        ..PLAIN
    },
    Case { name: "rand write 4 KiB, O_DSYNC", pattern: Pattern::RandWrite, io: Io::Dsync, ..PLAIN },
];

/// The figures of one run.
struct Figures {
    operations_per_s: f64,
    /// Mean latency of reads or writes alone.
    call_ns: f64,
    /// Mean latency of syncs alone.
    sync_ns: Option<f64>,
    /// Processor time of an operation, outside the kernel and in it.
    user_ns: f64,
    system_ns: f64,
}

/// A run of ours and one of fio's, one right after the other.
struct Pair {
    ours: Figures,
    fios: Figures,
    /// Operations per second of the loop without a clock.
    bare_per_s: Option<f64>,
}

impl Case {
    fn is_from_memory(&self) -> bool {
        !self.pattern.writes() && !self.cold && !self.io.is_direct()
    }
}

fn main() {
    match Command::new("fio").arg("--version").output() {
        Ok(output) => print!("fio: {}", String::from_utf8_lossy(&output.stdout)),
        Err(_) => {
            println!("skipped: fio is not installed");
            return;
        }
    }
    let place = std::env::var_os("STOREBENCH_BENCH_DIRECTORY").map_or_else(|| ".".into(), PathBuf::from);
    let directory = tempfile::tempdir_in(place).expect("a folder can be made in the directory");
    let clock = Clock::new();
    println!(
        "a file of {} MiB, {ROUNDS} pairs by turns; medians, and the least and greatest ratio",
        FILE_BYTES >> 20
    );
    println!(
        "{:34} {:>10} {:>10}  {:>5} {:>14}  {:>10} {:>10}  {:>5}",
        "", "ours, op/s", "fio, op/s", "ratio", "", "ours, call", "fio, call", "ratio"
    );
    // Cargo adds an option of its own.
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    for case in CASES.iter().filter(|case| case.name.contains(&wanted)) {
        match pairs(case, directory.path(), &clock) {
            Ok(pairs) => show(case, &pairs),
            Err(Error::Unsupported(why)) => println!("{:34} skipped: {why}", case.name),
            Err(error) => panic!("{}: {error}", case.name),
        }
    }
    println!("\"call\" is the mean latency of a read or write alone; \"sync\" that of the syncs after them.");
}

/// Both, by turns, so that disturbances meet both alike.
fn pairs(case: &Case, directory: &Path, clock: &Clock) -> Result<Vec<Pair>, Error> {
    let blocks = FILE_BYTES / case.block;
    let spec = Spec {
        pattern: case.pattern,
        block: case.block,
        file: FILE_BYTES,
        io: case.io,
        sync: case.sync,
        cold: case.cold,
        threads: 1,
        amount: if case.to_the_end { Amount::Operations(blocks) } else { Amount::Duration(TIME) },
        seed: 1,
    };
    let prepared = Prepared::new(&spec, directory)?;
    let file = directory.join("device.data");
    let mut pairs = Vec::new();
    for round in 0..ROUNDS {
        let (mine, theirs) = if round % 2 == 0 {
            let mine = ours(case, &prepared, clock)?;
            (mine, fios(case, &file))
        } else {
            let theirs = fios(case, &file);
            (ours(case, &prepared, clock)?, theirs)
        };
        pairs.push(Pair {
            ours: mine,
            fios: theirs,
            bare_per_s: case.is_from_memory().then(|| bare(case, &file)),
        });
    }
    prepared.finish()?;
    Ok(pairs)
}

fn ours(case: &Case, prepared: &Prepared, clock: &Clock) -> Result<Figures, Error> {
    let before = process::cpu();
    let measured = prepared.measure(clock)?;
    let cpu = process::cpu().since(&before);
    let mean = |latencies: &Latencies| latencies.sum_ns() as f64 / latencies.count() as f64;
    Ok(Figures {
        operations_per_s: if case.to_the_end {
            measured.durable_bytes_per_s() / case.block as f64
        } else {
            measured.operations_per_s()
        },
        call_ns: mean(measured.writes.as_ref().unwrap_or(&measured.latencies)),
        sync_ns: measured.syncs.as_ref().map(mean),
        user_ns: cpu.user_ns as f64 / measured.operations as f64,
        system_ns: cpu.system_ns as f64 / measured.operations as f64,
    })
}

fn fios(case: &Case, file: &Path) -> Figures {
    let rw = match case.pattern {
        Pattern::SeqRead => "read",
        Pattern::SeqWrite => "write",
        Pattern::RandRead => "randread",
        Pattern::RandWrite => "randwrite",
    };
    let mut options = vec![
        format!("--rw={rw}"),
        format!("--bs={}", case.block),
        format!("--direct={}", u8::from(case.io.is_direct())),
        "--overwrite=1".into(),
        "--randrepeat=0".into(),
    ];
    match case.cold || case.io.is_direct() {
        true => options.push("--invalidate=1".into()),
        false => options.extend(["--invalidate=0".into(), "--pre_read=1".into()]),
    }
    if case.io.is_dsync() {
        options.push("--sync=dsync".into());
    }
    if let Sync::Each(call, writes) = case.sync {
        options.push(format!("--{}={writes}", call.name()));
    }
    match case.to_the_end {
        true => options.push("--end_fsync=1".into()),
        false => options.extend(["--time_based=1".into(), format!("--runtime={}", TIME.as_secs())]),
    }
    if case.cold {
        // Else fio drops the file from the page cache after its clock has started.
        let file = File::open(file).expect("the file is there");
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).expect("advice is taken");
    }
    let job = fio(file, &options);
    let direction = &job[if case.pattern.writes() { "write" } else { "read" }];
    let number = |value: &serde_json::Value| value.as_f64().expect("fio tells a number");
    // Percent of milliseconds.
    let cpu_ns = |share: &str| {
        number(&job[share]) * 1e4 * number(&direction["runtime"]) / number(&direction["total_ios"])
    };
    Figures {
        operations_per_s: number(&direction["iops"]),
        call_ns: number(&direction["clat_ns"]["mean"]),
        sync_ns: (case.sync != Sync::None).then(|| number(&job["sync"]["lat_ns"]["mean"])),
        user_ns: cpu_ns("usr_cpu"),
        system_ns: cpu_ns("sys_cpu"),
    }
}

/// Runs one job; what fio tells of it.
fn fio(file: &Path, options: &[String]) -> serde_json::Value {
    let output = Command::new("fio")
        .args(["--name=device", "--output-format=json", "--ioengine=psync", "--iodepth=1", "--numjobs=1"])
        .arg(format!("--size={FILE_BYTES}"))
        .arg(format!("--filename={}", file.display()))
        .args(options)
        .output()
        .expect("fio runs");
    assert!(output.status.success(), "{options:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    // Notes may stand before the figures.
    let json = text.find('{').map_or("", |start| &text[start..]);
    let mut told: serde_json::Value = serde_json::from_str(json).expect("fio writes JSON");
    told["jobs"][0].take()
}

/// Operations per second of a loop that reads the same blocks, and looks at the clock after each thousand.
fn bare(case: &Case, file: &Path) -> f64 {
    let file = File::open(file).expect("the file is there");
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random).expect("advice is taken");
    let mut bytes = vec![1; case.block as usize];
    let (mut state, mut reads, start) = (1_u64, 0, Instant::now());
    while start.elapsed() < TIME {
        for _ in 0..1000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let offset = (state >> 33) % (FILE_BYTES / case.block) * case.block;
            let read = rustix::io::pread(&file, &mut *bytes, offset).expect("the file can be read");
            assert_eq!(read, bytes.len());
        }
        reads += 1000;
    }
    f64::from(reads) / start.elapsed().as_secs_f64()
}

fn show(case: &Case, pairs: &[Pair]) {
    let of = |figure: fn(&Figures) -> f64| Compared::new(pairs, figure);
    let (rate, call) = (of(|figures| figures.operations_per_s), of(|figures| figures.call_ns));
    let range = format!("[{:.2}, {:.2}]", rate.least, rate.greatest);
    println!(
        "{:34} {:>10.0} {:>10.0}  {:>5.2} {range:>14}  {:>7.2} us {:>7.2} us  {:>5.2}",
        case.name,
        rate.ours,
        rate.fios,
        rate.ratio,
        call.ours / 1e3,
        call.fios / 1e3,
        call.ratio
    );
    let latencies = |what: &str, figure: fn(&Figures) -> f64| {
        let Compared { ours, fios, ratio, .. } = of(figure);
        println!("  {what:77}  {:>7.2} us {:>7.2} us  {ratio:>5.2}", ours / 1e3, fios / 1e3);
    };
    if case.sync != Sync::None {
        latencies("sync", |figures| figures.sync_ns.unwrap_or(f64::NAN));
    }
    if case.is_from_memory() {
        latencies("processor time in the kernel", |figures| figures.system_ns);
        latencies("processor time outside it", |figures| figures.user_ns);
        let bare = median(pairs.iter().filter_map(|pair| pair.bare_per_s));
        println!(
            "  {:32} {bare:>10.0}  of which ours reaches {:.2}, fio {:.2}",
            "loop without a clock",
            rate.ours / bare,
            rate.fios / bare
        );
    }
}

/// One figure of all pairs: medians, and the ratios of ours to fio's within pairs.
struct Compared {
    ours: f64,
    fios: f64,
    ratio: f64,
    least: f64,
    greatest: f64,
}

impl Compared {
    fn new(pairs: &[Pair], figure: fn(&Figures) -> f64) -> Compared {
        let ratios = || pairs.iter().map(|pair| figure(&pair.ours) / figure(&pair.fios));
        Compared {
            ours: median(pairs.iter().map(|pair| figure(&pair.ours))),
            fios: median(pairs.iter().map(|pair| figure(&pair.fios))),
            ratio: median(ratios()),
            least: ratios().fold(f64::INFINITY, f64::min),
            greatest: ratios().fold(0.0, f64::max),
        }
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    (values[(values.len() - 1) / 2] + values[values.len() / 2]) / 2.0
}
