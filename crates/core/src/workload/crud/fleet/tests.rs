//! Trials whose sessions are on clients, which are threads of the test's own: they end as trials do that have their sessions here.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use storebench_model::cell::{Axis, Cell};
use storebench_model::result::{Measurements, SeriesPoint};
use storebench_model::store::{OpenOptions, Result as StoreResult, Store, StoreDef, StoreKind};
use storebench_model::stores::MEMORY;

use super::*;
use crate::workload::clients::link::{ClientLink, ClientTask, ClientWire};
use crate::workload::clients::messages::{ClientOrder, ClientReply};
use crate::workload::parameter::Parameters;
use crate::workload::spec::{Spec, TrialContext, TrialError};
use crate::workload::table::Workload;

/// What trials have made on the test's server, in order.
static MADE: Mutex<Vec<(String, Arc<dyn Store>)>> = Mutex::new(Vec::new());

/// A store on a server: opened by the same note, it has the same records.
const THERE: StoreDef = StoreDef { name: "there", kind: StoreKind::Server, open: Ok(&open), ..MEMORY };

struct There(Arc<dyn Store>);

fn open(options: &OpenOptions<'_>) -> StoreResult<Box<dyn Store>> {
    let made = ServerNamespace::read_note(options.directory).unwrap();
    let made =
        made.unwrap_or_else(|| ServerNamespace::note(options.directory, "there", "there://here").unwrap());
    let mut stores = MADE.lock().unwrap();
    let known = stores.iter().find(|(name, _)| *name == made.name).map(|(_, store)| Arc::clone(store));
    let store = known.unwrap_or_else(|| {
        let settings = BTreeMap::new();
        let store = MEMORY.open.unwrap()(&OpenOptions { settings: &settings, ..*options }).unwrap();
        let store: Arc<dyn Store> = Arc::from(store);
        stores.push((made.name, Arc::clone(&store)));
        store
    });
    Ok(Box::new(There(store)))
}

impl Store for There {
    storebench_model::pass_on!(0: session, count, guarantee, settle, settings);
    fn outside_location(&self) -> Option<String> {
        Some("the data are on a made server".into())
    }
    fn close(self: Box<Self>) -> StoreResult<()> {
        Ok(())
    }
}

/// An end of two channels. Messages go through text, as between machines.
struct Channels {
    sender: Sender<String>,
    receiver: Mutex<Receiver<String>>,
}

impl ClientWire for Channels {
    fn reply(&self, reply: &ClientReply) {
        let _ = self.sender.send(serde_json::to_string(reply).unwrap());
    }
    fn next_order(&self) -> Option<ClientOrder> {
        Some(serde_json::from_str(&self.receiver.lock().unwrap().recv().ok()?).unwrap())
    }
}

impl ClientLink for Channels {
    fn send(&mut self, order: &ClientOrder) -> Result<(), String> {
        self.sender.send(serde_json::to_string(order).unwrap()).map_err(|_| "it is gone".into())
    }
    fn next(&mut self, within: Duration) -> Result<Option<ClientReply>, String> {
        match self.receiver.get_mut().unwrap().recv_timeout(within) {
            Ok(text) => Ok(Some(serde_json::from_str(&text).unwrap())),
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => Ok(None),
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => Err("the connection is lost".into()),
        }
    }
}

/// Starts a client; `off` fails to start.
fn reach(host: &str, task: &ClientTask) -> Result<Box<dyn ClientLink>, String> {
    if host == "off" {
        return Err("it is off".into());
    }
    let ((sender, receiver), (order_sender, orders)) = (channel(), channel());
    let task: ClientTask = serde_json::from_str(&serde_json::to_string(task).unwrap()).unwrap();
    let host = host.to_owned();
    std::thread::spawn(move || {
        let wire = Channels { sender, receiver: Mutex::new(orders) };
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("client");
        let mut spec = Spec { directory, ..task.spec };
        if host == "differs" {
            // It has other versions of its records.
            spec.seed += 1;
        }
        let context = TrialContext { stores: &[THERE], spec: &spec, reach: None };
        let result =
            spec.workload.def().serve.unwrap()(&context, task.first..task.first + task.sessions, &wire);
        if let Err(TrialError::Failed(stop)) = result {
            wire.reply(&ClientReply::Failed { reason: stop.failure, message: stop.message });
        }
    });
    Ok(Box::new(Channels { sender: order_sender, receiver: Mutex::new(receiver) }))
}

