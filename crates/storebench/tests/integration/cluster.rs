//! Several servers that are one store: etcd and NATS at the guarantee `node`.

use storebench_core::error::Exit;
use storebench_core::result::KillCheck;

use crate::cli::support::{Scratch, outcomes};
use crate::conformance::subject::is_installed;

/// Most servers have a write before it is acknowledged, so it takes no less than the way to one of them and back. A read of etcd's asks most
/// of them, too; one of NATS's asks the leader. And after the kill check has lost one of them, all that was acknowledged is there.
#[test]
fn what_most_servers_must_have_takes_a_round_trip() {
    for store in ["etcd", "nats"] {
        let def = storebench::STORES.iter().find(|def| def.name == store).unwrap();
        if def.open.is_err() || !is_installed(def) {
            continue;
        }
        let scratch = Scratch::new();
        let small = "--records 20 --record-size 1KiB --data incompressible --operations 5 --trials 1";
        let cluster = format!("--guarantee node --set {store}.round-trip=4ms");
        scratch.storebench(&format!("run crud --store {store} {cluster} {small}")).ends(Exit::Success);
        let run = scratch.results();
        assert_eq!(outcomes(&run), [(store, "ok")]);
        let measured = run.trials[0].measured.as_ref().unwrap();
        for operation in measured.operations.iter().filter(|one| store == "etcd" || one.operation != "get") {
            assert!(operation.sum_ns >= operation.count * 4_000_000, "{store}: {operation:?}");
        }
        let setting = |name: &str| {
            let found = measured.settings.iter().find(|setting| setting.name == name);
            found.map(|setting| setting.value.as_str())
        };
        assert_eq!((setting("nodes"), setting("round-trip")), (Some("3"), Some("4ms")));
        assert_eq!(setting("reads"), Some(if store == "etcd" { "linearizable" } else { "leader" }));
        assert!(matches!(measured.kill_check, Some(KillCheck::Held { .. })), "{:?}", measured.kill_check);
        scratch.assert_nothing_left();
    }
}
