//! One line of a trace, in each form.

use storebench_model::sanitize::quoted;
use storebench_model::units::as_text;
use storebench_model::words::words;

use super::form::Form;
use super::operation::{self, OperationName, TraceOperation};

/// The content of a line; its key is in a separate buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParsedLine {
    /// The time in the trace, in nanoseconds.
    pub time_ns: u64,
    /// The trace's name for the operation.
    pub word: &'static OperationName,
    /// Bytes of the value, if given; of a scan, records.
    pub size: Option<u64>,
}

const SECOND_NS: u64 = 1_000_000_000;

/// Where storebench's own form has its columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Columns {
    /// The column of times, and the nanoseconds of its unit where that is known.
    time: Option<(usize, Option<u64>)>,
    operation: usize,
    key: (usize, bool),
    size: Option<usize>,
    /// How many there are, those included that are not played: what lies beyond them has no name.
    column_count: usize,
}

impl Columns {
    /// The columns of a file without a header: time, operation, key, size.
    pub const WITHOUT_HEADER: Columns = Columns {
        time: Some((0, Some(SECOND_NS))),
        operation: 1,
        key: (2, false),
        size: Some(3),
        column_count: 4,
    };

    /// The columns that a header names; `None` if it is no header.
    pub fn from_header(names: &[String]) -> Option<Columns> {
        let find_column = |aliases: &[&str]| {
            names.iter().position(|name| aliases.iter().any(|alias| alias.eq_ignore_ascii_case(name)))
        };
        let times = names.iter().enumerate().filter_map(|(index, name)| Some((index, unit_of(name)?)));
        // The first of the times with a unit, if any has one.
        let time = times.min_by_key(|(_, unit_ns)| unit_ns.is_none());
        let (plain, hex) = (find_column(&["key"]), find_column(&["key_hex"]));
        let key = plain.map(|index| (index, false)).or(hex.map(|index| (index, true)))?;
        let (operation, size) = (find_column(&["operation", "op"])?, find_column(&["size", "value_size"]));
        Some(Columns { time, operation, key, size, column_count: names.len() })
    }

    /// The same of a first line with these names, and with a unit of times, which takes the place of one that the header gives.
    /// Fails where neither gives one, or there are no times.
    pub fn with_unit(self, unit_ns: Option<u64>, names: &[String]) -> Result<Columns, String> {
        let columns = Columns { column_count: self.column_count.max(names.len()), ..self };
        match self.time {
            None if unit_ns.is_some() => Err("it has no column of times that could have a unit".into()),
            None => Ok(columns),
            Some((index, known)) => match unit_ns.or(known) {
                Some(unit_ns) => Ok(Columns { time: Some((index, Some(unit_ns))), ..columns }),
                None => Err(format!(
                    "its column {} does not say the unit of its times: say --time-unit s, ms, us or ns (--trace-time-unit for run)",
                    quoted(&names[index])
                )),
            },
        }
    }

    /// The header's names of other columns, which are ignored.
    pub fn ignored(&self, names: &[String]) -> Vec<String> {
        let used = [self.time.map(|(index, _)| index), Some(self.operation), Some(self.key.0), self.size];
        let unused = names.iter().enumerate().filter(|(index, _)| !used.contains(&Some(*index)));
        unused.map(|(_, name)| name.clone()).collect()
    }

    /// Whether lines have a time.
    pub fn has_times(&self) -> bool {
        self.time.is_some()
    }

    /// Reads a line's fields. The error is a mistake in them.
    pub fn read(&self, fields: &csv::ByteRecord, key: &mut Vec<u8>) -> Result<ParsedLine, String> {
        let field = |index: usize, name: &str| {
            let missing = || {
                format!("it has {} columns and no {name}, which would be column {}", fields.len(), index + 1)
            };
            fields.get(index).map(<[u8]>::trim_ascii).ok_or_else(missing)
        };
        if fields.iter().skip(self.column_count).any(|field| !field.trim_ascii().is_empty()) {
            let (count, expected) = (fields.len(), self.column_count);
            return Err(format!("it has {count} columns, and the first line has {expected}"));
        }
        let word = find_operation(Form::Csv, field(self.operation, "operation")?)?;
        let time_ns = match self.time {
            Some((index, unit_ns)) => match field(index, "time")? {
                b"" => return Err("it has no time".into()),
                time => parse_decimal(time, unit_ns.unwrap_or(SECOND_NS))?,
            },
            None => 0,
        };
        let raw =
            fields.get(self.key.0).ok_or_else(|| format!("it has {} columns and no key", fields.len()))?;
        key.clear();
        if self.key.1 {
            append_hex(raw.trim_ascii(), key)?;
        } else {
            key.extend_from_slice(strip_blanks(raw));
        }
        let size = self.size.and_then(|index| fields.get(index)).map(<[u8]>::trim_ascii).unwrap_or_default();
        let size = match (size, word.does) {
            (b"", TraceOperation::Set | TraceOperation::Modify) => {
                return Err(format!("a {} needs the size of its value", word.name));
            }
            (b"", TraceOperation::Scan) => Some(1),
            (b"", _) => None,
            (size, _) => Some(parse_number(size, "size")?),
        };
        Ok(ParsedLine { time_ns, word, size })
    }
}

