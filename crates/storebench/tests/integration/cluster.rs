//! Several servers that are one store: etcd at the guarantee `node`.

use storebench_core::error::Exit;
use storebench_core::result::KillCheck;

use crate::cli::support::{Scratch, outcomes};
use crate::conformance::subject::is_installed;

/// Most servers have a write before it is acknowledged, so it takes no less than the way to one of them and back. A read asks most of
/// them, too. And after the kill check has lost one of them, all that was acknowledged is there.
#[test]
fn what_most_servers_must_have_takes_a_round_trip() {
    let etcd = storebench::STORES.iter().find(|def| def.name == "etcd").unwrap();
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
    assert_eq!(setting("reads"), Some("linearizable"));
    assert!(matches!(measured.kill_check, Some(KillCheck::Held { .. })), "{:?}", measured.kill_check);
    scratch.assert_nothing_left();
}

/// The answer to a question says what the recommended store costs compared with one server and with a cluster: no write of a
/// cluster's can take less than the round trip, nor a read.
#[test]
fn an_answer_has_the_store_beside_a_server_and_a_cluster() {
    let scratch = Scratch::new();
    let etcd = storebench::STORES.iter().find(|def| def.name == "etcd").unwrap();
    let ask = "advise --records 100 --size 100B --mix get=50,update=50 --store lmdb --guarantee power";
    if etcd.open.is_err() || !is_installed(etcd) {
        return;
    }
    let said = scratch.storebench(&format!("{ask} --network 2ms --budget 10m")).ends(Exit::Success);
    assert!(said.err.contains("next to servers and clusters: "), "{said}");
    let told = said.out.replace("\n    ", " ");
    let lines: Vec<&str> =
        told.lines().skip_while(|line| *line != "Beside servers and clusters").skip(1).collect();
    for part in [
        " (power), in the application: ",
        " (power), one server: ",
        " (node), a cluster of 3, 2ms from one to another and back: ",
    ] {
        assert!(lines.iter().any(|line| line.contains(part)), "{part}: {said}");
    }
    let cluster = lines.iter().find(|line| line.contains("a cluster of 3, ")).unwrap().trim();
    let (_, rate) = cluster.split_once(" an operation, ").unwrap();
    let rate: f64 = rate.split_once("/s").unwrap().0.replace(',', "").parse().unwrap();
    assert!(rate <= 500.0, "{cluster}");
    // The ranking is of stores at work for the question itself, and no cluster is among them.
    let ranked =
        said.out.lines().skip_while(|line| *line != "Stores, best first").take_while(|line| !line.is_empty());
    assert!(!ranked.into_iter().any(|line| line.contains("(node)")), "{said}");
    let again = scratch.storebench("advise --from latest").ends(Exit::Success);
    assert!(again.out.replace("\n    ", " ").contains(cluster), "{again}");
    scratch.assert_nothing_left();
}
