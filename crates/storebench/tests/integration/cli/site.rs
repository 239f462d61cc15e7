//! `storebench site`: a folder of real runs becomes pages, whatever order they lie in, and nothing else is touched.

use std::collections::BTreeMap;
use std::path::Path;

use storebench_core::error::Exit;

use super::support::{Scratch, TINY, contents};

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
