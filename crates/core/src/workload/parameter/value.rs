//! Values of parameters that have bounds, and lists.

use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::str::FromStr;
use std::time::Duration;

use serde::de::{DeserializeSeed, Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use storebench_model::units::{Bytes, Period, parse_bytes, parse_count, parse_duration};

/// A value within bounds that are part of its type.
fn check_bounds(
    value: u64,
    least: u64,
    most: u64,
    format_value: impl Fn(u64) -> String,
) -> Result<u64, String> {
    match value {
        value if value < least => {
            Err(format!("{} is too few: it must be at least {}", format_value(value), format_value(least)))
        }
        value if value > most => {
            Err(format!("{} is too many: at most {}", format_value(value), format_value(most)))
        }
        value => Ok(value),
    }
}

/// A number of things.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Count<const LEAST: u64, const MOST: u64 = { u32::MAX as u64 }>(pub u64);

impl<const LEAST: u64, const MOST: u64> Display for Count<LEAST, MOST> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<const LEAST: u64, const MOST: u64> FromStr for Count<LEAST, MOST> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        check_bounds(parse_count(text)?, LEAST, MOST, |count| count.to_string()).map(Count)
    }
}

impl<'de, const LEAST: u64, const MOST: u64> Deserialize<'de> for Count<LEAST, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number<const LEAST: u64, const MOST: u64>;
        impl<const LEAST: u64, const MOST: u64> Visitor<'_> for Number<LEAST, MOST> {
            type Value = Count<LEAST, MOST>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number")
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
                number.to_string().parse().map_err(E::custom)
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
                number.to_string().parse().map_err(E::custom)
            }

            /// TOML's `1e6`.
            fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
                number.to_string().parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Number)
    }
}

/// A time in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Time<const LEAST: u64, const MOST: u64 = { u64::MAX }>(pub Duration);

impl<const LEAST: u64, const MOST: u64> FromStr for Time<LEAST, MOST> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let time = parse_duration(text)?;
        let [least, most] = [LEAST, MOST].map(Duration::from_millis);
        match time {
            _ if time < least => {
                Err(format!("{} is too short: it must be at least {}", Period(time), Period(least)))
            }
            _ if time > most => {
                Err(format!("{} is too long: it must be at most {}", Period(time), Period(most)))
            }
            _ => Ok(Time(time)),
        }
    }
}

/// A size in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size<const LEAST: u64, const MOST: u64 = { u64::MAX }>(pub u64);

impl<const LEAST: u64, const MOST: u64> FromStr for Size<LEAST, MOST> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        check_bounds(parse_bytes(text)?, LEAST, MOST, |size| Bytes(size).to_string()).map(Size)
    }
}

/// Values in an order, each once; never empty. A list in a plan, with commas on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List<T>(pub Vec<T>);

impl<T: Display> Display for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.iter().map(T::to_string).collect::<Vec<_>>().join(","))
    }
}

impl<T: FromStr<Err = String> + PartialEq + Display> FromStr for List<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut items: Vec<T> = Vec::new();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            let word = word.parse()?;
            if items.contains(&word) {
                return Err(format!("{word} stands in it twice"));
            }
            items.push(word);
        }
        if items.is_empty() { Err("the list is empty".into()) } else { Ok(List(items)) }
    }
}

impl<T: Display> Serialize for List<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_words(self, serializer)
    }
}

impl<'de, T: FromStr<Err = String> + PartialEq + Display> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_words(deserializer)
    }
}

/// Reads a value; errors name the parameter.
pub struct NamedParameter<'n, T>(&'n str, PhantomData<T>);

impl<T> NamedParameter<'_, T> {
    pub fn new(name: &str) -> NamedParameter<'_, T> {
        NamedParameter(name, PhantomData)
    }
}

impl<'de, T: Deserialize<'de>> DeserializeSeed<'de> for NamedParameter<'_, T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        T::deserialize(deserializer).map_err(|error| D::Error::custom(format!("{}: {error}", self.0)))
    }
}

/// Writes comma-separated text as a list.
pub(crate) fn write_words<S: Serializer>(words: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(words.to_string().split(','))
}

/// Reads comma-separated text from a list.
pub(crate) fn read_words<'de, T: FromStr<Err = String>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Vec::<String>::deserialize(deserializer)?.join(",").parse().map_err(D::Error::custom)
}

macro_rules! bounded_text {
    ($($type:ident as $shown:ident),*) => { $(
        impl<const LEAST: u64, const MOST: u64> Display for $type<LEAST, MOST> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                $shown(self.0).fmt(f)
            }
        }
        impl<const LEAST: u64, const MOST: u64> Serialize for $type<LEAST, MOST> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de, const LEAST: u64, const MOST: u64> Deserialize<'de> for $type<LEAST, MOST> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
            }
        }
    )* };
}

bounded_text!(Time as Period, Size as Bytes);
