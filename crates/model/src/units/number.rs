//! Numbers as people and reports write them: `50000`, `50,000`, `50_000`, `1.5`, `1e6`; and what a comma means in a list of them.

use crate::sanitize::quoted;

pub(super) fn split_unit(text: &str) -> (&str, &str) {
    let (number, rest) = split(text.trim());
    (number, rest.trim())
}

pub(super) fn split(text: &str) -> (&str, &str) {
    let mantissa =
        text.find(|c: char| !c.is_ascii_digit() && !matches!(c, ',' | '_' | '.')).unwrap_or(text.len());
    let end = mantissa + exponent(&text[mantissa..]);
    text.split_at(end)
}

/// The length of an exponent at a text's beginning, in bytes: `e6`, `E-3`.
fn exponent(text: &str) -> usize {
    let Some(signed_digits) = text.strip_prefix(['e', 'E']) else { return 0 };
    let digits = signed_digits.strip_prefix(['+', '-']).unwrap_or(signed_digits);
    let length = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    if length == 0 { 0 } else { text.len() - digits.len() + length }
}

/// A number times a factor, which must be whole if `exact`; `None` for no number or too large a one.
pub(super) fn parse_scaled(number: &str, factor: u64, exact: bool) -> Option<u64> {
    let digits = without_separators(number)?;
    if let Ok(whole) = digits.parse::<u64>() {
        return whole.checked_mul(factor);
    }
    let value = digits.parse::<f64>().ok()? * factor as f64;
    let is_whole = (value - value.round()).abs() <= value * 1e-12;
    (value >= 0.0 && value < u64::MAX as f64 && (is_whole || !exact)).then_some(value.round() as u64)
}

pub(super) fn parse_fraction(number: &str) -> Option<f64> {
    without_separators(number)?.parse().ok()
}

/// A number without digit separators; `None` if they are misplaced.
fn without_separators(number: &str) -> Option<String> {
    let (mantissa, exponent) = number.split_at(number.find(['e', 'E']).unwrap_or(number.len()));
    let (whole, decimals) = mantissa.split_at(mantissa.find('.').unwrap_or(mantissa.len()));
    let whole = if whole.contains(',') { without_commas(whole)? } else { whole.replace('_', "") };
    let decimals = decimals.replace('_', "");
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let after_point = decimals.strip_prefix('.').unwrap_or_default();
    let has_digits = !whole.is_empty() || !after_point.is_empty();
    (has_digits && are_digits(&whole) && are_digits(after_point))
        .then(|| format!("{whole}{decimals}{exponent}"))
}

/// A whole number without thousands' commas: `1,000,000`.
fn without_commas(whole: &str) -> Option<String> {
    let mut groups = whole.split(',');
    let is_digit_group = |group: &str, lengths: std::ops::RangeInclusive<usize>| {
        lengths.contains(&group.len()) && group.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_grouped =
        groups.next().is_some_and(|first| is_digit_group(first, 1..=3) && !first.starts_with('0'))
            && groups.all(|group| is_digit_group(group, 3..=3));
    is_grouped.then(|| whole.replace(',', ""))
}

/// Whether a number has a leading zero that it does not need.
fn is_padded(text: &str) -> bool {
    let mut bytes = text.trim().bytes();
    bytes.next() == Some(b'0') && bytes.next().is_some_and(|byte| byte.is_ascii_digit())
}

/// The hint for a comma that is not understood.
pub(super) fn comma_hint(text: &str) -> &'static str {
    match text.contains(',') {
        true => {
            " (a comma separates groups of three digits, as in 50,000; a fraction has a point, as in 1.5)"
        }
        false => "",
    }
}

/// The values of a list that is separated by commas; `is_good` is whether a text is a value. A comma separates values, unless it
/// can only separate thousands: `1,000` is one number, as no list holds the value `000`; `100,1000` is two. A comma before a
/// space always separates values. Fails when a text can be read either way: `12,500`.
pub fn split_list(text: &str, is_good: impl Fn(&str) -> bool) -> Result<Vec<String>, String> {
    let values: Vec<&str> = text.split(',').map(str::trim).collect();
    let list = || values.iter().map(|value| (*value).to_owned()).collect();
    if values.len() == 1 || !groups_thousands(text) {
        return Ok(list());
    }
    let as_list = values.iter().all(|value| !is_padded(value) && is_good(value));
    match (as_list, is_good(text)) {
        (false, true) => Ok(vec![text.trim().to_owned()]),
        (true, true) => Err(format!(
            "{} can be one number or a list: write {} for the number, or {} for the list",
            quoted(text),
            quoted(&text.replace(',', "")),
            quoted(&values.join(", ")),
        )),
        _ => Ok(list()),
    }
}

