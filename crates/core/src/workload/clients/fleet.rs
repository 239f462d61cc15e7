//! The trial's side of clients: sends orders and receives messages. A client's failure, or its silence, ends the trial with its name.

use std::ops::Range;
use std::time::{Duration, Instant};

use super::clock::{ClockOffset, Ping};
use super::link::{ClientConnector, ClientLink, ClientTask};
use super::words::{ClientOrder, ClientReply, ClientResults, ClientRound, RoundResult};
use crate::result::{ClientPhase, ClientReport, Counters};
use crate::server::running::ServerNamespace;
use crate::workload::elapsed::Elapsed;
use crate::workload::spec::Spec;
use crate::workload::workload_error::WorkloadError;

/// A client reports every second; after this silence it has failed.
const SILENCE: Duration = Duration::from_secs(15);
/// How long to wait for one client before the next.
const LOOK: Duration = Duration::from_millis(5);
/// Pings to a client before each round.
const PINGS: Range<usize> = 8..64;
/// After this time only the fewest pings are made.
const PINGING: Duration = Duration::from_millis(200);
/// From the last ping to the common start, besides the latency: clients wake up in it.
const LEAD: Duration = Duration::from_millis(30);

pub(crate) struct Fleet {
    members: Vec<ClientMember>,
    base: Instant,
    silence: Duration,
}

struct ClientMember {
    host: String,
    threads: Range<u64>,
    link: Box<dyn ClientLink>,
    heard: Instant,
    report: ClientReport,
    phases: Vec<RoundSums>,
}

/// Sums over a phase's rounds.
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
    /// Each client's first thread, with what it did.
    pub did: Vec<(usize, RoundResult)>,
}

impl Fleet {
    /// Starts the clients of a trial, with its threads spread evenly; `None` without clients.
    pub fn connect(
        spec: &Spec,
        reach: Option<ClientConnector>,
        threads: u64,
    ) -> Result<Option<Fleet>, WorkloadError> {
        if spec.clients.is_empty() {
            return Ok(None);
        }
        let reach = reach.ok_or_else(|| WorkloadError::harness("this program knows no way to clients"))?;
        let parts = parts(threads, spec.clients.len() as u64);
        let one = &|(host, threads): (&String, &Range<u64>)| {
            let sessions = threads.end - threads.start;
            let task = ClientTask { spec: spec.clone(), first: threads.start, sessions };
            let link = reach(host, &task).map_err(|why| client_error(host, &why))?;
            Ok(ClientMember::new(host, threads.clone(), link))
        };
        let each = spec.clients.iter().zip(&parts);
        // Each takes some round trips, and a program may have to be read there.
        let members: Result<Vec<ClientMember>, WorkloadError> = std::thread::scope(|scope| {
            let starts: Vec<_> = each.map(|part| scope.spawn(move || one(part))).collect();
            let gone = || Err(WorkloadError::harness("a thread has ended before its work"));
            starts.into_iter().map(|start| start.join().unwrap_or_else(|_| gone())).collect()
        });
        Ok(Some(Fleet::new(members?, SILENCE)))
    }

    fn new(members: Vec<ClientMember>, silence: Duration) -> Fleet {
        Fleet { members, base: Instant::now(), silence }
    }

    /// Has all open sessions on what was made on the server; `loaded` is the number of records if it was loaded anew.
    pub fn open(&mut self, made: &ServerNamespace, loaded: Option<u64>) -> Result<(), WorkloadError> {
        self.send(&ClientOrder::Open { made: made.clone(), loaded })?;
        self.receive_each(|told| matches!(told, ClientReply::Opened).then_some(())).map(drop)
    }