type LeftRecords = BTreeMap<Vec<u8>, Vec<u8>>;

/// Runs a trial with these clients; gives its measurements, and what it left on the server.
fn run(clients: &[&str], axes: &str, parameters: &str) -> Result<(Measurements, LeftRecords), TrialError> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("store");
    std::fs::create_dir(&directory).unwrap();
    let (mut cell, mut parsed) = (Cell::new("there"), Parameters::default());
    for (name, text) in axes.split_whitespace().filter_map(|pair| pair.split_once('=')) {
        let axis = Axis::find(name).unwrap();
        cell.set(axis, axis.read(text).unwrap());
    }
    for (name, text) in parameters.split_whitespace().filter_map(|pair| pair.split_once('=')) {
        parsed.set(name, text).unwrap();
    }
    let spec = Spec {
        settings: [("url".to_owned(), "there://here".to_owned())].into(),
        seed: 11,
        clients: clients.iter().map(|host| (*host).to_owned()).collect(),
        ..Spec::unwatched(cell, directory, Workload::CRUD, parsed)
    };
    let context = TrialContext { stores: &[THERE], spec: &spec, reach: Some(reach) };
    let measured = (spec.workload.def().run)(&context)?;
    let mut made_stores = MADE.lock().unwrap();
    let (_, last) = made_stores.pop().unwrap();
    made_stores.clear();
    drop(made_stores);
    let mut left_records = BTreeMap::new();
    let mut session = last.session().unwrap();
    let note_record = &mut |key: &[u8], value: &[u8]| drop(left_records.insert(key.to_vec(), value.to_vec()));
    session.scan(&[], usize::MAX, note_record).unwrap();
    drop(session);
    Ok((measured, left_records))
}

const AXES: &str = "record_size=1B..300B records=100..500 data=incompressible guarantee=none threads=5";

