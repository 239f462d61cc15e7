//! The claims of plans: their errors by line, and the thresholds that their words stand for.

use storebench_host::plan::{Changes, find};
use storebench_model::axis::Axis;
use storebench_model::cell::Data;

use super::*;
use crate::claims::Expect;

/// A good plan's text with these claims at its end.
fn with_claims(claims: &str) -> String {
    let text = STUDIES[0].text;
    let (start, _) = text.split_once("[[claim]]").unwrap();
    format!("{start}{claims}")
}

const CLAIM: &str = "[[claim]]\nsays = \"a\"\nsource = \"b\"\nfigure = [\"get\"]\nat.data = [\"compressible\"]\nexpect.winner = { stores = [\"lmdb\"] }\n";

#[test]
fn a_wrong_claim_is_told_by_line() {
    let good = with_claims(CLAIM).replace("claims_among", "# claims_among");
    assert_eq!(plan_claims(&good, "x.toml").unwrap().len(), 1);
    let first = good.lines().position(|line| line == "[[claim]]").unwrap() + 1;
    for (text, replacement, offset, words) in [
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
        assert!(CLAIM.contains(text), "{text}");
        let broken = good.replace(CLAIM, &CLAIM.replacen(text, replacement, 1));
        let Error { exit, message, .. } = plan_claims(&broken, "x.toml").unwrap_err();
        let line = format!("line {}: ", first + offset);
        assert_eq!(exit, Exit::BadPlan);
        assert!(message.contains(&line) && message.contains(words), "{replacement}: {line}{message}");
    }
    let among = with_claims(CLAIM);
    let error = plan_claims(&among, "x.toml").unwrap_err();
    assert!(error.message.contains("\"lmdb\", which is not among those compared"), "{error}");
}

/// Whether a plan's claims are valid in a program with these stores and those on its axis.
fn checked(text: &str, stores: &[&str]) -> std::result::Result<(), String> {
    let plan = Plan::parse(text, "x.toml").unwrap();
    let claims = plan_claims(text, "x.toml").unwrap();
    check(&claims, &plan, stores, "x.toml").map_err(|error| error.message)
}

#[test]
fn claims_name_stores_that_there_are() {
    let text = with_claims(CLAIM).replace("claims_among", "# claims_among");
    assert!(checked(&text, &[]).is_ok(), "lmdb is on the plan's own axis");
    let typo = text.replacen("{ stores = [\"lmdb\"] }", "{ stores = [\"lmbd\"] }", 1);
    let error = checked(&typo, &["lmdb"]).unwrap_err();
    let line = typo.lines().position(|line| line == "[[claim]]").unwrap() + 1;
    let words = format!("line {line}: this claim: this version has no store \"lmbd\" (did you mean lmdb?)");
    assert!(error.contains(&words), "{error}");
    assert!(checked(&typo, &["lmbd"]).is_ok());
}

#[test]
fn claims_speak_of_sizes_and_counts_that_there_are() {
    let check_replaced = |phrase: &str, replacement: &str| {
        let text = STUDIES.iter().find(|study| study.name == "crud").unwrap().text;
        assert!(text.contains(phrase));
        checked(&text.replacen(phrase, replacement, 1), &[])
    };
    assert_eq!(check_replaced("[[claim]]", "[[claim]]"), Ok(()));
    for (phrase, replacement) in [
        (
            "at = { record_size = [\"1B..10KiB\"] }",
            "at = { record_size = [\"2B..10KiB\"], records = [\"7..9\"] }",
        ),
        ("records = [\"10000..50000\"]", "records = [\"10000..40000\"]"),
        ("value = \"1B..1KiB\"", "value = \"1B..2KiB\""),
    ] {
        let message = check_replaced(phrase, replacement).unwrap_err();
        assert!(message.contains("line ") && message.contains(" of the plan lies within "), "{message}");
    }
}

#[test]
fn a_narrowed_run_knows_what_its_claims_are_about() {
    let positions = |text: &str, study: &str| {
        let design = run_claims(study, text, "x").unwrap().unwrap().design;
        design.map(|design| design.positions.len())
    };
    // 4 sizes and 5 counts without the three that are too large, 2 kinds of data.
    let full_count = Some(34);
    let mut plan = find("crud").unwrap();
    assert_eq!(positions(&plan.to_toml().unwrap(), "crud"), full_count);
    plan.apply_preset("quick").unwrap();
    let narrow = Changes::single(Axis::DATA, [Data::Compressible]);
    plan.apply(narrow).unwrap();
    assert_eq!(positions(&plan.to_toml().unwrap(), "crud"), full_count);
    // The same for a user's own plan; for an older run of such a plan only what was run is known.
    assert_eq!(positions(&plan.to_toml().unwrap(), "mine"), full_count);
    plan.claims_over = None;
    assert_eq!(positions(&plan.to_toml().unwrap(), "mine"), Some(2));
    assert_eq!(positions(&plan.to_toml().unwrap(), "crud"), full_count);
    plan.claims.clear();
    assert_eq!(positions(&plan.to_toml().unwrap(), "crud"), full_count);
}

