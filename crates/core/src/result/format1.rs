//! Reading of runs of format 1, in which the reason why a combination was left out is a sentence.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::Reason;

pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Reason, D::Error> {
    match Value::deserialize(from)? {
        Value::String(sentence) => Ok(recognize(sentence)),
        value => Reason::deserialize(value).map_err(D::Error::custom),
    }
}

/// Writes a sentence as it was read.
pub fn serialize<S: Serializer>(reason: &Reason, to: S) -> Result<S::Ok, S::Error> {
    match reason {
        Reason::Sentence(sentence) => sentence.serialize(to),
        reason => reason.serialize(to),
    }
}

/// Recognises kinds that tables mark other than as left out; any other sentence stays one.
fn recognize(sentence: String) -> Reason {
    let (store, threads) = sentence.split_once(' ').map_or(("", 0), |(store, _)| {
        (store, sentence.rsplit(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0))
    });
    let store = || store.to_owned();
    let known = [
        Reason::NoSql { store: store() },
        Reason::NoTransactions { store: store() },
        Reason::NoOrder { store: store() },
        Reason::NoHeldReader { store: store() },
        Reason::NoBackup { store: store() },
        Reason::NoConcurrentReclaim { store: store() },
        Reason::OneSession { store: store(), threads },
    ];
    known.into_iter().find(|reason| reason.to_string() == sentence).unwrap_or(Reason::Sentence(sentence))
}
