//! Folders of runs that were cut off, damaged, copied, moved or deleted, and what other people wrote in theirs.

use std::fs;

use serde_json::Value;
use storebench_core::error::Exit;

use super::support::{Scratch, TINY};

#[test]
fn compression_beside_the_axes_of_an_older_plan_is_read_as_an_axis() {
    let scratch = Scratch::in_memory();
    // The many are more than the size limit.
    let study = TINY.replace("--records 20", "--records 20,1G");
    scratch.faulty(&format!("run crud --store flat-folder {study} --compression on,off")).ends(Exit::Success);
    let cells: Vec<String> = scratch.results().trials.iter().map(|trial| trial.cell.id()).collect();
    assert_eq!(cells.iter().filter(|cell| cell.ends_with("/compression=on")).count(), 1, "{cells:?}");
    assert_eq!(cells.len(), 2);

    // As versions wrote it in which all cells of a run had one value.
    let run = scratch.only_run();
    let header = fs::read_to_string(run.join("run.json")).unwrap();
    let before = header.replace("compression = [\\\"on\\\", \\\"off\\\"]\\n", "");
    let before = before.replace("format = 2\\n", "format = 1\\ncompression = \\\"on\\\"\\n");
    let mut before: Value = serde_json::from_str(&before).unwrap();
    let left_out = before["left_out"].as_array_mut().unwrap();
    left_out.retain(|left_out| left_out["cell"]["compression"] == "on");
    assert_eq!(left_out.len(), 1, "{left_out:?}");
    left_out[0]["cell"].as_object_mut().unwrap().remove("compression");
    let before = before.to_string();
    assert!(!before.contains("[\\\"on\\\"") && before.contains("compression = \\\"on\\\""), "{header}");
    let results = fs::read_to_string(run.join("results.jsonl")).unwrap();
    let lines = results.lines().filter(|line| line.contains("\"compression\":\"on\""));
    let old: String = lines.map(|line| line.replace(",\"compression\":\"on\"", "") + "\n").collect();
    assert!(!old.is_empty() && !old.contains("compression\":"), "{results}");
    fs::write(run.join("run.json"), before).unwrap();
    fs::write(run.join("results.jsonl"), old).unwrap();
    let read: Vec<String> = scratch.results().trials.iter().map(|trial| trial.cell.id()).collect();
    assert!(read.len() == 1 && cells.contains(&read[0]), "{read:?} of {cells:?}");
    let left_out = &scratch.results().header.left_out;
    assert!(left_out[0].cell.id().ends_with("/compression=on"), "{left_out:?}");
    let resumed = scratch.faulty("run --resume latest").ends(Exit::Success);
    assert!(resumed.err.contains("done: 1 of 1 trial"), "{resumed}");
}
