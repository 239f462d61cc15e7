use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Pid, Signal, kill_process};
use storebench_model::server;
use storebench_model::store::sql::SqlValue;
use storebench_model::store::{OpenOptions, Store, StoreError};

use super::*;
use crate::support::server::sql;
use crate::support::testing::{
    folder_if_here, hold_batches_to_all_or_none, hold_loads_to_all_or_none, hold_sql_to_its_promise,
    hold_to_its_end, new_folder, opened, refused, setting, socket_in,
};

#[test]
fn each_tier_is_what_the_server_reads_back() {
    let Some(_folder) = folder_if_here(&POSTGRES) else { return };
    for (tier, expected) in [
        (None, ["on", "on", "on"]),
        (Some(Guarantee::Power), ["on", "on", "on"]),
        (Some(Guarantee::Process), ["off", "on", "off"]),
        (Some(Guarantee::None), ["off", "off", "off"]),
    ] {
        let folder = new_folder();
        let store = opened(&POSTGRES, &folder, tier, &[]);
        let found = ["fsync", "synchronous_commit", "full_page_writes"].map(|name| setting(&*store, name));
        assert_eq!(found, expected, "{tier:?}");
        store.close().unwrap();
    }
}

#[test]
fn settings_that_do_not_take_are_refused() {
    let Some(folder) = folder_if_here(&POSTGRES) else { return };
    // Not a whole number of pages; not two of the log's files.
    let error = refused(&POSTGRES, &new_folder(), None, &[("shared_buffers", "1000000")]);
    assert!(matches!(error, StoreError::SettingNotTaken { .. }), "{error}");
    let error = refused(&POSTGRES, &folder, None, &[("max_wal_size", "2097152")]);
    assert!(matches!(&error, StoreError::BadSetting(why) if why.contains("max_wal_size")), "{error}");
}

#[test]
fn the_size_of_the_log_s_files_is_fixed_with_them() {
    let Some(folder) = folder_if_here(&POSTGRES) else { return };
    let small = [("wal_segment_size", "1048576")];
    let store = opened(&POSTGRES, &folder, None, &small);
    assert_eq!(setting(&*store, "wal_segment_size"), "1048576");
    store.close().unwrap();
    let error = refused(&POSTGRES, &folder, None, &[("wal_segment_size", "4194304")]);
    assert!(matches!(error, StoreError::SettingNotTaken { read_back, .. } if read_back == "1048576"));
}

#[test]
fn no_process_is_left_when_it_is_closed_dropped_or_killed() {
    hold_to_its_end(&POSTGRES, None, 2..=usize::MAX);
}

#[test]
fn a_failed_batch_leaves_nothing_and_the_session_goes_on() {
    let Some(folder) = folder_if_here(&POSTGRES) else { return };
    let store = opened(&POSTGRES, &folder, Some(Guarantee::None), &[]);
    hold_batches_to_all_or_none(store.as_ref(), 100_000);
}

#[test]
fn syncs_are_the_server_s_own_count() {
    let Some(_folder) = folder_if_here(&POSTGRES) else { return };
    let count = |tier| {
        let folder = new_folder();
        let store = opened(&POSTGRES, &folder, Some(tier), &[]);
        let mut session = store.session().unwrap();
        for number in 0..20_u32 {
            session.insert(&number.to_be_bytes(), b"value").unwrap();
        }
        drop(session);
        let syncs = store.syncs().unwrap();
        store.close().unwrap();
        syncs
    };
    let (Some(power), Some(process)) = (count(Guarantee::Power), count(Guarantee::Process)) else {
        return println!("not tried: PostgreSQL {} does not count them", (POSTGRES.version)());
    };
    assert!(power >= 20, "{power}");
    assert_eq!(process, 0);
}

#[test]
fn a_session_for_sql_keeps_rows_and_undoes_what_was_rolled_back() {
    let Some(folder) = folder_if_here(&POSTGRES) else { return };
    let store = opened(&POSTGRES, &folder, None, &[]);
    hold_sql_to_its_promise(&*store);
    hold_loads_to_all_or_none(&*store);
    let mut session = store.sql().unwrap();
    let insert = session.prepare("INSERT INTO t (id) VALUES (?)").unwrap();
    assert!(session.run(insert, &[SqlValue::Integer(1 << 40)]).is_err(), "more than the column holds");
}

