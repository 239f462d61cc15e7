//! A client's part of a trial of crud: some of its threads, on what the trial's process has made and loaded on a running server.

use std::fs;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use storebench_model::server::running::ServerNamespace;
use storebench_model::store::{OpenFn, OpenOptions, Store};

use super::parameters::CrudParameters;
use super::share;
use super::shared::{SharedRecords, Shares};
use super::trial;
use crate::guard;
use crate::measure::clock::Clock;
use crate::measure::counters::Snapshot;
use crate::measure::limit::allowed_processors;
use crate::measure::machine_counters::MachineCounters;
use crate::measure::series::Series;
use crate::workload::clients::link::ClientWire;
use crate::workload::clients::messages::{
    ClientOrder, ClientReply, ClientResults, ClientRound, OperationMeasurements, RoundResult, pack_bytes,
};
use crate::workload::elapsed::{Elapsed, TimedPart};
use crate::workload::operation::Operation;
use crate::workload::pacer::wait_until;
use crate::workload::phase::PhaseGoal;
use crate::workload::recorder::Record;
use crate::workload::spec::{TrialContext, TrialError};
use crate::workload::start_barrier::{StartBarrier, StartGate};
use crate::workload::store_trial::{find, unsupported_or_failed};
use crate::workload::worker_pool;
use crate::workload::workload_error::WorkloadError;

/// How long before the start threads are woken up.
const AWAKE_NS: f64 = 3_000_000.0;
/// The kernel counts processor time in steps of 10 ms: shorter rounds have no usable figure.
const MIN_COUNTED_TIME: Duration = Duration::from_millis(300);

/// Follows the trial's orders until there are no more, with these threads. Stops at the first thing that goes wrong.
pub fn serve(
    context: &TrialContext<'_>,
    threads: Range<u64>,
    wire: &dyn ClientWire,
) -> Result<(), TrialError> {
    let TrialContext { stores, spec, .. } = *context;
    let (store, open) = find(stores, spec.cell.store())?;
    let clock = Clock::new();
    let records = trial::records(spec, None)?;
    let plan = trial::crud(spec, &CrudParameters::for_cell(&spec.parameters, &spec.cell));
    let new_share = |thread| plan.share(thread, &records, &clock, store.capabilities.keeps).map(Mutex::new);
    let shares =
        threads.clone().map(new_share).collect::<Result<Vec<_>, _>>().map_err(TrialError::harness)?;
    let series = Series::new(shares.len()).map_err(TrialError::harness)?.with_histograms();
    let shared =
        SharedRecords { plan: &plan, records: &records, clock: &clock, series, first: threads.start };
    let client = Client { shared, shares: Shares(shares), gate: CommonStart::new(&clock, wire), wire };
    let options = spec.options(threads.end - threads.start);
    let mut next = wire.next_order();
    while let Some(order) = next {
        next = match order {
            ClientOrder::Open { made: namespace, loaded } => {
                loaded.into_iter().for_each(|count| client.shares.set_loaded(count));
                let store = open_made(open, &options, &namespace)?;
                let next = client.run_while_open(store.as_ref())?;
                store.close().map_err(WorkloadError::during("closing the store"))?;
                next
            }
            ClientOrder::Finish => {
                wire.reply(&ClientReply::Finished(Box::new(client.results()?)));
                wire.next_order()
            }
            ClientOrder::Ping | ClientOrder::Round(_) | ClientOrder::Start { .. } => {
                return Err(TrialError::harness(OUT_OF_TURN));
            }
        };
    }
    Ok(())
}

const OUT_OF_TURN: &str = "it was given an order out of turn";

/// Opens the store on what was made on the server. Nothing stays here: whoever made it drops it.
fn open_made(
    open: OpenFn,
    options: &OpenOptions<'_>,
    namespace: &ServerNamespace,
) -> Result<Box<dyn Store>, TrialError> {
    let file_error = |error| TrialError::harness(format!("using {}: {error}", options.directory.display()));
    fs::create_dir(options.directory).map_err(file_error)?;
    let result = namespace.keep(options.directory).map(|()| open(options));
    guard::remove_made(options.directory).map_err(file_error)?;
    result.map_err(file_error)?.map_err(unsupported_or_failed)
}

struct Client<'a> {
    shared: SharedRecords<'a>,
    shares: Shares<'a>,
    gate: CommonStart<'a>,
    wire: &'a dyn ClientWire,
}

