use std::fs;

use scylla_cql::Consistency;
use storebench_core::server::{self, private};
use storebench_core::store::{Guarantee, Store, StoreError};

use super::*;
use crate::stores::support::testing::{
    after_kill, end_server_with, new_folder, opened, refused, servers_in, setting, socket_in,
};

/// Where none is installed there is nothing to try.
fn is_here() -> bool {
    let lacks = CASSANDRA.lacks();
    if let Some(why) = &lacks {
        println!("not tried: {why}");
    }
    lacks.is_none()
}

fn settings_of(store: &dyn Store, names: &[&str]) -> Vec<String> {
    names.iter().map(|name| setting(store, name)).collect()
}

#[test]
fn the_table_says_what_is_missing_and_no_study_runs_it_unasked() {
    let lacks = CassandraServer::programs().lacks().is_some() || private::lacks().is_some();
    assert_eq!((CASSANDRA.lacks().is_some(), is_here()), (lacks, !lacks));
    assert!(!CASSANDRA.runs_by_default());
}

#[test]
fn settings_that_can_not_be_taken_are_refused() {
    if !is_here() {
        return;
    }
    for nonsense in [
        &[("writes", "sometimes")][..],
        &[("heap", "1048576")],
        &[("commitlog_sync_period", "1us")],
        &[("nodes", "2")],
        &[("round-trip", "1ms")],
        &[("commitlog_sync_group_window", "1ms")],
        &[("commitlog_sync", "batch"), ("commitlog_sync_period", "1s")],
        &[("colour", "red")],
    ] {
        let why = refused(&CASSANDRA, &new_folder(), None, nonsense);
        assert!(matches!(why, StoreError::BadSetting(_)), "{nonsense:?}: {why}");
    }
}

/// As shipped, and that a store that was closed has all: Java takes seconds to start, so much is done at once.
#[test]
fn records_are_there_whole_and_settings_are_what_the_server_tells() {
    if !is_here() {
        return;
    }
    let folder = new_folder();
    let mut store =
        opened(&CASSANDRA, &folder, None, &[("heap", "536870912"), ("commitlog_sync_period", "1500ms")]);
    assert_eq!((store.guarantee(), servers_in(folder.path()).len()), (Guarantee::None, 1));
    let names =
        ["heap", "nodes", "writes", "reads", "commitlog_sync", "commitlog_sync_period", "compression"];
    let expected = ["536870912", "1", "one", "one", "periodic", "1500ms", "off"];
    assert_eq!(settings_of(&*store, &names), expected);
    let mut session = store.session().unwrap();
    let values: [&[u8]; 3] = [b"", b"\0\r\n\xff", &[7; 3 << 20]];
    let keys: [&[u8]; 3] = [b"a", b"a.*> \r\n\xff", &[9; MAX_KEY_BYTES]];
    for (key, value) in keys.iter().zip(values) {
        session.insert(key, value).unwrap();
        let mut seen = Vec::new();
        assert!(session.get(key, &mut |value| seen = value.to_vec()).unwrap());
        assert!(seen == value && session.copied() == Some(value), "{} bytes", value.len());
    }
    session.remove(keys[0]).unwrap();
    assert!(!session.get(keys[0], &mut |_| panic!("it is removed")).unwrap());
    assert!(!session.get(b"none", &mut |_| panic!("it was never there")).unwrap());
    let long = session.insert(&[9; MAX_KEY_BYTES + 1], b"");
    assert!(matches!(long, Err(StoreError::Unsupported(_))), "{long:?}");
    assert!(session.insert(b"k", &vec![0; 15 << 20]).is_ok());
    assert!(
        session.insert(b"k", &vec![0; 17 << 20]).is_err(),
        "as shipped it takes half of a segment of its log"
    );
    drop(session);
    let mut session = store.session().unwrap();
    let keys: Vec<[u8; 4]> = (0..20_000_u32).map(u32::to_be_bytes).collect();
    let records: Vec<(&[u8], &[u8])> = keys.iter().map(|key| (&key[..], &b"value"[..])).collect();
    session.insert_batch(&records).unwrap();
    session.insert_batch(&[(b"k", b"older"), (b"other", b""), (b"k", b"newer")]).unwrap();
    let mut seen = Vec::new();
    assert!(session.get(b"k", &mut |value| seen = value.to_vec()).unwrap());
    assert_eq!(seen, b"newer");
    session.insert_batch(&[]).unwrap();
    session.remove_batch(&[b"k", b"other", b"none"]).unwrap();
    assert!(!session.get(b"k", &mut |_| panic!("it is removed")).unwrap());
    drop(session);
    store.settle().unwrap();
    assert_eq!(store.compact().unwrap(), None);
    assert!(store.upkeep().unwrap().iter().any(|work| work.work == "flush"));
    assert_eq!(store.count().unwrap(), 20_002);
    store.close().unwrap();
    assert_eq!(servers_in(folder.path()).len(), 0);
    let store = opened(&CASSANDRA, &folder, None, &[]);
    assert_eq!((store.count().unwrap(), setting(&*store, "commitlog_sync_period").as_str()), (20_002, "10s"));
    store.close().unwrap();
}

