//! Files that say of themselves that they are large, or have no end: whatever reads them takes no memory for that, and waits for
//! nothing. Each is read by a process that may have no more than 512 MiB.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::cli::support::{STOREBENCH, Said, Scratch, TINY, said, wait_for};
use storebench_core::error::Exit;

/// The memory that a reader may have, in KiB of its address space.
const MOST_KIB: u32 = 512 << 10;

/// Runs storebench with little memory.
fn with_little_memory(scratch: &Scratch, arguments: &str) -> Said {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v $0; exec \"$@\"", &MOST_KIB.to_string(), STOREBENCH]);
    command.args(arguments.split_whitespace()).current_dir(scratch.path()).stdin(Stdio::null());
    // Each thread's heap takes its part of the address space.
    said(command.env("RAYON_NUM_THREADS", "1"))
}

/// A file that begins like this, has `bytes` of nothing after it and takes no room.
fn hollow(path: &Path, beginning: &[u8], bytes: u64) {
    let mut file = File::create(path).unwrap();
    file.write_all(beginning).unwrap();
    file.set_len(bytes).unwrap();
}

/// Zstd of a beginning, and of a number of blocks of 128 KiB of one letter.
fn zstd(beginning: &[u8], blocks: u32, letter: u8) -> Vec<u8> {
    let head = |last: bool, kind: u32, size: u32| {
        (u32::from(last) | kind << 1 | size << 3).to_le_bytes()[..3].to_vec()
    };
    // A window of 128 KiB; no lengths, no checksum.
    let mut bytes = [&0xfd2f_b528_u32.to_le_bytes()[..], &[0, 7 << 3]].concat();
    bytes.extend(head(false, 0, beginning.len() as u32));
    bytes.extend_from_slice(beginning);
    for number in 1..=blocks {
        bytes.extend(head(number == blocks, 1, 128 << 10));
        bytes.push(letter);
    }
    bytes
}

const TERABYTE: u64 = 1 << 40;

#[test]
fn traces_without_measure_are_refused_with_little_memory() {
    let scratch = Scratch::new();
    for (name, bytes) in [
        // A key of 2 GiB in a file of 64 KiB.
        ("key.zst", zstd(b"0,get,", 16 << 10, b'k')),
        ("quoted.zst", zstd(b"0,get,\"", 16 << 10, b'k')),
        ("header.zst", zstd(b"time,operation,key,size\n0,get,\"", 16 << 10, b'\n')),
        ("twitter.zst", zstd(b"0,key,3,10,1,get,0\n0,", 16 << 10, b'k')),
        ("empty.zst", zstd(b"0,key,3,10,1,get,0\n", 16 << 10, b'\n')),
        // A window of 2 TiB.
        ("window.zst", [&0xfd2f_b528_u32.to_le_bytes()[..], &[0, 31 << 3, 1, 0, 0]].concat()),
    ] {
        let said = with_little_memory(&scratch, &format!("trace {}", scratch.write(name, bytes).display()));
        said.complains(Exit::BadValue, &["the trace", name]);
    }
    for beginning in [&b"0,get,\""[..], b"0,get,k", b"0,key,3,10,1,get,0\n"] {
        hollow(&scratch.join("hollow"), beginning, TERABYTE);
        with_little_memory(&scratch, "trace hollow").complains(Exit::BadValue, &["the trace hollow"]);
    }
}

/// It is no file, and yet ends when asked to.
#[test]
fn a_pipe_is_no_trace_and_is_not_waited_for() {
    let scratch = Scratch::new();
    rustix::fs::mkfifoat(rustix::fs::CWD, scratch.join("pipe"), rustix::fs::Mode::RWXU).unwrap();
    scratch.storebench("trace pipe").complains(Exit::BadValue, &["it is not a file"]);
    let run = "run replay --store flat-folder --trace pipe --guarantee process";
    let said = scratch.storebench(run).ends(Exit::BadValue);
    assert!(said.err.contains("it is not a file"), "{said}");
    for waits in ["run pipe --dry-run", "run ycsb --store flat-folder -P pipe --dry-run"] {
        let started = scratch.start(STOREBENCH, waits);
        wait_for("its wait for the pipe", || is_waiting(started.id()));
        started.signal("TERM");
        let said = started.end();
        assert!([None, Some(i32::from(Exit::Interrupted.code()))].contains(&said.code), "{said}");
    }
}

