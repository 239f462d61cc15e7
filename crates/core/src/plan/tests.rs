use super::*;

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
    let counts = vec!["1_000_000".parse().unwrap(), "2000".parse().unwrap(), "100..101".parse().unwrap()];
    plan.apply(Changes { records: Some(counts), ..Changes::default() }).unwrap();
    let shown: Vec<_> = plan.axes.records.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["1000000..1050000", "2000..10000", "100..101"]);
}

#[test]
fn nonsense_is_refused() {
    let mut plan = find("crud").unwrap();
    let error = plan.apply(Changes { trials: Some(0), ..Changes::default() }).unwrap_err();
    assert_eq!((error.exit, error.message.as_str()), (Exit::BadValue, "trials is 0: it must be at least 1"));
    assert!(find("crudd").unwrap_err().message.contains("did you mean crud?"));
}
