//! Words for axes and their values.

use storebench_model::axis::{Form, Value};
use storebench_model::cell::{Axis, Cell};
use storebench_model::units::{Sizes, with_commas};

use super::position::Position;

/// A cell's value on an axis, or the default; `None` without either.
pub fn value(cell: &Cell, axis: Axis) -> Option<Value> {
    let default = || axis.default_value().and_then(|default| axis.read(default).ok());
    cell.value(axis).cloned().or_else(default)
}

/// The names of a range's bounds in exports: `record_size_from_bytes` and `record_size_to_bytes`. `None` for other axes.
pub fn bounds(axis: Axis) -> Option<[String; 2]> {
    let unit = if axis.def().unit.is_empty() { String::new() } else { format!("_{}", axis.def().unit) };
    (axis.def().form == Form::Range).then(|| ["from", "to"].map(|end| format!("{axis}_{end}{unit}")))
}

/// One of an axis' values, in words: `record size`.
pub fn value_noun(axis: Axis) -> String {
    let many = axis.def().many;
    let first = many.split_once(' ').and_then(|(first, rest)| Some((first.strip_suffix('s')?, rest)));
    match first {
        Some((first, rest)) => format!("{first} {rest}"),
        None => many.strip_suffix('s').unwrap_or(many).to_owned(),
    }
}

/// The axis' name as a heading: `record size`.
pub fn heading(axis: Axis) -> String {
    axis.name().replace('_', " ")
}

/// A value below a heading with its axis: `1,000`, `1B..1KiB`.
pub fn short(axis: Axis, value: &Value) -> String {
    let words = (axis.def().words)(value);
    let heading = heading(axis);
    let after = words.strip_prefix(heading.as_str()).and_then(|rest| rest.strip_prefix(' '));
    let before = words.strip_suffix(heading.as_str()).and_then(|rest| rest.strip_suffix(' '));
    after.or(before).unwrap_or(&words).to_owned()
}

/// Whether a range is called only by its lower bound: `1,000 records`.
pub fn is_by_lower_bound(axis: Axis, value: &Value) -> bool {
    let words = (axis.def().words)(value);
    axis.def().form == Form::Range && words != value.text() && words.starts_with(&with_commas(value.lower()))
}

/// A value in full: `1,000 to 5,000 records`.
pub fn describe_value(axis: Axis, value: &Value) -> String {
    range_words(axis, value, value.upper())
}

/// The words of a range that is called by its lower bound, with another end; the plain words of others.
fn range_words(axis: Axis, value: &Value, end: u64) -> String {
    let words = (axis.def().words)(value);
    let lower = with_commas(value.lower());
    match is_by_lower_bound(axis, value) {
        true => words.replacen(&lower, &format!("{lower} to {}", with_commas(end)), 1),
        false => words,
    }
}

/// Several values next to each other, from the first to the last: `1B..10KiB`, `100 to 1,000 records`, `compressible data`.
pub fn describe_values(axis: Axis, values: &[Value]) -> String {
    let (Some(first), Some(last)) = (values.first(), values.last()) else { return String::new() };
    if number(axis, first).is_none() {
        let texts: Vec<String> = values.iter().map(|value| short(axis, value)).collect();
        return format!("{} {}", texts.join(" and "), heading(axis));
    }
    if is_by_lower_bound(axis, first) {
        let is_same = first.lower() == last.lower();
        return if is_same { (axis.def().words)(first) } else { range_words(axis, first, last.lower()) };
    }
    let is_literal = |value: &Value| (axis.def().words)(value) == value.text();
    let end = |value: &Value| value.text().rsplit_once("..").map(|(_, end)| end.to_owned());
    let end = |value: &Value| end(value).filter(|_| is_literal(first) && is_literal(value));
    let start = first.text().split("..").next().unwrap_or_default();
    match (first == last, end(last)) {
        (true, _) => short(axis, first),
        (false, Some(end)) => format!("{start}..{end}"),
        (false, None) => format!("{} to {}", short(axis, first), short(axis, last)),
    }
}

/// The position of a value on a scale: for a range called by its lower bound that bound, for others the mean; `None` without a quantity.
pub fn number(axis: Axis, value: &Value) -> Option<f64> {
    match axis.def().form {
        // A quantity has itself for both bounds; bounds of other words only sort them.
        Form::Text if value.lower() == value.upper() && value.lower() > 0 => Some(value.lower() as f64),
        Form::Text => None,
        Form::Number | Form::Quantity => Some(value.lower() as f64),
        Form::Range if is_by_lower_bound(axis, value) => Some(value.lower() as f64),
        Form::Range => Some(match value.typed::<Sizes>() {
            Some(sizes) => sizes.mean(),
            None => (value.lower() as f64 + value.upper().saturating_sub(1) as f64) / 2.0,
        }),
    }
}

/// Values that say that something is not there.
const ABSENCES: [(Axis, &str); 4] =
    [(Axis::INDEX, "none"), (Axis::READER, "none"), (Axis::WRITER, "none"), (Axis::SPACE_RECLAIM, "alone")];

