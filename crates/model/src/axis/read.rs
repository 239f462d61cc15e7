//! Values of an axis in files, read and written: words as texts, numbers as numbers.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use super::def::{Axis, Form};
use super::value::Value;
use crate::result::format1::current_value_name;

/// Has a visitor read numbers, also TOML's `1e6`, as it reads texts.
macro_rules! visit_numbers {
    ($($visit:ident: $number:ty),+) => {
        $(fn $visit<E: Error>(self, number: $number) -> Result<Self::Value, E> {
            self.visit_str(&number.to_string())
        })+
    };
}

/// Reads one value of an axis.
pub struct ValueSeed(pub Axis);

impl<'de> DeserializeSeed<'de> for ValueSeed {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for ValueSeed {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a value of the axis {}", self.0)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        self.0.read(current_value_name(self.0, text)).map_err(E::custom)
    }

    visit_numbers!(visit_u64: u64, visit_i64: i64, visit_f64: f64);
}

/// Reads a list of values of an axis; a value by itself is a list of one.
pub struct ValueListSeed(pub Axis);

impl<'de> DeserializeSeed<'de> for ValueListSeed {
    type Value = Vec<Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<Value>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueListSeed {
    type Value = Vec<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of values of the axis {}", self.0)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<Value>, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element_seed(ValueSeed(self.0))? {
            values.push(value);
        }
        Ok(values)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Vec<Value>, E> {
        ValueSeed(self.0).visit_str(text).map(|value| vec![value])
    }

    visit_numbers!(visit_u64: u64, visit_i64: i64, visit_f64: f64);
}

/// Reads a key. The function's refusal is an error at the key's place in the text, not the table's.
pub struct KeySeed<F>(pub F);

impl<'de, F: Fn(&str) -> Result<(), String>> DeserializeSeed<'de> for KeySeed<F> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        let name = String::deserialize(deserializer)?;
        (self.0)(&name).map_err(D::Error::custom)?;
        Ok(name)
    }
}

/// Writes one value of an axis.
pub struct ValueWriter<'a>(pub Axis, pub &'a Value);

impl Serialize for ValueWriter<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.def().form {
            Form::Number => serializer.serialize_u64(self.1.lower()),
            Form::Text | Form::Quantity | Form::Range => serializer.serialize_str(self.1.text()),
        }
    }
}

/// Writes a list of values of an axis.
pub struct ValueListWriter<'a>(pub Axis, pub &'a [Value]);

impl Serialize for ValueListWriter<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.1.iter().map(|value| ValueWriter(self.0, value)))
    }
}
