//! The steps of a history in a form for whoever repeats what was found.

use serde::Serialize;
use storebench_model::result::BadState;
use storebench_model::units::plural;

use crate::workload::kill::MOST_BYTES;
use crate::workload::kill::steps::{self, Step, record_key, record_value, step};

/// A step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StepProgress {
    /// Its session, from 0.
    pub session: u64,
    /// Its number in the session, from 0.
    pub step: u64,
    /// Whether it was acknowledged before the cut; else it was under way.
    pub acknowledged: bool,
    /// `insert`, `update`, `remove`, `batch` or `transaction`.
    pub does: &'static str,
    pub(crate) records: Vec<RecordProgress>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct RecordProgress {
    pub key: String,
    /// Hexadecimal; `None` if removed.
    pub value: Option<String>,
}

const MOST_STEPS: u64 = 10_000;

/// The steps that were begun before a state's cut, session by session; `None` where they are more than a history has.
pub fn steps_of(state: &BadState) -> Option<impl Iterator<Item = StepProgress>> {
    let total = state.begun.iter().try_fold(0, |total: u64, begun| total.checked_add(*begun));
    total.filter(|total| *total <= MOST_STEPS && state.begun.len() as u64 <= MOST_STEPS)?;
    Some((0..).zip(&state.begun).flat_map(|(session, begun)| {
        let acknowledged = state.acknowledged.get(session as usize).copied().unwrap_or_default();
        (0..*begun).map(move |number| step_progress(session, number, number < acknowledged))
    }))
}

fn step_progress(session: u64, number: u64, acknowledged: bool) -> StepProgress {
    let step_number = steps::session_step(session, number);
    let step = step(step_number);
    let (does, leaves_value) = ((&step).into(), !matches!(step, Step::Remove(_)));
    let record = |record| RecordProgress {
        key: record_key(record),
        value: leaves_value.then(|| hexadecimal(&record_value(record, step_number, MOST_BYTES))),
    };
    StepProgress { session, step: number, acknowledged, does, records: step.records().map(record).collect() }
}

/// Steps that are named before the rest is only counted.
const MOST_DESCRIBED: usize = 3;

/// Some steps, each by its session and its number there: `insert of KEY, batch of KEY and 19 more`.
pub fn describe_steps(steps: &[(u64, u64)]) -> String {
    let named = steps.iter().take(MOST_DESCRIBED).map(|(session, number)| {
        let StepProgress { does, records, .. } = step_progress(*session, *number, true);
        let key = records.first().map(|first| first.key.as_str()).unwrap_or_default();
        match records.len().saturating_sub(1) {
            0 => format!("{does} of {key}"),
            more => format!("{does} of {key} and {more} more"),
        }
    });
    let named = named.collect::<Vec<_>>().join(", ");
    match steps.len().saturating_sub(MOST_DESCRIBED) {
        0 => named,
        more => format!("{named} and {}", plural(more, "more step")),
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_described_with_their_records() {
        let removal = step_progress(0, 6, true);
        assert_eq!(
            (removal.does, removal.records.len(), removal.records[0].value.as_deref()),
            ("remove", 1, None)
        );
        let batch = super::step_progress(1, 8, false);
        assert_eq!((batch.does, batch.records.len()), ("batch", 20));
        assert!(batch.records.iter().all(|record| record.key.len() == 32 && record.value.is_some()));
        let words = describe_steps(&[(0, 6), (1, 8), (0, 0), (0, 1)]);
        assert!(words.starts_with("remove of ") && words.contains(" and 19 more, insert of "), "{words}");
        assert!(words.ends_with(" and 1 more step"), "{words}");
        assert_eq!(hexadecimal(&[0, 255, 16]), "00ff10");
        for begun in [vec![1_000_000_000_000], vec![u64::MAX, 2]] {
            let state = serde_json::json!({"number": 0, "finding": "lost", "message": "", "cut": {"at": 0, "lost": []}, "begun": begun});
            assert!(steps_of(&serde_json::from_value(state).unwrap()).is_none());
        }
    }
}
