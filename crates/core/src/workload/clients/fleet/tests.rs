//! Made clients: what each says, and what becomes of one that says something else, or nothing.

use std::collections::VecDeque;

use storebench_model::result::{Failure, WrittenRecords};

use super::*;

/// A client that sends these messages, one for each order except pings, which it answers while it has messages left.
struct ScriptedClient {
    replies: VecDeque<Result<ClientReply, String>>,
    pending: VecDeque<Result<ClientReply, String>>,
    base: Instant,
}

impl ClientLink for ScriptedClient {
    fn send(&mut self, order: &ClientOrder) -> Result<(), String> {
        let pong = ClientReply::Pong { at_ns: nanoseconds(self.base, Instant::now()) + 5_000_000_000 };
        match order {
            ClientOrder::Ping => self.pending.push_back(Ok(pong)),
            _ => self.pending.extend(self.replies.pop_front()),
        }
        Ok(())
    }

    fn next(&mut self, timeout: Duration) -> Result<Option<ClientReply>, String> {
        let Some(reply) = self.pending.pop_front() else {
            std::thread::sleep(timeout);
            return Ok(None);
        };
        reply.map(Some)
    }
}

fn round_result(records: usize) -> Box<RoundResult> {
    Box::new(RoundResult {
        begin_ns: 1_000,
        late_ns: 700,
        elapsed: Elapsed {
            wall: Duration::from_millis(10),
            at_work: Duration::from_millis(20),
            between_calls: Duration::from_millis(1),
            ..Elapsed::default()
        },
        behind_ns: 0,
        count: 100,
        untimed: vec![0; 4],
        writes: 0,
        written: WrittenRecords::default(),
        records: vec![7; records],
        counters: Counters { cpu_ns: Some(5), took_ns: Some(9), ..Counters::default() },
        processors: 2,
        cpu_share: 0.5,
        busy_share: Some(0.8),
        seconds: Vec::new(),
    })
}

const ROUND: ClientRound = ClientRound { phase: 0, operations: 200, warm_up: 0, until: None, live: 14 };

/// A round of a client that works, and one that sends this.
fn round(
    replies: Vec<Result<ClientReply, String>>,
) -> Result<(FleetRound, Vec<ClientReport>), WorkloadError> {
    let base = Instant::now();
    let scripted = |replies: Vec<Result<ClientReply, String>>| ScriptedClient {
        replies: replies.into(),
        pending: VecDeque::new(),
        base,
    };
    let good = scripted(vec![Ok(ClientReply::Ready), Ok(ClientReply::Done(round_result(2)))]);
    let member = |host: &str, threads, client| ClientMember::new(host, threads, Box::new(client));
    let members = vec![member("good", 0..2, good), member("other", 2..4, scripted(replies))];
    let mut fleet = Fleet::new(members, Duration::from_millis(300));
    let fleet_round = fleet.round(ROUND, "get", true)?;
    Ok((fleet_round, fleet.reports()))
}

#[test]
fn a_round_is_that_of_all_clients() {
    let late = RoundResult { begin_ns: 4_000_000, ..*round_result(2) };
    let (fleet_round, reports) =
        round(vec![Ok(ClientReply::Ready), Ok(ClientReply::Done(Box::new(late)))]).unwrap();
    assert_eq!(fleet_round.elapsed.wall, Duration::from_nanos(13_999_000));
    assert_eq!(fleet_round.elapsed.at_work, Duration::from_millis(40));
    assert_eq!((fleet_round.counters.cpu_ns, fleet_round.counters.took_ns), (Some(10), Some(9)));
    assert_eq!(fleet_round.client_results.iter().map(|(first, _)| *first).collect::<Vec<_>>(), [0, 2]);
    let [good, other] = reports.as_slice() else { panic!("{reports:?}") };
    assert_eq!((good.host.as_str(), other.sessions, other.late_ns), ("good", 2, 700));
    assert!(good.clock_uncertainty_ns < 300_000_000, "{good:?}");
    let [phase] = good.phases.as_slice() else { panic!("{good:?}") };
    assert_eq!((phase.operation.as_str(), phase.count, phase.harness_share), ("get", 100, Some(0.05)));
    assert_eq!((phase.cpu_share, phase.busy_share, phase.behind_ns), (0.5, Some(0.8), None));
}

#[test]
fn what_goes_wrong_is_told_with_the_client_s_name() {
    let wrong = ClientReply::Failed { reason: Failure::WrongData, message: "a record is missing".into() };
    let silent = "it does not answer: it has said nothing for 300ms";
    let lost = Err("the connection is lost".to_owned());
    let (ready, three) = (ClientReply::Ready, ClientReply::Done(round_result(3)));
    for (replies, reason, why) in [
        (vec![], Failure::Harness, silent),
        (vec![Ok(ClientReply::Ready)], Failure::Harness, silent),
        (vec![Ok(ClientReply::Alive)], Failure::Harness, silent),
        (vec![Ok(ClientReply::Ready), lost], Failure::Harness, "the connection is lost"),
        (vec![Ok(wrong.clone())], Failure::WrongData, "a record is missing"),
        (vec![Ok(ClientReply::Ready), Ok(wrong)], Failure::WrongData, "a record is missing"),
        (vec![Ok(ClientReply::Opened)], Failure::Harness, "it said what it was not asked for"),
        (vec![Ok(ready), Ok(three)], Failure::Harness, "it reported threads that are not its own"),
    ] {
        let label = format!("{replies:?}");
        let Err(stop) = round(replies) else { panic!("{label} went well") };
        assert_eq!((stop.failure, stop.message), (reason, format!("the client other: {why}")), "{label}");
    }
}

#[test]
fn threads_are_spread_evenly() {
    assert_eq!(split_threads(32, 2), [0..16, 16..32]);
    assert_eq!(split_threads(7, 3), [0..3, 3..5, 5..7]);
    assert_eq!(split_threads(2, 2), [0..1, 1..2]);
}
