//! `storebench site`: a folder of real runs becomes pages, whatever order they lie in, and nothing else is touched.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use storebench_core::error::Exit;

use super::support::{Scratch, TINY, another_run, contents};

/// Two machines, one of which ran two stores at one guarantee and at another.
pub fn runs() -> Scratch {
    let scratch = Scratch::in_memory();
    let study = TINY.replace("--guarantee process --operations 5 --trials 1", "--operations 20");
    for (machine, guarantee, trials) in [("box", "process", 3), ("box", "power", 1), ("board", "power", 3)] {
        let how =
            format!("--guarantee {guarantee} --trials {trials} --hardware {machine} --out runs/{machine}");
        let run = format!("run crud --quick --store flat-folder,one-file {study} {how}");
        scratch.storebench(&run).ends(Exit::Success);
    }
    scratch
}

/// The files of a folder, by their names in it.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let all = contents(folder).into_iter().filter(|(path, _)| path.is_file());
    all.map(|(path, bytes)| (path.strip_prefix(folder).unwrap().display().to_string(), bytes)).collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    assert!(Command::new("cp").arg("-r").args([from, to]).status().unwrap().success());
}

#[test]
fn a_folder_of_runs_becomes_a_site_with_the_figures_of_their_reports() {
    let scratch = runs();
    let said = scratch.storebench("site runs --out site").ends(Exit::Success);
    assert!(said.err.contains("3 runs: open site/index.html in a browser"), "{said}");
    let pages = files(&scratch.join("site"));
    let read = |name: &str| String::from_utf8_lossy(&pages[name]).into_owned();
    let [store, pair] = [read("stores/one-file.html"), read("pairs/flat-folder+one-file.html")];
    for text in ["box", "board", "process", "power"] {
        assert!(store.contains(text) && pair.contains(text), "{text}");
    }
    let run = pages.keys().find(|name| name.starts_with("runs/") && name.contains("board")).unwrap();
    let page = read(run);
    let (_, link) =
        page.split_once("report.html\">").map(|(before, _)| before.rsplit_once("href=\"").unwrap()).unwrap();
    assert!(scratch.join("site/runs").join(format!("{link}report.html")).exists(), "{link}");
    // The same figure in the run's own report.
    let folder = link.trim_start_matches("../").trim_end_matches('/');
    let table = scratch.storebench(&format!("report {folder} --csv")).ends(Exit::Success).out;
    assert!(table.contains("one-file"), "{table}");
    let json: serde_json::Value =
        serde_json::from_str(&scratch.storebench(&format!("report {folder} --json")).out).unwrap();
    let row = &json["matrices"][0]["rows"][0];
    let best = &row["contests"][0]["contenders"][0];
    let ns = best["figure"]["mean"]["value"].as_f64().unwrap();
    let shown = storebench_core::units::rough_ns(ns);
    assert!(
        page.contains(&shown)
            && read(&format!("stores/{}.html", best["store"].as_str().unwrap())).contains(&shown)
    );
}

#[test]
fn the_same_runs_give_the_same_bytes_and_a_site_takes_the_place_of_a_site_alone() {
    let scratch = runs();
    scratch.storebench("site runs --out site").ends(Exit::Success);
    let first = files(&scratch.join("site"));
    // Copied in another order, and a copy of one of them beside.
    let mut folders: Vec<_> =
        fs::read_dir(scratch.join("runs/box")).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    for folder in folders.iter().rev() {
        copy(folder, &scratch.join("again/box").join(folder.file_name().unwrap()));
    }
    copy(&scratch.join("runs/board"), &scratch.join("again/board"));
    fs::rename(scratch.join("runs"), scratch.join("before")).unwrap();
    fs::rename(scratch.join("again"), scratch.join("runs")).unwrap();
    copy(&folders_in(&scratch.join("runs/board"))[0], &scratch.join("runs/a-copy"));
    fs::remove_file(scratch.join("runs/a-copy/report.html")).unwrap();
    fs::write(scratch.join("site/mine.txt"), "mine").unwrap();
    let said = scratch.storebench("site runs --out site").ends(Exit::Success);
    assert!(said.err.contains("has the same trials"), "{said}");
    fs::remove_dir_all(scratch.join("runs/a-copy")).unwrap();
    scratch.storebench("site runs --out site").ends(Exit::Success);
    let mut second = files(&scratch.join("site"));
    assert_eq!(second.remove("mine.txt").unwrap(), b"mine");
    assert!(first == second, "the bytes differ");
    let before = files(&scratch.join("before"));
    let said = scratch.storebench("site runs --out before").ends(Exit::NotStorebench);
    assert!(
        said.err.contains("already exists and no site is in it") && files(&scratch.join("before")) == before
    );
}

fn folders_in(folder: &Path) -> Vec<std::path::PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_run_that_can_t_be_read_is_named_and_the_others_are_shown() {
    let scratch = Scratch::in_memory();
    scratch.storebench(&format!("run crud --store flat-folder {TINY}")).ends(Exit::Success);
    let run = scratch.only_run();
    copy(&run, &scratch.join("storebench-runs/broken"));
    another_run(&scratch.join("storebench-runs/broken"), "broken");
    fs::write(scratch.join("storebench-runs/broken/results.jsonl"), "no\nresult\n").unwrap();
    let said = scratch.storebench("site storebench-runs --out site").ends(Exit::NotStorebench);
    assert!(said.err.contains("broken") && said.err.contains("line 1: not a result"), "{said}");
    assert!(said.err.contains("the site lacks 1 run"), "{said}");
    assert!(scratch.join("site/stores/flat-folder.html").exists());
    fs::remove_dir_all(&run).unwrap();
    scratch.storebench("site storebench-runs --out other").ends(Exit::Nothing);
    fs::create_dir(scratch.join("empty")).unwrap();
    scratch.storebench("site empty --out other").ends(Exit::NotStorebench);
    scratch.storebench("site nowhere --out other").ends(Exit::BadValue);
}
