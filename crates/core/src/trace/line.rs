//! One line of a trace, in each form.

use super::form::Form;
use super::word::{self, Word};
use crate::shown::quoted;

/// The content of a line; its key is in a buffer beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Said {
    /// The time as the trace tells it, in nanoseconds.
    pub time_ns: u64,
    /// The trace's name for the operation.
    pub word: &'static Word,
    /// Bytes of the value; of a scan, records.
    pub size: u64,
}

const SECOND_NS: u64 = 1_000_000_000;

/// Where storebench's own form has its columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Columns {
    time: Option<(usize, u64)>,
    operation: usize,
    key: (usize, bool),
    size: Option<usize>,
}

impl Columns {
    /// Those of a file without a header: time, operation, key, size.
    pub const WITHOUT_HEADER: Columns =
        Columns { time: Some((0, SECOND_NS)), operation: 1, key: (2, false), size: Some(3) };

    /// Those that a header names; `None` where it is none.
    pub fn of_header(names: &[String]) -> Option<Columns> {
        let at = |names_of: &[&str]| {
            names.iter().position(|name| names_of.iter().any(|of| of.eq_ignore_ascii_case(name)))
        };
        let times: [(&[&str], u64); 4] = [
            (&["time", "time_s", "timestamp"], SECOND_NS),
            (&["time_ms"], 1_000_000),
            (&["time_us"], 1_000),
            (&["time_ns"], 1),
        ];
        let time = times.into_iter().find_map(|(names, unit_ns)| Some((at(names)?, unit_ns)));
        let key = at(&["key"]).map(|at| (at, false)).or(at(&["key_hex"]).map(|at| (at, true)))?;
        Some(Columns { time, operation: at(&["operation", "op"])?, key, size: at(&["size", "value_size"]) })
    }

    /// The names of a header that are those of none of these.
    pub fn ignored(&self, names: &[String]) -> Vec<String> {
        let played = [self.time.map(|(at, _)| at), Some(self.operation), Some(self.key.0), self.size];
        let others = names.iter().enumerate().filter(|(at, _)| !played.contains(&Some(*at)));
        others.map(|(_, name)| name.clone()).collect()
    }

    /// Whether lines tell a time.
    pub fn have_times(&self) -> bool {
        self.time.is_some()
    }

    /// Reads a line's fields.
    ///
    /// # Errors
    /// A mistake in them.
    pub fn read(&self, fields: &csv::ByteRecord, key: &mut Vec<u8>) -> Result<Said, String> {
        let field = |at: usize, name: &str| {
            let missing =
                || format!("it has {} columns and no {name}, which would be column {}", fields.len(), at + 1);
            fields.get(at).map(<[u8]>::trim_ascii).ok_or_else(missing)
        };
        let word = find(Form::Csv, field(self.operation, "operation")?)?;
        let time_ns = match self.time {
            Some((at, unit_ns)) => match field(at, "time")? {
                b"" => return Err("it has no time".into()),
                time => decimal(time, unit_ns)?,
            },
            None => 0,
        };
        let raw =
            fields.get(self.key.0).ok_or_else(|| format!("it has {} columns and no key", fields.len()))?;
        key.clear();
        if self.key.1 {
            append_hex(raw.trim_ascii(), key)?;
        } else {
            key.extend_from_slice(raw);
        }
        let size = self.size.and_then(|at| fields.get(at)).map(<[u8]>::trim_ascii).unwrap_or_default();
        let size = match (size, word.does) {
            (b"", word::Does::Set | word::Does::Modify) => {
                return Err(format!("a {} needs the size of its value", word.name));
            }
            (b"", word::Does::Scan) => 1,
            (b"", _) => 0,
            (size, _) => number(size, "size")?,
        };
        Ok(Said { time_ns, word, size })
    }
}

/// The fields of a line of CSV, without quotes and the blanks around them.
pub fn csv_fields(line: &str) -> Vec<String> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(line.as_bytes());
    let mut fields = csv::StringRecord::new();
    let is_read = reader.read_record(&mut fields).unwrap_or(false);
    let without = |field: &str| {
        let field = field.trim();
        field.strip_prefix('"').and_then(|field| field.strip_suffix('"')).unwrap_or(field).to_owned()
    };
    if is_read { fields.iter().map(without).collect() } else { Vec::new() }
}

