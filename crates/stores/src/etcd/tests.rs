use std::fs;
use std::path::Path;

use storebench_model::server;
use storebench_model::server::running::Address;
use storebench_model::store::{Guarantee, Session, StoreError};

use super::client::Client;
use super::*;
use crate::support::testing::{
    end_server_with, folder_if_here, hold_to_its_end, new_folder, opened, refused, servers_in, setting,
    socket_in,
};

#[test]
fn settings_are_read_from_its_log_and_those_that_do_not_take_are_refused() {
    let Some(folder) = folder_if_here(&ETCD) else { return };
    let settings =
        [("snapshot-count", "5000"), ("quota-backend-bytes", "1073741824"), ("reads", "serializable")];
    let store = opened(&ETCD, &folder, Some(Guarantee::Power), &settings);
    for (name, value) in settings {
        assert_eq!(setting(&*store, name), value);
    }
    store.close().unwrap();
    let why = refused(&ETCD, &new_folder(), None, &[("round-trip", "1ms")]);
    assert!(matches!(&why, StoreError::BadSetting(text) if text.contains("nodes=3")), "{why}");
}

#[test]
fn no_process_is_left_when_it_is_closed_dropped_or_killed() {
    hold_to_its_end(&ETCD, None, 1..=1);
}

#[test]
fn a_batch_is_one_transaction_in_which_the_last_of_a_key_counts() {
    let Some(folder) = folder_if_here(&ETCD) else { return };
    let store = opened(&ETCD, &folder, None, &[]);
    let mut session = store.session().unwrap();
    let syncs = store.syncs().unwrap().unwrap();
    let keys: Vec<[u8; 4]> = (0..20_000_u32).map(u32::to_be_bytes).collect();
    let mut records: Vec<(&[u8], &[u8])> = keys.iter().map(|key| (&key[..], &b"value"[..])).collect();
    records.push((&keys[7], b"newer"));
    session.insert_batch(&records).unwrap();
    assert_eq!((store.count().unwrap(), store.syncs().unwrap().unwrap() - syncs), (20_000, 1));
    let mut seen = Vec::new();
    session.scan(&keys[6], 2, &mut |key, value| seen.push((key.to_vec(), value.to_vec()))).unwrap();
    assert_eq!(seen, [(keys[6].to_vec(), b"value".to_vec()), (keys[7].to_vec(), b"newer".to_vec())]);
    session.insert_batch(&[]).unwrap();
    session.remove_batch(&records.iter().map(|(key, _)| *key).collect::<Vec<_>>()).unwrap();
    session.remove_batch(&[]).unwrap();
    assert_eq!(store.count().unwrap(), 0);
}

/// A compaction drops former values, and a second one is not an error.
#[test]
fn a_compaction_gives_its_space_back() {
    let Some(folder) = folder_if_here(&ETCD) else { return };
    let mut store = opened(&ETCD, &folder, None, &[]);
    let mut session = store.session().unwrap();
    for _ in 0..40 {
        session.insert(b"key", &vec![7; 1 << 20]).unwrap();
    }
    drop(session);
    let mut client = own_client(folder.path());
    // It writes its file every 100 ms.
    std::thread::sleep(std::time::Duration::from_millis(300));
    let before = client.status().unwrap().size;
    for _ in 0..2 {
        assert_eq!(store.compact().unwrap(), Some("compact and defrag"));
    }
    let after = client.status().unwrap().size;
    assert!(before > 40 << 20 && after < 4 << 20, "{before} {after}");
}

/// After the leader and its data are gone, and after a start without it, the others have all acknowledged writes, and take more.
#[test]
fn a_cluster_that_loses_a_server_for_good_loses_nothing() {
    let Some(folder) = folder_if_here(&ETCD) else { return };
    let node = Some(Guarantee::Node);
    let store = opened(&ETCD, &folder, node, &[]);
    assert_eq!((store.guarantee(), setting(&*store, "nodes").as_str()), (Guarantee::Node, "3"));
    assert_eq!(servers_in(folder.path()).len(), 3);
    let mut session = store.session().unwrap();
    for number in 0..50_u8 {
        session.insert(&[number], b"value").unwrap();
    }
    let leader = own_client(folder.path()).own_number();
    let data = folder.path().join(server::DATA).join(leader.to_string());
    end_server_with(&format!("storebench{leader}"), folder.path());
    fs::remove_dir_all(&data).unwrap();
    assert!(session.insert(b"lost", b"value").is_err(), "its session is gone with it");
    drop(session);
    let mut client = connect_to_leader(folder.path());
    assert_ne!(client.own_number(), leader);
    assert_eq!(client.count().unwrap(), 50);
    client.insert(b"more", b"value").unwrap();
    drop(client);
    assert!(store.close().is_err(), "one did not end in order");
    assert_eq!(servers_in(folder.path()).len(), 0);
    let store = opened(&ETCD, &folder, node, &[]);
    assert_eq!((servers_in(folder.path()).len(), store.count().unwrap()), (2, 51));
    store.close().unwrap();
    let single = refused(&ETCD, &folder, None, &[]);
    assert!(matches!(&single, StoreError::SettingNotTaken { name, .. } if name == "nodes"), "{single}");
}

