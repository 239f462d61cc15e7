//! The documentation against the program: plans, claims, stores. Its links and fields: cases/commands.txt.

use std::path::Path;

use storebench::STORES;
use storebench_figures::claims;
use storebench_host::plan::Plan;
use storebench_model::store::{Guarantee, StoreKind};

use crate::cli::support::root;

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let start = format!("\n```{language}\n");
    text.split(&start).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

#[test]
fn the_example_plans_are_good() {
    let text = read("docs/plans.md");
    let whole_plans: Vec<&str> =
        blocks(&text, "toml").into_iter().filter(|block| block.starts_with("format")).collect();
    assert_eq!(whole_plans.len(), 1);
    let plan = Plan::parse(whole_plans[0], "docs/plans.md").unwrap();
    for preset in plan.presets.keys() {
        plan.clone().apply_preset(preset).unwrap();
    }
    for part in blocks(&text, "toml").into_iter().filter(|block| !block.starts_with("format")) {
        let text = format!("{}\n{part}", whole_plans[0]);
        Plan::parse(&text, "docs/plans.md").unwrap();
        claims::plan_claims(&text, "docs/plans.md").unwrap();
    }
}

#[test]
fn every_key_of_a_plan_is_described() {
    let guide = read("docs/plans.md");
    let text =
        [&read("docs/reference/plans.md"), &read("docs/claims.md"), &guide].map(String::as_str).concat();
    let plan = blocks(&guide, "toml")[0];
    // The keys of a plan are in the error about what it can't hold.
    for place in ["", "[axes]\n", "[presets.quick]\n", "[[claim]]\n"] {
        let wrong = match place {
            "" => format!("nosuchkey = 1\n{plan}"),
            "[[claim]]\n" => format!("{plan}\n[[claim]]\nnosuchkey = 1\n"),
            _ => plan.replace(place, &format!("{place}nosuchkey = 1\n")),
        };
        let error = match place {
            "[[claim]]\n" => claims::plan_claims(&wrong, "x").unwrap_err().message,
            _ => Plan::parse(&wrong, "x").unwrap_err().message,
        };
        let (_, known) = error.split_once("expected one of ").unwrap_or_else(|| panic!("{error}"));
        let keys: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
        assert!(keys.len() > 5, "{error}");
        for key in keys.into_iter().filter(|key| !["axes", "presets"].contains(key)) {
            assert!(
                text.contains(&format!("`{key}`")),
                "docs/reference/plans.md, docs/claims.md and docs/plans.md do not name {key}"
            );
        }
    }
}

#[test]
fn every_form_of_a_claim_is_described() {
    let text = read("docs/claims.md");
    let plan = blocks(&read("docs/plans.md"), "toml")[0].to_owned();
    let known_keys = |expect: &str| -> Vec<String> {
        let claim = format!("[[claim]]\nsays = \"a\"\nsource = \"b\"\nfigure = [\"get\"]\nexpect.{expect}\n");
        let error = claims::plan_claims(&format!("{plan}\n{claim}"), "x").unwrap_err().message;
        let (_, known) =
            error.split_once("expected one of ").or_else(|| error.split_once("expected ")).unwrap();
        known.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    let forms = known_keys("nosuchform = {}");
    assert_eq!(forms.len(), 10, "{forms:?}");
    for form in forms {
        let start = format!("| `{form}` |");
        let row = text.lines().find(|line| line.starts_with(&start)).unwrap_or_else(|| panic!("no {start}"));
        for key in known_keys(&format!("{form} = {{ nosuchkey = 1 }}")) {
            assert!(row.contains(&format!("`{key}`")), "docs/claims.md does not tell of {key} in {form}");
        }
    }
}

#[test]
fn every_store_has_notes() {
    let page = read("docs/stores.md");
    for store in STORES.iter().filter(|store| store.kind != StoreKind::Harness && store.open.is_ok()) {
        let (_, notes) = page.split_once(&format!("\n## {}\n", store.name)).expect(store.name);
        let notes = notes.split("\n## ").next().unwrap();
        let shipped = format!("**Default: `{}`", store.shipped);
        assert!(notes.contains(&shipped), "{}: {shipped}", store.name);
        for offer in store.offers {
            let danger = offer.danger(&[]).unwrap();
            let loss = if offer.guarantee == Guarantee::Power { danger.power_cut } else { danger.kill };
            assert!(offer.atomic_replace || loss.can_tear(), "{} at {}", store.name, offer.guarantee);
        }
    }
}