/// Reads a line of Twitter's traces: time in seconds, key, its size, the value's size, client, operation, time to live. A key
/// may hold commas.
pub fn twitter(line: &[u8], key: &mut Vec<u8>) -> Result<Said, String> {
    let mut from_end = line.rsplitn(6, |byte| *byte == b',');
    let mut next = || from_end.next().ok_or("it has fewer than the seven columns of Twitter's traces");
    let (_ttl, operation, _client, size, _key_size) = (next()?, next()?, next()?, next()?, next()?);
    let rest = next()?;
    let comma = rest.iter().position(|byte| *byte == b',');
    let comma = comma.ok_or("it has fewer than the seven columns of Twitter's traces")?;
    let time_ns = seconds(number(&rest[..comma], "time")?, SECOND_NS)?;
    key.clear();
    key.extend_from_slice(&rest[comma + 1..]);
    Ok(Said { time_ns, word: find(Form::Twitter, operation)?, size: number(size, "size")? })
}

/// Reads a line of trace_analyzer: the key in hexadecimal, the operation's number, the column family, the value's size, the time
/// in microseconds. The keys of families but the first get the family's number before them.
pub fn rocksdb(line: &[u8], key: &mut Vec<u8>) -> Result<Said, String> {
    let mut fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
    let mut next = || fields.next().ok_or("it has fewer than the five columns of trace_analyzer");
    let (hex, operation, family, size, time) = (next()?, next()?, next()?, next()?, next()?);
    let number_of = number(operation, "operation")?;
    let word = usize::try_from(number_of).ok().and_then(|at| word::ROCKSDB.get(at));
    let word =
        word.ok_or_else(|| format!("trace_analyzer has no operation {number_of}: they go from 0 to 8"))?;
    let family = number(family, "column family")?;
    key.clear();
    if family != 0 {
        key.extend_from_slice(
            &u32::try_from(family).map_err(|_| "the column family is too large")?.to_be_bytes(),
        );
    }
    append_hex(hex.strip_prefix(b"0x").ok_or("its key does not begin with 0x")?, key)?;
    let size = if word.does == word::Does::Scan { 1 } else { number(size, "size")? };
    Ok(Said { time_ns: seconds(number(time, "time")?, 1_000)?, word, size })
}

fn find(form: Form, name: &[u8]) -> Result<&'static Word, String> {
    word::find(form.table(), name).ok_or_else(|| {
        let known: Vec<&str> = form.table().iter().map(|word| word.name).collect();
        format!(
            "{} is no operation of this form: {}",
            quoted(&String::from_utf8_lossy(name)),
            known.join(", ")
        )
    })
}

fn number(text: &[u8], what: &str) -> Result<u64, String> {
    let read = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
    read.ok_or_else(|| {
        format!("its {what}, {}, is not a whole number", quoted(&String::from_utf8_lossy(text)))
    })
}

fn seconds(count: u64, unit_ns: u64) -> Result<u64, String> {
    count.checked_mul(unit_ns).ok_or_else(|| format!("its time, {count}, is too large"))
}

/// A number with decimals, in nanoseconds; digits beyond them are dropped.
fn decimal(text: &[u8], unit_ns: u64) -> Result<u64, String> {
    let (whole, part) = match text.iter().position(|byte| *byte == b'.') {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (text, &b""[..]),
    };
    let mut time_ns = seconds(number(if whole.is_empty() { b"0" } else { whole }, "time")?, unit_ns)?;
    let mut digit_ns = unit_ns;
    for digit in part {
        if !digit.is_ascii_digit() {
            return Err(format!("its time, {}, is not a number", quoted(&String::from_utf8_lossy(text))));
        }
        digit_ns /= 10;
        time_ns += u64::from(digit - b'0') * digit_ns;
    }
    Ok(time_ns)
}

