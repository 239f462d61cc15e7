//! Several servers that are one store: etcd at the guarantee `node`.

use storebench_core::error::Exit;
use storebench_core::result::KillCheck;

use crate::cli::support::{Scratch, outcomes};
use crate::conformance::subject::is_installed;

/// Most servers have a write before it is acknowledged, so it takes no less than the way to one of them and back. A read asks most of them,
/// too. And after the kill check has lost one of them, all that was acknowledged is there.
#[test]
fn what_most_servers_must_have_takes_a_round_trip() {
    let etcd = storebench::STORES.iter().find(|store| store.name == "etcd").unwrap();
    if etcd.open.is_err() || !is_installed(etcd) {
        return;
    }
    let scratch = Scratch::new();
    let small = "--records 20 --record-size 1KiB --data incompressible --operations 5 --trials 1";
    let cluster = "--guarantee node --set etcd.round-trip=4ms";
    scratch.storebench(&format!("run crud --store etcd {cluster} {small}")).ends(Exit::Success);
    let run = scratch.results();
    assert_eq!(outcomes(&run), [("etcd", "ok")]);
    let measured = run.trials[0].measured.as_ref().unwrap();
    for operation in &measured.operations {
        assert!(operation.sum_ns >= operation.count * 4_000_000, "{operation:?}");
    }
    let setting = |name: &str| {
        let found = measured.settings.iter().find(|setting| setting.name == name);
        found.map(|setting| setting.value.as_str())
    };
    assert_eq!((setting("nodes"), setting("round-trip")), (Some("3"), Some("4ms")));
    assert!(matches!(measured.kill_check, Some(KillCheck::Held { .. })), "{:?}", measured.kill_check);
    scratch.assert_nothing_left();
}
