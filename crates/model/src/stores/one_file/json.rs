//! Records as a JSON object of texts. A byte is the character with its number (Latin-1), so that any bytes can be kept, and ASCII
//! text stays readable.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::Records;

pub(super) fn write(records: &Records, out: &mut Vec<u8>) {
    struct RecordsAsObject<'m>(&'m Records);
    impl Serialize for RecordsAsObject<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut object = serializer.serialize_map(Some(self.0.len()))?;
            for (key, value) in self.0 {
                object.serialize_entry(&text(key), &text(value))?;
            }
            object.end()
        }
    }
    // Memory takes all, and texts and maps of texts can be written.
    let _ = serde_json::to_writer(out, &RecordsAsObject(records));
}

/// Fails when the text is no object of texts, or has a character that stands for no byte.
pub(super) fn read(text: &[u8]) -> serde_json::Result<Records> {
    let mut json = serde_json::Deserializer::from_slice(text);
    let records = json.deserialize_map(RecordsVisitor)?;
    json.end()?;
    Ok(records)
}

fn text(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) if bytes.is_ascii() => Cow::Borrowed(text),
        _ => Cow::Owned(bytes.iter().map(|byte| char::from(*byte)).collect()),
    }
}

fn bytes<E: Error>(text: &str) -> Result<Vec<u8>, E> {
    if text.is_ascii() {
        return Ok(text.as_bytes().to_vec());
    }
    let byte = |letter: char| {
        u8::try_from(letter).map_err(|_| E::custom(format!("the character {letter:?} stands for no byte")))
    };
    text.chars().map(byte).collect()
}

struct RecordsVisitor;

impl<'de> Visitor<'de> for RecordsVisitor {
    type Value = Records;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of texts")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Records, A::Error> {
        let mut records = Records::new();
        while let Some((key, value)) = access.next_entry::<Cow<'de, str>, Cow<'de, str>>()? {
            records.insert(bytes(&key)?, bytes(&value)?);
        }
        Ok(records)
    }
}
