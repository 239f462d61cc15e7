//! Reading of formats 1 and 2, of plans and of runs. In the texts of format 1 it looks for what later ones have fields for: why a cell was left
//! out, the location of a place on a simulated disk, a setting as shipped; and an axis that plans named outside their axes.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::{LeftOutReason, LocationInfo};
use crate::axis::{Axis, Value as AxisValue};

/// The axis and value of `compression`, which a plan of format 1 names outside its axes.
pub fn compression_value(compression: &str) -> Option<(Axis, AxisValue)> {
    Some((Axis::COMPRESSION, Axis::COMPRESSION.read(compression).ok()?))
}

/// Takes the location of a place on a simulated disk out of its name.
pub fn find_location(place: &mut LocationInfo) {
    let Some(disk) = place.disk.as_ref().filter(|_| place.place.is_none()) else { return };
    place.place = place.name.strip_suffix(&format!(" on simulated {}", disk.name)).map(str::to_owned);
}

/// Whether a setting is left as its engine's authors ship it.
pub(crate) fn is_as_shipped(value: &str) -> bool {
    value.starts_with("as shipped")
}

/// The value that a library's default usually is; `None` where it speaks in words.
pub(crate) fn usual(default: &str) -> Option<&str> {
    let usual = default.split_once(", or ").map_or(default, |(usual, _)| usual);
    (!usual.contains(' ')).then_some(usual)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<LeftOutReason, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(sentence) => Ok(recognize(sentence)),
        value => LeftOutReason::deserialize(value).map_err(D::Error::custom),
    }
}

/// Writes a sentence as it was read.
pub(super) fn serialize<S: Serializer>(reason: &LeftOutReason, serializer: S) -> Result<S::Ok, S::Error> {
    match reason {
        LeftOutReason::Sentence(sentence) => sentence.serialize(serializer),
        reason => reason.serialize(serializer),
    }
}

/// Recognises kinds that tables mark other than as left out; any other sentence stays one.
fn recognize(sentence: String) -> LeftOutReason {
    let (store, threads) = sentence.split_once(' ').map_or(("", 0), |(store, _)| {
        (store, sentence.rsplit(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0))
    });
    let store = || store.to_owned();
    let known = [
        LeftOutReason::NoSql { store: store() },
        LeftOutReason::NoTransactions { store: store() },
        LeftOutReason::NoOrder { store: store() },
        LeftOutReason::NoHeldReader { store: store() },
        LeftOutReason::NoBackup { store: store() },
        LeftOutReason::NoConcurrentReclaim { store: store() },
        LeftOutReason::OneSession { store: store(), threads },
    ];
    let current_sentence = sentence.replace("give space back", "reclaim space");
    known
        .into_iter()
        .find(|reason| reason.to_string() == current_sentence)
        .unwrap_or(LeftOutReason::Sentence(sentence))
}

/// The name that an axis of formats 1 and 2 has now.
pub fn current_axis_name(name: &str) -> &str {
    if name == "giving_back" { Axis::SPACE_RECLAIM.name() } else { name }
}

/// What a value of an axis is called now.
pub fn current_value_name(axis: Axis, value: &str) -> &str {
    if axis == Axis::SPACE_RECLAIM && value == "beside" { "concurrent" } else { value }
}

/// The name that a claim's figure has now.
pub fn current_figure_name(name: &str) -> &str {
    if name == "files_given_back" { "files_after_reclaim" } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Cell;
    use crate::result::{ConcurrentWork, FaultOutcome, Measurements, SpaceReclaim};

    #[test]
    fn fields_are_read_by_the_names_that_they_had_up_to_format_2() {
        let measured = Measurements {
            space_reclaim: Some(SpaceReclaim { removed: 9, ..SpaceReclaim::default() }),
            concurrent_work: Some(ConcurrentWork { by: "VACUUM".into(), ..ConcurrentWork::default() }),
            ..Measurements::default()
        };
        let current = serde_json::to_string(&measured).unwrap();
        let old = current.replace("space_reclaim", "giving_back").replace("concurrent_work", "alongside");
        assert_eq!(current.len() - old.len(), 8, "both have their old names");
        assert_eq!(serde_json::from_str::<Measurements>(&old).unwrap(), measured);
        assert_eq!(serde_json::from_str::<FaultOutcome>("\"told\"").unwrap(), FaultOutcome::Reported);
        assert_eq!(current_figure_name("files_given_back"), "files_after_reclaim");
        let cell: Cell = serde_json::from_str(r#"{"store":"sqlite","giving_back":"beside"}"#).unwrap();
        assert_eq!(cell.id(), "sqlite/space_reclaim=concurrent");
    }
}
