//! The preset of a run, and what is smaller in its plan, or other, than in the paper.

use indexmap::IndexSet;
use storebench_host::plan::{Plan, STUDIES};
use storebench_host::run::Run;
use storebench_model::axis::{Axis, Value};
use storebench_model::units::{Period, rough_duration, with_commas};

use super::names::join_first;

/// The preset of a study that has its paper's whole design; where it has none, the study itself does.
const FULL_PRESET: &str = "paper-full";
/// Values that are named; of more only the number is.
const MAX_NAMED: usize = 3;

/// `Smaller than in the paper, or other: operations 100 for 1,000.` Nothing where a run has no preset, or its plan lacks nothing.
pub fn describe_preset(run: &Run) -> Option<String> {
    run.header.preset.as_ref()?;
    let study = STUDIES.iter().find(|study| study.name == run.header.study)?;
    let mut full_plan = Plan::parse(study.text, study.name).ok()?;
    if full_plan.presets.contains_key(FULL_PRESET) {
        full_plan.apply_preset(FULL_PRESET).ok()?;
    }
    let changes = describe_changes(run.plan()?, &full_plan);
    (!changes.is_empty()).then(|| format!("Smaller than in the paper, or other: {}.", changes.join("; ")))
}

fn describe_changes(plan: &Plan, full_plan: &Plan) -> Vec<String> {
    let describe_change = |name: &str, in_run: &str, paper: &str| format!("{name} {in_run} for {paper}");
    let [in_run, paper] = [plan, full_plan].map(|plan| plan.trials.to_string());
    let trials = (plan.trials < full_plan.trials).then(|| describe_change("trials", &in_run, &paper));
    let parameters = full_plan.parameters.names().filter_map(|name| {
        let (in_run, paper) = (plan.parameters.text(name)?, full_plan.parameters.text(name)?);
        let is_less = amount(&in_run).zip(amount(&paper)).is_some_and(|(in_run, paper)| in_run < paper);
        is_less.then(|| describe_change(name, &readable(&in_run), &readable(&paper)))
    });
    let pairs = plan.paired.iter().filter(|pair| !full_plan.paired.contains(pair)).map(|pair| {
        let names: Vec<&str> = pair.iter().map(|axis| axis.name()).collect();
        format!("{} combinations of {}", plan.axes.values(pair[0]).len(), names.join(", "))
    });
    // Presets ask for one guarantee, as papers did.
    let axes = full_plan.axes.names_iter().filter(|axis| *axis != Axis::GUARANTEE).filter_map(|axis| {
        let (in_run, paper) = (plan.axes.values(axis), full_plan.axes.values(axis));
        // Axes that go together may repeat values.
        let missing_from = |values: &[Value], rest: &[Value]| -> Vec<String> {
            let missing = values.iter().filter(|value| !rest.contains(value)).map(Value::to_string);
            Vec::from_iter(missing.collect::<IndexSet<String>>())
        };
        let (missing, added) = (missing_from(&paper, &in_run), missing_from(&in_run, &paper));
        match (missing.is_empty(), added.is_empty()) {
            (true, _) => None,
            (_, true) => Some(format!("no {} {}", axis.name(), join_first(&missing, MAX_NAMED))),
            _ => {
                let [added, missing] = [added, missing].map(|values| join_first(&values, MAX_NAMED));
                Some(describe_change(axis.name(), &added, &missing))
            }
        }
    });
    trials.into_iter().chain(parameters).chain(axes).chain(pairs).collect()
}

/// A number, or a time in seconds.
fn amount(text: &str) -> Option<f64> {
    text.parse().ok().or_else(|| Some(text.parse::<Period>().ok()?.0.as_secs_f64()))
}

fn readable(text: &str) -> String {
    match (text.parse(), text.parse::<Period>()) {
        (Ok(number), _) => with_commas(number),
        (_, Ok(time)) => rough_duration(time.0),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use storebench_samples::{Sample, run};

    #[test]
    fn what_a_preset_lacks_of_the_paper_is_said() {
        let line = |study: &str, preset: &str| {
            let mut plan = storebench_host::plan::find(study).unwrap();
            plan.apply_preset(preset).unwrap();
            let mut run = run("box", &[Sample::new("lmdb")]);
            run.header.study = study.into();
            run.header.plan = plan.to_toml().unwrap();
            assert_eq!(super::describe_preset(&run), None, "of no preset");
            run.header.preset = Some(preset.into());
            super::describe_preset(&run).unwrap_or_default()
        };
        let crud = line("crud", "paper");
        for part in [
            "trials 3 for 5",
            "operations 100 for 1,000",
            "records 400000..450000 for 1000000..1050000",
            "34 combinations of record_size, records, disk, background",
        ] {
            assert!(crud.contains(part), "{crud}");
        }
        assert_eq!(line("crud", "paper-full"), "");
        assert_eq!(line("ycsb", "paper"), "");
        let shop = line("data-size", "paper");
        for part in ["machine small for paper", "; machine", "duration 5"] {
            assert!(shop.contains(part), "{shop}");
        }
        let settings = line("sqlite-settings", "paper");
        assert_eq!(settings, "Smaller than in the paper, or other: operations 100 for 300.");
    }
}
