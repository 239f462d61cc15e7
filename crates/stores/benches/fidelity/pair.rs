//! Pairs: two fresh stores, loaded alike, that take turns.

use std::time::{Duration, Instant};

use storebench_core::cell::Data;
use storebench_core::record::Records;
use storebench_core::record::pool::Pool;
use storebench_core::store::{OpenOptions, Store, StoreDef};
use storebench_core::units::SizeRange;
use storebench_core::workload::operation::Operation;
use storebench_report::stats::median;

use crate::direct::Engine;
use crate::ours::Ours;
use crate::theirs::Theirs;
use crate::{Bench, CACHE_BYTES, RECORDS, cheapest};

pub const COMPARED: [Operation; 2] = [Operation::Get, Operation::Update];
/// Operations.
const TURN: u64 = 640;
/// The most turns of each side, and seconds that end them earlier with slow stores.
const TURNS: usize = 20;
const FEWEST_TURNS: usize = 6;
const LONG_ENOUGH: Duration = Duration::from_millis(400);

/// Nanoseconds per operation.
#[derive(Debug, Clone, Copy)]
pub struct OperationTime {
    /// Within the engine's call; on the other side, with many calls timed together.
    pub calls_ns: f64,
    /// Within the engine's call, each timed alone.
    pub clocked_ns: f64,
    /// With all that the loop does.
    pub whole_ns: f64,
}

pub trait Side {
    fn load(&mut self, count: u64);
    fn turn(&mut self, operation: Operation, count: u64) -> OperationTime;
}

/// For each of [`COMPARED`], storebench's times and the other side's.
pub type Measured = [Vec<(OperationTime, OperationTime)>; COMPARED.len()];

pub fn measure<E: Engine>(bench: &Bench, store: &StoreDef, size: SizeRange) -> Measured {
    let mut measured = Measured::default();
    for pair in 0..bench.pairs {
        let seed = pair as u64;
        let records = Records::new(seed, size, Pool::generate(Data::Incompressible, seed, size));
        let folder = tempfile::tempdir_in(&bench.folder).expect("a folder can be made for the pair");
        let (our_folder, their_folder) = (folder.path().join("storebench"), folder.path().join("direct"));
        [&our_folder, &their_folder]
            .into_iter()
            .for_each(|path| std::fs::create_dir(path).expect("folders can be made"));
        // Who comes first may find better memory, or a better place on the disk.
        let is_ours_first = pair % 2 == 0;
        let (store_under_test, engine) = if is_ours_first {
            let store_under_test = open(store, &our_folder);
            (store_under_test, E::open(&their_folder))
        } else {
            let engine = E::open(&their_folder);
            (open(store, &our_folder), engine)
        };
        let session = store_under_test.session().expect("every store has a session");
        let mut ours = Ours::new(session, &bench.clock, &records, seed);
        let mut theirs = Theirs::new(engine, &bench.clock, &records, seed);
        let times = take_turns(is_ours_first, &mut ours, &mut theirs);
        drop(ours);
        drop(theirs);
        store_under_test.close().expect("the store can be closed");
        measured.iter_mut().zip(times).for_each(|(times, pair)| times.push(pair));
    }
    measured
}

pub fn open(store: &StoreDef, folder: &std::path::Path) -> Box<dyn Store> {
    let options = OpenOptions {
        guarantee: Some(cheapest(store)),
        cache_bytes: Some(CACHE_BYTES),
        ..OpenOptions::new(folder)
    };
    store.open.expect("the store is built in")(&options).expect("the store opens")
}

fn take_turns(
    mut is_ours_first: bool,
    ours: &mut dyn Side,
    theirs: &mut dyn Side,
) -> [(OperationTime, OperationTime); COMPARED.len()] {
    let in_order: [&mut dyn Side; 2] = if is_ours_first { [ours, theirs] } else { [theirs, ours] };
    in_order.into_iter().for_each(|side| side.load(RECORDS));
    COMPARED.map(|operation| {
        // The first turns warm up.
        ours.turn(operation, TURN);
        theirs.turn(operation, TURN);
        let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
        let start = Instant::now();
        while our_times.len() < TURNS && (our_times.len() < FEWEST_TURNS || start.elapsed() < LONG_ENOUGH) {
            if is_ours_first {
                our_times.push(ours.turn(operation, TURN));
            }
            their_times.push(theirs.turn(operation, TURN));
            if !is_ours_first {
                our_times.push(ours.turn(operation, TURN));
            }
            is_ours_first = !is_ours_first;
        }
        (OperationTime::median(&our_times), OperationTime::median(&their_times))
    })
}

impl OperationTime {
    pub fn new(operations: u64, calls: f64, whole: f64) -> OperationTime {
        let per_operation = |ns: f64| ns / operations as f64;
        OperationTime {
            calls_ns: per_operation(calls),
            clocked_ns: per_operation(calls),
            whole_ns: per_operation(whole),
        }
    }

    pub fn median(turns: &[OperationTime]) -> OperationTime {
        let median_of = |time: fn(&OperationTime) -> f64| {
            let times: Vec<f64> = turns.iter().map(time).filter(|time| time.is_finite()).collect();
            median(&times).map_or(f64::NAN, |median| median.value)
        };
        OperationTime {
            calls_ns: median_of(|turn| turn.calls_ns),
            clocked_ns: median_of(|turn| turn.clocked_ns),
            whole_ns: median_of(|turn| turn.whole_ns),
        }
    }
}
