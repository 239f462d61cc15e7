//! `storebench site`: a folder of real runs becomes pages, whatever order they lie in, and nothing else is touched.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use storebench_core::error::Exit;
use storebench_host::plan::STUDIES;

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

#[test]
fn the_papers_sentences_are_a_document_and_a_page_made_of_packed_runs() {
    let scratch = Scratch::in_memory();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for study in ["crud", "ycsb"] {
        let header = fs::read_to_string(golden.join(study).join("run.json")).unwrap();
        let header = header.replacen("\"title\":", "\"preset\": \"paper\",\n  \"title\":", 1);
        scratch.write(&format!("kept/2026-11-29/{study}/run.json"), header);
        let results = fs::read(golden.join(study).join("results.jsonl.gz")).unwrap();
        scratch.write(&format!("kept/2026-11-29/{study}/results.jsonl.gz"), results);
    }
    scratch.storebench("findings kept --out findings.md").ends(Exit::Success);
    scratch.storebench("findings kept --out findings.md").ends(Exit::Success);
    let text = fs::read_to_string(scratch.join("findings.md")).unwrap();
    for part in [
        "\n## crud\n",
        "\n## ycsb\n",
        "| `crud` | `2026-11-29` | 68 |",
        "kept/2026-11-29/ycsb: started 2026-11-29",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    // Each sentence is there, with what it lacks.
    let own = STUDIES.iter().filter(|study| ["crud", "ycsb"].contains(&study.name));
    let sentences: usize = own.map(|study| study.text.matches("\n[[claim]]").count()).sum();
    assert_eq!(text.matches("Expected: ").count(), sentences, "{text}");
    scratch.storebench("site kept --out site").ends(Exit::Success);
    let page = fs::read_to_string(scratch.join("site/papers.html")).unwrap();
    assert_eq!(page.matches("Expected: ").count(), sentences);
    assert!(fs::read_to_string(scratch.join("site/index.html")).unwrap().contains("papers.html"));
    let head = scratch.storebench("report kept/2026-11-29/ycsb").ends(Exit::Success).out;
    assert!(
        head.contains("study ycsb, preset paper,") && head.contains("Smaller than in the paper, or other: "),
        "{head}"
    );
    let packed = scratch.storebench("run --resume kept/2026-11-29/ycsb").ends(Exit::NotStorebench);
    assert!(packed.err.contains("unpack them by gunzip"), "{packed}");
    scratch.write("mine.md", "# Mine");
    scratch.storebench("findings kept --out mine.md").ends(Exit::NotStorebench);
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
