//! The trial's side of clients: sends orders and receives messages. A client's failure, or its silence, ends the trial with its name.

use std::ops::Range;
use std::time::{Duration, Instant};

use storebench_model::result::{ClientPhase, ClientReport, Counters};
use storebench_model::server::running::ServerNamespace;

use super::clock::{ClockOffset, Ping};
use super::link::{ClientConnector, ClientLink, ClientTask};
use super::messages::{ClientOrder, ClientReply, ClientResults, ClientRound, RoundResult};
use crate::workload::elapsed::Elapsed;
use crate::workload::spec::Spec;
use crate::workload::workload_error::WorkloadError;

/// A client reports every second; after this silence it has failed.
const SILENCE: Duration = Duration::from_secs(15);
/// How long to wait for one client before the next.
const POLL: Duration = Duration::from_millis(5);
/// Pings to a client before each round.
const PINGS: Range<usize> = 8..64;
/// After this time only the fewest pings are made.
const PINGING_TIME: Duration = Duration::from_millis(200);
/// From the last ping to the common start, besides the latency: clients wake up in it.
const LEAD: Duration = Duration::from_millis(30);

pub(crate) struct Fleet {
    members: Vec<ClientMember>,
    base: Instant,
    silence: Duration,
}

struct ClientMember {
    threads: Range<u64>,
    link: Box<dyn ClientLink>,
    last_heard: Instant,
    report: ClientReport,
    phases: Vec<RoundSums>,
}

/// Sums over a phase's rounds.
#[derive(Default)]
struct RoundSums {
    operation: String,
    count: u64,
    elapsed: Elapsed,
    is_closed: bool,
    behind_ns: u64,
    wall_s: f64,
    cpu_s: f64,
    /// Seconds with known processor use, and how many of them were busy.
    known_s: f64,
    busy_s: f64,
}

pub(crate) struct FleetRound {
    pub elapsed: Elapsed,
    pub counters: Counters,
    /// When all were to start.
    pub began: Instant,
    /// Each client's first thread, with its results.
    pub client_results: Vec<(usize, RoundResult)>,
}

impl Fleet {
    /// Starts the clients of a trial, with its threads spread evenly; `None` without clients.
    pub fn connect(
        spec: &Spec,
        connector: Option<ClientConnector>,
        threads: u64,
    ) -> Result<Option<Fleet>, WorkloadError> {
        if spec.clients.is_empty() {
            return Ok(None);
        }
        let connector =
            connector.ok_or_else(|| WorkloadError::harness("this program knows no way to clients"))?;
        let ranges = split_threads(threads, spec.clients.len() as u64);
        let connect_one = &|(host, threads): (&String, &Range<u64>)| {
            let sessions = threads.end - threads.start;
            let task = ClientTask { spec: spec.clone(), first: threads.start, sessions };
            let link = connector(host, &task).map_err(|why| client_error(host, &why))?;
            Ok(ClientMember::new(host, threads.clone(), link))
        };
        let clients = spec.clients.iter().zip(&ranges);
        // Each takes some round trips, and a program may have to be read there.
        let members: Result<Vec<ClientMember>, WorkloadError> = std::thread::scope(|scope| {
            let starts: Vec<_> = clients.map(|client| scope.spawn(move || connect_one(client))).collect();
            let thread_ended = || Err(WorkloadError::harness("a thread has ended before its work"));
            starts.into_iter().map(|start| start.join().unwrap_or_else(|_| thread_ended())).collect()
        });
        Ok(Some(Fleet::new(members?, SILENCE)))
    }

    fn new(members: Vec<ClientMember>, silence: Duration) -> Fleet {
        Fleet { members, base: Instant::now(), silence }
    }

    /// Has all open sessions on what was made on the server; `loaded` is the number of records if it was loaded anew.
    pub fn open(&mut self, namespace: &ServerNamespace, loaded: Option<u64>) -> Result<(), WorkloadError> {
        self.send(&ClientOrder::Open { made: namespace.clone(), loaded })?;
        self.receive_each(|reply| matches!(reply, ClientReply::Opened).then_some(())).map(drop)
    }

