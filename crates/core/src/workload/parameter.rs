//! Parameters of workloads: what a plan or the command line says of the work itself, beside the axes.

pub mod common;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::de::{DeserializeSeed, Deserializer, Error as _, SeqAccess, Visitor};

/// All that is said of a parameter.
#[derive(Debug)]
pub struct ParameterDef {
    /// The word used in plans, options and results.
    pub name: &'static str,
    /// The word that stands for its value on the command line.
    pub value_name: &'static str,
    /// A line of help.
    pub help: &'static str,
    /// The form in which it is written in TOML.
    pub form: ParameterForm,
    /// The value that holds where none is given; `None` where there is none.
    pub default: Option<&'static str>,
    /// Another parameter that makes no sense beside it.
    pub instead_of: Option<&'static str>,
    /// Reads a value within its bounds; gives it as plans write it.
    pub read: fn(&str) -> Result<String, String>,
}

impl ParameterDef {
    /// A text that may be missing; entries of the table say the rest.
    pub const WORD: ParameterDef = ParameterDef {
        name: "",
        value_name: "",
        help: "",
        form: ParameterForm::Text,
        default: None,
        instead_of: None,
        read: |text| Ok(text.to_owned()),
    };

    /// A number that may be missing.
    pub const NUMBER: ParameterDef =
        ParameterDef { value_name: "N", form: ParameterForm::Number, ..ParameterDef::WORD };
}

/// The form in which a parameter is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterForm {
    /// A word or a quantity.
    Text,
    /// A whole number.
    Number,
    /// Words in an order.
    List,
    /// The path of a directory.
    Directory,
    /// The path of a file.
    File,
    /// A fact that storebench finds out before a run, and no option sets.
    Found,
}

/// The values of a workload's parameters, as plans write them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parameters(BTreeMap<String, String>);

/// Separates the words of a list.
pub(super) const BETWEEN: char = ',';

impl Parameters {
    /// The value of a parameter as code obeys it; `None` where there is none. Values were read when they were put in.
    pub fn get<T: FromStr>(&self, parameter: &ParameterDef) -> Option<T> {
        self.text(parameter)?.parse().ok()
    }

    /// The words of a list.
    pub fn list<T: FromStr>(&self, parameter: &ParameterDef) -> Vec<T> {
        let text = self.text(parameter).unwrap_or_default();
        text.split(BETWEEN).filter_map(|word| word.parse().ok()).collect()
    }

    /// The value of a parameter as plans write it.
    pub fn text(&self, parameter: &ParameterDef) -> Option<&str> {
        self.0.get(parameter.name).map(String::as_str).or(parameter.default)
    }

    /// Those that have a value of their own.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Whether nothing is said of any.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The same with another value.
    ///
    /// # Errors
    /// A sentence that says what is wrong with it.
    pub fn with(mut self, parameter: &ParameterDef, text: &str) -> Result<Parameters, String> {
        self.set(parameter, text)?;
        Ok(self)
    }

    /// Puts a value in.
    ///
    /// # Errors
    /// A sentence that says what is wrong with it.
    pub fn set(&mut self, parameter: &ParameterDef, text: &str) -> Result<(), String> {
        let value = (parameter.read)(text)?;
        self.0.insert(parameter.name.to_owned(), value);
        Ok(())
    }

    /// Puts the values of others in place of its own.
    pub fn change(&mut self, others: Parameters) {
        self.0.extend(others.0);
    }
}

/// Reads a list of words that differ.
///
/// # Errors
/// When there is none, one is repeated, or one can't be read.
pub fn read_list<T: FromStr<Err = String> + fmt::Display>(name: &str, text: &str) -> Result<String, String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(BETWEEN).map(str::trim).filter(|word| !word.is_empty()) {
        let word = word.parse::<T>()?.to_string();
        if words.contains(&word) {
            return Err(format!("{name} names {word} twice"));
        }
        words.push(word);
    }
    match words.as_slice() {
        [] => Err(format!("{name}'s length is 0: it must be at least 1")),
        _ => Ok(words.join(",")),
    }
}

impl Parameters {
    /// All values, by name.
    pub(super) fn texts(&self) -> impl ExactSizeIterator<Item = (&String, &String)> {
        self.0.iter()
    }

    /// Values by name, each as its parameter has read it.
    pub(super) fn of_read(texts: BTreeMap<String, String>) -> Parameters {
        Parameters(texts)
    }
}

/// Reads a value of a parameter from a file.
pub struct Read(pub &'static ParameterDef);

impl<'de> DeserializeSeed<'de> for Read {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Read {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.form {
            ParameterForm::Number => write!(f, "a whole number for {}", self.0.name),
            ParameterForm::List => write!(f, "a list of words for {}", self.0.name),
            _ => write!(f, "a text for {}", self.0.name),
        }
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<String, E> {
        match self.0.form {
            ParameterForm::List => Err(E::invalid_type(serde::de::Unexpected::Str(text), &self)),
            _ => (self.0.read)(text).map_err(E::custom),
        }
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<String, E> {
        match u64::try_from(number) {
            Ok(number) => self.visit_u64(number),
            Err(_) => Err(E::invalid_value(serde::de::Unexpected::Signed(number), &self)),
        }
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<String, E> {
        match self.0.form {
            ParameterForm::Number => (self.0.read)(&number.to_string()).map_err(E::custom),
            _ => Err(E::invalid_type(serde::de::Unexpected::Unsigned(number), &self)),
        }
    }

    /// TOML's `1e6`.
    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<String, E> {
        match self.0.form {
            ParameterForm::Number => (self.0.read)(&number.to_string()).map_err(E::custom),
            _ => Err(E::invalid_type(serde::de::Unexpected::Float(number), &self)),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut words: A) -> Result<String, A::Error> {
        if self.0.form != ParameterForm::List {
            return Err(A::Error::invalid_type(serde::de::Unexpected::Seq, &self));
        }
        let mut all: Vec<String> = Vec::new();
        while let Some(word) = words.next_element::<String>()? {
            all.push(word);
        }
        (self.0.read)(&all.join(&BETWEEN.to_string())).map_err(A::Error::custom)
    }
}
