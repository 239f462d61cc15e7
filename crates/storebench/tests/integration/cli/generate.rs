//! `storebench generate`: files that are whole, or none.

use std::fs;

use storebench_core::error::Exit;

use super::support::{STOREBENCH, Scratch, contents, wait_for};

#[test]
fn the_same_files_are_made_again_and_never_overwritten() {
    let scratch = Scratch::in_memory();
    let said = scratch.storebench("generate shop --size 256KiB --out one --threads 1").ends(Exit::Success);
    assert!(said.out.contains("one/orders.csv") && said.out.contains(" rows, "), "{said}");
    scratch.storebench("generate shop --size 256KiB --out two --threads 3").ends(Exit::Success);
    let (one, two) = (contents(&scratch.join("one")), contents(&scratch.join("two")));
    assert_eq!((one.len(), two.len()), (4, 4));
    assert!(one.values().eq(two.values()), "the files differ");
    let again = scratch.storebench("generate shop --size 64KiB --out one");
    again.complains(Exit::BadValue, &["customers.csv is there already", "--out"]);
    assert!(contents(&scratch.join("one")) == one, "a file was changed");
}

#[test]
fn what_is_interrupted_leaves_nothing() {
    let scratch = Scratch::new();
    let part = scratch.join("large/customers.csv.part");
    let started = scratch.start(STOREBENCH, "generate shop --size 100GiB --out large");
    // Five times the memory that it may take.
    wait_for("500 MB of rows", || fs::metadata(&part).is_ok_and(|file| file.len() > 500_000_000));
    let memory = fs::read_to_string(format!("/proc/{}/status", started.id())).unwrap_or_default();
    let most = memory.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    assert!(most.is_none_or(|kb| kb.parse::<u64>().unwrap() < 100_000), "{most:?} kB of memory");
    started.signal("INT");
    let said = started.end().ends(Exit::Interrupted);
    assert!(said.err.contains("what was made so far is deleted again"), "{said}");
    assert!(!scratch.join("large").exists());
}

#[test]
fn sizes_out_of_bounds_are_refused() {
    let scratch = Scratch::in_memory();
    let said = scratch.storebench("generate shop --size 10B --out data");
    said.complains(Exit::BadValue, &["from 1KiB to 1TiB"]);
    assert!(!scratch.join("data").exists());
}