/// A field without the blanks behind the comma ahead of it, and without quotes that these keep the reader from seeing.
fn strip_blanks(raw: &[u8]) -> &[u8] {
    let field = raw.trim_ascii_start();
    if field.len() < raw.len() { unquote(field) } else { raw }
}

fn unquote(field: &[u8]) -> &[u8] {
    field.strip_prefix(b"\"").and_then(|field| field.strip_suffix(b"\"")).unwrap_or(field)
}

/// The unit of a column of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantNames, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
#[allow(missing_docs)]
pub enum TimeUnit {
    S,
    Ms,
    Us,
    Ns,
}

words!(TimeUnit, "{} is no unit of times: use s, ms, us or ns");
as_text!(TimeUnit);

impl TimeUnit {
    /// In nanoseconds.
    pub fn ns(self) -> u64 {
        [SECOND_NS, 1_000_000, 1_000, 1][self as usize]
    }
}

/// The unit of a column of times, in nanoseconds, where its name says it; `None` of other columns.
fn unit_of(name: &str) -> Option<Option<u64>> {
    let name = name.to_ascii_lowercase();
    let (column, unit) = name.rsplit_once('_').unwrap_or((name.as_str(), ""));
    match (column, unit) {
        ("time" | "timestamp", "") => Some(Some(SECOND_NS)),
        ("ts" | "t" | "at" | "epoch" | "date" | "datetime", "") => Some(None),
        ("time" | "timestamp" | "ts" | "epoch", unit) => {
            unit.parse().ok().map(|unit: TimeUnit| Some(unit.ns()))
        }
        _ => None,
    }
}

/// The fields of a line of CSV, without quotes and the blanks around them.
pub fn csv_fields(line: &str) -> Vec<String> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(line.as_bytes());
    let mut fields = csv::StringRecord::new();
    let has_record = reader.read_record(&mut fields).unwrap_or(false);
    let strip_quotes = |field: &[u8]| String::from_utf8_lossy(unquote(field)).into_owned();
    let fields = fields.iter().map(|field| strip_quotes(field.trim().as_bytes()));
    if has_record { fields.collect() } else { Vec::new() }
}

/// Reads a line of Twitter's traces: time in seconds, key (which may hold commas), its size, the value's, client, operation, time to live.
pub fn twitter(line: &[u8], key: &mut Vec<u8>) -> Result<ParsedLine, String> {
    let mut from_end = line.rsplitn(6, |byte| *byte == b',');
    let missing_column = || "it has fewer than the seven columns of Twitter's traces";
    let mut next = || from_end.next().map(|field| unquote(field.trim_ascii())).ok_or_else(missing_column);
    let (_ttl, operation, _client, size, _key_size) = (next()?, next()?, next()?, next()?, next()?);
    let rest = from_end.next().ok_or_else(missing_column)?;
    let comma = rest.iter().position(|byte| *byte == b',').ok_or_else(missing_column)?;
    let time_ns = to_nanoseconds(parse_number(unquote(rest[..comma].trim_ascii()), "time")?, SECOND_NS)?;
    key.clear();
    key.extend_from_slice(unquote(rest[comma + 1..].trim_ascii_start()));
    let word = find_operation(Form::Twitter, operation)?;
    Ok(ParsedLine { time_ns, word, size: known_size(word, parse_number(size, "size")?) })
}

