//! Reads and writes of one file beside fio's (<https://github.com/axboe/fio>): the same file size, blocks and ways of opening
//! it, by turns (ours, fio, fio, ours, ...), in the current directory or the one in `STOREBENCH_BENCH_DIRECTORY`.

#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark prints, and may give up"
)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use storebench_core::measure::clock::Clock;
use storebench_core::measure::latency::Latencies;
use storebench_core::workload::device::{Amount, Error, Io, Pattern, Prepared, Spec, Sync, SyncCall};

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
    Case { name: "rand write 4 KiB, warm", pattern: Pattern::RandWrite, ..PLAIN },
    Case { name: "rand write 4 KiB, direct", pattern: Pattern::RandWrite, io: Io::Direct, ..PLAIN },
    Case {
        name: "rand write 4 KiB, fdatasync each",
        pattern: Pattern::RandWrite,
        sync: Sync::Each(SyncCall::Fdatasync, 1),
        ..PLAIN
    },
    Case { name: "rand write 4 KiB, O_DSYNC", pattern: Pattern::RandWrite, io: Io::Dsync, ..PLAIN },
];

/// What one run came to.
struct Figures {
    operations_per_s: f64,
    /// Mean latency of reads or writes alone.
    call_ns: f64,
    /// Mean latency of syncs alone.
    sync_ns: Option<f64>,
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
    let fio_file = directory.path().join("fio.data");
    lay_out_for_fio(&fio_file);
    let clock = Clock::new();
    println!(
        "a file of {} MiB, {ROUNDS} pairs by turns; medians, and the least and greatest ratio",
        FILE_BYTES >> 20
    );
    println!(
        "{:34} {:>10} {:>10}  {:>5} {:>14}  {:>10} {:>10}  {:>5}",
        "", "ours, op/s", "fio, op/s", "ratio", "", "ours, call", "fio, call", "ratio"
    );
    for case in CASES {
        match pairs(case, directory.path(), &fio_file, &clock) {
            Ok(pairs) => show(case.name, &pairs),
            Err(Error::Unsupported(why)) => println!("{:34} skipped: {why}", case.name),
            Err(error) => panic!("{}: {error}", case.name),
        }
    }
    println!("\"call\" is the mean latency of a read or write alone; \"sync\" that of the syncs after them.");
}

/// Both, by turns, so that disturbances meet both alike.
fn pairs(
    case: &Case,
    directory: &Path,
    fio_file: &Path,
    clock: &Clock,
) -> Result<Vec<(Figures, Figures)>, Error> {
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
    let mut pairs = Vec::new();
    for round in 0..ROUNDS {
        pairs.push(if round % 2 == 0 {
            let mine = ours(case, &prepared, clock)?;
            (mine, fios(case, fio_file))
        } else {
            let theirs = fios(case, fio_file);
            (ours(case, &prepared, clock)?, theirs)
        });
    }
    prepared.finish()?;
    Ok(pairs)
}

fn ours(case: &Case, prepared: &Prepared, clock: &Clock) -> Result<Figures, Error> {
    let measured = prepared.measure(clock)?;
    let mean = |latencies: &Latencies| latencies.sum_ns() as f64 / latencies.count() as f64;
    Ok(Figures {
        operations_per_s: if case.to_the_end {
            measured.durable_bytes_per_s() / case.block as f64
        } else {
            measured.operations_per_s()
        },
        call_ns: mean(measured.writes.as_ref().unwrap_or(&measured.latencies)),
        sync_ns: measured.syncs.as_ref().map(mean),
    })
}

fn lay_out_for_fio(file: &Path) {
    let options = ["--rw=write", "--bs=1M", "--end_fsync=1"].map(String::from);
    fio(file, &options);
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
    let job = fio(file, &options);
    let direction = &job[if case.pattern.writes() { "write" } else { "read" }];
    let number = |value: &serde_json::Value| value.as_f64().expect("fio tells a number");
    Figures {
        operations_per_s: number(&direction["iops"]),
        call_ns: number(&direction["clat_ns"]["mean"]),
        sync_ns: (case.sync != Sync::None).then(|| number(&job["sync"]["lat_ns"]["mean"])),
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

fn show(name: &str, pairs: &[(Figures, Figures)]) {
    let of = |figure: fn(&Figures) -> f64| Compared::new(pairs, figure);
    let (rate, call) = (of(|figures| figures.operations_per_s), of(|figures| figures.call_ns));
    let range = format!("[{:.2}, {:.2}]", rate.least, rate.greatest);
    println!(
        "{name:34} {:>10.0} {:>10.0}  {:>5.2} {range:>14}  {:>7.2} us {:>7.2} us  {:>5.2}",
        rate.ours,
        rate.fios,
        rate.ratio,
        call.ours / 1e3,
        call.fios / 1e3,
        call.ratio
    );
    if pairs.iter().all(|(ours, _)| ours.sync_ns.is_some()) {
        let sync = of(|figures| figures.sync_ns.unwrap_or(f64::NAN));
        println!(
            "{:34} {:>10} {:>10}  {:>5} {:>14}  {:>7.2} us {:>7.2} us  {:>5.2}",
            "  sync",
            "",
            "",
            "",
            "",
            sync.ours / 1e3,
            sync.fios / 1e3,
            sync.ratio
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
    fn new(pairs: &[(Figures, Figures)], figure: fn(&Figures) -> f64) -> Compared {
        let ratios = || pairs.iter().map(|(ours, fios)| figure(ours) / figure(fios));
        Compared {
            ours: median(pairs.iter().map(|(ours, _)| figure(ours))),
            fios: median(pairs.iter().map(|(_, fios)| figure(fios))),
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