    /// Has all do a round of the phase with this name.
    pub fn round(
        &mut self,
        round: ClientRound,
        phase: &str,
        is_closed: bool,
    ) -> Result<FleetRound, WorkloadError> {
        self.send(&ClientOrder::Round(round))?;
        self.receive_each(|reply| matches!(reply, ClientReply::Ready).then_some(()))?;
        let began = self.start()?;
        let results = self.receive_each(|reply| match reply {
            ClientReply::Done(result) => Some(*result),
            _ => None,
        })?;
        let counters = results.iter().map(|result| result.counters.clone());
        let mut counters = counters.reduce(|sum, other| sum.plus(&other)).unwrap_or_default();
        // They were at work side by side.
        counters.took_ns = results.iter().filter_map(|result| result.counters.took_ns).max();
        let elapsed = results.iter().fold(Elapsed::default(), |sum, result| sum.add_later(result.elapsed));
        let elapsed = Elapsed { wall: wall(&results), ..elapsed };
        let mut client_results = Vec::with_capacity(results.len());
        for (member, result) in self.members.iter_mut().zip(results) {
            member.add_round(round.phase, phase, is_closed, &result)?;
            client_results.push((member.threads.start as usize, result));
        }
        Ok(FleetRound { elapsed, counters, began, client_results })
    }

    /// Has all start at one moment, each by its own clock.
    fn start(&mut self) -> Result<Instant, WorkloadError> {
        let (base, silence) = (self.base, self.silence);
        let measure = |member: &mut ClientMember| member.measure_offset(base, silence);
        let offsets = self.members.iter_mut().map(measure).collect::<Result<Vec<_>, _>>()?;
        let uncertainty_ns = offsets.iter().map(|offset| offset.uncertainty_ns).max().unwrap_or(0);
        let start = Instant::now() + LEAD + 4 * Duration::from_nanos(uncertainty_ns);
        let start_ns = nanoseconds(base, start);
        for (member, offset) in self.members.iter_mut().zip(offsets) {
            let uncertainty = &mut member.report.clock_uncertainty_ns;
            *uncertainty = offset.uncertainty_ns.max(*uncertainty);
            member.send(&ClientOrder::Start { at_ns: offset.to_remote(start_ns) })?;
        }
        Ok(start)
    }

    /// Receives each client's measurements, with its first thread and their number.
    pub fn finish(&mut self) -> Result<Vec<(Range<usize>, ClientResults)>, WorkloadError> {
        self.send(&ClientOrder::Finish)?;
        let results = self.receive_each(|reply| match reply {
            ClientReply::Finished(result) => Some(*result),
            _ => None,
        })?;
        let threads =
            self.members.iter().map(|member| member.threads.start as usize..member.threads.end as usize);
        Ok(threads.zip(results).collect())
    }

    /// The error of the client with this thread.
    pub fn error(&self, thread: usize, why: &str) -> WorkloadError {
        let member = self.members.iter().find(|member| member.threads.contains(&(thread as u64)));
        client_error(member.map_or("?", |member| &member.report.host), why)
    }

    pub fn reports(self) -> Vec<ClientReport> {
        let phases = |sums: Vec<RoundSums>| sums.iter().map(RoundSums::phase).collect();
        let report = |member: ClientMember| ClientReport { phases: phases(member.phases), ..member.report };
        self.members.into_iter().map(report).collect()
    }

    fn send(&mut self, order: &ClientOrder) -> Result<(), WorkloadError> {
        self.members.iter_mut().try_for_each(|member| member.send(order))
    }

    /// Waits for a message from each. All are heard meanwhile, so that a failure is reported at once.
    fn receive_each<T>(
        &mut self,
        select: impl Fn(ClientReply) -> Option<T>,
    ) -> Result<Vec<T>, WorkloadError> {
        let mut replies: Vec<Option<T>> = self.members.iter().map(|_| None).collect();
        self.members.iter_mut().for_each(|member| member.last_heard = Instant::now());
        while replies.iter().any(Option::is_none) {
            for (member, slot) in self.members.iter_mut().zip(&mut replies) {
                // One that has said it need not say more.
                let silence = if slot.is_none() { self.silence } else { Duration::MAX };
                let Some(reply) = member.next(POLL, silence)? else { continue };
                match select(reply) {
                    Some(found) if slot.is_none() => *slot = Some(found),
                    _ => return Err(member.error("it said what it was not asked for")),
                }
            }
        }
        Ok(replies.into_iter().flatten().collect())
    }
}

impl ClientMember {
    fn new(host: &str, threads: Range<u64>, link: Box<dyn ClientLink>) -> ClientMember {
        let (host, sessions) = (host.to_owned(), threads.end - threads.start);
        let report = ClientReport { host, sessions, ..ClientReport::default() };
        ClientMember { threads, link, last_heard: Instant::now(), report, phases: Vec::new() }
    }

    fn error(&self, why: &str) -> WorkloadError {
        client_error(&self.report.host, why)
    }