/// A position with the full ranges: `1B..1KiB, 100 to 500 records, compressible`. Absences (`no reader`) are left out.
pub fn position_in_full(position: &Position) -> String {
    position_among(position, &[])
}

/// The same without the values common to all of some positions, unless nothing remains.
pub fn position_among(position: &Position, all: &[&Position]) -> String {
    let differs =
        |value| all.is_empty() || all.iter().any(|other| other.values().all(|theirs| theirs != value));
    let mut values: Vec<_> = position.values().filter(|value| differs(*value)).collect();
    values.sort_by_key(|(axis, _)| (axis.place_in_id(), *axis));
    let is_absent = |(axis, value): &(Axis, &Value)| ABSENCES.contains(&(*axis, value.text()));
    let values = values.into_iter().filter(|value| !all.is_empty() || !is_absent(value));
    values.map(|(axis, value)| describe_value(axis, value)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(axis: Axis, text: &str) -> Value {
        axis.read(text).unwrap()
    }

    #[test]
    fn what_is_not_there_has_no_word_but_where_it_tells_positions_apart() {
        let position = |reader: &str| {
            Position::from_values([
                (Axis::CHURN, read(Axis::CHURN, "queue")),
                (Axis::READER, read(Axis::READER, reader)),
                (Axis::WRITER, read(Axis::WRITER, "none")),
            ])
        };
        let (idle, reading) = (position("none"), position("held"));
        assert_eq!(position_in_full(&idle), "churn queue");
        assert_eq!(position_in_full(&reading), "churn queue, reader held");
        assert_eq!(position_among(&idle, &[&idle, &reading]), "no reader");
    }

    #[test]
    fn values_have_as_many_words_as_they_need() {
        let (size, records) = (read(Axis::RECORD_SIZE, "1B..1KiB"), read(Axis::RECORDS, "1000..5000"));
        let (place, data) = (read(Axis::PLACE, "ssd"), read(Axis::DATA, "compressible"));
        assert_eq!(short(Axis::RECORD_SIZE, &size), "1B..1KiB");
        assert_eq!(short(Axis::RECORDS, &records), "1,000");
        assert_eq!([short(Axis::PLACE, &place), short(Axis::DATA, &data)], ["ssd", "compressible"]);
        assert_eq!(describe_value(Axis::RECORDS, &records), "1,000 to 5,000 records");
        assert_eq!(describe_value(Axis::RECORD_SIZE, &size), "1B..1KiB");
        assert_eq!([value_noun(Axis::RECORDS), heading(Axis::RECORD_SIZE)], ["record count", "record size"]);
        assert_eq!([value_noun(Axis::IO), value_noun(Axis::STORE)], ["way to open the file", "store"]);
    }

    #[test]
    fn neighbours_are_named_from_the_first_to_the_last() {
        let describe_ends = |axis: Axis, first: &str, last: &str| {
            describe_values(axis, &[read(axis, first), read(axis, last)])
        };
        assert_eq!(describe_ends(Axis::RECORD_SIZE, "1B..1KiB", "10KiB..100KiB"), "1B..100KiB");
        assert_eq!(describe_ends(Axis::RECORD_SIZE, "4KiB", "4KiB"), "4KiB");
        assert_eq!(describe_ends(Axis::RECORD_SIZE, "4KiB", "8KiB"), "4KiB to 8KiB");
        let mixed = "1B..1KiB to mixed sizes (median 8 B, mean 1.00 KiB, largest 2.00 KiB)";
        assert_eq!(describe_ends(Axis::RECORD_SIZE, "1B..1KiB", "50%:1B..9B+50%:2KiB"), mixed);
        assert_eq!(describe_ends(Axis::RECORDS, "100", "1000"), "100 to 1,000 records");
        assert_eq!(describe_ends(Axis::RECORDS, "1000", "1000"), "1,000 records");
        assert_eq!(describe_values(Axis::DATA, &[read(Axis::DATA, "compressible")]), "compressible data");
        assert_eq!(describe_ends(Axis::PLACE, "hdd", "ssd"), "hdd and ssd place");
        assert_eq!(describe_ends(Axis::THREADS, "1", "4"), "1 to 4");
        assert_eq!(describe_ends(Axis::BLOCK_SIZE, "4KiB", "64KiB"), "4KiB to 64KiB");
    }

    #[test]
    fn ranges_stand_where_they_are_called() {
        let number_at = |axis: Axis, text: &str| number(axis, &read(axis, text));
        assert_eq!(number_at(Axis::RECORDS, "1000..5000"), Some(1000.0));
        assert_eq!(number_at(Axis::RECORD_SIZE, "1B..1KiB"), Some(512.0));
        assert_eq!(number_at(Axis::RECORD_SIZE, "90%:10B+10%:1000B"), Some(109.0));
        assert_eq!((number_at(Axis::THREADS, "4"), number_at(Axis::DATA, "compressible")), (Some(4.0), None));
        assert_eq!(number_at(Axis::BLOCK_SIZE, "4KiB"), Some(4096.0));
        assert_eq!(number_at(Axis::IO, "direct"), None);
    }
}
