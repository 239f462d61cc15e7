//! The forms of traces, and how a file shows its form.

use storebench_model::sanitize::quoted;
use storebench_model::units::as_text;
use storebench_model::words::words;

use super::line::{self, Columns};
use super::operation::{self, OperationName};

/// The form in which a trace is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantNames, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Form {
    /// storebench's own: CSV with the columns time, operation, key, size.
    Csv,
    /// Twitter's cache traces.
    Twitter,
    /// The readable trace of RocksDB's trace_analyzer.
    RocksDb,
}

words!(Form, "{} is no form of a trace: use csv, twitter or rocksdb");

impl Form {
    /// The form in words.
    pub fn describe(self) -> &'static str {
        match self {
            Form::Csv => "CSV with the columns time, operation, key, size",
            Form::Twitter => "Twitter's cache traces",
            Form::RocksDb => "RocksDB's trace_analyzer -convert_to_human_readable_trace",
        }
    }

    /// The columns that are not played of a form that names none.
    pub fn ignored(self) -> &'static [&'static str] {
        if self == Form::Twitter { &["key size", "client", "time to live"] } else { &[] }
    }

    /// The words that its operations have.
    pub fn table(self) -> &'static [OperationName] {
        match self {
            Form::Csv => &operation::OWN,
            Form::Twitter => &operation::TWITTER,
            Form::RocksDb => &operation::ROCKSDB,
        }
    }

    /// The form of a file that begins with this line.
    pub fn detect(line: &[u8]) -> Result<Form, String> {
        let text = String::from_utf8_lossy(line);
        let words: Vec<&str> = text.split_whitespace().collect();
        let fields: Vec<&str> = text.split(',').map(|field| field.trim().trim_matches('"')).collect();
        let are_numbers = |words: &[&str]| words.iter().all(|word| word.parse::<u64>().is_ok());
        if words.len() == 4 && are_numbers(&words) {
            let why = "it looks like a trace of trace_analyzer without keys: write it without -no_key";
            return Err(why.into());
        }
        if words.len() == 5 && words[0].starts_with("0x") && are_numbers(&words[1..]) {
            return Ok(Form::RocksDb);
        }
        if let [first, .., _, operation, ttl] = fields[..]
            && fields.len() >= 7
            && are_numbers(&[first, ttl])
            && operation::find(&operation::TWITTER, operation.as_bytes()).is_some()
        {
            return Ok(Form::Twitter);
        }
        let fields = line::csv_fields(&text);
        let is_own_operation =
            fields.get(1).is_some_and(|name| operation::find(&operation::OWN, name.as_bytes()).is_some());
        if is_own_operation || Columns::from_header(&fields).is_some() {
            return Ok(Form::Csv);
        }
        let start = quoted(&text.chars().take(60).collect::<String>());
        let forms = "csv (time,operation,key,size), twitter or rocksdb";
        Err(format!("its first line, {start}, is of no known form; say --format {forms}"))
    }
}

as_text!(Form);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_tells_its_form() {
        let detect = |line: &str| Form::detect(line.as_bytes());
        assert_eq!(detect("0,nz:u:eeW511W3dcH3de3d15ec,22,304,0,get,0"), Ok(Form::Twitter));
        assert_eq!(detect("0,with,commas,11,304,0,set,3600"), Ok(Form::Twitter));
        assert_eq!(detect("0, key, 11, 304, 0, set, 3600"), Ok(Form::Twitter));
        assert_eq!(detect("\"0\",\"key\",\"11\",\"304\",\"0\",\"set\",\"3600\""), Ok(Form::Twitter));
        assert_eq!(detect("0x00000000000000D3 1 0 37 1594838400000000"), Ok(Form::RocksDb));
        assert_eq!(detect("time,operation,key,size"), Ok(Form::Csv));
        assert_eq!(detect("key,op,size"), Ok(Form::Csv));
        assert_eq!(detect("0.25,get,user1,"), Ok(Form::Csv));
        assert_eq!(detect("\"time\",\"operation\", \"key\""), Ok(Form::Csv));
        assert_eq!(detect("\"0\",\"get\",\"user1\",\"\""), Ok(Form::Csv));
        assert!(detect("1 0 37 1594838400000000").unwrap_err().contains("-no_key"));
        assert!(detect("{\"op\": \"get\"}").unwrap_err().contains("--format"));
        for form in Form::ALL {
            assert_eq!(form.name().parse(), Ok(form));
        }
    }
}
