//! storebench with stores that misbehave, for the integration tests: an example, so that nothing installs it. `faulty write` is the process
//! with storebench's own stores that the tests kill.

use std::io::Write;
use std::process::ExitCode;

mod ageing;
mod compaction;
mod fault;
mod liar;
mod pretender;
mod store;
mod writer;

use ageing::Ageing;
use fault::Fault;
use liar::{Lie, liar};
use pretender::Pretence;
use store::faulty;
use storebench_model::store::{StoreDef, StoreKind};
use storebench_model::stores::{FLAT_FOLDER, MEMORY, NULL};

const STORES: &[StoreDef] = &[
    faulty("aborts", "ends by abort in an update", &|options| store::open(options, Fault::Aborts)),
    faulty("panics", "panics in an update", &|options| store::open(options, Fault::Panics)),
    faulty("hangs", "never returns from an update", &|options| store::open(options, Fault::Hangs)),
    faulty("errs", "gives an error in an update", &|options| store::open(options, Fault::Errs)),
    faulty("hoards", "takes memory without bound", &|options| store::open(options, Fault::Hoards)),
    faulty("fills", "writes files until the disk is full", &|options| store::open(options, Fault::Fills)),
    faulty("lies", "reads another byte than was written", &|options| store::open(options, Fault::Lies)),
    faulty("shortens", "reads one byte less", &|options| store::open(options, Fault::Shortens)),
    faulty("misses", "finds nothing", &|options| store::open(options, Fault::Misses)),
    faulty("miscounts", "counts one record too many", &|options| store::open(options, Fault::Miscounts)),
    faulty("weakens", "gives less than was promised", &|options| store::open(options, Fault::Weakens)),
    faulty("refuses", "can't be opened on this system", &|options| store::open(options, Fault::Refuses)),
    faulty("chatters", "prints all the time, and works", &|options| store::open(options, Fault::Chatters)),
    faulty("dawdles", "takes some milliseconds, and works", &|options| store::open(options, Fault::Dawdles)),
    faulty("notes", "writes down every call, and works", &|options| store::open(options, Fault::Notes)),
    faulty("compacts", "is slow while it does what loading left to do", &|options| {
        store::open(options, Fault::Compacts)
    }),
    faulty("stalls", "stands still now and then, and works", &|options| {
        ageing::open(options, Ageing::Stalls)
    }),
    faulty("leaks", "keeps 1 % of each update for good, and works", &|options| {
        ageing::open(options, Ageing::Leaks)
    }),
    faulty("keeps-marks", "keeps marks of what was removed, and works", &|options| {
        ageing::open(options, Ageing::Marks)
    }),
    liar("honest", "does what it says", &|options| liar::open(options, Lie::None)),
    liar("drops-updates", "drops every update", &|options| liar::open(options, Lie::DropsUpdates)),
    liar("keeps-removed", "removes nothing", &|options| liar::open(options, Lie::KeepsRemoved)),
    liar("revives-removed", "removes until it is closed", &|options| {
        liar::open(options, Lie::RevivesRemoved)
    }),
    liar("loses", "loses one write in 10,000", &|options| liar::open(options, Lie::Loses)),
    liar("never-syncs", "says power and never syncs", &|options| liar::open(options, Lie::NeverSyncs)),
    liar("forgets", "keeps all in memory until it is closed", &|options| liar::open(options, Lie::Forgets)),
    liar("hides", "keeps all in static memory", &|options| liar::open(options, Lie::Hides)),
    liar("writes-at-close", "writes nothing until it is closed", &|options| {
        pretender::open(options, Pretence::WritesAtClose)
    }),
    liar("caches-static", "answers from static memory", &|options| {
        pretender::open(options, Pretence::CachesStatic)
    }),
    liar("sync-other", "syncs another file", &|options| pretender::open(options, Pretence::SyncsOther)),
    liar("sync-empty", "syncs an empty file", &|options| pretender::open(options, Pretence::SyncsEmpty)),
    liar("sync-fake", "syncs a fake", &|options| pretender::open(options, Pretence::SyncsFake)),
    StoreDef::not_built("tape", StoreKind::Engine, "what this build lacks", "build with --features tape"),
    FLAT_FOLDER,
    NULL,
    MEMORY,
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        Some((first, rest)) if first == "write" => exit_code(writer::run(storebench::STORES, rest)),
        _ => storebench::cli::main(STORES),
    }
}

/// The exit code of a writer; the reason of its end goes to standard error.
fn exit_code(result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            let _ = writeln!(std::io::stderr(), "{message}");
            ExitCode::FAILURE
        }
    }
}