/// The thresholds follow the plan's own comment on the words of its paper.
#[test]
fn equal_words_of_the_paper_have_equal_thresholds() {
    let claims = run_claims("crud", "", "x").unwrap().unwrap().claims;
    for claim in &claims {
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

/// The thresholds follow the plan's own comment on the words of its paper, and of file systems' documentation.
#[test]
fn equal_words_on_file_systems_have_equal_thresholds() {
    let study = run_claims("filesystems", "", "x").unwrap().unwrap();
    let plan = find("filesystems").unwrap();
    let places: Vec<String> =
        plan.axes.texts(Axis::PLACE).iter().map(|place| format!("place {place}")).collect();
    assert_eq!(study.among, places);
    let option_places = plan.presets["options"].axes.values(Axis::PLACE);
    let names: Vec<String> =
        option_places.iter().map(|place| format!("place {place}")).chain(places).collect();
    for claim in &study.claims {
        let says = claim.says.as_str();
        for place in claim.among.iter().chain(&claim.expect.stores()) {
            assert!(names.contains(place), "{says}: {place}");
        }
        let hedged = ["generally", "typically", "In general", "in most cases", "seems"]
            .iter()
            .any(|word| says.contains(word));
        let exact = claim.figure.iter().all(|figure| !figure.column.is_of_operation());
        let expected = match hedged {
            _ if exact => 100.0,
            true => 50.0,
            false => 75.0,
        };
        assert_eq!(claim.share.0, expected, "{says}");
        let within = if let Expect::Alike(alike) = &claim.expect { Some(alike.within) } else { None };
        let near = match says {
            _ if says.contains("practically") || says.contains("almost") => Some(1.1),
            _ if says.contains("similar") => Some(1.25),
            _ => None,
        };
        assert_eq!(within, near, "{says}");
    }
}

/// The thresholds follow the plan's own comment on the words of its paper.
#[test]
fn equal_words_on_data_and_memory_have_equal_thresholds() {
    let study = run_claims("data-size", "", "x").unwrap().unwrap();
    assert_eq!(study.among, ["mariadb engine=rocksdb"]);
    for claim in &study.claims {
        let says = claim.says.as_str();
        assert_eq!(claim.share.0, 100.0, "{says}");
        let Expect::Ratio(ratio) = &claim.expect else { continue };
        let range = ratio.range.to_string();
        let ranges: &[&str] = match says {
            _ if says.contains("steeply") => &["..0.5"],
            _ if says.contains("roughly 4") => &["3.6..4.4"],
            _ if says.contains("drastically") => &["2.."],
            _ if says.contains("well above") || says.contains("significant") => &["1.5.."],
            _ if says.contains("higher percentiles") => &["1..1.25"],
            _ if says.contains("similarly") => &["80%..125%"],
            _ if says.contains("not by very much") => &["80%..100%", "100%..125%"],
            _ if says.contains("barely") => &["1..1.25"],
            _ if says.contains("slightly") => &["100%..125%"],
            _ if says.contains("identical") => &["90%..110%"],
            _ if says.contains("from around 10 % to 80 %") => &["6..9.4"],
            _ if says.contains("a couple of points above") => &["101%..106%"],
            _ => &["..1", "1.."],
        };
        assert!(ranges.contains(&range.as_str()), "{says}: {range}");
    }
}

#[test]
fn claims_name_published_tables_that_there_are() {
    for study in STUDIES {
        let names: Vec<String> =
            crate::published::tables(study.name).unwrap().into_iter().map(|table| table.name).collect();
        for claim in plan_claims(study.text, study.name).unwrap() {
            let tables = claim.tables.unwrap_or_default();
            assert!(tables.iter().all(|name| names.contains(name)), "{}: {tables:?}", claim.says);
        }
    }
}

#[test]
fn claims_come_back_the_same_from_the_plan_of_a_run() {
    let study = STUDIES[0];
    let plan = Plan::parse(study.text, "x").unwrap().to_toml().unwrap();
    let without_lines = |text: &str| -> Vec<Claim> {
        plan_claims(text, "x").unwrap().into_iter().map(|claim| Claim { line: 0, ..claim }).collect()
    };
    let claims = without_lines(study.text);
    assert!(claims.len() > 40);
    assert_eq!(without_lines(&plan), claims);
}

#[test]
fn what_is_compared_has_names_that_are_known() {
    let mut plan = find("crud").unwrap();
    plan.compare = vec![Axis::THREADS];
    plan.claims_among.clear();
    plan.axes.set(Axis::THREADS, ["1", "4"].map(|text| Axis::THREADS.read(text).unwrap()));
    let check_claim = |winner: &str| {
        let text = with_claims(&CLAIM.replace("lmdb", winner)).replace("claims_among", "# claims_among");
        check(&plan_claims(&text, "x.toml").unwrap(), &plan, &["lmdb"], "x.toml")
    };
    check_claim("threads 4").unwrap();
    let message = check_claim("threads 5").unwrap_err().to_string();
    assert!(message.contains("there is no threads \"threads 5\" (did you mean threads 4?)"), "{message}");
}