/// A server with users that must prove who they are.
fn with_passwords(folder: &tempfile::TempDir, store: &dyn Store) {
    let mut session = store.sql().unwrap();
    for (kind, encryption) in [("scram", "scram-sha-256"), ("md5", "md5"), ("plain", "scram-sha-256")] {
        let role =
            format!("SET password_encryption = '{encryption}'; CREATE ROLE {kind} LOGIN PASSWORD 'gehe:im'");
        session.execute(&role).unwrap();
    }
    let rules = "local all scram scram-sha-256\nlocal all md5 md5\nlocal all plain password\nlocal all storebench trust\n";
    fs::write(folder.path().join(server::DATA).join("pg_hba.conf"), rules).unwrap();
    session.execute("SELECT pg_reload_conf()").unwrap();
}

#[test]
fn a_user_proves_who_it_is_as_the_server_asks_for_it() {
    use super::client::{Client, Login};
    use crate::support::server::socket::Socket;
    let Some(folder) = folder_if_here(&POSTGRES) else { return };
    let store = opened(&POSTGRES, &folder, None, &[]);
    with_passwords(&folder, &*store);
    let socket = socket_in(folder.path()).join(".s.PGSQL.5432");
    let begin = |user: &str, password: Option<&str>| {
        let password = password.map(str::to_owned);
        let login = Login { user, database: "postgres", password: &|| Ok(password.clone()) };
        Client::begin(Socket::unix(&socket).unwrap(), &login)
    };
    // The server reads its rules anew in its own time.
    let start = std::time::Instant::now();
    while begin("scram", None).is_ok() && start.elapsed().as_secs() < 30 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    for user in ["scram", "md5", "plain"] {
        let mut client = begin(user, Some("gehe:im")).unwrap_or_else(|error| panic!("{user}: {error}"));
        assert_eq!(sql::text(&mut client, "SELECT current_user::text").unwrap(), user);
        let wrong_password = begin(user, Some("falsch")).map(drop).unwrap_err().to_string();
        assert!(wrong_password.contains("password authentication failed"), "{user}: {wrong_password}");
        let without_password = begin(user, None).map(drop).unwrap_err().to_string();
        assert!(without_password.contains("set PGPASSWORD"), "{user}: {without_password}");
    }
}

/// Kills servers in a folder as soon as they have noted their shared memory there. initdb tries other settings if the first
/// servers end badly; one that makes its tables must not.
fn kill_in(data: &Path, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        let note = fs::read_to_string(data.join("postmaster.pid")).unwrap_or_default();
        // One that is not the first of a server's processes has a sign before its number.
        let number = note.lines().next().and_then(|line| line.trim_start_matches('-').parse().ok());
        if let Some(pid) = number.and_then(Pid::from_raw).filter(|_| dialect::segment_in(&note).is_some())
            && fs::read_link(format!("/proc/{}/cwd", pid.as_raw_pid())).is_ok_and(|folder| folder == data)
        {
            // It may have ended by now.
            let _ = kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

fn noted_number(data: &Path) -> Option<i32> {
    dialect::segment_in(&fs::read_to_string(data.join("postmaster.pid")).ok()?)?.number
}

#[test]
fn what_a_killed_initdb_leaves_outside_its_folder_is_given_back() {
    if POSTGRES.missing_need().is_some() || !cfg!(target_os = "linux") {
        return;
    }
    // The kill may come when the server has just ended.
    for _ in 0..20 {
        let folder = new_folder();
        let data = fs::canonicalize(folder.path()).unwrap().join(server::DATA);
        let is_over = AtomicBool::new(false);
        let options = OpenOptions::new(folder.path());
        let prepared = std::thread::scope(|scope| {
            scope.spawn(|| kill_in(&data, &is_over));
            let prepared = (Postgresql::SERVER.prepare)(&options);
            is_over.store(true, Ordering::Relaxed);
            prepared
        });
        let (Err(why), Some(number)) = (prepared, noted_number(&data)) else {
            server::end_in(folder.path()).unwrap();
            continue;
        };
        assert!(matches!(&why, StoreError::Engine(why) if why.contains("initdb failed")), "{why}");
        let mut segment = std::mem::MaybeUninit::<libc::shmid_ds>::zeroed();
        // SAFETY: the structure is ours.
        let mut is_left = || unsafe { libc::shmctl(number, libc::IPC_STAT, segment.as_mut_ptr()) == 0 };
        assert!(is_left(), "the kill left it");
        server::end_in(folder.path()).unwrap();
        assert!(!is_left(), "it was given back");
        return;
    }
    panic!("no kill met a server that initdb had started");
}
