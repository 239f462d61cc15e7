use super::*;
use crate::axis::{Axis, Value};
use crate::cell::Data;
use crate::claims::Expect;

#[test]
fn the_built_in_studies_are_good_and_so_are_their_presets() {
    for study in STUDIES {
        let plan = find(study.name).unwrap();
        assert_eq!(plan.name, study.name);
        for preset in plan.presets.keys() {
            plan.clone().apply_preset(preset).unwrap();
        }
        assert_eq!(Plan::parse(&plan.to_toml().unwrap(), "again").unwrap().axes, plan.axes);
    }
}

#[test]
fn a_wrong_key_or_value_is_named_with_its_line() {
    let text = STUDIES[0].text;
    let wrong_key = Plan::parse(&text.replace("trials =", "trails ="), "x.toml").unwrap_err();
    assert!(wrong_key.message.contains("trails") && wrong_key.message.contains("line"), "{wrong_key}");
    let wrong_value = Plan::parse(&text.replace("\"compressible\"", "\"squishy\""), "x.toml").unwrap_err();
    assert!(wrong_value.message.contains("squishy"), "{wrong_value}");
    let other_format = Plan::parse(&text.replace("format = 1", "format = 99"), "x.toml").unwrap_err();
    assert!(
        other_format.message.contains("format = 99") && other_format.exit == Exit::BadPlan,
        "{other_format}"
    );
}

#[test]
fn a_count_takes_the_upper_bound_of_the_plan() {
    let mut plan = find("crud").unwrap();
    let counts = ["1_000_000", "2000", "100..101"].map(|count| Axis::RECORDS.read(count).unwrap());
    plan.apply(Changes::on(Axis::RECORDS, counts)).unwrap();
    let shown = plan.axes.texts(Axis::RECORDS);
    assert_eq!(shown, ["1000000..1050000", "2000..10000", "100..101"]);
}

#[test]
fn nonsense_is_refused() {
    let mut plan = find("crud").unwrap();
    let error = plan.apply(Changes { trials: Some(0), ..Changes::default() }).unwrap_err();
    assert_eq!((error.exit, error.message.as_str()), (Exit::BadValue, "trials is 0: it must be at least 1"));
    let mut plan = find("crud").unwrap();
    let error = plan.apply(Changes::on(Axis::THREADS, [1, 100_000])).unwrap_err();
    assert_eq!(error.message, "100000 threads are too many: at most 1024");
    assert!(find("crudd").unwrap_err().message.contains("did you mean crud?"));
}

/// A good plan's text with these claims at its end.
fn with_claims(claims: &str) -> String {
    let text = STUDIES[0].text;
    let (before, _) = text.split_once("[[claim]]").unwrap();
    format!("{before}{claims}")
}

const CLAIM: &str = "[[claim]]\nsays = \"a\"\nsource = \"b\"\nfigure = [\"get\"]\nat.data = [\"compressible\"]\nexpect.winner = { stores = [\"lmdb\"] }\n";

#[test]
fn a_wrong_claim_is_told_by_line() {
    let good = with_claims(CLAIM).replace("claims_among", "# claims_among");
    assert_eq!(Plan::parse(&good, "x.toml").unwrap().claims.len(), 1);
    let first = good.lines().position(|line| line == "[[claim]]").unwrap() + 1;
    for (from, to, after, words) in [
        ("\"get\"", "\"gets\"", 0, "\"gets\" is no figure (did you mean get?)"),
        ("\"get\"", "\"latency_p99\"", 3, "say of which"),
        ("at.data = [\"compressible\"]", "at.data = [\"squishy\"]", 4, "squishy"),
        ("at.data = [\"compressible\"]", "at.date = [\"compressible\"]", 4, "did you mean data?"),
        ("at.data = [\"compressible\"]", "at.record_size = [\"2KiB..1KiB\"]", 4, "2KiB..1KiB"),
        ("winner = { stores = [\"lmdb\"] }", "winer = { stores = [\"lmdb\"] }", 5, "did you mean winner?"),
        ("winner = { stores = [\"lmdb\"] }", "winner = { store = [\"lmdb\"] }", 5, "did you mean stores?"),
        ("winner = { stores = [\"lmdb\"] }", "value = { stores = [\"lmdb\"], range = \"1..x\" }", 5, "1..x"),
        (
            "winner = { stores = [\"lmdb\"] }",
            "value = { stores = [\"lmdb\"], range = \"1KiB..\" }",
            0,
            "unit of get",
        ),
        ("source = \"b\"\n", "", 0, "`source`"),
    ] {
        assert!(CLAIM.contains(from), "{from}");
        let wrong = good.replace(CLAIM, &CLAIM.replacen(from, to, 1));
        let error = Plan::parse(&wrong, "x.toml").unwrap_err();
        let line = format!("line {}: ", first + after);
        assert_eq!(error.exit, Exit::BadPlan);
        assert!(
            error.message.contains(&line) && error.message.contains(words),
            "{to}: {line}{}",
            error.message
        );
    }
    let among = with_claims(CLAIM);
    let error = Plan::parse(&among, "x.toml").unwrap_err();
    assert!(error.message.contains("\"lmdb\", which is not among those compared"), "{error}");
}

