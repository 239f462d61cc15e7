//! The data as files: a CSV file for each table, and a sample of their ids in JSON. Rows are made in parallel and written in
//! order, so that memory holds only a few chunks.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use storebench_model::store::sql::{MOST_COLUMNS, SqlValue};

use super::chunk::{Chunk, Chunks, RowMakers};
use super::rows::Data;
use super::schema::{self, Table};

const BUFFER_BYTES: usize = 1 << 20;
/// The most bytes of a chunk's lines: in small rows, numbers have more digits than bytes.
const TEXT_BYTES: usize = 512 << 10;
/// The extension of unfinished files.
const UNFINISHED: &str = ".part";
const SAMPLE: &str = "sample.json";

/// The description of the data that are to be made.
#[derive(Debug, Clone, Copy)]
pub struct FilesSpec {
    /// Bytes of the data, as the tables' rows count.
    pub bytes: u64,
    /// The seed that rows follow from.
    pub seed: u64,
    /// Whether rows come in the order of their primary keys.
    pub sorted: bool,
    /// Threads that make them; as many as there are processors where none is said.
    pub threads: Option<usize>,
    /// Ids of each table in the sample, at most.
    pub sample: u64,
}

/// The files that were made, and how that went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedFiles {
    /// The files, with their lengths.
    pub files: Vec<(PathBuf, u64)>,
    /// Rows in all tables.
    pub rows: u64,
    /// The time that the disk waited for rows to be made; the rest of the time, the other way round.
    pub waited: Duration,
}

/// The progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Rows that were written.
    pub rows: u64,
    /// Rows that there will be.
    pub total_rows: u64,
}

/// Why there are no files.
#[derive(Debug)]
pub enum GenerateError {
    /// It was asked to end.
    Interrupted,
    /// This file is there already.
    Exists(PathBuf),
    /// A file can't be written.
    File(PathBuf, io::Error),
}

/// A sample of ids, for programs that send requests.
#[derive(Debug, Serialize)]
struct Sample {
    format: u32,
    workload: &'static str,
    seed: u64,
    data_bytes: u64,
    rows: Ids<u64>,
    ids: Ids<Vec<i64>>,
}

#[derive(Debug, Serialize)]
struct Ids<T> {
    customers: T,
    products: T,
    orders: T,
}

impl<T> Ids<T> {
    fn by_table(value: impl Fn(Table) -> T) -> Ids<T> {
        let [customers, products, orders] = [Table::Customers, Table::Products, Table::Orders].map(value);
        Ids { customers, products, orders }
    }
}

/// Makes the files in a folder, which is made if missing. `goes_on` receives the progress and decides whether to go on. Unless
/// all is made, nothing is left.
pub fn write(
    spec: &FilesSpec,
    folder: &Path,
    goes_on: &mut dyn FnMut(Progress) -> bool,
) -> Result<GeneratedFiles, GenerateError> {
    let data = Data::with_size(spec.seed, spec.bytes);
    let mut files = Files::begin(folder)?;
    let chunks = Chunks::new(&data, spec.sorted);
    let threads = spec.threads.unwrap_or_else(|| RowMakers::thread_count(usize::MAX));
    let make = |number, chunk: &mut Chunk| {
        chunks.make(number, chunk);
        write_lines(chunk);
    };
    let all_rows = data.all_rows();
    let waited = RowMakers::new(threads, TEXT_BYTES).run(chunks.count(), make, |mut source| {
        while let Some(chunk) = source.current() {
            files.append(chunk.table, &chunk.text)?;
            source.advance();
            if !goes_on(Progress { rows: source.taken.rows, total_rows: all_rows }) {
                return Err(GenerateError::Interrupted);
            }
        }
        Ok(source.taken.waited)
    })?;
    files.sample(&sample(&data, spec))?;
    let files = files.finish()?;
    Ok(GeneratedFiles { files, rows: all_rows, waited })
}

