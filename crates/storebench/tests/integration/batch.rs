//! The workload `batch`, and the study of file systems, which is made of it.

use storebench_core::error::Exit;
use storebench_host::image::Driver;

use crate::cli::support::{Scratch, assert_complete, skipped};
use crate::file_systems::failed;

const SMALL: &str = "--transactions 3 --statements 20 --trials 1 --guarantee default";

#[test]
fn every_store_inserts_selects_and_deletes_rows() {
    let scratch = Scratch::new();
    let stores: Vec<&str> = crate::life::stores().iter().map(|store| store.name).collect();
    scratch
        .storebench(&format!("run filesystems --place here --store {} {SMALL}", stores.join(",")))
        .ends(Exit::Success);
    let run = scratch.results();
    assert_complete(&run, stores.len(), 1);
    for trial in &run.trials {
        let (store, measured) = (trial.cell.store(), trial.ok().unwrap());
        let done: Vec<(&str, u64)> =
            measured.operations.iter().map(|o| (o.operation.as_str(), o.count)).collect();
        assert_eq!(done, [("insert", 3), ("select", 3), ("delete", 3)], "{store}");
        assert_eq!(measured.written.unwrap().records, 60, "{store}");
        // A record that was deleted stays so.
        assert_eq!(measured.audit.as_ref().unwrap().reopened, 1, "{store}");
    }
}

#[test]
fn the_study_lays_file_systems_out_by_cluster_size() {
    if let Err(why) = Driver::find(&"ext4:1024".parse().unwrap()) {
        return skipped("ext4", &why);
    }
    let scratch = Scratch::new();
    let places = "ext4:1024,ext4:4096,ext2:4096,ntfs:512,vfat:512";
    scratch
        .storebench(&format!("run filesystems --store sqlite --place {places} {SMALL}"))
        .ends(Exit::Success);
    let run = scratch.results();
    assert_eq!(failed(&run), [""; 0]);
    let report = scratch.storebench("report latest").ends(Exit::Success).out;
    let table: Vec<&str> = report.lines().skip_while(|line| !line.starts_with("File systems by")).collect();
    let heads = table.iter().find(|line| line.contains("1024")).unwrap();
    assert!(heads.contains("4096"), "{report}");
    let names = ["insert", "select", "delete", "space beyond lengths"];
    assert!(
        names.iter().all(|name| table.iter().any(|line| line.trim_start().starts_with(name))),
        "{report}"
    );
    for left in &run.header.left_out {
        let told = format!("Left out: {}", left.cell.place());
        assert!(table.iter().any(|line| line.contains(&told)), "{told}\n{report}");
    }
    scratch.storebench("report latest --html page.html").ends(Exit::Success);
    let page = std::fs::read_to_string(scratch.join("page.html")).unwrap();
    assert!(page.contains("<section id=\"clusters\""), "no heat maps");
}
