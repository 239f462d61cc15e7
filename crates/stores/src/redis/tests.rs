use storebench_model::server;
use storebench_model::store::Setting;

use super::client::Answer;
use super::*;
use crate::support::testing::{folder_if_here, hold_to_its_end, new_folder, opened, setting, socket_in};

#[test]
fn each_tier_is_what_the_server_reads_back() {
    let Some(_folder) = folder_if_here(&REDIS) else { return };
    for (tier, expected) in [
        (None, ["no", "everysec", "3600 1 300 100 60 10000"]),
        (Some(Guarantee::None), ["no", "everysec", "3600 1 300 100 60 10000"]),
        (Some(Guarantee::Process), ["yes", "no", "3600 1 300 100 60 10000"]),
        (Some(Guarantee::Power), ["yes", "always", "3600 1 300 100 60 10000"]),
    ] {
        let folder = new_folder();
        let store = opened(&REDIS, &folder, tier, &[]);
        assert_eq!(store.guarantee(), tier.unwrap_or(Guarantee::None));
        let found = ["appendonly", "appendfsync", "save"].map(|name| setting(&*store, name));
        assert_eq!(found, expected, "{tier:?}");
        store.close().unwrap();
    }
}

#[test]
fn with_a_log_there_may_be_no_snapshots() {
    let Some(folder) = folder_if_here(&REDIS) else { return };
    let store = opened(&REDIS, &folder, None, &[("appendonly", "yes"), ("save", "off")]);
    assert_eq!((setting(&*store, "save").as_str(), store.guarantee()), ("off", Guarantee::None));
}

#[test]
fn no_process_is_left_when_it_is_closed_dropped_or_killed() {
    hold_to_its_end(&REDIS, Some(Guarantee::Process), 1..=1);
}

#[test]
fn nothing_listens() {
    let Some(folder) = folder_if_here(&REDIS) else { return };
    let store = opened(&REDIS, &folder, None, &[]);
    let mut client = RedisServer::connect_own(&socket_in(folder.path())).unwrap();
    let Ok(Answer::Many(values)) = client.run(&[b"CONFIG", b"GET", b"port"]) else { panic!("no answer") };
    assert!(matches!(&values[1], Answer::Bytes(range) if client.bytes(range.clone()) == b"0"));
    store.close().unwrap();
}

#[test]
fn a_batch_of_several_commands_is_one_transaction() {
    let Some(folder) = folder_if_here(&REDIS) else { return };
    let store = opened(&REDIS, &folder, None, &[]);
    let keys: Vec<[u8; 4]> = (0..300_000_u32).map(u32::to_be_bytes).collect();
    let records: Vec<(&[u8], &[u8])> = keys.iter().map(|key| (&key[..], &b"value"[..])).collect();
    let mut session = store.session().unwrap();
    session.insert_batch(&records).unwrap();
    assert_eq!(store.count().unwrap(), 300_000);
    session.insert_batch(&[]).unwrap();
    session.remove_batch(&records.iter().map(|(key, _)| *key).collect::<Vec<_>>()).unwrap();
    session.remove_batch(&[]).unwrap();
    assert_eq!(store.count().unwrap(), 0);
}

/// After a rest a kill loses nothing: the snapshot that is due has been made.
#[test]
fn a_snapshot_is_made_when_it_settles() {
    let Some(folder) = folder_if_here(&REDIS) else { return };
    let store = opened(&REDIS, &folder, None, &[]);
    store.session().unwrap().insert(b"key", b"value").unwrap();
    store.settle().unwrap();
    store.session().unwrap().insert(b"later", b"value").unwrap();
    server::end_in(folder.path()).unwrap();
    assert!(store.close().is_err());
    let store = opened(&REDIS, &folder, None, &[]);
    assert_eq!(store.count().unwrap(), 1);
    let statistics = store.statistics().unwrap();
    assert!(matches!(&statistics[..], [Setting { name, .. }] if name == "used_memory"), "{statistics:?}");
}