    /// Has all do a round of the phase with this name.
    pub fn round(
        &mut self,
        round: ClientRound,
        phase: &str,
        is_closed: bool,
    ) -> Result<FleetRound, WorkloadError> {
        self.send(&ClientOrder::Round(round))?;
        self.receive_each(|told| matches!(told, ClientReply::Ready).then_some(()))?;
        let began = self.start()?;
        let did = self.receive_each(|told| match told {
            ClientReply::Done(did) => Some(*did),
            _ => None,
        })?;
        let mut rounded = FleetRound {
            elapsed: Elapsed::default(),
            counters: Counters::default(),
            began,
            did: Vec::with_capacity(did.len()),
        };
        let wall = wall(&did);
        for (member, did) in self.members.iter_mut().zip(did) {
            member.check(&did)?;
            member.note(round.phase, phase, is_closed, &did);
            rounded.elapsed = rounded.elapsed.add_parallel(did.elapsed, wall);
            rounded.counters = match rounded.did.is_empty() {
                true => did.counters.clone(),
                false => rounded.counters.plus(&did.counters),
            };
            rounded.did.push((member.threads.start as usize, did));
        }
        // They were at work side by side.
        let took = rounded.did.iter().filter_map(|(_, did)| did.counters.took_ns).max();
        rounded.counters.took_ns = took;
        Ok(rounded)
    }

    /// Has all start at one moment, each by its own clock.
    fn start(&mut self) -> Result<Instant, WorkloadError> {
        let (base, silence) = (self.base, self.silence);
        let offsets =
            self.members.iter_mut().map(|one| one.offset(base, silence)).collect::<Result<Vec<_>, _>>()?;
        let way = offsets.iter().map(|offset| offset.uncertainty_ns).max().unwrap_or(0);
        let at = Instant::now() + LEAD + 4 * Duration::from_nanos(way);
        let at_ns = nanoseconds(base, at);
        for (member, offset) in self.members.iter_mut().zip(offsets) {
            let uncertainty = &mut member.report.clock_uncertainty_ns;
            *uncertainty = offset.uncertainty_ns.max(*uncertainty);
            member.send(&ClientOrder::Start { at_ns: offset.to_other(at_ns) })?;
        }
        Ok(at)
    }

    /// Receives each client's measurements, with its first thread and their number.
    pub fn finish(&mut self) -> Result<Vec<(Range<usize>, ClientResults)>, WorkloadError> {
        self.send(&ClientOrder::Finish)?;
        let all = self.receive_each(|told| match told {
            ClientReply::Finished(all) => Some(*all),
            _ => None,
        })?;
        let threads = self.members.iter().map(|one| one.threads.start as usize..one.threads.end as usize);
        Ok(threads.zip(all).collect())
    }

    /// The error of the client with this thread.
    pub fn error(&self, thread: usize, why: &str) -> WorkloadError {
        let member = self.members.iter().find(|member| member.threads.contains(&(thread as u64)));
        client_error(member.map_or("?", |member| &member.host), why)
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
        wanted: impl Fn(ClientReply) -> Option<T>,
    ) -> Result<Vec<T>, WorkloadError> {
        let mut said: Vec<Option<T>> = self.members.iter().map(|_| None).collect();
        self.members.iter_mut().for_each(|member| member.heard = Instant::now());
        while said.iter().any(Option::is_none) {
            for (member, said) in self.members.iter_mut().zip(&mut said) {
                // One that has said it need not say more.
                let silence = if said.is_none() { self.silence } else { Duration::MAX };
                let Some(told) = member.next(LOOK, silence)? else { continue };
                match wanted(told) {
                    Some(found) if said.is_none() => *said = Some(found),
                    _ => return Err(client_error(&member.host, "it said what it was not asked for")),
                }
            }
        }
        Ok(said.into_iter().flatten().collect())
    }
}

impl ClientMember {
    fn new(host: &str, threads: Range<u64>, link: Box<dyn ClientLink>) -> ClientMember {
        let report = ClientReport {
            host: host.to_owned(),
            sessions: threads.end - threads.start,
            ..ClientReport::default()
        };
        ClientMember {
            host: host.to_owned(),
            threads,
            link,
            heard: Instant::now(),
            report,
            phases: Vec::new(),
        }
    }

    fn send(&mut self, order: &ClientOrder) -> Result<(), WorkloadError> {
        self.link.send(order).map_err(|why| client_error(&self.host, &why))
    }

