//! The settings that a user gave: read, and held against what came of them. For the stores that take any.

use std::ops::RangeInclusive;
use std::str::FromStr;

use super::Guarantee;
use super::OpenOptions;
use super::error::{Result, StoreError};
use super::setting::SettingDef;

/// The settings that the user gave one store.
#[derive(Debug)]
pub struct GivenSettings<'a> {
    options: &'a OpenOptions<'a>,
}

impl<'a> GivenSettings<'a> {
    /// Takes the settings of `options`. Fails with [`StoreError::BadSetting`] when one of them is not in `known`.
    pub fn new(options: &'a OpenOptions<'a>, known: &[SettingDef]) -> Result<GivenSettings<'a>> {
        let unknown_name =
            options.settings.keys().find(|name| known.iter().all(|def| def.name != name.as_str()));
        let Some(name) = unknown_name else { return Ok(GivenSettings { options }) };
        let names: Vec<&str> = known.iter().map(|def| def.name).collect();
        Err(StoreError::BadSetting(format!("no setting {name} here; there are: {}", names.join(", "))))
    }

    /// The values of the `known` settings, in order: what `read_own` makes of the user's, else the `preset`; others are left out.
    pub fn values(
        &self,
        known: &'static [SettingDef],
        read_own: impl Fn(&GivenSettings<'a>, &'static str) -> Result<Option<String>>,
        preset: impl Fn(&str, &OpenOptions<'_>) -> Option<String>,
    ) -> Result<Vec<(&'static str, String)>> {
        let mut values = Vec::new();
        for SettingDef { name, .. } in known {
            let value = read_own(self, name)?.or_else(|| preset(name, self.options));
            values.extend(value.map(|value| (*name, value)));
        }
        Ok(values)
    }

    /// The setting as it was written.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        self.options.settings.get(name).map(String::as_str)
    }

    /// The setting, parsed; the error says that it is not `expected`. Fails with [`StoreError::BadSetting`] when it can't be parsed.
    pub fn parse<T: FromStr>(&self, name: &str, expected: &str) -> Result<Option<T>> {
        self.text(name).map(|text| text.parse().map_err(|_| self.refuse(name, expected))).transpose()
    }

    /// The setting as a whole number in `range`. Fails with [`StoreError::BadSetting`] when it is anything else.
    pub fn number(&self, name: &str, range: RangeInclusive<u64>) -> Result<Option<u64>> {
        let expected = format!("a whole number from {} to {}", range.start(), range.end());
        match self.parse(name, &expected)? {
            Some(number) if !range.contains(&number) => Err(self.refuse(name, &expected)),
            number => Ok(number),
        }
    }

    /// As [`GivenSettings::number`], for an engine that wants 32 bits. Fails with [`StoreError::BadSetting`] when it is anything else.
    pub fn number32(&self, name: &str, range: RangeInclusive<u32>) -> Result<Option<u32>> {
        let range = u64::from(*range.start())..=u64::from(*range.end());
        // The range ends within 32 bits, so the number fits.
        Ok(self.number(name, range)?.map(|number| u32::try_from(number).unwrap_or(u32::MAX)))
    }

    /// The setting as one of `words`. Fails with [`StoreError::BadSetting`] when it is none of them.
    pub fn word(&self, name: &str, words: &[&'static str]) -> Result<Option<&'static str>> {
        let Some(text) = self.text(name) else { return Ok(None) };
        match words.iter().find(|word| **word == text) {
            Some(word) => Ok(Some(word)),
            None => Err(self.refuse(name, &format!("one of {}", words.join(", ")))),
        }
    }

    /// Says that the setting, as it was written, is not `expected`.
    pub fn refuse(&self, name: &str, expected: &str) -> StoreError {
        let text = self.text(name).unwrap_or_default();
        StoreError::BadSetting(format!("the setting {name}={text} is not {expected}"))
    }

    /// The setting as `true` or `false`. Fails with [`StoreError::BadSetting`] when it is neither.
    pub fn flag(&self, name: &str) -> Result<Option<bool>> {
        self.parse(name, "true or false")
    }
}

/// Refuses settings that give a guarantee other than the one asked for, weaker or stronger: a result never stands under a wrong guarantee.
/// With no guarantee asked for, the settings decide. Fails with [`StoreError::BadSetting`].
pub fn hold_to_tier(options: &OpenOptions<'_>, real: Guarantee) -> Result<Guarantee> {
    match options.guarantee {
        Some(guarantee) if guarantee != real && !options.judged => Err(StoreError::BadSetting(format!(
            "these settings give the guarantee {real}, not {guarantee}: ask for {real}, or for the default guarantee"
        ))),
        _ => Ok(real),
    }
}

/// Fails with [`StoreError::SettingNotTaken`] unless the value that was read back is the one asked for.
pub fn expect_taken<T: PartialEq + ToString>(name: &str, asked: &T, read_back: &T) -> Result<()> {
    if asked == read_back {
        return Ok(());
    }
    let (asked, read_back) = (asked.to_string(), read_back.to_string());
    Err(StoreError::SettingNotTaken { name: name.into(), asked, read_back })
}