    fn send(&mut self, order: &ClientOrder) -> Result<(), WorkloadError> {
        self.link.send(order).map_err(|why| self.error(&why))
    }

    /// The next message within a time, keep-alives aside.
    fn next(&mut self, timeout: Duration, silence: Duration) -> Result<Option<ClientReply>, WorkloadError> {
        match self.link.next(timeout).map_err(|why| self.error(&why))? {
            None if self.last_heard.elapsed() > silence => {
                Err(self.error(&format!("it does not answer: it has said nothing for {silence:?}")))
            }
            None => Ok(None),
            Some(ClientReply::Failed { reason, message }) => {
                Err(WorkloadError { failure: reason, ..self.error(&message) })
            }
            Some(reply) => {
                self.last_heard = Instant::now();
                Ok(Some(reply).filter(|reply| *reply != ClientReply::Alive))
            }
        }
    }

    fn measure_offset(&mut self, base: Instant, silence: Duration) -> Result<ClockOffset, WorkloadError> {
        let (mut pings, start) = (Vec::with_capacity(PINGS.end), Instant::now());
        self.last_heard = start;
        while pings.len() < PINGS.start || (pings.len() < PINGS.end && start.elapsed() < PINGING_TIME) {
            let sent_ns = nanoseconds(base, Instant::now());
            self.send(&ClientOrder::Ping)?;
            let remote_ns = loop {
                match self.next(POLL, silence)? {
                    Some(ClientReply::Pong { at_ns }) => break at_ns,
                    Some(_) => return Err(self.error("it said what it was not asked for")),
                    None => {}
                }
            };
            pings.push(Ping { sent_ns, remote_ns, received_ns: nanoseconds(base, Instant::now()) });
        }
        ClockOffset::from_pings(&pings).ok_or_else(|| self.error("its clock is not known"))
    }

    /// Adds a round to its report. Fails when the results are not for its threads.
    fn add_round(
        &mut self,
        number: usize,
        phase: &str,
        is_closed: bool,
        result: &RoundResult,
    ) -> Result<(), WorkloadError> {
        if result.records.len() as u64 != self.report.sessions {
            return Err(self.error("it reported threads that are not its own"));
        }
        self.report.late_ns = self.report.late_ns.max(result.late_ns);
        self.report.processors = result.processors;
        while self.phases.len() <= number {
            let operation = phase.to_owned();
            self.phases.push(RoundSums { operation, is_closed, ..RoundSums::default() });
        }
        self.phases[number].add(result);
        Ok(())
    }
}

impl RoundSums {
    fn add(&mut self, result: &RoundResult) {
        let wall_s = result.elapsed.wall.as_secs_f64();
        self.count += result.count;
        self.elapsed = self.elapsed.add_later(result.elapsed);
        self.behind_ns = self.behind_ns.max(result.behind_ns);
        self.wall_s += wall_s;
        self.cpu_s += wall_s * result.cpu_share;
        if let Some(busy) = result.busy_share {
            self.known_s += wall_s;
            self.busy_s += wall_s * busy;
        }
    }

    fn phase(&self) -> ClientPhase {
        let share = |numerator: f64, denominator: f64| (denominator > 0.0).then(|| numerator / denominator);
        ClientPhase {
            operation: self.operation.clone(),
            count: self.count,
            harness_share: self.elapsed.harness_share(self.is_closed),
            cpu_share: share(self.cpu_s, self.wall_s).unwrap_or(0.0),
            busy_share: share(self.busy_s, self.known_s),
            behind_ns: (!self.is_closed).then_some(self.behind_ns),
        }
    }
}

/// The threads of each client, spread evenly, the first clients taking one more.
fn split_threads(threads: u64, clients: u64) -> Vec<Range<u64>> {
    let (threads_each, remainder) = (threads / clients, threads % clients);
    let first = |client: u64| client * threads_each + client.min(remainder);
    (0..clients).map(|client| first(client)..first(client + 1)).collect()
}

/// From the first thread's begin to the last one's end, over all clients.
fn wall(results: &[RoundResult]) -> Duration {
    let begin = |result: &RoundResult| Duration::from_nanos(result.begin_ns);
    let end = results.iter().map(|result| begin(result) + result.elapsed.wall).max().unwrap_or_default();
    end.saturating_sub(results.iter().map(begin).min().unwrap_or_default())
}

fn nanoseconds(base: Instant, moment: Instant) -> u64 {
    moment.saturating_duration_since(base).as_nanos() as u64
}

fn client_error(host: &str, why: &str) -> WorkloadError {
    WorkloadError::harness(format!("the client {host}: {why}"))
}

#[cfg(test)]
mod tests;
