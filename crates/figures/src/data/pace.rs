//! Reports the speed at which a trace was replayed, as a multiple of the trace's speed.

use indexmap::IndexMap;
use storebench_model::units::three_digits;

use super::merge::Merged;
use super::names::{LISTED, join_first};
use crate::column::REPLAY_SPEED;
use crate::stats::mean;

/// A line with the mean of each contestant over all of its trials; `None` if no trace with times was replayed.
pub fn describe_pace(merged: &Merged<'_>) -> Option<String> {
    let mut speeds: IndexMap<String, Vec<f64>> = IndexMap::new();
    for trial in merged.runs.iter().flat_map(|run| &run.trials) {
        let Some(speed) = trial.ok().and_then(|measured| REPLAY_SPEED.trial_value(measured)) else {
            continue;
        };
        speeds.entry(merged.layout.contestant(&trial.cell).into_owned()).or_default().push(speed);
    }
    let means = speeds.iter().filter_map(|(store, speeds)| Some((store, mean(speeds)?.1.value)));
    let texts: Vec<String> =
        means.map(|(store, times)| format!("{store} {}x", three_digits(times))).collect();
    let list = join_first(&texts, LISTED);
    (!texts.is_empty()).then(|| format!("Speed of the replay, in times the trace's own: {list}."))
}

#[cfg(test)]
mod tests {
    use storebench_core::workload::replay::SPEED_REACHED;
    use storebench_model::store::Setting;
    use storebench_samples::{Sample, run};

    use super::*;

    #[test]
    fn the_speed_of_a_replay_is_told_for_each_store() {
        let mut runs = [run("box", &[Sample::new("lmdb"), Sample::new("sqlite"), Sample::new("redb")])];
        assert_eq!(describe_pace(&Merged::new(&runs, &[])), None);
        for (trial, speed) in runs[0].trials.iter_mut().zip([1204.0, 0.5]) {
            let measured = trial.measured.as_mut().unwrap();
            measured.statistics.push(Setting::unverified(SPEED_REACHED, format!("{speed:.4}")));
        }
        let sentence = describe_pace(&Merged::new(&runs, &[])).unwrap();
        assert_eq!(sentence, "Speed of the replay, in times the trace's own: lmdb 1,204x, sqlite 0.500x.");
    }
}
