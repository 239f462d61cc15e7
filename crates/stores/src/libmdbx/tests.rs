use std::mem::offset_of;
use std::process::Command;

use storebench_model::store::{Guarantee, StoreError};

use super::structures::{
    Found, Geometry, MDBX_chk_callbacks_t, MDBX_chk_context_t, MDBX_envinfo, MDBX_stat, MDBX_val,
    MDBX_version_info,
};
use super::{LIBMDBX, Sizes, max_key_bytes, open_environment, version};
use crate::support::testing::{new_folder, opened, refused, setting};

/// A structure of ours, and C's, with the fields that both name alike.
macro_rules! alike {
    ($($ours:ident = $theirs:literal { $($($field:ident).+),* };)*) => {{
        let mut c = String::from("#include <stddef.h>\n#include <mdbx.h>\n");
        $(
            c += &format!("_Static_assert(sizeof({}) == {}, \"\");\n", $theirs, size_of::<$ours>());
            $(c += &format!(
                "_Static_assert(offsetof({}, {}) == {}, \"\");\n",
                $theirs, stringify!($($field).+), offset_of!($ours, $($field).+)
            );)*
        )*
        c
    }};
}

#[test]
fn structures_are_those_of_the_header() {
    let c = alike! {
        MDBX_val = "MDBX_val" { iov_base, iov_len };
        MDBX_stat = "MDBX_stat" {
            ms_psize, ms_depth, ms_branch_pages, ms_leaf_pages, ms_overflow_pages, ms_entries
        };
        MDBX_envinfo = "MDBX_envinfo" {
            mi_geo, mi_geo.upper, mi_geo.grow, mi_last_pgno, mi_recent_txnid, mi_maxreaders, mi_dxb_pagesize,
            mi_mode
        };
        Geometry = "((MDBX_envinfo *)0)->mi_geo" {};
        MDBX_chk_callbacks_t = "MDBX_chk_callbacks_t" {};
        MDBX_chk_context_t = "MDBX_chk_context_t" { result, result.total_problems };
        Found = "((MDBX_chk_context_t *)0)->result" {};
        MDBX_version_info = "struct MDBX_version_info" { patch };
    };
    let folder = new_folder();
    let file = folder.path().join("structures.c");
    std::fs::write(&file, &c).unwrap();
    let include = format!("-I{}/include", env!("STOREBENCH_LIBMDBX_PREFIX"));
    let output =
        Command::new("cc").args(["-std=gnu11", "-fsyntax-only", &include]).arg(&file).output().unwrap();
    assert!(output.status.success(), "{}\n{c}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_version_is_that_of_the_sources() {
    let header = concat!(env!("STOREBENCH_LIBMDBX_PREFIX"), "/include/mdbx.h");
    let header = std::fs::read_to_string(header).unwrap();
    let (_, rest) = header.split_once("amalgamated source code (v").unwrap();
    assert!(rest.starts_with(&format!("{}-", version())), "{}: {rest:.60}", version());
}

#[test]
fn keys_are_as_long_as_the_engine_says() {
    assert_eq!(max_key_bytes(4096), Some(LIBMDBX.capabilities.max_key_bytes));
    assert_eq!(LIBMDBX.capabilities_with([("pagesize", "8192")]).max_key_bytes, max_key_bytes(8192).unwrap());
    for page in ["256", "65536"] {
        let longest = LIBMDBX.capabilities_with([("pagesize", page)]).max_key_bytes;
        let folder = new_folder();
        let store = opened(&LIBMDBX, &folder, None, &[("pagesize", page)]);
        assert_eq!(setting(&*store, "pagesize"), page);
        let mut session = store.session().unwrap();
        session.insert(&vec![1; longest], b"value").unwrap();
        let longer = session.insert(&vec![1; longest + 1], b"value");
        assert!(matches!(longer, Err(StoreError::Unsupported(_))), "{page}: {longer:?}");
        assert_eq!(store.count().unwrap(), 1);
    }
}

#[test]
fn settings_are_read_back_and_decide_the_tier() {
    let folder = new_folder();
    let store = opened(
        &LIBMDBX,
        &folder,
        Some(Guarantee::Process),
        &[("nordahead", "true"), ("sync_bytes", "1048576")],
    );
    assert_eq!(setting(&*store, "sync_mode"), "safe_nosync");
    assert_eq!(setting(&*store, "sync_bytes"), "1048576");
    assert_eq!(setting(&*store, "nordahead"), "true");
    for (mode, tier) in [
        ("durable", Guarantee::Power),
        ("nometasync", Guarantee::Process),
        ("safe_nosync", Guarantee::Process),
        ("utterly_nosync", Guarantee::Process),
    ] {
        let folder = new_folder();
        let store = opened(&LIBMDBX, &folder, None, &[("sync_mode", mode), ("writemap", "true")]);
        assert_eq!((store.guarantee(), setting(&*store, "sync_mode").as_str()), (tier, mode));
    }
}

#[test]
fn it_takes_whole_pages() {
    let error = refused(&LIBMDBX, &new_folder(), None, &[("sync_bytes", "5000")]);
    assert!(matches!(error, StoreError::SettingNotTaken { .. }), "{error}");
}

#[test]
fn it_checks_its_own_file() {
    let folder = new_folder();
    let sizes = Sizes { upper: 1 << 30, growth_step: -1, page: -1, unsynced: 0 };
    let environment = open_environment(folder.path(), 0, &sizes, 2).unwrap();
    let value = [7; 3000];
    for key in 0..1000_u32 {
        environment.write(|writer| writer.put(&key.to_be_bytes(), &value, 0)).unwrap();
    }
    environment.verify().unwrap();
}
