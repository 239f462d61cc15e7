//! Claims about axes outside the built-in table, which a plan compares and places differently.

use storebench_figures::claims::run_claims;

use super::*;

const CLAIMS: &str = r#"
[[claim]]
says = "Small blocks are read best at random"
source = "1"
figure = ["latency"]
at = { chunk_size = ["4KiB"] }
expect.winner = { stores = ["random"] }

[[claim]]
says = "Syncs cost fiftyfold, whatever the size"
source = "2"
figure = ["latency"]
average = "comparisons"
expect.ratio = { axis = "flush", of = "yes", to = "no", range = "40..60" }

[[claim]]
says = "Large blocks are quicker on average"
source = "3"
figure = ["latency"]
average = "comparisons"
at.extent = ["1MiB"]
expect.ratio = { axis = "chunk_size", of = "4KiB", to = "64KiB", range = "1.5..", stores = ["sequential"] }
"#;

#[test]
fn claims_narrow_and_compare_its_axes() {
    let runs = [device()];
    axis("motion");
    let text = CLAIMS.replace("figure = [\"latency\"]", "figure = [\"memory\"]");
    let mut study = run_claims("other", &text, "the run").unwrap().unwrap();
    assert!(study.claims.iter().all(|claim| claim.figure.len() == 1));
    // Operations are known from the table of workloads, which lacks this one: its figures are added by hand.
    for claim in &mut study.claims {
        claim.figure = vec!["read".parse().unwrap()];
    }
    let merged = Merged::new(&runs, &[]).with_published(vec![study], Vec::new());
    let checked = findings::check(&merged);
    let found: Vec<(&str, usize, String)> = checked[0]
        .checked
        .iter()
        .flat_map(|checked| &checked.findings)
        .map(|finding| (finding.verdict.name(), finding.tally.total(), finding.evidence[0].spot.to_string()))
        .collect();
    assert_eq!(
        found,
        [
            ("reproduced", 4, "4KiB, extent 1MiB, flush no".into()),
            ("reproduced", 2, String::new()),
            ("reproduced", 2, "flush no".into()),
        ]
    );
    assert_eq!(checked[0].checked[0].claim.describe(), "random the best by read, at chunk_size 4KiB");
    let text = terminal::overview(&Report::new(&merged), STYLE);
    assert!(text.contains("Small blocks are read best at random"), "{text}");
}

#[test]
fn claims_follow_what_a_plan_compares() {
    let mut run = device();
    axis("motion");
    run.header.plan.push_str("compare = [\"flush\"]\n");
    let claim = "workload = \"device\"\ncompare = [\"flush\"]\n[[claim]]\nsays = \"Random reads are quicker without a sync\"\nsource = \"1\"\n\
        figure = [\"read\"]\nat.motion = [\"random\"]\nat.chunk_size = [\"4KiB\"]\nexpect.winner = { stores = [\"flush no\"] }\n";
    let read = |text: &str| run_claims("other", text, "the run");
    let study = read(claim).unwrap().unwrap();
    let runs = [run];
    let merged = Merged::new(&runs, &[]).with_published(vec![study], Vec::new());
    let checked = findings::check(&merged);
    let found: Vec<_> = checked[0].checked.iter().flat_map(|checked| &checked.findings).collect();
    let verdicts: Vec<(&str, usize)> = found.iter().map(|f| (f.verdict.name(), f.tally.total())).collect();
    // At two extents.
    assert_eq!(verdicts, [("reproduced", 2)]);
    let wrong = read(&claim.replace("at.motion = [\"random\"]", "at.flush = [\"no\"]")).unwrap_err();
    assert!(wrong.to_string().contains("at names flush, whose values are ranked"), "{wrong}");
    let wrong = read(&claim.replacen("compare = [\"flush\"]\n", "compare = [\"motion\"]\n", 1)).unwrap_err();
    assert!(wrong.to_string().contains("at names motion"), "{wrong}");
}

#[test]
fn a_plan_may_place_axes_otherwise() {
    let mut run = device();
    run.header.plan.push_str("rows = [\"flush\"]\ngroups = [\"extent\"]\n");
    let runs = [run];
    let claim = "workload = \"device\"\n[[claim]]\nsays = \"Random reads of small chunks are quickest\"\nsource = \"1\"\n\
        figure = [\"read\"]\nat.extent = [\"64MiB\"]\nat.chunk_size = [\"4KiB\"]\nat.flush = [\"yes\"]\n\
        expect.winner = { stores = [\"random\"] }\n";
    let study = run_claims("other", claim, "the run").unwrap().unwrap();
    let merged = Merged::new(&runs, &[]).with_published(vec![study], Vec::new());
    let titles: Vec<String> = merged.groups.iter().map(|group| merged.label(&group.key)).collect();
    assert_eq!(titles, ["extent 1MiB", "extent 64MiB"]);
    let text = terminal::overview(&Report::new(&merged), STYLE);
    for line in ["Winners: box, extent 64MiB", "read    flush no, 4KiB    ", "        flush yes, 4KiB   "] {
        assert!(text.contains(line), "{line} is missing: {text}");
    }
    // A claim is narrowed to the group, and to the row.
    let checked = findings::check(&merged);
    let found: Vec<_> = checked[0].checked.iter().flat_map(|checked| &checked.findings).collect();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].verdict.name(), found[0].tally.total()), ("reproduced", 1));
    let page = String::from_utf8(bytes(|out| page::write(&Report::new(&merged), None, out))).unwrap();
    let axes = data(&page)["axes"].as_array().unwrap().clone();
    let makes = |id: &str| axes.iter().find(|axis| axis["id"] == id).map(|axis| axis["makes"].clone());
    assert_eq!((makes("flush"), makes("extent")), (Some(json!("row")), None));
}