impl Client<'_> {
    /// Does rounds; gives the first other order.
    fn run_while_open(&self, store: &dyn Store) -> Result<Option<ClientOrder>, WorkloadError> {
        let (workers, clock) = (&self.shares.0, self.shared.clock);
        let barrier = StartBarrier::new(workers.len(), clock);
        let barrier = barrier.for_part(self.shared.first, self.shared.plan.threads, &self.gate);
        worker_pool::run_at_barrier(
            &barrier,
            clock,
            workers,
            || worker_pool::session(store),
            |_| Ok(()),
            |pool| {
                self.wire.reply(&ClientReply::Opened);
                loop {
                    match self.wire.next_order() {
                        Some(ClientOrder::Ping) => pong(self.wire, clock),
                        Some(ClientOrder::Round(round)) => {
                            let result = self.round(round, &barrier, |order| pool.parts(order))?;
                            self.wire.reply(&ClientReply::Done(Box::new(result)));
                        }
                        order => return Ok(order),
                    }
                }
            },
        )
    }

    fn round<'s>(
        &'s self,
        ClientRound { phase, operations, warm_up, until, live }: ClientRound,
        barrier: &StartBarrier<'_>,
        work: impl FnOnce(share::RoundOrder<'s>) -> Result<Vec<TimedPart>, WorkloadError>,
    ) -> Result<RoundResult, WorkloadError> {
        let Client { shared, shares, gate, .. } = self;
        let clock = shared.clock;
        let doing = shared.plan.phase_work(phase).ok_or_else(|| WorkloadError::harness(OUT_OF_TURN))?;
        let goal = PhaseGoal { doing, operations, warm_up, until };
        shared.series.begin();
        let timed_before = shares.timed();
        let before = Snapshot::now();
        let parts = work(share::RoundOrder { shared, goal, live })?;
        let counters = before.until_now();
        let elapsed = Elapsed::from_parts(clock, &parts);
        let (processors, cpu_share, busy_share) = gate.read_usage(&elapsed);
        let begin = parts.iter().map(|part| part.begin).min().unwrap_or(0);
        let behind = parts.iter().map(|part| part.behind_ticks).max().unwrap_or(0);
        Ok(RoundResult {
            begin_ns: clock.nanoseconds(gate.moment.load(Ordering::Relaxed), begin),
            late_ns: clock.nanoseconds(0, barrier.take_late()),
            elapsed,
            behind_ns: clock.nanoseconds(0, behind),
            count: shares.timed() - timed_before,
            untimed: shares.take_untimed().counts.to_vec(),
            writes: shares.take_writes(),
            written: shares.written(),
            records: shares.records_of_each(),
            counters,
            processors,
            cpu_share,
            busy_share,
            seconds: shared.series.finish_packed().map_err(WorkloadError::harness)?,
        })
    }

    fn results(&self) -> Result<ClientResults, WorkloadError> {
        let recorder = self.shares.recorder_so_far()?;
        let kind = |operation: Operation| {
            let &Record { ref latencies, errors, value_bytes, conflicts } =
                recorder.kind_record(operation as usize);
            Ok(OperationMeasurements { latencies: latencies.pack()?, errors, value_bytes, conflicts })
        };
        let kinds = Operation::ALL.into_iter().map(kind).collect::<Result<_, String>>();
        let (versions, seen_gone) = self.shares.take_versions();
        let versions = versions.iter().map(|versions| pack_bytes(versions)).collect::<Result<_, String>>();
        Ok(ClientResults {
            kinds: kinds.map_err(WorkloadError::harness)?,
            versions: versions.map_err(WorkloadError::harness)?,
            seen_gone,
        })
    }
}

fn pong(wire: &dyn ClientWire, clock: &Clock) {
    wire.reply(&ClientReply::Pong { at_ns: clock.nanoseconds(0, clock.now()) });
}

/// The common start of a round's timed part on all clients.
struct CommonStart<'a> {
    clock: &'a Clock,
    wire: &'a dyn ClientWire,
    moment: AtomicU64,
    /// The process's and processors' counters just before it.
    counters_before: Mutex<Option<(Snapshot, MachineCounters)>>,
}

impl<'a> CommonStart<'a> {
    fn new(clock: &'a Clock, wire: &'a dyn ClientWire) -> CommonStart<'a> {
        CommonStart { clock, wire, moment: AtomicU64::new(0), counters_before: Mutex::new(None) }
    }

    /// The processors that the process may use, and the shares of their time that it and all programs took since the start.
    fn read_usage(&self, elapsed: &Elapsed) -> (u32, f64, Option<f64>) {
        let processors = allowed_processors().map_or(1, |numbers| numbers.len().max(1)) as u32;
        let counters_before = self.counters_before.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((process, machine)) = counters_before else { return (processors, 0.0, None) };
        let counters = process.until_now();
        let all_ns = counters.took_ns.unwrap_or(0).max(1) as f64 * f64::from(processors);
        let cpu_share = (counters.cpu_ns.unwrap_or(0) as f64 / all_ns).min(1.0);
        let idle = machine.end().processors.map(|shares| shares.idle_share + shares.io_wait_share);
        let busy_share = idle.filter(|_| elapsed.wall >= MIN_COUNTED_TIME).map(|idle| (1.0 - idle).max(0.0));
        (processors, cpu_share, busy_share)
    }
}

impl StartGate for CommonStart<'_> {
    fn wait_for_start(&self) -> Option<u64> {
        self.wire.reply(&ClientReply::Ready);
        loop {
            match self.wire.next_order()? {
                ClientOrder::Ping => pong(self.wire, self.clock),
                ClientOrder::Start { at_ns } => {
                    let now = self.clock.now();
                    let wait_ns = at_ns.saturating_sub(self.clock.nanoseconds(0, now)) as f64;
                    let moment = now + self.clock.ticks(wait_ns) as u64;
                    let wake_up = moment.saturating_sub(self.clock.ticks(AWAKE_NS) as u64);
                    wait_until(self.clock, wake_up, &false.into());
                    self.moment.store(moment, Ordering::Relaxed);
                    let counters =
                        (Snapshot::now(), MachineCounters::start(&Err("it is not looked at".into())));
                    *self.counters_before.lock().unwrap_or_else(PoisonError::into_inner) = Some(counters);
                    return Some(moment);
                }
                ClientOrder::Open { .. } | ClientOrder::Round(_) | ClientOrder::Finish => return None,
            }
        }
    }
}