/// Reads a line of trace_analyzer: the key in hexadecimal, the operation's number, the column family, the value's size, the time
/// in microseconds. The keys of families but the first have the family before them, behind all keys of the first.
pub fn rocksdb(line: &[u8], key: &mut Vec<u8>) -> Result<ParsedLine, String> {
    let mut fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
    let mut next = || fields.next().ok_or("it has fewer than the five columns of trace_analyzer");
    let (hex, operation, family, size, time) = (next()?, next()?, next()?, next()?, next()?);
    if next().is_ok() {
        return Err("it has more than the five columns of trace_analyzer".into());
    }
    let operation_number = parse_number(operation, "operation")?;
    let word = usize::try_from(operation_number).ok().and_then(|index| operation::ROCKSDB.get(index));
    let word = word
        .ok_or_else(|| format!("trace_analyzer has no operation {operation_number}: they go from 0 to 8"))?;
    let family = parse_number(family, "column family")?;
    key.clear();
    if family != 0 {
        let family = u32::try_from(family).map_err(|_| "the column family is too large")?;
        key.extend_from_slice(&OTHER_FAMILY);
        key.extend_from_slice(&family.to_be_bytes());
    }
    append_hex(hex.strip_prefix(b"0x").ok_or("its key does not begin with 0x")?, key)?;
    if family == 0 && key.first() == OTHER_FAMILY.first() {
        key.insert(1, 0);
    }
    let size = match word.does {
        TraceOperation::Scan => Some(1),
        _ => known_size(word, parse_number(size, "size")?),
    };
    Ok(ParsedLine { time_ns: to_nanoseconds(parse_number(time, "time")?, 1_000)?, word, size })
}

/// The beginning of keys that are not in RocksDB's first column family; where one in the first begins with 255, a 0 follows.
const OTHER_FAMILY: [u8; 2] = [255, 1];

/// What the keys of a key's column family begin with, in RocksDB's form; nothing for the first family.
pub fn family_of(key: &[u8]) -> &[u8] {
    key.get(..OTHER_FAMILY.len() + 4).filter(|family| family.starts_with(&OTHER_FAMILY)).unwrap_or_default()
}

/// A size in a form that writes 0 for no size: only writes can have no bytes.
fn known_size(word: &OperationName, size: u64) -> Option<u64> {
    (word.does.writes() || size > 0).then_some(size)
}

fn find_operation(form: Form, name: &[u8]) -> Result<&'static OperationName, String> {
    operation::find(form.table(), name).ok_or_else(|| {
        let known: Vec<&str> = form.table().iter().map(|word| word.name).collect();
        let name = quoted(&String::from_utf8_lossy(name));
        format!("{name} is no operation of this form: {}", known.join(", "))
    })
}

fn parse_number(text: &[u8], field: &str) -> Result<u64, String> {
    let number = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
    number.ok_or_else(|| {
        format!("its {field}, {}, is not a whole number", quoted(&String::from_utf8_lossy(text)))
    })
}

fn to_nanoseconds(count: u64, unit_ns: u64) -> Result<u64, String> {
    count.checked_mul(unit_ns).ok_or_else(|| format!("its time, {count}, is too large"))
}

