//! Reads a trace, operation by operation.

use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};

use storebench_model::read_limited::RationedReader;

use super::entry::Entry;
use super::form::Form;
use super::line::{self, Columns, ParsedLine};
use super::source::Source;

const MOST_LINE: u64 = 4 << 20;
/// Bytes that are read ahead so that a decoder has all its memory: what a frame's window holds at most, several times.
const WARM_UP: u64 = 64 << 20;

/// The options of a reader.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReaderOptions {
    /// The form, if the file does not show it.
    pub form: Option<Form>,
    /// The most operations that are read; all otherwise.
    pub limit: Option<u64>,
    /// The nanoseconds of the unit of CSV's times, if their column's name does not give it.
    pub unit_ns: Option<u64>,
}

type CsvReader = csv::Reader<RationedReader<Source>>;

enum Lines {
    Csv { reader: Box<CsvReader>, columns: Columns, fields: csv::ByteRecord, ignored: Vec<String> },
    Plain { source: Source, line: Vec<u8> },
}

/// A trace that is being read.
pub struct Reader {
    path: PathBuf,
    options: ReaderOptions,
    pub(super) form: Form,
    /// What the file is packed by.
    pub(super) packed_by: Option<&'static str>,
    lines: Lines,
    key: Vec<u8>,
    position: u64,
    line_number: u64,
    first_ns: u64,
    latest_ns: u64,
    /// Operations so far whose time lay before that of one ahead of them.
    pub(super) went_back: u64,
}

impl Reader {
    /// Opens a trace. The error is a sentence that names the file: it can't be read, or is of no known form.
    pub fn open(path: &Path, options: ReaderOptions) -> Result<Reader, String> {
        let describe_error = |error: io::Error| format!("the trace {}: {error}", path.display());
        let mut source = Source::open(path).map_err(describe_error)?;
        let packed_by = source.packed_by();
        let first = first_line(&mut source).map_err(describe_error)?;
        let first = first.ok_or_else(|| format!("the trace {} is empty", path.display()))?;
        let form = match options.form {
            Some(form) => form,
            None => Form::detect(&first).map_err(|why| format!("the trace {}: {why}", path.display()))?,
        };
        let lines = Lines::begin(source, form, options.unit_ns, &first);
        let lines = lines.map_err(|why| format!("the trace {}: {why}", path.display()))?;
        Ok(Reader {
            path: path.to_path_buf(),
            options,
            form,
            packed_by,
            lines,
            key: Vec::new(),
            position: 0,
            line_number: 0,
            first_ns: 0,
            latest_ns: 0,
            went_back: 0,
        })
    }

