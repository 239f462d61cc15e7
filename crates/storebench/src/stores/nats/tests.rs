use std::fs;
use std::path::Path;

use storebench_core::server::running::Address;
use storebench_core::server::{self, private};
use storebench_core::store::{Guarantee, StoreError};

use super::client::Client;
use super::*;
use crate::stores::support::testing::{
    after_kill, end_server_with, hold_to_its_end, new_folder, opened, refused, servers_in, setting, socket_in,
};

/// Where none is installed there is nothing to try.
fn is_here() -> bool {
    let lacks = NATS.lacks();
    if let Some(why) = &lacks {
        println!("not tried: {why}");
    }
    lacks.is_none()
}

#[test]
fn the_table_says_what_is_missing_and_no_study_runs_it_unasked() {
    let lacks = NatsServer::programs().lacks().is_some() || private::lacks().is_some();
    assert_eq!((NATS.lacks().is_some(), is_here()), (lacks, !lacks));
    assert!(!NATS.runs_by_default());
}

#[test]
fn settings_are_what_the_server_tells_and_those_that_do_not_take_are_refused() {
    if !is_here() {
        return;
    }
    for (tier, given, expected) in [
        (None, &[][..], ["direct", "1", "120s"]),
        (Some(Guarantee::Process), &[("sync_interval", "1500ms")], ["direct", "1", "1500ms"]),
        (Some(Guarantee::Power), &[("reads", "leader")], ["leader", "1", "always"]),
    ] {
        let folder = new_folder();
        let store = opened(&NATS, &folder, tier, given);
        assert_eq!(store.guarantee(), tier.unwrap_or(Guarantee::Process));
        assert_eq!(["reads", "nodes", "sync_interval"].map(|name| setting(&*store, name)), expected);
        store.close().unwrap();
    }
    for nonsense in
        [&[("reads", "sometimes")][..], &[("sync_interval", "1us")], &[("nodes", "2")], &[("colour", "red")]]
    {
        let why = refused(&NATS, &new_folder(), None, nonsense);
        assert!(matches!(why, StoreError::BadSetting(_)), "{nonsense:?}: {why}");
    }
    let slow = refused(&NATS, &new_folder(), Some(Guarantee::Power), &[("sync_interval", "10s")]);
    assert!(matches!(slow, StoreError::BadSetting(text) if text.contains("process, not power")));
}

/// Of one that is removed a message stays, until it is compacted; it is no record.
#[test]
fn records_are_there_whole_by_either_way_of_reading() {
    if !is_here() {
        return;
    }
    for reads in ["direct", "leader"] {
        let folder = new_folder();
        let mut store = opened(&NATS, &folder, None, &[("reads", reads)]);
        let mut session = store.session().unwrap();
        let values: [&[u8]; 3] = [b"", b"\0\r\nMSG\xff", &[7; 3 << 20]];
        let keys: [&[u8]; 3] = [b"", b"a.*> \r\n\xff", &[9; MAX_KEY_BYTES]];
        for (key, value) in keys.iter().zip(values) {
            session.insert(key, value).unwrap();
            let mut seen = Vec::new();
            assert!(session.get(key, &mut |value| seen = value.to_vec()).unwrap());
            assert!(seen == value && session.copied() == Some(value), "{} bytes by {reads}", value.len());
        }
        session.remove(keys[0]).unwrap();
        assert!(!session.get(keys[0], &mut |_| panic!("it is removed")).unwrap());
        assert!(!session.get(b"none", &mut |_| panic!("it was never there")).unwrap());
        for large in [session.insert(&[9; MAX_KEY_BYTES + 1], b""), session.insert(b"k", &vec![0; 31 << 20])]
        {
            assert!(matches!(large, Err(StoreError::Unsupported(_))), "{large:?}");
        }
        drop(session);
        assert_eq!(store.count().unwrap(), 2);
        let messages = |folder: &Path| own_client(folder).state().unwrap().messages;
        assert_eq!(messages(folder.path()), 3);
        assert_eq!(store.compact().unwrap(), Some("PurgeDeletes"));
        assert_eq!((messages(folder.path()), store.count().unwrap()), (2, 2));
        store.close().unwrap();
        let store = opened(&NATS, &folder, None, &[("reads", reads)]);
        assert_eq!(store.count().unwrap(), 2);
    }
}

#[test]
fn a_kill_takes_nothing_that_was_acknowledged() {
    if is_here() {
        assert_eq!(after_kill(&NATS, Guarantee::Process), 3);
        assert_eq!(after_kill(&NATS, Guarantee::Power), 3);
    }
}

#[test]
fn no_process_is_left_when_it_is_closed_dropped_or_killed() {
    if is_here() {
        hold_to_its_end(&NATS, None, 1..=1);
        let folder = new_folder();
        let store = opened(&NATS, &folder, None, &[]);
        assert_eq!(networks_in(folder.path()), 1);
        store.close().unwrap();
        assert_eq!(networks_in(folder.path()), 0);
        drop(opened(&NATS, &folder, None, &[]));
        assert_eq!(networks_in(folder.path()), 0);
    }
}