/// A number with decimals, in nanoseconds; digits beyond them are dropped.
fn parse_decimal(text: &[u8], unit_ns: u64) -> Result<u64, String> {
    let (whole, fraction) = match text.iter().position(|byte| *byte == b'.') {
        Some(point) => (&text[..point], &text[point + 1..]),
        None => (text, &b""[..]),
    };
    let mut time_ns =
        to_nanoseconds(parse_number(if whole.is_empty() { b"0" } else { whole }, "time")?, unit_ns)?;
    let mut digit_ns = unit_ns;
    for digit in fraction {
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
    use super::*;

    #[test]
    fn a_line_of_twitter_is_read_from_both_ends() {
        let mut key = Vec::new();
        let parsed = twitter(b"12,nz:u,x,22,304,7,append,3600", &mut key).unwrap();
        assert_eq!((parsed.time_ns, parsed.size, parsed.word.name), (12_000_000_000, Some(304), "append"));
        assert_eq!((parsed.word.does, key.as_slice()), (TraceOperation::Modify, &b"nz:u,x"[..]));
        twitter(b"12, nz:u, 4, 22, 304, get, 0", &mut key).unwrap();
        assert_eq!(key, b"nz:u");
        let parsed = twitter(br#""12","nz:u,x","4","22","304","get","0""#, &mut key).unwrap();
        assert_eq!((parsed.time_ns, parsed.size, &key[..]), (12_000_000_000, Some(22), &b"nz:u,x"[..]));
        for bad in ["12,k,1,2,3,get", "x,k,1,2,3,get,0", "12,k,1,2,3,touch,0", "12,k,1,-2,3,get,0"] {
            assert!(twitter(bad.as_bytes(), &mut key).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_line_of_trace_analyzer_has_a_key_in_hexadecimal() {
        let mut key = Vec::new();
        let parsed = rocksdb(b"0x00FFa1 5 0 37 1594838400000123", &mut key).unwrap();
        assert_eq!((parsed.time_ns, parsed.size), (1_594_838_400_000_123_000, Some(37)));
        assert_eq!((parsed.word.name, key.as_slice()), ("merge", &[0, 255, 0xa1][..]));
        let parsed = rocksdb(b"0x41 6 2 0 5", &mut key).unwrap();
        assert_eq!((parsed.word.does, parsed.size), (TraceOperation::Scan, Some(1)));
        assert_eq!((key.as_slice(), family_of(&key)), (&[255, 1, 0, 0, 0, 2, 0x41][..], &key[..6]));
        assert_eq!(rocksdb(b"0xff010000000241 0 0 0 5", &mut key).unwrap().size, None);
        let another_key = &[255, 0, 1, 0, 0, 0, 2, 0x41][..];
        assert_eq!((key.as_slice(), family_of(&key)), (another_key, &[][..]));
        assert_eq!(rocksdb(b"0x41 4 0 0 5", &mut key).unwrap().word.does, TraceOperation::Skip);
        for bad in
            ["0x41 0 0 0 5 6", "0x4 0 0 0 5", "41 0 0 0 5", "0x41 9 0 0 5", "0x41 0 0 0", "0x4g 0 0 0 5"]
        {
            assert!(rocksdb(bad.as_bytes(), &mut key).is_err(), "{bad}");
        }
    }

    #[test]
    fn times_have_units_and_decimals() {
        assert_eq!(parse_decimal(b"1.5", SECOND_NS), Ok(1_500_000_000));
        assert_eq!(parse_decimal(b".000000001", SECOND_NS), Ok(1));
        assert_eq!(parse_decimal(b"0.0000000019", SECOND_NS), Ok(1));
        assert_eq!(parse_decimal(b"17", 1_000), Ok(17_000));
        assert_eq!(parse_decimal(b"2.25", 1_000), Ok(2_250));
        assert!(parse_decimal(b"1e3", SECOND_NS).is_err() && parse_decimal(b"1.x", SECOND_NS).is_err());
        assert!(parse_decimal(b"99999999999999", SECOND_NS).is_err());
    }

    #[test]
    fn a_header_names_columns_in_any_order() {
        let parse_header = |names: &str| Columns::from_header(&csv_fields(names));
        let names = "key_hex, \"Op\",\"the, note\",time_us,value_size";
        let columns = parse_header(names).unwrap();
        assert_eq!(columns.ignored(&csv_fields(names)), ["the, note"]);
        let mut key = Vec::new();
        let read =
            |fields: &[&str], key: &mut Vec<u8>| columns.read(&csv::ByteRecord::from(fields.to_vec()), key);
        let parsed = read(&["4142", "PUT", "", "7", "12"], &mut key).unwrap();
        assert_eq!((parsed.time_ns, parsed.size, parsed.word.does), (7_000, Some(12), TraceOperation::Set));
        assert_eq!(key, b"AB");
        assert!(read(&["4142", "put", "", "7", ""], &mut key).unwrap_err().contains("needs the size"));
        assert!(read(&["4142", "get", "", "", ""], &mut key).unwrap_err().contains("it has no time"));
        assert_eq!(read(&["4142", "get", "", "7", ""], &mut key).unwrap().size, None);
        assert_eq!(read(&["4142", "get", "", "7", "0"], &mut key).unwrap().size, Some(0));
        let headerless = Columns::WITHOUT_HEADER;
        let line = csv::ByteRecord::from(vec!["0.5", " set", " \"a b\"", " 3"]);
        assert_eq!((headerless.read(&line, &mut key).unwrap().size, key.as_slice()), (Some(3), &b"a b"[..]));
        let longer = csv::ByteRecord::from(vec!["0.5", "set", "a", "3", "40"]);
        let error = headerless.read(&longer, &mut key).unwrap_err();
        assert!(error.contains("has 5 columns, and the first line has 4"), "{error}");
        assert!(!parse_header("key,op").unwrap().has_times() && parse_header("a,b").is_none());
    }

    #[test]
    fn a_column_of_times_has_a_unit_by_its_name_or_an_option() {
        let unit = |header: &str, option: Option<u64>| {
            let names = csv_fields(&format!("{header},key,op"));
            let columns = Columns::from_header(&names).unwrap().with_unit(option, &names)?;
            Ok::<_, String>(columns.time.and_then(|(_, unit_ns)| unit_ns))
        };
        for (header, unit_ns) in [
            ("timestamp", SECOND_NS),
            ("Time_MS", 1_000_000),
            ("ts_us", 1_000),
            ("ts,time_ns", 1),
            ("t,time", SECOND_NS),
        ] {
            assert_eq!(unit(header, None), Ok(Some(unit_ns)), "{header}");
        }
        assert_eq!((unit("ts", Some(1_000)), unit("note", None)), (Ok(Some(1_000)), Ok(None)));
        let error = unit("ts", None).unwrap_err();
        assert!(error.contains("its column \"ts\"") && error.contains("--time-unit"), "{error}");
        assert!(unit("note", Some(1)).is_err() && "min".parse::<TimeUnit>().is_err());
    }
}
