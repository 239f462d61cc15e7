use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use storebench_core::server::{self, private, user};
use storebench_core::store::{Setting, StoreError};

use super::client::{Answer, Client};
use super::*;
use crate::stores::support::server::socket::Socket;
use crate::stores::support::testing::{
    after_kill, hold_to_its_end, new_folder, opened, refused, setting, socket_in,
};

/// Where none is installed there is nothing to try.
fn is_here() -> bool {
    let lacks = RedisServer::programs().lacks();
    if let Some(why) = &lacks {
        println!("not tried: {why}");
    }
    lacks.is_none()
}

#[test]
fn the_table_says_what_is_missing_and_no_study_runs_it_unasked() {
    assert_eq!(REDIS.lacks().is_some(), !is_here());
    assert!(!REDIS.runs_by_default());
}

#[test]
fn each_tier_is_what_the_server_reads_back() {
    if !is_here() {
        return;
    }
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
fn settings_that_do_not_take_are_refused() {
    if !is_here() {
        return;
    }
    for nonsense in [
        &[("appendfsync", "perhaps")][..],
        &[("save", "60")],
        &[("save", "often")],
        &[("save", "off")],
        &[("io-threads", "129")],
        &[("nodes", "2")],
        &[("wait", "1")],
        &[("nodes", "3"), ("wait", "3")],
        &[("round-trip", "1ms")],
        &[("colour", "red")],
    ] {
        let why = refused(&REDIS, &new_folder(), None, nonsense);
        assert!(matches!(why, StoreError::BadSetting(_)), "{nonsense:?}: {why}");
    }
    let everysec = [("appendfsync", "everysec")];
    let power = refused(&REDIS, &new_folder(), Some(Guarantee::Power), &everysec);
    assert!(matches!(power, StoreError::BadSetting(text) if text.contains("none, not power")));
    let store = opened(&REDIS, &new_folder(), None, &[("appendonly", "yes"), ("save", "off")]);
    assert_eq!((setting(&*store, "save").as_str(), store.guarantee()), ("off", Guarantee::None));
}

#[test]
fn a_kill_takes_nothing_that_was_acknowledged() {
    if !is_here() {
        return;
    }
    assert_eq!(after_kill(&REDIS, Guarantee::Process), 3);
    assert_eq!(after_kill(&REDIS, Guarantee::Power), 3);
}

#[test]
fn no_process_is_left_when_it_is_closed_dropped_or_killed() {
    if is_here() {
        hold_to_its_end(&REDIS, Some(Guarantee::Process), 1..=1);
    }
}

#[test]
fn nothing_listens_and_its_files_are_its_user_s_alone() {
    if !is_here() {
        return;
    }
    let folder = new_folder();
    let before = fs::metadata(folder.path()).unwrap();
    let store = opened(&REDIS, &folder, None, &[]);
    let data = fs::metadata(folder.path().join(server::DATA)).unwrap();
    let expected = user().map_or(before.uid(), |user| user.uid);
    assert_eq!((data.uid(), data.mode() & 0o777), (expected, 0o700));
    let now = fs::metadata(folder.path()).unwrap();
    assert_eq!((now.uid(), now.mode()), (before.uid(), before.mode()));
    let mut client = own_client(folder.path());
    let Ok(Answer::Many(told)) = client.run(&[b"CONFIG", b"GET", b"port"]) else { panic!("no answer") };
    assert!(matches!(&told[1], Answer::Bytes(at) if client.bytes(at.clone()) == b"0"));
    store.close().unwrap();
}

/// A connection to the server whose socket lies below a store's folder.
fn own_client(folder: &Path) -> Client {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_socket =
        |path: &std::path::PathBuf| path.file_name().unwrap().to_string_lossy().starts_with("socket-");
    RedisServer::connect_own(&entries.into_iter().find(is_socket).unwrap()).unwrap()
}

#[test]
fn a_batch_of_several_commands_is_one_transaction() {
    if !is_here() {
        return;
    }
    let folder = new_folder();
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

/// A rest ends when all replicas have all. They are there again after a kill and, as what they keep is a copy, as many as before.
#[test]
fn replicas_have_what_the_first_server_has() {
    if !is_here() || private::lacks().is_some() {
        return;
    }
    let folder = new_folder();
    let three = [("nodes", "3"), ("wait", "0")];
    let store = opened(&REDIS, &folder, Some(Guarantee::Process), &three);
    assert_eq!((setting(&*store, "nodes").as_str(), setting(&*store, "wait").as_str()), ("3", "0"));
    let mut session = store.session().unwrap();
    (0..100_u8).for_each(|number| session.insert(&[number], b"value").unwrap());
    drop(session);
    store.settle().unwrap();
    let data = folder.path().join(server::DATA);
    let folders = ["1", "2", "3"].map(|number| data.join(number));
    assert!(folders.iter().all(|one| one.join(config::LOG).is_dir()), "{folders:?}");
    server::end_in(folder.path()).unwrap();
    assert!(store.close().is_err());
    // Each by itself, as the only server.
    for copy in folders {
        let alone = new_folder();
        let own = alone.path().join(server::DATA);
        fs::rename(&copy, &own).unwrap();
        let store = opened(&REDIS, &alone, Some(Guarantee::Process), &[]);
        assert_eq!(store.count().unwrap(), 100, "{}", copy.display());
        store.close().unwrap();
        fs::rename(&own, &copy).unwrap();
    }
    let why = refused(&REDIS, &folder, Some(Guarantee::Process), &[]);
    assert!(why.to_string().contains("nodes"), "{why}");
    let store = opened(&REDIS, &folder, Some(Guarantee::Process), &three);
    assert_eq!(store.count().unwrap(), 100);
    store.close().unwrap();
}

/// A replica without data gets all from the first. One whose log is damaged ends, and its last words are told at once.
#[test]
fn a_replica_is_made_anew_and_one_that_does_not_start_is_told() {
    if !is_here() || private::lacks().is_some() {
        return;
    }
    let (folder, three) = (new_folder(), [("nodes", "3")]);
    let store = opened(&REDIS, &folder, Some(Guarantee::Process), &three);
    store.session().unwrap().insert(b"key", b"value").unwrap();
    store.close().unwrap();
    let data = folder.path().join(server::DATA);
    fs::remove_dir_all(data.join("2")).unwrap();
    let store = opened(&REDIS, &folder, Some(Guarantee::Process), &three);
    store.settle().unwrap();
    store.close().unwrap();
    fs::rename(data.join("1"), data.join("0")).unwrap();
    let why = refused(&REDIS, &folder, Some(Guarantee::Process), &three).to_string();
    assert!(why.contains("the first server has lost its data"), "{why}");
    fs::rename(data.join("0"), data.join("1")).unwrap();
    let log = data.join("2").join(config::LOG);
    assert!(log.is_dir());
    for file in fs::read_dir(log).unwrap() {
        fs::write(file.unwrap().path(), "nonsense").unwrap();
    }
    let why = refused(&REDIS, &folder, Some(Guarantee::Process), &three).to_string();
    assert!(why.contains("did not start"), "{why}");
}

/// A running server can be asked to wait for as many replicas as it has.
#[test]
fn more_replicas_than_a_running_server_has_are_refused() {
    if !is_here() || private::lacks().is_some() {
        return;
    }
    let folder = new_folder();
    let server = opened(&REDIS, &folder, Some(Guarantee::Power), &[("nodes", "3"), ("wait", "0")]);
    let url = format!("redis+unix://{}/socket", socket_in(folder.path()).display());
    let why = refused(&REDIS, &new_folder(), None, &[("url", &url), ("wait", "3")]).to_string();
    assert!(why.contains("wait=3, but this server has 2 replicas at work"), "{why}");
    let beside = new_folder();
    let store = opened(&REDIS, &beside, None, &[("url", &url), ("wait", "2")]);
    assert_eq!((setting(&*store, "nodes").as_str(), setting(&*store, "wait").as_str()), ("3", "2"));
    store.session().unwrap().insert(b"key", b"value").unwrap();
    assert_eq!((store.count().unwrap(), server.count().unwrap()), (1, 1));
    store.discard().unwrap();
    server.close().unwrap();
}

/// Three parts of the keys, each on a server of its own; keys of every form find theirs, before a kill and after it.
#[test]
fn each_server_of_a_cluster_has_its_part_of_the_keys() {
    if !is_here() || private::lacks().is_some() {
        return;
    }
    let (folder, three) = (new_folder(), [("shards", "3")]);
    let store = opened(&REDIS, &folder, Some(Guarantee::Process), &three);
    assert_eq!((setting(&*store, "nodes").as_str(), setting(&*store, "shards").as_str()), ("1", "3"));
    let mut client = own_client(folder.path());
    let odd: [&[u8]; 8] = [b"", b"{", b"{}", b"{a}b", b"a{b}{c}", b"}{", b"a{}b", b"{a\r\n\0\xff}"];
    let mut keys: Vec<Vec<u8>> = odd.map(<[u8]>::to_vec).into();
    keys.extend((0..300_u32).map(|number| number.to_be_bytes().to_vec()));
    for key in &keys {
        let Ok(Answer::Number(slot)) = client.run(&[b"CLUSTER", b"KEYSLOT", key]) else { panic!("no slot") };
        assert_eq!(slot, i64::from(redis_protocol::redis_keyslot(key)), "{key:?}");
    }
    let mut session = store.session().unwrap();
    let (single, batch) = keys.split_at(100);
    single.iter().for_each(|key| session.insert(key, b"value").unwrap());
    let records: Vec<(&[u8], &[u8])> = batch.iter().map(|key| (&key[..], &b"value"[..])).collect();
    session.insert_batch(&records).unwrap();
    session.remove(&keys[3]).unwrap();
    session.remove_batch(&[&keys[4], &keys[5]]).unwrap();
    let parts = cluster::primaries(&mut client, Client::count).unwrap();
    assert_eq!((parts.len(), parts.iter().sum::<u64>()), (3, keys.len() as u64 - 3), "{parts:?}");
    assert!(parts.iter().all(|part| *part > 50), "{parts:?}");
    drop(session);
    server::end_in(folder.path()).unwrap();
    assert!(store.close().is_err());
    let store = opened(&REDIS, &folder, Some(Guarantee::Process), &three);
    let mut session = store.session().unwrap();
    for (number, key) in keys.iter().enumerate() {
        let is_there = session.get(key, &mut |value| assert_eq!(value, b"value")).unwrap();
        assert_eq!(is_there, !(3..6).contains(&number), "{key:?}");
    }
    drop(session);
    store.close().unwrap();
    let why = refused(&REDIS, &folder, Some(Guarantee::Process), &[]).to_string();
    assert!(why.contains("shards"), "{why}");
    fs::remove_dir_all(folder.path().join(server::DATA).join("2")).unwrap();
    let why = refused(&REDIS, &folder, Some(Guarantee::Process), &three).to_string();
    assert!(why.contains("server 2 has lost its data: no other has a copy"), "{why}");
}

/// A write to a part with replicas takes no less than the round trip to them, and all that was lost of a replica is copied.
#[test]
fn each_part_of_a_cluster_has_its_replicas() {
    if !is_here() || private::lacks().is_some() {
        return;
    }
    let folder = new_folder();
    let nine = [("shards", "3"), ("nodes", "3"), ("round-trip", "2ms")];
    let store = opened(&REDIS, &folder, Some(Guarantee::Process), &nine);
    assert_eq!((setting(&*store, "nodes").as_str(), setting(&*store, "wait").as_str()), ("3", "1"));
    let mut session = store.session().unwrap();
    for number in 0..60_u8 {
        let start = Instant::now();
        session.insert(&[number], b"value").unwrap();
        assert!(start.elapsed() >= Duration::from_millis(2), "{:?}", start.elapsed());
    }
    drop(session);
    store.settle().unwrap();
    store.close().unwrap();
    let data = folder.path().join(server::DATA);
    fs::remove_dir_all(data.join("5")).unwrap();
    let store = opened(&REDIS, &folder, Some(Guarantee::Process), &nine);
    let mut client = own_client(folder.path());
    cluster::set_primaries(&mut client, |one| one.replicas.own = 2);
    let mut counts = Vec::new();
    replicas::each(&mut client, |one| {
        counts.push(one.count()?);
        Ok(())
    })
    .unwrap();
    assert_eq!((counts.len(), counts.iter().sum::<u64>()), (9, 3 * 60), "{counts:?}");
    assert!(counts.chunks(3).all(|part| part[0] == part[1] && part[1] == part[2]), "{counts:?}");
    store.close().unwrap();
    fs::rename(data.join("2"), data.join("0")).unwrap();
    let why = refused(&REDIS, &folder, Some(Guarantee::Process), &nine).to_string();
    assert!(
        why.contains("server 2 has lost its data: rename the folder") && why.contains("/5 to 2"),
        "{why}"
    );
}

/// A running cluster is named by its servers; keys of others are left alone.
#[test]
fn a_running_cluster_is_named_by_its_servers() {
    if !is_here() || private::lacks().is_some() {
        return;
    }
    let (folder, alone) = (new_folder(), new_folder());
    let server = opened(&REDIS, &folder, Some(Guarantee::Power), &[("shards", "3")]);
    server.session().unwrap().insert(b"another's", b"value").unwrap();
    let other = opened(&REDIS, &alone, None, &[]);
    let sockets = socket_in(folder.path());
    let named = |names: &[&str]| {
        let paths: Vec<String> = names.iter().map(|name| format!("{}/{name}", sockets.display())).collect();
        format!("redis+unix://{}", paths.join(","))
    };
    let all = ["socket", "socket-2", "socket-3"];
    let no_member = format!("{},{}/socket", named(&all), socket_in(alone.path()).display());
    for (url, why) in [
        (named(&all[..1]), "is one server of a Redis Cluster"),
        (named(&["socket", "socket"]), "are the same server"),
        (no_member, "is of no cluster"),
    ] {
        let told = refused(&REDIS, &new_folder(), None, &[("url", &url)]).to_string();
        assert!(told.contains(why), "{told}");
    }
    let beside = new_folder();
    let store = opened(&REDIS, &beside, None, &[("url", &named(&all))]);
    assert_eq!((store.guarantee(), setting(&*store, "shards").as_str()), (Guarantee::Power, "3"));
    let keys: Vec<[u8; 1]> = (0..200).map(|number| [number]).collect();
    let records: Vec<(&[u8], &[u8])> = keys.iter().map(|key| (&key[..], &b"value"[..])).collect();
    let mut session = store.session().unwrap();
    session.insert_batch(&records).unwrap();
    assert!(keys.iter().all(|key| session.get(key, &mut |_| ()).unwrap()));
    drop(session);
    assert_eq!((store.count().unwrap(), server.count().unwrap()), (200, 201));
    store.discard().unwrap();
    assert_eq!(server.count().unwrap(), 1);
    // The cluster's address of a server leads to another one.
    let elsewhere = socket_in(alone.path());
    let why = cluster::join(&mut own_one(&sockets), |_| RedisServer::connect_own(&elsewhere)).unwrap_err();
    assert!(why.to_string().contains("is another server from here"), "{why}");
    server.close().unwrap();
    other.close().unwrap();
}

/// The connection of the first server alone.
fn own_one(sockets: &Path) -> Client {
    Client::over(Socket::own(sockets, "socket").unwrap())
}

/// A server that is gone is named where a trial begins, and the last lines of its own log are told where it goes in the midst of one.
#[test]
fn a_server_of_a_cluster_that_is_gone_is_told() {
    if !is_here() || private::lacks().is_some() {
        return;
    }
    let folder = new_folder();
    let server = opened(&REDIS, &folder, Some(Guarantee::Process), &[("shards", "3")]);
    let sockets = socket_in(folder.path());
    let url = ["", "-2", "-3"].map(|number| format!("{}/socket{number}", sockets.display())).join(",");
    let url = format!("redis+unix://{url}");
    let beside = new_folder();
    let store = opened(&REDIS, &beside, None, &[("url", &url)]);
    let keys: Vec<[u8; 1]> = (0..100).map(|number| [number]).collect();
    let records: Vec<(&[u8], &[u8])> = keys.iter().map(|key| (&key[..], &b"value"[..])).collect();
    let mut sessions = [store.session().unwrap(), server.session().unwrap()];
    sessions.iter_mut().for_each(|session| session.insert_batch(&records).unwrap());
    let pid = |one: &mut Client| told::told_of(one, "process_id");
    let pids = cluster::primaries(&mut own_client(folder.path()), pid).unwrap();
    let pid = pids[2].parse().unwrap();
    rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    for session in &mut sessions {
        let why = session.insert_batch(&records).unwrap_err();
        assert!(matches!(why, StoreError::Io { .. }), "{why}");
        // The others' answers are those of their own commands.
        let is_there =
            |key: &&[u8; 1]| session.get(*key, &mut |value| assert_eq!(value, b"value")).unwrap_or(false);
        assert!((50..80).contains(&keys.iter().filter(is_there).count()));
    }
    let why = sessions[1].insert_batch(&records).unwrap_err().to_string();
    let log = fs::read_to_string(sockets.join("log-3")).unwrap();
    assert!(why.contains(log.trim().lines().last().unwrap().trim()), "{why}");
    drop(sessions);
    let why = refused(&REDIS, &new_folder(), None, &[("url", &url)]).to_string();
    assert!(why.contains("socket-3: Connection refused"), "{why}");
    let why = store.discard().unwrap_err().to_string();
    assert!(why.contains("connecting to redis"), "{why}");
    assert!(server.close().is_err());
}

/// All that is there after a rest is also there after a kill: the snapshot that is due has been made.
#[test]
fn a_snapshot_is_made_when_it_settles() {
    if !is_here() {
        return;
    }
    let folder = new_folder();
    let store = opened(&REDIS, &folder, None, &[]);
    store.session().unwrap().insert(b"key", b"value").unwrap();
    store.settle().unwrap();
    store.session().unwrap().insert(b"later", b"value").unwrap();
    server::end_in(folder.path()).unwrap();
    assert!(store.close().is_err());
    let store = opened(&REDIS, &folder, None, &[]);
    assert_eq!(store.count().unwrap(), 1);
    let told = store.statistics().unwrap();
    assert!(matches!(&told[..], [Setting { name, .. }] if name == "used_memory"), "{told:?}");
}