fn write_lines(chunk: &mut Chunk) {
    let (mut text, mut number_text) = (std::mem::take(&mut chunk.text), itoa::Buffer::new());
    text.clear();
    for row in chunk.rows() {
        let mut values = [SqlValue::Null; MOST_COLUMNS];
        let columns = schema::read_values(chunk.table, row, &mut values).unwrap_or(0);
        for (index, value) in values[..columns].iter().enumerate() {
            if index > 0 {
                text.push(b',');
            }
            match value {
                SqlValue::Integer(number) => text.extend_from_slice(number_text.format(*number).as_bytes()),
                // Letters and digits alone, so nothing is quoted.
                SqlValue::Text(letters) => text.extend_from_slice(letters.as_bytes()),
                _ => {}
            }
        }
        text.push(b'\n');
    }
    chunk.text = text;
}

/// Ids of each table, spread evenly over its rows.
fn sample(data: &Data, spec: &FilesSpec) -> Sample {
    let ids = |table: Table| {
        let rows = data.rows(table);
        let count = spec.sample.min(rows);
        let row_number = |position: u64| (u128::from(rows) * u128::from(position) / u128::from(count)) as u64;
        (0..count).map(|position| data.ids(table).id_of_row(row_number(position))).collect()
    };
    Sample {
        format: 1,
        workload: "shop",
        seed: spec.seed,
        data_bytes: data.bytes(),
        rows: Ids::by_table(|table| data.rows(table)),
        ids: Ids::by_table(ids),
    }
}

struct UnfinishedFile {
    path: PathBuf,
    out: BufWriter<File>,
    length: u64,
}

/// The files while they are made. Dropped unfinished, they are deleted.
struct Files {
    folder: PathBuf,
    /// The tables', in loading order, then the sample's.
    files: Vec<UnfinishedFile>,
    /// Whether the folder is new, and is deleted with the files.
    made_folder: bool,
}

impl Files {
    /// Opens all files, with column names in the first line.
    fn begin(folder: &Path) -> Result<Files, GenerateError> {
        let made_folder = !folder.exists();
        fs::create_dir_all(folder).map_err(|error| GenerateError::File(folder.to_path_buf(), error))?;
        let mut files = Files { folder: folder.to_path_buf(), files: Vec::new(), made_folder };
        for table in Table::ALL {
            files.make(&format!("{}.csv", table.name()))?;
            files.append(table, format!("{}\n", table.column_names().join(",")).as_bytes())?;
        }
        files.make(SAMPLE)?;
        Ok(files)
    }

    /// Makes a file under a temporary name.
    fn make(&mut self, name: &str) -> Result<(), GenerateError> {
        let final_path = self.folder.join(name);
        if final_path.symlink_metadata().is_ok() {
            return Err(GenerateError::Exists(final_path));
        }
        let path = self.folder.join(format!("{name}{UNFINISHED}"));
        match File::options().write(true).create_new(true).open(&path) {
            Ok(file) => {
                let out = BufWriter::with_capacity(BUFFER_BYTES, file);
                self.files.push(UnfinishedFile { path, out, length: 0 });
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(GenerateError::Exists(path)),
            Err(error) => Err(GenerateError::File(path, error)),
        }
    }

    fn append(&mut self, table: Table, text: &[u8]) -> Result<(), GenerateError> {
        let file = Table::ALL.into_iter().zip(&mut self.files).find(|(file_table, _)| *file_table == table);
        file.map_or(Ok(()), |(_, file)| file.append(text))
    }

    fn sample(&mut self, sample: &Sample) -> Result<(), GenerateError> {
        let Some(file) = self.files.last_mut() else { return Ok(()) };
        let text = serde_json::to_string(sample).map_err(|error| file.write_error(error.into()))?;
        file.append(format!("{text}\n").as_bytes())
    }

    /// Syncs and renames the files; gives names and lengths.
    fn finish(mut self) -> Result<Vec<(PathBuf, u64)>, GenerateError> {
        for file in &mut self.files {
            let synced = file.out.flush().and_then(|()| file.out.get_ref().sync_data());
            synced.map_err(|error| file.write_error(error))?;
        }
        let mut finished: Vec<(PathBuf, u64)> = Vec::new();
        for file in &self.files {
            let final_path = file.path.with_extension("");
            let result = match final_path.symlink_metadata() {
                Ok(_) => Err(GenerateError::Exists(final_path.clone())),
                Err(_) => fs::rename(&file.path, &final_path).map_err(|error| file.write_error(error)),
            };
            if let Err(error) = result {
                // Those with final names are this call's own, too.
                finished.iter().for_each(|(path, _)| drop(fs::remove_file(path)));
                return Err(error);
            }
            finished.push((final_path, file.length));
        }
        self.files.clear();
        self.made_folder = false;
        Ok(finished)
    }
}

impl UnfinishedFile {
    fn append(&mut self, text: &[u8]) -> Result<(), GenerateError> {
        self.length += text.len() as u64;
        self.out.write_all(text).map_err(|error| self.write_error(error))
    }

