use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use storebench_model::store::StoreError;
use storebench_model::store::sql::SqlValue;

use super::*;
use crate::support::testing::{
    after_kill, folder_if_here, hold_batches_to_all_or_none, hold_loads_to_all_or_none,
    hold_sql_to_its_promise, hold_to_its_end, new_folder, open as open_with, opened, refused, setting,
};

const ENGINES: [&str; 2] = ["innodb", "rocksdb"];

fn engines() -> Vec<&'static str> {
    let Some(_folder) = folder_if_here(&MARIADB) else { return Vec::new() };
    let is_here = |engine: &&str| {
        let opened = open_with(&MARIADB, new_folder().path(), None, false, &[("engine", engine)]);
        match opened {
            Err(StoreError::Unsupported(why)) => println!("not tried: {why}"),
            Err(error) => panic!("{engine}: {error}"),
            Ok(_) => return true,
        }
        false
    };
    ENGINES.into_iter().filter(is_here).collect()
}

/// Debian's programs as if unpacked elsewhere, with what makes the files among scripts.
#[test]
fn programs_that_are_unpacked_anywhere_find_what_they_read() {
    let links = [
        ("/usr/sbin/mariadbd", "bin/mariadbd"),
        // Debian's script looks for it there.
        ("/usr/sbin/mariadbd", "sbin/mariadbd"),
        ("/usr/bin/my_print_defaults", "bin/my_print_defaults"),
        ("/usr/bin/resolveip", "bin/resolveip"),
        ("/usr/bin/mariadb-install-db", "scripts/mariadb-install-db"),
        ("/usr/share/mysql", "share/mysql"),
    ];
    if let Some((source, _)) = links.iter().find(|(source, _)| !Path::new(source).exists()) {
        return println!("not tried: there is no {source}");
    }
    // The server's user must pass it.
    let archive = new_folder();
    fs::set_permissions(archive.path(), fs::Permissions::from_mode(0o755)).unwrap();
    for (source, name) in links {
        let path = archive.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(source, path).unwrap();
    }
    let (folder, bin) = (new_folder(), archive.path().join("bin").display().to_string());
    let store = opened(&MARIADB, &folder, Some(Guarantee::Process), &[("programs", &bin)]);
    let mut session = store.sql().unwrap();
    let query = session.prepare("SELECT @@basedir").unwrap();
    let mut answer = String::new();
    session.query(query, &[], &mut |row| answer = format!("{row:?}")).unwrap();
    assert!(answer.contains(&archive.path().display().to_string()), "{answer}");
    drop(session);
    store.close().unwrap();
}

#[test]
fn each_tier_is_what_the_server_reads_back() {
    for engine in engines() {
        let log = format!("{engine}_flush_log_at_trx_commit");
        for (tier, expected) in [
            (None, "1"),
            (Some(Guarantee::Power), "1"),
            (Some(Guarantee::Process), "2"),
            (Some(Guarantee::None), "0"),
        ] {
            let folder = new_folder();
            let store = opened(&MARIADB, &folder, tier, &[("engine", engine)]);
            assert_eq!(store.guarantee(), tier.unwrap_or(Guarantee::Power));
            assert_eq!(setting(&*store, &log), expected, "{tier:?}");
            assert_eq!(setting(&*store, "engine"), engine);
            assert_eq!(setting(&*store, "log_bin"), "OFF");
            store.close().unwrap();
        }
    }
}

#[test]
fn settings_that_do_not_take_are_refused() {
    let Some(folder) = folder_if_here(&MARIADB) else { return };
    let error = refused(&MARIADB, &folder, None, &[("innodb_buffer_pool_size", "10000001")]);
    assert!(matches!(error, StoreError::SettingNotTaken { .. }), "{error}");
}

#[test]
fn a_kill_takes_nothing_that_was_acknowledged() {
    for engine in engines() {
        for tier in [Guarantee::Process, Guarantee::Power] {
            assert_eq!(after_kill(&MARIADB, tier, &[("engine", engine)]), 3, "{engine} {tier}");
        }
    }
}

#[test]
fn no_process_is_left_when_it_is_closed_dropped_or_killed() {
    hold_to_its_end(&MARIADB, None, 1..=1);
}

#[test]
fn nothing_listens() {
    let Some(folder) = folder_if_here(&MARIADB) else { return };
    let store = opened(&MARIADB, &folder, None, &[]);
    let mut session = store.sql().unwrap();
    let mut answer = Vec::new();
    let query = session.prepare("SELECT @@skip_networking, @@tmpdir LIKE '/proc/self/fd/%'").unwrap();
    session.query(query, &[], &mut |row| answer.push(format!("{row:?}"))).unwrap();
    let yes = [SqlValue::Integer(1), SqlValue::Integer(i64::from(cfg!(target_os = "linux")))];
    assert_eq!(answer, [format!("{yes:?}")]);
}

#[test]
fn a_failed_batch_leaves_nothing_and_the_session_goes_on() {
    for engine in engines() {
        let folder = new_folder();
        let store = opened(&MARIADB, &folder, Some(Guarantee::None), &[("engine", engine)]);
        hold_batches_to_all_or_none(store.as_ref(), 1 << 20);
    }
}

#[test]
fn a_value_may_be_longer_than_a_part_of_a_packet() {
    let Some(folder) = folder_if_here(&MARIADB) else { return };
    let store = opened(&MARIADB, &folder, Some(Guarantee::None), &[]);
    let mut session = store.session().unwrap();
    let large: Vec<u8> = (0..17 << 20).map(|index: usize| (index % 251) as u8).collect();
    session.insert(b"key", &large).unwrap();
    assert!(session.get(b"key", &mut |value| assert!(value == large)).unwrap());
    assert!(session.copied().unwrap() == large);
}

#[test]
fn syncs_are_the_server_s_own_count() {
    for engine in engines() {
        let count = |tier| {
            let folder = new_folder();
            let store = opened(&MARIADB, &folder, Some(tier), &[("engine", engine)]);
            let syncs_before = store.syncs().unwrap().unwrap();
            let mut session = store.session().unwrap();
            for number in 0..50_u32 {
                session.insert(&number.to_be_bytes(), b"value").unwrap();
            }
            let syncs = store.syncs().unwrap().unwrap() - syncs_before;
            drop(session);
            store.close().unwrap();
            syncs
        };
        let (power, process) = (count(Guarantee::Power), count(Guarantee::Process));
        assert!(power >= 50, "{engine}: {power}");
        assert!(process < 50, "{engine}: {process}");
    }
}

#[test]
fn a_session_for_sql_keeps_rows_and_undoes_what_was_rolled_back() {
    for engine in engines() {
        let folder = new_folder();
        let store = opened(&MARIADB, &folder, None, &[("engine", engine)]);
        hold_sql_to_its_promise(&*store);
        if engine == "innodb" {
            hold_loads_to_all_or_none(&*store);
        }
        let mut session = store.sql().unwrap();
        let insert = session.prepare("INSERT INTO t (id) VALUES (?)").unwrap();
        assert!(session.run(insert, &[SqlValue::Integer(1 << 40)]).is_err(), "more than the column holds");
    }
}
