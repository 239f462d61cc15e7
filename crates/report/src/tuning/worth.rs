//! The effects of single values of settings, from the screening.

use storebench_figures::data::readable::Readable;
use storebench_figures::judge::settings::Verdict;
use storebench_figures::stats::{CONFIDENCE, Ratio};
use storebench_host::run::Run;
use storebench_model::result::{TrialResult, WrittenRecords};
use storebench_model::store::{Setting, StoreDef};

use super::judge::settings_of;
use super::race::{DEFAULT, LOOKS, RaceResult};
use super::search::Change;

#[derive(Debug, Clone, PartialEq)]
pub struct ValueWorth {
    pub change: Change,
    pub default: String,
    /// The value and the default in readable form: `64KiB`.
    pub readable: [String; 2],
    /// The cost of the value that no figure shows; empty if there is none.
    pub cost: &'static str,
    /// The time of an operation as a multiple of the default's. The intervals of all values hold together.
    pub times: Option<Ratio>,
    pub out: Option<String>,
    /// Whether it is the size of a buffer that no trial filled, neither this nor the default: it can't have mattered.
    pub unfilled: bool,
}

impl ValueWorth {
    pub fn verdict(&self) -> Verdict {
        self.times.as_ref().map_or(Verdict::Open, Verdict::judge)
    }
}

/// The most points at which the results of a screening could have ended it: each look in each of two races.
const ENDINGS: usize = 2 * LOOKS.len();

/// The confidence of each of several intervals so that all hold together, whatever ended each (Bonferroni).
pub fn confidence(values: usize) -> f64 {
    1.0 - (1.0 - CONFIDENCE) / (values.max(1) * ENDINGS) as f64
}

/// The effect of each value that was tried in a run, and those that were refused before.
pub fn value_worths(
    screen: Option<&RaceResult>,
    store: &StoreDef,
    default: &[Setting],
    run: &Run,
) -> Vec<ValueWorth> {
    let Some(screen) = screen else { return Vec::new() };
    let written = most_written(run);
    let readable = Readable::from_stores([store]);
    let confidence = confidence(screen.arms.len().saturating_sub(1));
    let worth = |change: Change, times: Option<Ratio>, out: Option<String>| {
        let def = store.settings.iter().find(|def| def.name == change.setting);
        let read_back =
            default.iter().find(|setting| setting.name == change.setting && !setting.value.is_empty());
        let shipped = || def.map_or_else(String::new, |def| def.default.to_owned());
        let word = |value: &str| def.map_or(value, |def| def.word(value)).to_owned();
        let default = read_back.map_or_else(shipped, |setting| word(&setting.value));
        let readable_value = |value: &str| readable.value(&change.setting, &word(value)).into_owned();
        ValueWorth {
            readable: [readable_value(&change.value), readable_value(&default)],
            cost: def.map_or("", |def| def.cost),
            unfilled: def.zip(written.as_ref()).is_some_and(|(def, written)| {
                [&default, &change.value].into_iter().all(|size| def.is_unfilled(size, written))
            }),
            change,
            default,
            times,
            out,
        }
    };
    let measured = screen.arms.iter().enumerate().skip(DEFAULT + 1).filter_map(|(index, arm)| {
        let (setting, value) = arm.settings.first_key_value()?;
        let change = Change { setting: setting.clone(), value: value.clone() };
        Some(worth(change, screen.ratio(index, confidence), arm.out.clone()))
    });
    let refused = run.header.left_out.iter().filter_map(|omitted| {
        let (setting, value) = settings_of(&omitted.cell).into_iter().next()?;
        Some(worth(Change { setting, value }, None, Some(omitted.reason.to_string())))
    });
    let mut worths: Vec<ValueWorth> = measured.chain(refused).collect();
    let index_of =
        |worth: &ValueWorth| store.settings.iter().position(|def| def.name == worth.change.setting);
    worths.sort_by_key(index_of);
    worths
}

/// The most that a trial of a run wrote, including loading; `None` if one does not report it.
fn most_written(run: &Run) -> Option<WrittenRecords> {
    let measured = run.trials.iter().filter_map(TrialResult::ok);
    let written = measured.map(|measured| measured.written).collect::<Option<Vec<WrittenRecords>>>()?;
    written.into_iter().max_by_key(WrittenRecords::bytes)
}