    /// The next message within a time, keep-alives aside.
    fn next(&mut self, within: Duration, silence: Duration) -> Result<Option<ClientReply>, WorkloadError> {
        match self.link.next(within).map_err(|why| client_error(&self.host, &why))? {
            None if self.heard.elapsed() > silence => {
                let why = format!("it does not answer: it has said nothing for {silence:?}");
                Err(client_error(&self.host, &why))
            }
            None => Ok(None),
            Some(ClientReply::Failed { reason, message }) => {
                Err(WorkloadError { failure: reason, ..client_error(&self.host, &message) })
            }
            Some(told) => {
                self.heard = Instant::now();
                Ok(Some(told).filter(|told| *told != ClientReply::Alive))
            }
        }
    }

    fn offset(&mut self, base: Instant, silence: Duration) -> Result<ClockOffset, WorkloadError> {
        let (mut pings, begun) = (Vec::with_capacity(PINGS.end), Instant::now());
        self.heard = begun;
        while pings.len() < PINGS.start || (pings.len() < PINGS.end && begun.elapsed() < PINGING) {
            let sent = nanoseconds(base, Instant::now());
            self.send(&ClientOrder::Ping)?;
            let there = loop {
                match self.next(LOOK, silence)? {
                    Some(ClientReply::Pong { at_ns }) => break at_ns,
                    Some(_) => return Err(client_error(&self.host, "it said what it was not asked for")),
                    None => {}
                }
            };
            pings.push(Ping { sent, there, back: nanoseconds(base, Instant::now()) });
        }
        ClockOffset::from_pings(&pings).ok_or_else(|| client_error(&self.host, "its clock is not known"))
    }

    /// Whether the results are for its threads.
    fn check(&self, did: &RoundResult) -> Result<(), WorkloadError> {
        let right = did.records.len() as u64 == self.report.sessions;
        if right { Ok(()) } else { Err(client_error(&self.host, "it reported threads that are not its own")) }
    }

    /// Adds a round to its report.
    fn note(&mut self, number: usize, phase: &str, is_closed: bool, did: &RoundResult) {
        self.report.late_ns = self.report.late_ns.max(did.late_ns);
        self.report.processors = did.processors;
        while self.phases.len() <= number {
            self.phases.push(RoundSums::new(phase, is_closed));
        }
        self.phases[number].add(did);
    }
}

impl RoundSums {
    fn new(operation: &str, is_closed: bool) -> RoundSums {
        RoundSums {
            operation: operation.to_owned(),
            count: 0,
            elapsed: Elapsed::default(),
            is_closed,
            behind_ns: 0,
            wall_s: 0.0,
            cpu_s: 0.0,
            known_s: 0.0,
            busy_s: 0.0,
        }
    }

    fn add(&mut self, did: &RoundResult) {
        let wall_s = did.elapsed.wall.as_secs_f64();
        self.count += did.count;
        self.elapsed = self.elapsed.add_later(did.elapsed);
        self.behind_ns = self.behind_ns.max(did.behind_ns);
        self.wall_s += wall_s;
        self.cpu_s += wall_s * did.cpu_share;
        if let Some(busy) = did.busy_share {
            self.known_s += wall_s;
            self.busy_s += wall_s * busy;
        }
    }

    fn phase(&self) -> ClientPhase {
        let share = |part: f64, of: f64| (of > 0.0).then(|| part / of);
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
fn parts(threads: u64, clients: u64) -> Vec<Range<u64>> {
    let (each, over) = (threads / clients, threads % clients);
    let first = |client: u64| client * each + client.min(over);
    (0..clients).map(|client| first(client)..first(client + 1)).collect()
}

/// From the first thread's begin to the last one's end, over all clients.
fn wall(did: &[RoundResult]) -> Duration {
    let begin = |did: &RoundResult| Duration::from_nanos(did.begin_ns);
    let end = did.iter().map(|did| begin(did) + did.elapsed.wall).max().unwrap_or_default();
    end.saturating_sub(did.iter().map(begin).min().unwrap_or_default())
}

fn nanoseconds(base: Instant, at: Instant) -> u64 {
    at.saturating_duration_since(base).as_nanos() as u64
}

fn client_error(host: &str, why: &str) -> WorkloadError {
    WorkloadError::harness(format!("the client {host}: {why}"))
}

#[cfg(test)]
mod tests;