fn append_hex(text: &[u8], key: &mut Vec<u8>) -> Result<(), String> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let (pairs, rest) = text.as_chunks::<2>();
    for [high, low] in pairs {
        let byte = digit(*high).zip(digit(*low)).map(|(high, low)| high << 4 | low);
        key.push(byte.ok_or("its key is not hexadecimal")?);
    }
    if rest.is_empty() { Ok(()) } else { Err("its key has an odd number of hexadecimal digits".into()) }
}

#[cfg(test)]
mod tests {
    use super::word::Does;
    use super::*;

    #[test]
    fn a_line_of_twitter_is_read_from_both_ends() {
        let mut key = Vec::new();
        let said = twitter(b"12,nz:u,x,22,304,7,append,3600", &mut key).unwrap();
        assert_eq!((said.time_ns, said.size, said.word.name), (12_000_000_000, 304, "append"));
        assert_eq!((said.word.does, key.as_slice()), (Does::Modify, &b"nz:u,x"[..]));
        for bad in ["12,k,1,2,3,get", "x,k,1,2,3,get,0", "12,k,1,2,3,touch,0", "12,k,1,-2,3,get,0"] {
            assert!(twitter(bad.as_bytes(), &mut key).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_line_of_trace_analyzer_has_a_key_in_hexadecimal() {
        let mut key = Vec::new();
        let said = rocksdb(b"0x00FFa1 5 0 37 1594838400000123", &mut key).unwrap();
        assert_eq!((said.time_ns, said.size, said.word.name), (1_594_838_400_000_123_000, 37, "merge"));
        assert_eq!(key, [0, 255, 0xa1]);
        let said = rocksdb(b"0x41 6 2 0 5", &mut key).unwrap();
        assert_eq!((said.word.does, said.size, key.as_slice()), (Does::Scan, 1, &[0, 0, 0, 2, 0x41][..]));
        assert_eq!(rocksdb(b"0x41 4 0 0 5", &mut key).unwrap().word.does, Does::Skip);
        for bad in ["0x4 0 0 0 5", "41 0 0 0 5", "0x41 9 0 0 5", "0x41 0 0 0", "0x4g 0 0 0 5"] {
            assert!(rocksdb(bad.as_bytes(), &mut key).is_err(), "{bad}");
        }
    }

    #[test]
    fn times_have_units_and_decimals() {
        assert_eq!(decimal(b"1.5", SECOND_NS), Ok(1_500_000_000));
        assert_eq!(decimal(b".000000001", SECOND_NS), Ok(1));
        assert_eq!(decimal(b"0.0000000019", SECOND_NS), Ok(1));
        assert_eq!(decimal(b"17", 1_000), Ok(17_000));
        assert_eq!(decimal(b"2.25", 1_000), Ok(2_250));
        assert!(decimal(b"1e3", SECOND_NS).is_err() && decimal(b"1.x", SECOND_NS).is_err());
        assert!(decimal(b"99999999999999", SECOND_NS).is_err());
    }

    #[test]
    fn a_header_names_columns_in_any_order() {
        let of = |names: &str| Columns::of_header(&csv_fields(names));
        let names = "key_hex, \"Op\",\"the, note\",time_us,value_size";
        let columns = of(names).unwrap();
        assert_eq!(columns.ignored(&csv_fields(names)), ["the, note"]);
        let mut key = Vec::new();
        let read =
            |fields: &[&str], key: &mut Vec<u8>| columns.read(&csv::ByteRecord::from(fields.to_vec()), key);
        let said = read(&["4142", "PUT", "", "7", "12"], &mut key).unwrap();
        assert_eq!(
            (said.time_ns, said.size, said.word.does, key.as_slice()),
            (7_000, 12, Does::Set, &b"AB"[..])
        );
        assert!(read(&["4142", "put", "", "7", ""], &mut key).unwrap_err().contains("needs the size"));
        assert!(read(&["4142", "get", "", "", ""], &mut key).unwrap_err().contains("it has no time"));
        assert_eq!(read(&["4142", "get", "", "7", ""], &mut key).unwrap().size, 0);
        assert!(!of("key,op").unwrap().have_times());
        assert_eq!(of("a,b"), None);
    }
}