#[test]
fn a_batch_is_one_in_which_the_last_of_a_key_counts() {
    if !is_here() {
        return;
    }
    let folder = new_folder();
    let store = opened(&NATS, &folder, Some(Guarantee::Power), &[]);
    let mut session = store.session().unwrap();
    let keys: Vec<[u8; 4]> = (0..20_000_u32).map(u32::to_be_bytes).collect();
    let records: Vec<(&[u8], &[u8])> = keys.iter().map(|key| (&key[..], &b"value"[..])).collect();
    session.insert_batch(&records).unwrap();
    assert_eq!(store.count().unwrap(), 20_000);
    // One of them is too large: none is taken.
    let large = vec![0; 31 << 20];
    assert!(session.insert_batch(&[(b"k", b"value"), (b"large", &large)]).is_err());
    assert!(!session.get(b"k", &mut |_| panic!("it was not taken")).unwrap());
    session.insert_batch(&[(b"k", b"older"), (b"other", b""), (b"k", b"newer")]).unwrap();
    let mut seen = Vec::new();
    assert!(session.get(b"k", &mut |value| seen = value.to_vec()).unwrap());
    assert_eq!(seen, b"newer");
    session.insert_batch(&[]).unwrap();
    session.remove_batch(&[b"k", b"other", b"none"]).unwrap();
    assert!(!session.get(b"k", &mut |_| panic!("it is removed")).unwrap());
}

/// Those that are left answer, have all that was acknowledged, and take more: first when the leader is killed and its data are gone, then
/// when all start again without it.
#[test]
fn a_cluster_that_loses_a_server_for_good_loses_nothing() {
    if !is_here() {
        return;
    }
    let folder = new_folder();
    let node = Some(Guarantee::Node);
    let store = opened(&NATS, &folder, node, &[]);
    assert_eq!((store.guarantee(), setting(&*store, "nodes").as_str()), (Guarantee::Node, "3"));
    assert_eq!(servers_in(folder.path()).len(), 3);
    let mut session = store.session().unwrap();
    for number in 0..50_u8 {
        session.insert(&[number], b"value").unwrap();
    }
    let leader = own_client(folder.path()).own_number();
    end_server_with(&format!("config-{leader}"), folder.path());
    fs::remove_dir_all(folder.path().join(server::DATA).join(leader.to_string())).unwrap();
    assert!(session.insert(b"lost", b"value").is_err(), "its session is gone with it");
    drop(session);
    let mut client = led(folder.path());
    assert_ne!(client.own_number(), leader);
    assert_eq!(client.count().unwrap(), 50);
    client.put(b"more", b"value").unwrap();
    drop(client);
    assert!(store.close().is_err(), "one did not end in order");
    assert_eq!(servers_in(folder.path()).len(), 0);
    let store = opened(&NATS, &folder, node, &[]);
    assert_eq!((servers_in(folder.path()).len(), store.count().unwrap()), (2, 51));
    store.close().unwrap();
    let one = refused(&NATS, &folder, None, &[]);
    assert!(matches!(&one, StoreError::SettingNotTaken { name, .. } if name == "nodes"), "{one}");
}

/// The processes that hold private networks of servers whose sockets are below a store's folder.
fn networks_in(folder: &Path) -> usize {
    let folder = fs::canonicalize(folder).unwrap();
    let is_one = |process: &Path| {
        let is_within = fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(&folder));
        is_within && fs::read_to_string(process.join("cmdline")).is_ok_and(|words| words.contains("__relay"))
    };
    fs::read_dir("/proc").unwrap().flatten().filter(|process| is_one(&process.path())).count()
}

/// A connection to the leader, once there is one.
fn led(folder: &Path) -> Client {
    let socket = socket_in(folder);
    loop {
        if let Ok(client) = Client::own(&socket) {
            return client;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

/// A connection to the server whose network's gate lies below a store's folder.
fn own_client(folder: &Path) -> Client {
    Client::own(&socket_in(folder)).unwrap()
}

/// A URL that names all members is of the one that leads the bucket; with one that is not there it is refused.
#[test]
fn a_url_of_several_members_is_of_their_leader() {
    if !is_here() || !rustix::process::geteuid().is_root() {
        println!("not tried: only root can be in the network of the servers");
        return;
    }
    let folder = new_folder();
    let store = opened(&NATS, &folder, Some(Guarantee::Node), &[]);
    let leader = led(folder.path()).own_number();
    let server = servers_in(folder.path()).into_iter().next().unwrap();
    let network = fs::File::open(server.join("ns/net")).unwrap();
    let told = std::thread::spawn(move || {
        rustix::thread::move_into_link_name_space(
            std::os::fd::AsFd::as_fd(&network),
            Some(rustix::thread::LinkNameSpaceType::Network),
        )
        .unwrap();
        let url = |members: &str| {
            Address::read(&format!("nats://{members}"), NatsServer::SCHEMES, NatsServer::USER)
        };
        let numbers: [&str; 3] = [
            "127.0.0.1:4223,127.0.0.1:4224,127.0.0.1:4225",
            "127.0.0.1:4225,127.0.0.1:4223,127.0.0.1:4224",
            "127.0.0.1:4224,127.0.0.1:4225,127.0.0.1:4223",
        ];
        let leaders = numbers.map(|members| {
            let mut client = Client::running(&url(members).unwrap()).unwrap();
            client.go_to_leader().unwrap();
            client.own_number()
        });
        let missing = Client::running(&url("127.0.0.1:4223,127.0.0.1:4299").unwrap()).err().unwrap();
        (leaders, missing.to_string())
    });
    let (leaders, missing) = told.join().unwrap();
    assert_eq!(leaders, [leader; 3]);
    assert!(missing.contains("connecting to nats at 127.0.0.1"), "{missing}");
    store.close().unwrap();
}