    /// The columns that are not played, by their names.
    pub fn ignored(&self) -> Vec<String> {
        match &self.lines {
            Lines::Csv { ignored, .. } => ignored.clone(),
            Lines::Plain { .. } => self.form.ignored().iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    /// Whether its operations have times.
    pub fn has_times(&self) -> bool {
        match &self.lines {
            Lines::Csv { columns, .. } => columns.has_times(),
            Lines::Plain { .. } => true,
        }
    }

    /// The next operation; `None` at the end. The error is a sentence that names the file and the line.
    pub fn next_entry(&mut self) -> Result<Option<Entry<'_>>, String> {
        if self.options.limit.is_some_and(|limit| self.position >= limit) {
            return Ok(None);
        }
        let parsed = self.lines.next(self.form, &mut self.key, &mut self.line_number);
        let line = self.line_number;
        let parsed =
            parsed.map_err(|why| format!("the trace {}, line {line}: {why}", self.path.display()))?;
        let Some(ParsedLine { time_ns, word, size }) = parsed else { return Ok(None) };
        if self.position == 0 {
            (self.first_ns, self.latest_ns) = (time_ns, time_ns);
        }
        self.position += 1;
        self.went_back += u64::from(time_ns < self.latest_ns);
        self.latest_ns = self.latest_ns.max(time_ns);
        let time_ns = self.latest_ns - self.first_ns;
        Ok(Some(Entry { position: self.position, time_ns, word, key: &self.key, size }))
    }

    /// Begins at the beginning again.
    pub fn rewind(self) -> Result<Reader, String> {
        self.rewind_after(0)
    }

    /// Reads so far ahead that a decoder has all the memory that it will need, and begins at the beginning again.
    pub fn warmed_up(self) -> Result<Reader, String> {
        let is_packed = self.packed_by.is_some();
        self.rewind_after(if is_packed { WARM_UP } else { 0 })
    }

    fn rewind_after(mut self, read_bytes: u64) -> Result<Reader, String> {
        let describe_error = |error: io::Error| format!("the trace {}: {error}", self.path.display());
        let mut source = self.lines.into_source();
        io::copy(&mut source.by_ref().take(read_bytes), &mut io::sink()).map_err(describe_error)?;
        source.rewind().map_err(describe_error)?;
        let first = first_line(&mut source).map_err(describe_error)?.unwrap_or_default();
        self.lines = Lines::begin(source, self.form, self.options.unit_ns, &first)?;
        (self.position, self.line_number, self.went_back) = (0, 0, 0);
        Ok(self)
    }

    /// The SHA-256 of the file, in hexadecimal; `None` where `is_over` said to stop.
    pub fn digest(self, is_over: &dyn Fn() -> bool) -> Result<Option<String>, String> {
        let path = self.path;
        match self.lines.into_source().digest(is_over) {
            Ok(digest) => Ok(Some(digest)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
            Err(error) => Err(format!("the trace {}: {error}", path.display())),
        }
    }
}

/// The first line, as far as it is at hand; `None` where there is nothing.
fn first_line(source: &mut Source) -> io::Result<Option<Vec<u8>>> {
    let head = source.fill_buf()?;
    let first = head.split(|byte| *byte == b'\n').next().filter(|_| !head.is_empty());
    Ok(first.map(|line| line.trim_ascii_end().to_vec()))
}

impl Lines {
    fn begin(source: Source, form: Form, unit_ns: Option<u64>, first: &[u8]) -> Result<Lines, String> {
        if form != Form::Csv {
            return match unit_ns {
                Some(_) => Err(format!("a unit of times is for CSV alone: {form} defines its unit")),
                None => Ok(Lines::Plain { source, line: Vec::new() }),
            };
        }
        let first = String::from_utf8_lossy(first);
        let mut names = line::csv_fields(&first);
        let columns = Columns::from_header(&names);
        if columns.is_none() {
            names = (1..=names.len()).map(|number| format!("column {number}")).collect();
        }
        let source = RationedReader::new(source, MOST_LINE);
        let reader =
            csv::ReaderBuilder::new().has_headers(columns.is_some()).flexible(true).from_reader(source);
        let columns = columns.unwrap_or(Columns::WITHOUT_HEADER).with_unit(unit_ns, &names)?;
        let ignored = columns.ignored(&names);
        Ok(Lines::Csv { reader: Box::new(reader), columns, fields: csv::ByteRecord::new(), ignored })
    }

    fn into_source(self) -> Source {
        match self {
            Lines::Csv { reader, .. } => reader.into_inner().into_inner(),
            Lines::Plain { source, .. } => source,
        }
    }

    /// The next line; `lines` is the number of lines so far.
    fn next(&mut self, form: Form, key: &mut Vec<u8>, lines: &mut u64) -> Result<Option<ParsedLine>, String> {
        match self {
            Lines::Csv { reader, columns, fields, .. } => {
                reader.get_mut().allow_more();
                let has_record = reader.read_byte_record(fields).map_err(|error| error.to_string())?;
                *lines = fields.position().map_or(*lines, csv::Position::line);
                if has_record { columns.read(fields, key).map(Some) } else { Ok(None) }
            }
            Lines::Plain { source, line } => {
                // Empty lines count with the one that follows them.
                let mut ration = source.by_ref().take(MOST_LINE);
                loop {
                    line.clear();
                    *lines += 1;
                    if ration.read_until(b'\n', line).map_err(|error| error.to_string())? == 0
                        && ration.limit() > 0
                    {
                        return Ok(None);
                    }
                    if ration.limit() == 0 {
                        return Err("it is longer than 4 MiB".into());
                    }
                    let line = line.trim_ascii_end();
                    if !line.is_empty() {
                        let parse = if form == Form::Twitter { line::twitter } else { line::rocksdb };
                        return parse(line, key).map(Some);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_entries(text: &str, options: ReaderOptions) -> Result<Vec<(u64, u64, String, u64)>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        std::fs::write(&path, text).unwrap();
        let mut reader = Reader::open(&path, options)?.warmed_up()?;
        let mut entries = Vec::new();
        while let Some(entry) = reader.next_entry()? {
            let key = String::from_utf8_lossy(entry.key).into_owned();
            entries.push((entry.time_ns, entry.position, key, entry.size.unwrap_or_default()));
        }
        let mut reader = reader.rewind()?;
        let second_count =
            std::iter::from_fn(|| reader.next_entry().unwrap().map(|entry| entry.position)).count();
        assert_eq!(second_count, entries.len());
        Ok(entries)
    }

    #[test]
    fn own_form_with_and_without_header_is_the_same() {
        let lines = "5.5,get,\"a,b\",\n5.25,set,c,10\n\n7,scan,a,3\n";
        let expected =
            [(0, 1, "a,b".to_owned(), 0), (0, 2, "c".to_owned(), 10), (1_500_000_000, 3, "a".to_owned(), 3)];
        for header in ["", "time,operation,key,size\r\n"] {
            let text = format!("{header}{lines}");
            assert_eq!(read_entries(&text, ReaderOptions::default()).unwrap(), expected);
        }
        let two = read_entries(lines, ReaderOptions { limit: Some(2), ..ReaderOptions::default() }).unwrap();
        assert_eq!(two, expected[..2]);
    }

    #[test]
    fn a_bad_line_is_named() {
        for (text, form, expected) in [
            ("time,operation,key,size\n0,get,a,\n0,fetch,b,\n", None, ["line 3: ", "fetch"]),
            ("0,k,1,2,3,get,0\n\n0,k,1,2,3,gat,0\n", None, ["line 3: ", "gat"]),
            ("", None, ["the trace ", "is empty"]),
            ("0,get,a,1\n", Some(Form::Twitter), ["line 1: ", "seven columns"]),
        ] {
            let error = read_entries(text, ReaderOptions { form, ..ReaderOptions::default() }).unwrap_err();
            assert!(expected.iter().all(|words| error.contains(words)), "{error}");
        }
        assert!(Reader::open(Path::new("/nonexistent/trace"), ReaderOptions::default()).is_err());
        assert!(Reader::open(Path::new("/dev/null"), ReaderOptions::default()).is_err());
    }
}
