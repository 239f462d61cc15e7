//! The documentation against the program: examples, names of fields, the tables of stores. Its links: cases/links.py.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use storebench::STORES;
use storebench_core::error::Exit;
use storebench_core::store::{Guarantee, Kind, Loss, StoreDef};
use storebench_host::plan::Plan;
use storebench_report::claims;
use storebench_report::column::COLUMNS;

use crate::cli::support::fields;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every page, by its path below the root.
fn pages() -> Vec<PathBuf> {
    let in_folder = |folder: &str| {
        let entries = std::fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().file_name());
        let pages = entries.map(|name| Path::new(folder).join(name));
        pages.filter(|path| path.extension().is_some_and(|end| end == "md")).collect::<Vec<_>>()
    };
    let mut pages = [in_folder(""), in_folder("docs")].concat();
    pages.sort();
    assert!(pages.len() > 10, "{pages:?}");
    pages
}

/// The blocks of code of one language on a page.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let start = format!("\n```{language}\n");
    text.split(&start).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

#[test]
fn the_example_plans_are_good() {
    let text = read("docs/plans.md");
    let whole: Vec<&str> =
        blocks(&text, "toml").into_iter().filter(|block| block.starts_with("format")).collect();
    assert_eq!(whole.len(), 1);
    let plan = Plan::parse(whole[0], "docs/plans.md").unwrap();
    for preset in plan.presets.keys() {
        plan.clone().apply_preset(preset).unwrap();
    }
    for part in blocks(&text, "toml").into_iter().filter(|block| !block.starts_with("format")) {
        let text = format!("{}\n{part}", whole[0]);
        Plan::parse(&text, "docs/plans.md").unwrap();
        claims::of_plan(&text, "docs/plans.md").unwrap();
    }
}

#[test]
fn every_key_of_a_plan_is_described() {
    let text = read("docs/plans.md");
    let plan = blocks(&text, "toml")[0];
    // The keys of a plan are in the error about what it can't hold.
    for place in ["", "[axes]\n", "[presets.quick]\n", "[[claim]]\n"] {
        let wrong = match place {
            "" => format!("nosuchkey = 1\n{plan}"),
            "[[claim]]\n" => format!("{plan}\n[[claim]]\nnosuchkey = 1\n"),
            _ => plan.replace(place, &format!("{place}nosuchkey = 1\n")),
        };
        let error = match place {
            "[[claim]]\n" => claims::of_plan(&wrong, "x").unwrap_err().message,
            _ => Plan::parse(&wrong, "x").unwrap_err().message,
        };
        let (_, known) = error.split_once("expected one of ").unwrap_or_else(|| panic!("{error}"));
        let keys: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
        assert!(keys.len() > 5, "{error}");
        for key in keys.into_iter().filter(|key| !["axes", "presets"].contains(key)) {
            let named = text.contains(&format!("`{key}`")) || text.contains(&format!("`[{key}."));
            assert!(named, "docs/plans.md does not tell of {key}");
        }
    }
}

#[test]
fn every_form_of_a_claim_is_described() {
    let text = read("docs/claims.md");
    let plan = blocks(&read("docs/plans.md"), "toml")[0].to_owned();
    let known = |expect: &str| -> Vec<String> {
        let claim = format!("[[claim]]\nsays = \"a\"\nsource = \"b\"\nfigure = [\"get\"]\nexpect.{expect}\n");
        let error = claims::of_plan(&format!("{plan}\n{claim}"), "x").unwrap_err().message;
        let (_, known) =
            error.split_once("expected one of ").or_else(|| error.split_once("expected ")).unwrap();
        known.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    let forms = known("nosuchform = {}");
    assert_eq!(forms.len(), 10, "{forms:?}");
    for form in forms {
        let start = format!("| `{form}` |");
        let row = text.lines().find(|line| line.starts_with(&start)).unwrap_or_else(|| panic!("no {start}"));
        for key in known(&format!("{form} = {{ nosuchkey = 1 }}")) {
            assert!(row.contains(&format!("`{key}`")), "docs/claims.md does not tell of {key} in {form}");
        }
    }
    let number = storebench_host::plan::find("crud").unwrap().claims.len();
    assert!(text.contains(&format!("There are {number}, ")), "docs/claims.md: crud has {number} claims");
}

#[test]
fn the_example_store_is_the_one_that_compiles() {
    let text = read("docs/adding-a-store.md");
    let example = read("crates/storebench/examples/own_store.rs");
    assert!(
        example.contains(blocks(&text, "rust")[0]),
        "docs/adding-a-store.md shows what is not in own_store.rs"
    );
}

#[test]
fn every_field_of_a_result_is_described() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let storebench = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_storebench"));
        let output = command.args(arguments).current_dir(&folder).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    // Every axis off its default, something left out, and two blocks for intervals.
    let narrow = "run crud --store flat-folder,nested-folder --guarantee none,process --records 100 --record-size 100B --data \
                  compressible --operations 50 --trials 3 --threads 1,2 --rate 20000/s --tuning equal --cache cold --warm-up 5";
    storebench(&narrow.split_whitespace().collect::<Vec<_>>());
    let report: Value = serde_json::from_str(&storebench(&["report", "latest", "--json"])).unwrap();
    let mut names = BTreeSet::new();
    fields(&report, &mut names);
    assert!(names.len() > 80, "{names:?}");
    names.extend(COLUMNS.iter().map(|column| column.id.to_owned()));
    let page = read("docs/results.md");
    let missing: Vec<_> = names.iter().filter(|name| !page.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "docs/results.md does not tell of {missing:?}");
}