#[test]
fn what_a_cluster_loses_is_the_data_of_one() {
    let Some(folder) = folder_if_here(&ETCD) else { return };
    let store = opened(&ETCD, &folder, Some(Guarantee::Node), &[("nodes", "5")]);
    store.session().unwrap().insert(b"key", b"value").unwrap();
    store.close().unwrap();
    let lose = ETCD.server.unwrap().lose.unwrap();
    (0..2).for_each(|_| lose(folder.path()).unwrap());
    let store = opened(&ETCD, &folder, Some(Guarantee::Node), &[("nodes", "5")]);
    assert_eq!((servers_in(folder.path()).len(), store.count().unwrap()), (3, 1));
}

fn connect_to_leader(folder: &Path) -> Client {
    let socket = socket_in(folder);
    loop {
        if let Ok(client) = Client::connect_own(&socket) {
            return client;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

fn own_client(folder: &Path) -> Client {
    Client::connect_own(&socket_in(folder)).unwrap()
}

/// A URL of all members leads to the leader; one with a foreign or missing member is refused.
#[test]
fn a_url_of_several_members_is_of_their_leader() {
    let Some(folder) = folder_if_here(&ETCD) else { return };
    let single_folder = new_folder();
    let store = opened(&ETCD, &folder, Some(Guarantee::Node), &[]);
    let single_store = opened(&ETCD, &single_folder, None, &[]);
    let (sockets, stranger) = (socket_in(folder.path()), socket_in(single_folder.path()));
    let url = |paths: &[String]| {
        let url = format!("etcd+unix://{}", paths.join(","));
        Address::read(&url, EtcdServer::SCHEMES, EtcdServer::USER).unwrap()
    };
    let members: Vec<String> =
        (1..=3).map(|number| format!("{}/client:{number}", sockets.display())).collect();
    let leader = own_client(folder.path()).own_number();
    let mut client = Client::running(&url(&members)).unwrap();
    assert!(client.leads_cluster().unwrap());
    let backwards: Vec<String> = members.iter().rev().cloned().collect();
    assert!(Client::running(&url(&backwards)).unwrap().leads_cluster().unwrap());
    let refused = |members: &[String]| match Client::running(&url(members)) {
        Ok(_) => panic!("{members:?} is no cluster's"),
        Err(error) => error.to_string(),
    };
    let stranger = format!("{}/client:0", stranger.display());
    let mixed = refused(&[members[0].clone(), stranger.clone()]);
    assert!(mixed.contains("are not of one cluster") && mixed.contains(&stranger), "{mixed}");
    let without_leader: Vec<String> =
        members.iter().filter(|name| !name.ends_with(&leader.to_string())).cloned().collect();
    assert!(refused(&without_leader).contains("none leads: name all members"));
    let missing_member = format!("{}/client:9", sockets.display());
    let missing = refused(&[members[0].clone(), missing_member.clone()]);
    assert!(missing.contains(&format!("connecting to etcd at {missing_member}")), "{missing}");
    let twice = refused(&[members[0].clone(), members[0].clone()]);
    assert!(twice.contains("are the same server"), "{twice}");
    // Without one of them nothing is measured, but what was made can be dropped.
    client.set_key_prefix("storebench_x");
    client.insert(b"key", b"value").unwrap();
    drop(client);
    end_server_with(&format!("storebench{leader}"), folder.path());
    drop(connect_to_leader(folder.path()));
    refused(&members);
    let drop_made = ETCD.server.unwrap().drop;
    drop_made(&format!("etcd+unix://{}", members.join(",")), "storebench_x").unwrap();
    let mut new_client = connect_to_leader(folder.path());
    new_client.set_key_prefix("storebench_x");
    assert_eq!(new_client.count().unwrap(), 0);
    drop(new_client);
    single_store.close().unwrap();
    assert!(store.close().is_err(), "one did not end in order");
}