/// Whether each comma of a text is where one of thousands would be.
fn groups_thousands(text: &str) -> bool {
    let mut rest = text.trim();
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        if rest[..start].contains(',') {
            return false;
        }
        let (number, _) = split(&rest[start..]);
        // The two points of a range belong to no number.
        let number = number.find("..").map_or(number, |end| &number[..end]);
        let whole = number.split(['.', 'e', 'E']).next().unwrap_or_default();
        if number.contains(',') && (without_commas(whole).is_none() || number[whole.len()..].contains(',')) {
            return false;
        }
        rest = &rest[start + number.len()..];
    }
    !rest.contains(',')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for (text, expected) in [
            ("50000", 50_000),
            ("50,000", 50_000),
            ("1,000,000", 1_000_000),
            ("50_000", 50_000),
            ("1e6", 1_000_000),
            ("1.5E+3", 1500),
            ("2.5e1", 25),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(parse_scaled(text, 1, true), Some(expected), "{text}");
        }
        for text in [
            "", ",", "5,00", "5,0000", "1,00,000", "0,500", ",500", "500,", "1,5", "1.5", "50.0.0", "-1",
            "1e", "_",
        ] {
            assert_eq!(parse_scaled(text, 1, true), None, "{text}");
        }
        assert_eq!(parse_scaled("1.46", 1 << 20, false), Some(1_530_921));
        assert_eq!(parse_scaled("99999999999", 1 << 40, true), None);
        assert_eq!(split_unit("1e6 KiB"), ("1e6", "KiB"));
        assert_eq!(split_unit("12e"), ("12", "e"));
        assert_eq!(split_unit("µs"), ("", "µs"));
    }

    #[test]
    fn a_comma_separates_values_unless_it_can_only_group_thousands() {
        let is_good =
            |text: &str| parse_scaled(text, 1, true).is_some_and(|number| (1..=100_000).contains(&number));
        let split = |text: &str| split_list(text, is_good);
        for (text, expected) in [
            ("100", &["100"][..]),
            ("100,1000", &["100", "1000"]),
            ("1,2,128", &["1", "2", "128"]),
            ("1,000", &["1,000"]),
            ("50,000", &["50,000"]),
            ("100, 500", &["100", "500"]),
            ("100,500,2000", &["100", "500", "2000"]),
            // As one number it is too large.
            ("900,900", &["900", "900"]),
            ("1,,2", &["1", "", "2"]),
            ("many,few", &["many", "few"]),
        ] {
            assert_eq!(split(text).unwrap(), expected, "{text}");
        }
        let doubt = r#""12,500" can be one number or a list: write "12500" for the number, or "12, 500" for the list"#;
        assert_eq!(split("12,500").unwrap_err(), doubt);
    }

    #[test]
    fn ranges_and_units_may_have_grouped_numbers() {
        let range = |text: &str| text.parse::<crate::units::CountRange>().is_ok();
        assert_eq!(split_list("1,000..5,000", range).unwrap(), ["1,000..5,000"]);
        assert_eq!(split_list("1000..5000,2000", range).unwrap(), ["1000..5000", "2000"]);
        assert!(split_list("10..50,100", range).unwrap_err().contains("can be one number"));
        let size = |text: &str| super::super::parse_bytes(text).is_ok();
        assert_eq!(split_list("4KiB,64KiB", size).unwrap(), ["4KiB", "64KiB"]);
        assert!(split_list("1,500KiB", size).is_err());
        assert_eq!(split_list("1,024KiB", size).unwrap(), ["1,024KiB"]);
        assert_eq!(split_list("5,000/s", |text| text.ends_with("/s")).unwrap(), ["5,000/s"]);
    }
}