    fn write_error(&self, error: io::Error) -> GenerateError {
        GenerateError::File(self.path.clone(), error)
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        for file in &self.files {
            // The error that led here is reported.
            let _ = fs::remove_file(&file.path);
        }
        if self.made_folder {
            // Only if it is empty.
            let _ = fs::remove_dir(&self.folder);
        }
    }
}

/// The most ids of a table in a sample.
pub const MOST_SAMPLED: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(threads: usize, sorted: bool) -> FilesSpec {
        FilesSpec { bytes: 1 << 20, seed: 5, sorted, threads: Some(threads), sample: 10 }
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn files_are_the_same_however_many_make_them_and_hold_every_row() {
        let (by_one, by_three) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut last = None;
        let generated = write(&spec(1, true), by_one.path(), &mut |progress| {
            last = Some(progress);
            true
        });
        let generated = generated.unwrap();
        write(&spec(3, true), by_three.path(), &mut |_| true).unwrap();
        let data = Data::with_size(5, 1 << 20);
        assert_eq!(last, Some(Progress { rows: data.all_rows(), total_rows: data.all_rows() }));
        assert_eq!(names(by_one.path()), ["customers.csv", "orders.csv", "products.csv", "sample.json"]);
        for (path, length) in &generated.files {
            let text = fs::read(path).unwrap();
            assert_eq!(text.len() as u64, *length);
            assert_eq!(text, fs::read(by_three.path().join(path.file_name().unwrap())).unwrap());
        }
        let customers = fs::read_to_string(by_one.path().join("customers.csv")).unwrap();
        let mut lines = customers.lines();
        assert_eq!(lines.next(), Some("customer_id,age,name,address"));
        let first: Vec<&str> = lines.next().unwrap().split(',').collect();
        assert_eq!((first.len(), first[0].parse::<i64>()), (4, Ok(data.ids(Table::Customers).id_of_row(0))));
        assert_eq!(1 + lines.count() as u64, data.rows(Table::Customers));
        let sample = fs::read_to_string(by_one.path().join("sample.json")).unwrap();
        let sample: serde_json::Value = serde_json::from_str(&sample).unwrap();
        assert_eq!(sample["rows"]["orders"], data.rows(Table::Orders));
        let ids = sample["ids"]["orders"].as_array().unwrap();
        assert_eq!((ids.len(), ids[0].as_i64()), (10, Some(data.ids(Table::Orders).id_of_row(0))));
    }

    #[test]
    fn unsorted_files_have_the_same_rows_in_another_order() {
        let (sorted, unsorted) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        write(&spec(2, true), sorted.path(), &mut |_| true).unwrap();
        write(&spec(2, false), unsorted.path(), &mut |_| true).unwrap();
        let text = |folder: &Path| fs::read_to_string(folder.join("orders.csv")).unwrap();
        let (sorted, unsorted) = (text(sorted.path()), text(unsorted.path()));
        let sort_lines = |text: &str| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert!(sorted != unsorted);
        assert_eq!(sort_lines(&sorted), sort_lines(&unsorted));
    }

    #[test]
    fn what_is_interrupted_or_would_overwrite_leaves_nothing_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("made");
        let result = write(&spec(2, true), &inner, &mut |progress| progress.rows < 1000);
        assert!(matches!(result, Err(GenerateError::Interrupted)));
        assert!(!inner.exists(), "a folder that it made goes, too");
        fs::write(folder.path().join("orders.csv"), "mine").unwrap();
        let result = write(&spec(2, true), folder.path(), &mut |_| true);
        assert!(matches!(result, Err(GenerateError::Exists(path)) if path.ends_with("orders.csv")));
        assert_eq!(names(folder.path()), ["orders.csv"]);
        assert_eq!(fs::read_to_string(folder.path().join("orders.csv")).unwrap(), "mine");
    }
}
