use super::*;
use storebench_model::axis::{Axis, Value};

/// The study `crud` with these values on an axis.
pub(super) fn plan_on(axis: Axis, names: &[&str]) -> std::result::Result<Plan, String> {
    let mut plan = find("crud").unwrap();
    let values = names.iter().map(|name| axis.read(name).unwrap());
    plan.apply(Changes::single(axis, values)).map_err(|error| error.message).map(|()| plan)
}

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
    let other_format = Plan::parse(&text.replace("format = 2", "format = 99"), "x.toml").unwrap_err();
    assert!(other_format.message.contains("format = 99"), "{other_format}");
    assert_eq!(other_format.exit, Exit::BadPlan);
}

#[test]
fn axes_and_parameters_stand_next_to_fields_and_a_wrong_one_is_named_with_its_line() {
    let text = "format = 1\nname = \"x\"\ntitle = \"t\"\nworkload = \"crud\"\nseed = 1\nsize_limit = \"1GiB\"\ntimeout = \"1m\"\n\
        operations = 5\ncompression = \"off\"\n[axes]\nstore = [\"lmdb\"]\nrecord_size = [\"1KiB\"]\nrecords = [\"10\"]\n\
        data = [\"compressible\"]\nguarantee = [\"none\"]\n[presets.quick]\nwarm_up = 7\ntrials = 2\nthreads = [4]\n\
        [claims_over]\ndata = [\"compressible\"]\noperations = 9\nsize_limit = \"1GiB\"\n";
    let newer = Plan::parse(&text.replace("format = 1", "format = 2"), "x.toml").unwrap_err();
    assert!(newer.message.contains("compression") && newer.message.contains("is an axis"), "{newer}");
    let mut plan = Plan::parse(text, "x.toml").unwrap();
    assert_eq!(plan.format, PLAN_FORMAT);
    plan.apply_preset("quick").unwrap();
    let parameters: Vec<&str> = plan.parameters.names().collect();
    assert_eq!((parameters, plan.trials), (vec!["operations", "warm_up"], 2));
    assert_eq!([Axis::COMPRESSION, Axis::THREADS].map(|axis| plan.axes.texts(axis)), [["off"], ["4"]]);
    assert_eq!(plan.claims_over.as_ref().map(|claims| claims.operations), Some(9));
    for (right, wrong, words) in [
        ("operations = 5", "operation = 5", ["line 8: ", "operations?"]),
        ("operations = 5", "operations = 0", ["line 8: ", "operations: 0 is too few: it must be at least 1"]),
        ("\nrecord_size", "\nrecord_sise", ["line 12: ", "record_size?"]),
        ("warm_up", "warm_upp", ["line 17: ", "warm_up?"]),
        ("trials = 2", "trial = 2", ["line 18: ", "trials?"]),
        ("threads", "thread", ["line 19: ", "threads?"]),
        ("[4]", "[\"many\"]", ["line 19: ", "many"]),
        ("operations = 9", "operation = 9", ["line 22: ", "operations?"]),
        ("name = \"x\"\n", "", ["the key `name`", "is missing"]),
    ] {
        assert!(text.contains(right), "{right}");
        let message = Plan::parse(&text.replacen(right, wrong, 1), "x.toml").unwrap_err().message;
        assert!(words.iter().all(|word| message.contains(word)), "{wrong}: {message}");
    }
}

#[test]
fn a_count_takes_the_upper_bound_of_the_plan() {
    let mut plan = find("crud").unwrap();
    let counts = ["1_000_000", "2000", "100..101"].map(|count| Axis::RECORDS.read(count).unwrap());
    plan.apply(Changes::single(Axis::RECORDS, counts)).unwrap();
    let shown = plan.axes.texts(Axis::RECORDS);
    assert_eq!(shown, ["1000000..1050000", "2000..10000", "100..101"]);
}

#[test]
fn nonsense_is_refused() {
    let mut plan = find("crud").unwrap();
    let error = plan.apply(Changes { trials: Some(0), ..Changes::default() }).unwrap_err();
    assert_eq!((error.exit, error.message.as_str()), (Exit::BadValue, "trials is 0: it must be at least 1"));
    let mut plan = find("crud").unwrap();
    let error = plan.apply(Changes::single(Axis::THREADS, [1, 100_000])).unwrap_err();
    assert_eq!(error.message, "100000 threads are too many: at most 1024");
    assert!(find("crudd").unwrap_err().message.contains("did you mean crud?"));
    let mut plan = find("crud").unwrap();
    let axes = Axes::single(Axis::DATA, Vec::<Value>::new());
    plan.claims_over = Some(ClaimsOver { axes, ..ClaimsOver::from_plan(&plan) });
    let error = Plan::parse(&plan.to_toml().unwrap(), "x").unwrap_err();
    assert!(error.message.contains("claims_over holds no combination"), "{error}");
}

#[test]
fn a_store_that_is_left_out_takes_its_settings_with_it() {
    let mut plan = find("filesystems").unwrap();
    plan.apply_preset("pages").unwrap();
    let settings = |plan: &Plan| plan.axes.settings().map(|(axis, _)| axis.to_string()).collect::<Vec<_>>();
    assert_eq!(settings(&plan), ["berkeleydb.pagesize", "sqlite.page_size"]);
    plan.apply(Changes::single(Axis::STORE, [Value::word("sqlite")])).unwrap();
    assert_eq!(settings(&plan), ["sqlite.page_size"]);
}

#[test]
fn claims_go_with_the_plan_and_come_back_the_same() {
    let mut plan = find("crud").unwrap();
    let narrow = Changes::single(Axis::STORE, [Value::word("lmdb")]);
    plan.apply(narrow).unwrap();
    let again = Plan::parse(&plan.to_toml().unwrap(), "again").unwrap();
    assert!(plan.claims.len() > 40);
    assert_eq!((&again.claims, &again.claims_among), (&plan.claims, &plan.claims_among));
}