/// Whether a process sleeps, as one that waits for a pipe does.
fn is_waiting(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let name = fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('S')) && name.trim() == "storebench"
}

#[test]
fn runs_without_measure_are_refused_with_little_memory() {
    let scratch = Scratch::new();
    scratch.storebench(&format!("run crud --store flat-folder {TINY}")).ends(Exit::Success);
    let run = scratch.only_run();
    let (header, results) = (run.join("run.json"), run.join("results.jsonl"));
    let (told, whole) = (fs::read(&header).unwrap(), fs::read_to_string(&results).unwrap());
    let report = || with_little_memory(&scratch, "report latest");
    hollow(&results, whole.as_bytes(), TERABYTE);
    report().complains(Exit::NotStorebench, &["results.jsonl", "it is longer than 4GiB"]);
    // One line, and one after which another could follow.
    for rest in [&b" "[..], b" \n{"] {
        hollow(&results, b"", 100 << 20);
        let mut file = File::options().write(true).open(&results).unwrap();
        file.seek(SeekFrom::End(0)).unwrap();
        file.write_all(rest).unwrap();
        report();
    }
    let start = whole.find("\"histogram\":\"").unwrap() + "\"histogram\":\"".len();
    let end = start + whole[start..].find('"').unwrap();
    for histogram in [
        // It says that it holds 4 GiB.
        "HISTFAAAAB542pNpmSzMAAIcDMxQ",
        &"A".repeat(40 << 20),
    ] {
        let text = format!("{}{histogram}{}", &whole[..start], &whole[end..]);
        fs::write(&results, text).unwrap();
        report();
        with_little_memory(&scratch, "report latest --table");
        with_little_memory(&scratch, "report latest --html page.html");
    }
    fs::write(&results, &whole).unwrap();
    hollow(&header, &told, TERABYTE);
    report().complains(Exit::NotStorebench, &["run.json", "it is longer than 64MiB"]);
    fs::write(&header, told).unwrap();
    report().ends(Exit::Success);
}

#[test]
fn plans_properties_and_data_without_measure_are_refused_with_little_memory() {
    let scratch = Scratch::new();
    for (name, beginning, bytes) in [
        ("plan.toml", &b"format = 1\nname = \"x\"\n"[..], TERABYTE),
        ("properties", b"recordcount=5\n", TERABYTE),
        ("data.csv", b"a,b\n1,\"", 0),
    ] {
        hollow(&scratch.join(name), beginning, bytes.max(beginning.len() as u64));
    }
    // A value without an end, of letters at first.
    let mut data = File::options().append(true).open(scratch.join("data.csv")).unwrap();
    data.write_all(&vec![b'x'; 1 << 20]).unwrap();
    data.set_len(TERABYTE).unwrap();
    with_little_memory(&scratch, "run plan.toml").complains(Exit::BadPlan, &["plan.toml", "1MiB"]);
    with_little_memory(&scratch, "run ycsb -P properties").complains(Exit::BadPlan, &["properties", "1MiB"]);
    let said = with_little_memory(&scratch, "advise --like data.csv:b");
    assert!(said.err.contains("more than 64MiB without an end"), "{said}");
    fs::create_dir(scratch.join("texts")).unwrap();
    hollow(&scratch.join("texts/large"), b"text", TERABYTE);
    let run =
        format!("run crud --store memory {} --text texts", TINY.replace("incompressible", "compressible"));
    with_little_memory(&scratch, &run.replace("--guarantee process", "--guarantee none")).ends(Exit::Success);
}