#[test]
fn claims_name_stores_that_there_are() {
    let text = with_claims(CLAIM).replace("claims_among", "# claims_among");
    let plan = Plan::parse(&text, "x.toml").unwrap();
    assert!(plan.check_claims(&[], "x.toml").is_ok(), "lmdb is on the plan's own axis");
    let typo = Plan::parse(&text.replacen("{ stores = [\"lmdb\"] }", "{ stores = [\"lmbd\"] }", 1), "x.toml")
        .unwrap();
    let error = typo.check_claims(&["lmdb"], "x.toml").unwrap_err();
    let line = typo.claims[0].line;
    assert!(
        error
            .message
            .contains(&format!("line {line}: this claim: there is no store \"lmbd\" (did you mean lmdb?)")),
        "{error}"
    );
    assert!(typo.check_claims(&["lmbd"], "x.toml").is_ok());
}

#[test]
fn claims_speak_of_sizes_and_counts_that_there_are() {
    let checked = |from: &str, to: &str| {
        let text = STUDIES.iter().find(|study| study.name == "crud").unwrap().text;
        assert!(text.contains(from));
        let plan = Plan::parse(&text.replacen(from, to, 1), "x.toml").unwrap();
        let own = plan.axes.texts(Axis::STORE);
        let stores: Vec<&str> = own.iter().map(String::as_str).collect();
        plan.check_claims(&stores, "x.toml").map_err(|error| error.message)
    };
    assert_eq!(checked("[[claim]]", "[[claim]]"), Ok(()));
    for (from, to) in [
        (
            "at = { record_size = [\"1B..10KiB\"] }",
            "at = { record_size = [\"2B..10KiB\"], records = [\"7..9\"] }",
        ),
        ("records = [\"10000..50000\"]", "records = [\"10000..40000\"]"),
        ("value = \"1B..1KiB\"", "value = \"1B..2KiB\""),
    ] {
        let wrong = checked(from, to).unwrap_err();
        assert!(wrong.contains("line ") && wrong.contains(" of the plan lies within "), "{wrong}");
    }
}

#[test]
fn a_narrowed_run_knows_what_its_claims_are_about() {
    let positions = |text: &str, study: &str| {
        let design = claims_of(study, text, "x").unwrap().unwrap().design;
        design.map(|design| design.positions.len())
    };
    // 4 sizes and 5 counts without the three that are too large, 2 kinds of data.
    let whole = Some(34);
    let mut plan = find("crud").unwrap();
    assert_eq!(positions(&plan.to_toml().unwrap(), "crud"), whole);
    plan.apply_preset("quick").unwrap();
    let narrow = Changes::on(Axis::DATA, [Data::Compressible]);
    plan.apply(narrow).unwrap();
    assert_eq!(positions(&plan.to_toml().unwrap(), "crud"), whole);
    // Of a plan of one's own, too; of an older run of such a plan only what was run is known.
    assert_eq!(positions(&plan.to_toml().unwrap(), "mine"), whole);
    plan.claims_over = None;
    assert_eq!(positions(&plan.to_toml().unwrap(), "mine"), Some(4));
    assert_eq!(positions(&plan.to_toml().unwrap(), "crud"), whole);
    let over = ClaimsOver { data: Vec::new(), ..ClaimsOver::of(&plan) };
    plan.claims_over = Some(over);
    let error = Plan::parse(&plan.to_toml().unwrap(), "x").unwrap_err();
    assert!(error.message.contains("claims_over holds no combination"), "{error}");
    plan.claims.clear();
    assert_eq!(positions(&plan.to_toml().unwrap(), "crud"), whole);
}

/// What the plan's own comment says of the words of its paper.
#[test]
fn equal_words_of_the_paper_have_equal_thresholds() {
    let plan = find("crud").unwrap();
    for claim in &plan.claims {
        let says = claim.says.as_str();
        assert!(!says.contains("mostly"), "{says}");
        let hedged = ["generally", "in most ", "favour", "suit"].iter().any(|word| says.contains(word));
        let expected = match &claim.expect {
            _ if claim.is_of_average() => 100.0,
            Expect::MoreWins(_) | Expect::MoreAt(_) => 100.0,
            _ if says.contains("many of") => 33.0,
            _ if hedged => 50.0,
            _ => 75.0,
        };
        assert_eq!(claim.share.0, expected, "{says}");
        let within = match &claim.expect {
            Expect::Winner(winner) => winner.within,
            Expect::Alike(alike) => Some(alike.within),
            _ => None,
        };
        let near = match says {
            _ if says.contains("among the fastest") => Some(2.0),
            _ if says.contains("very close") || says.contains("about the same") => Some(1.25),
            _ => None,
        };
        assert_eq!(within, near, "{says}");
    }
}

#[test]
fn claims_go_with_the_plan_and_come_back_the_same() {
    let mut plan = find("crud").unwrap();
    let narrow = Changes::on(Axis::STORE, [Value::word("lmdb")]);
    plan.apply(narrow).unwrap();
    let again = Plan::parse(&plan.to_toml().unwrap(), "again").unwrap();
    assert!(plan.claims.len() > 40);
    let without_lines = |plan: &Plan| -> Vec<Claim> {
        plan.claims.iter().map(|claim| Claim { line: 0, ..claim.clone() }).collect()
    };
    assert_eq!(without_lines(&again), without_lines(&plan));
    assert_eq!(again.claims_among, plan.claims_among);
}