fn competing() -> impl Iterator<Item = &'static StoreDef> {
    STORES.iter().filter(|store| store.kind != Kind::Harness && store.open.is_ok())
}

/// The line of a page's table that is about a store.
fn line_of<'a>(page: &'a str, store: &StoreDef) -> &'a str {
    let rows = page.lines().filter(|line| line.starts_with("| "));
    let mut rows = rows.filter(|line| {
        let first = line.split('|').nth(1).unwrap_or_default();
        first.split([' ', ',', '`', '[', ']', '(', ')', '#']).any(|word| word == store.name)
    });
    rows.next().unwrap_or_else(|| panic!("there is no line about {}", store.name))
}

#[test]
fn the_readmes_table_of_stores_is_true() {
    let page = read("README.md");
    for store in competing() {
        let tier =
            |tier: &Guarantee| if *tier == store.shipped { format!("**{tier}**") } else { tier.to_string() };
        let tiers: Vec<String> = store.offers.iter().map(|offer| tier(&offer.guarantee)).collect();
        let row: Vec<&str> = line_of(&page, store).split('|').map(str::trim).collect();
        assert_eq!(row[2], store.kind.name(), "{}", store.name);
        assert_eq!(row[3], tiers.join(", "), "{}", store.name);
        assert_eq!(row[4] == "yes", store.capabilities.order, "{}: order", store.name);
        assert_eq!(row[6] != "no", store.capabilities.compression.is_some(), "{}: compression", store.name);
    }
}

#[test]
fn every_store_has_its_guarantees_described() {
    let page = read("docs/guarantees.md");
    let (_, dangers) = page.split_once("\n## What an accident can cost\n").unwrap();
    for store in competing() {
        let row: Vec<&str> = line_of(&page, store).split('|').map(str::trim).collect();
        // That of several machines, which most have not, has no column.
        let of_one = Guarantee::ALL.into_iter().filter(|tier| *tier != Guarantee::Node);
        for (tier, cell) in of_one.zip(&row[2..]) {
            assert_eq!(
                *cell != "not offered",
                store.offer(tier).is_some(),
                "{} at {tier}: {cell}",
                store.name
            );
        }
        assert!(row[5].starts_with(&format!("`{}`", store.shipped)), "{}: {}", store.name, row[5]);
        let (_, section) =
            page.split_once(&format!("\n## {}\n", store.name)).unwrap_or_else(|| panic!("{}", store.name));
        let section = section.split("\n## ").next().unwrap();
        assert!(
            section.contains(&format!("resolves to **{}**", store.shipped)),
            "{}: its default",
            store.name
        );
        for offer in store.offers {
            let row = section.lines().find(|line| line.starts_with(&format!("| {} |", offer.guarantee)));
            let row = row.unwrap_or_else(|| panic!("{} at {}: no row", store.name, offer.guarantee));
            let torn = row.split('|').nth(5).unwrap_or_default().trim();
            assert_eq!(
                torn.starts_with("no"),
                offer.atomic_replace,
                "{} at {}: {row}",
                store.name,
                offer.guarantee
            );
            let danger = offer.danger(&[]).unwrap();
            let row = row_of(dangers, &format!("{} | {}", store.name, offer.guarantee));
            let told = [danger.kill, danger.power_cut].map(Loss::words);
            let shown: Vec<&str> = row.split('|').skip(3).take(2).map(str::trim).collect();
            assert_eq!(shown, told, "{} at {}", store.name, offer.guarantee);
            let of_the_tier =
                if offer.guarantee == Guarantee::Power { danger.power_cut } else { danger.kill };
            assert!(offer.atomic_replace || of_the_tier.can_tear(), "{} at {}", store.name, offer.guarantee);
        }
    }
}

/// The row of a table that begins so.
fn row_of<'p>(table: &'p str, begin: &str) -> &'p str {
    let row = table.lines().find(|line| line.starts_with(&format!("| {begin} |")));
    row.unwrap_or_else(|| panic!("no row {begin}"))
}

#[test]
fn the_page_of_exit_codes_lists_them_all() {
    let page = read("docs/exit-codes.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")).map(|line| line.split(" | "));
    let listed: Vec<(String, String)> = rows
        .filter_map(|mut row| Some((row.next()?.to_owned(), row.next()?.to_owned())))
        .filter(|(code, _)| code.bytes().all(|byte| byte.is_ascii_digit()))
        .collect();
    let expected: Vec<(String, String)> =
        Exit::ALL.iter().map(|exit| (exit.code().to_string(), format!("`{exit:?}`"))).collect();
    assert_eq!(listed, expected);
}

#[test]
fn the_pages_tell_of_every_store() {
    let pages: String = pages().iter().filter(|page| page.starts_with("docs")).map(read).collect();
    let words: BTreeSet<&str> =
        pages.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-').collect();
    for store in STORES {
        assert!(words.contains(store.name), "docs/ do not tell of {}", store.name);
    }
}