#[test]
fn a_kill_takes_nothing_that_was_synced() {
    if is_here() {
        assert_eq!(after_kill(&CASSANDRA, Guarantee::Power), 3);
    }
}

/// Those that are left answer, have all that was acknowledged, and take more: first when one is killed and its data are gone, then when the
/// others start again without it.
#[test]
fn a_cluster_that_loses_a_server_for_good_loses_nothing() {
    if !is_here() {
        return;
    }
    let folder = new_folder();
    let node = Some(Guarantee::Node);
    let given = [("round-trip", "1ms"), ("heap", "536870912")];
    let store = opened(&CASSANDRA, &folder, node, &given);
    assert_eq!(store.guarantee(), Guarantee::Node);
    assert_eq!(
        settings_of(&*store, &["nodes", "writes", "reads", "commitlog_sync"]),
        ["3", "quorum", "quorum", "batch"]
    );
    assert_eq!(servers_in(folder.path()).len(), 3);
    let mut session = store.session().unwrap();
    for number in 0..50_u8 {
        session.insert(&[number], b"value").unwrap();
    }
    drop(session);
    end_server_with("config-2.yaml", folder.path());
    fs::remove_dir_all(folder.path().join(server::DATA).join("2")).unwrap();
    assert!(store.close().is_err(), "one did not end in order");
    let store = opened(&CASSANDRA, &folder, node, &given);
    assert_eq!((servers_in(folder.path()).len(), store.count().unwrap()), (2, 50));
    store.session().unwrap().insert(b"more", b"value").unwrap();
    assert_eq!(store.count().unwrap(), 51);
    store.close().unwrap();
    let one = refused(&CASSANDRA, &folder, None, &[]);
    assert!(matches!(&one, StoreError::SettingNotTaken { name, .. } if name == "nodes"), "{one}");
}

/// The keyspace of a trial is dropped with it, and those of others stay.
#[test]
fn a_server_that_a_url_names_is_left_as_it_was() {
    if !is_here() || !rustix::process::geteuid().is_root() {
        println!("not tried: only root can be in the network of the server");
        return;
    }
    let folder = new_folder();
    let store = opened(&CASSANDRA, &folder, Some(Guarantee::Power), &[("heap", "536870912")]);
    store.session().unwrap().insert(b"theirs", b"7").unwrap();
    let server = servers_in(folder.path()).into_iter().next().unwrap();
    let network = fs::File::open(server.join("ns/net")).unwrap();
    let told = std::thread::spawn(move || {
        let network = std::os::fd::AsFd::as_fd(&network);
        let kind = Some(rustix::thread::LinkNameSpaceType::Network);
        rustix::thread::move_into_link_name_space(network, kind).unwrap();
        let own = new_folder();
        let url = [("url", "cassandra://127.0.0.1:9042")];
        let store = opened(&CASSANDRA, &own, Some(Guarantee::Power), &url);
        let mut session = store.session().unwrap();
        session.insert(b"ours", b"8").unwrap();
        assert!(!session.get(b"theirs", &mut |_| panic!("it is another's")).unwrap());
        drop(session);
        assert_eq!((store.count().unwrap(), setting(&*store, "commitlog_sync").as_str()), (1, "batch"));
        store.discard().unwrap();
        let fixed = refused(&CASSANDRA, &own, None, &[url[0], ("commitlog_sync", "periodic")]);
        let twice = refused(&CASSANDRA, &own, None, &[("url", "cassandra://127.0.0.1:9042,127.0.0.1:9042")]);
        let missing =
            refused(&CASSANDRA, &own, None, &[("url", "cassandra://127.0.0.1:9042,127.0.0.1:9099")]);
        [fixed, twice, missing].map(|why| why.to_string())
    });
    let [fixed, twice, missing] = told.join().unwrap();
    assert!(fixed.contains("can't be changed on a running server"), "{fixed}");
    assert!(twice.contains("are the same server"), "{twice}");
    assert!(missing.contains("connecting to cassandra at 127.0.0.1"), "{missing}");
    let mut client = client::Client::own(&socket_in(folder.path())).unwrap();
    let keyspaces =
        client.rows("SELECT keyspace_name FROM system_schema.keyspaces", Consistency::One).unwrap();
    let names: Vec<String> = keyspaces.iter().map(|row| rows::text(row, 0)).collect();
    assert!(names.iter().any(|name| name == "storebench"), "{names:?}");
    assert!(!names.iter().any(|name| name.starts_with("storebench_")), "{names:?}");
    assert_eq!(store.count().unwrap(), 1);
    store.close().unwrap();
}