fn failed(clients: &[&str]) -> String {
    match run(clients, AXES, "operations=100") {
        Err(TrialError::Failed(stop)) => stop.message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_clients_do_is_what_this_process_would_do() {
    for (axes, parameters, counts) in [
        // Inserts fill the store, which is then made anew: three times.
        ("", "operations=1000 warm_up=30", vec![1000, 1000, 1000, 1000]),
        ("age=2", "operations=200 mix=get=60,update=20,insert=15,remove=5", vec![30, 120, 40, 10]),
        ("rate=4000/s", "operations=200 order=update,get", vec![200, 200]),
    ] {
        let axes = format!("{AXES} {axes}");
        let (alone, left_alone) = run(&[], &axes, parameters).unwrap();
        for clients in [&["a"][..], &["a", "b"], &["a", "b", "c"]] {
            let (spread, left_records) = run(clients, &axes, parameters).unwrap();
            let outcome = |measured: &Measurements| {
                let figures = |of: &OperationResult| [of.count, of.warm_up, of.put_back, of.value_bytes];
                let operations = measured.operations.iter();
                let operations: Vec<_> = operations.map(|of| (of.operation.clone(), figures(of))).collect();
                (operations, measured.stored.clone(), measured.written, measured.load.records)
            };
            assert_eq!(outcome(&spread), outcome(&alone), "{parameters} by {clients:?}");
            assert!(left_records == left_alone, "other records are left: {parameters} by {clients:?}");
            let audited = |of: &Measurements| of.audit.as_ref().map(|audit| audit.records);
            assert_eq!(audited(&spread), audited(&alone));
            let done: Vec<u64> = spread.operations.iter().map(|operation| operation.count).collect();
            let is_near = |(count, expected): (&u64, &u64)| count.abs_diff(*expected) <= 5;
            assert!(done.iter().zip(&counts).all(is_near), "{done:?}");
            check_parts(&spread, clients);
        }
        assert_eq!(alone.clients, []);
    }
}

fn check_parts(measured: &Measurements, clients: &[&str]) {
    let names: Vec<&str> = measured.clients.iter().map(|client| client.host.as_str()).collect();
    assert_eq!(names, clients);
    let sessions: Vec<u64> = measured.clients.iter().map(|client| client.sessions).collect();
    assert_eq!(sessions, [&[5][..], &[3, 2], &[2, 2, 1]][clients.len() - 1]);
    let count: u64 = measured.operations.iter().map(|operation| operation.count).sum();
    let phases = || measured.clients.iter().flat_map(|client| &client.phases);
    assert_eq!(phases().map(|phase| phase.count).sum::<u64>(), count);
    for client in &measured.clients {
        assert!(client.processors > 0 && client.clock_uncertainty_ns > 0, "{client:?}");
        let all: u64 = client.phases.iter().map(|phase| phase.count).sum();
        assert!(all.abs_diff(count * client.sessions / 5) <= 20, "{client:?} of {count}");
        for phase in &client.phases {
            assert!((0.0..=1.0).contains(&phase.cpu_share) && !phase.operation.is_empty(), "{phase:?}");
            assert!(phase.harness_share.is_some() != phase.behind_ns.is_some(), "{phase:?}");
        }
    }
}

#[test]
fn seconds_of_clients_are_one_series() {
    let parameters = "duration=1500ms order=get";
    let (measured, _) = run(&["a", "b"], AXES, parameters).unwrap();
    let get = &measured.operations[0];
    assert_eq!(get.series.iter().map(|second| second.at_s).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(get.series.iter().map(|second| second.count).sum::<u64>(), get.count);
    let begins: Vec<Option<u64>> = get.series.iter().map(|second: &SeriesPoint| second.in_trial_ms).collect();
    assert!(begins[0].is_none() || begins[1].unwrap() - begins[0].unwrap() == 1000, "{begins:?}");
    assert!(get.wall_ns >= 1_500_000_000 && get.rate_over_ns.is_some());
}

#[test]
fn what_goes_wrong_with_a_client_ends_the_trial_and_names_it() {
    assert_eq!(failed(&["a", "off"]), "the client off: it is off");
    let message = failed(&["a", "differs"]);
    assert!(message.starts_with("the client differs: "), "{message}");
}

#[test]
fn each_figure_of_a_saturated_client_is_doubted_once() {
    let phase = |operation: &str, cpu_share| ClientPhase {
        operation: operation.into(),
        cpu_share,
        ..ClientPhase::default()
    };
    let client = |host: &str, phases| ClientReport { host: host.into(), phases, ..ClientReport::default() };
    let operation = |name: &str| OperationResult { operation: name.into(), ..OperationResult::default() };
    let clients = [
        client("a", vec![phase("insert", 0.1), phase("get", 0.95)]),
        client("b", vec![phase("insert", 0.2), phase("get", 0.99)]),
    ];
    let [warning] = warnings(&clients, &[operation("insert"), operation("get")]).try_into().unwrap();
    assert_eq!(warning.figure, "get");
    assert_eq!(
        warning.reason,
        "the client a was saturated: its processors were busy for 95 % of the time; the client b was saturated: its processors \
         were busy for 99 % of the time"
    );
    let mixed = [client("a", vec![phase("mix", 1.0)])];
    assert_eq!(warnings(&mixed, &[operation("insert"), operation("get")]).len(), 2);
}
