//! The traits of a user's own data: how many records, how large, and how well they compress. The data are read, never changed; of
//! large data a sample is read.

mod files;
mod law;
mod sqlite;
mod table;

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::DeflateEncoder;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use law::SizeCounter;
use storebench_model::cell::Data;
use storebench_model::sanitize::quoted;
use storebench_model::units::{Sizes, plural, rough_bytes, three_digits, with_commas};

/// Values of which bytes are read.
const SAMPLED: usize = 256;
/// Bytes that are read of each.
pub const SAMPLED_BYTES: usize = 64 << 10;
/// Values that deflate shrinks by this factor count as compressible: below it, blocks use up what an engine's codec saves.
const COMPRESSIBLE: f64 = 1.25;

/// Reads the values of a column of a table in a SQLite file, or whole rows without a column, and hands each size to a function,
/// with the first [`SAMPLED_BYTES`] bytes. If there is no such table or column, the error lists the existing ones; an empty
/// name asks for that list.
pub type ReadSqlite =
    fn(file: &Path, table: &str, column: Option<&str>, value: &mut ValueVisitor<'_>) -> Result<(), String>;

/// Takes the size of a value, and its first bytes.
pub type ValueVisitor<'s> = dyn FnMut(u64, &[u8]) -> Result<(), String> + 's;

/// The traits of data.
#[derive(Debug, Clone, PartialEq)]
pub struct DataTraits {
    /// The number of values.
    pub count: u64,
    /// The sizes to measure with: distributed like the values', with the same mean.
    pub size: Sizes,
    /// The sizes between which nine of ten values lie, in bytes.
    pub most: (u64, u64),
    /// Their median size in bytes.
    pub median: u64,
    /// Their mean size in bytes.
    pub mean: f64,
    /// The size of the largest, in bytes.
    pub largest: u64,
    /// Values that are empty or NULL, not counted above: no store is measured with such.
    pub empty: u64,
    /// Files and folders that could not be read.
    pub unreadable: u64,
    /// The factor by which deflate shrinks a sample of the values.
    pub ratio: f64,
    /// The kind of data that the values count as.
    pub data: Data,
}

impl DataTraits {
    /// Reads a folder (every file in it and below is a value), a column of a CSV file (`data.csv:column`), or a table of a SQLite file or
    /// one of its columns (`app.db:table.column`), through `read`. Else says in a sentence that they are none of these, can't be read, or
    /// hold no values.
    pub fn sample(name: &str, read: Option<ReadSqlite>) -> Result<DataTraits, String> {
        let mut sample = Sample::new();
        if Path::new(name).is_dir() {
            files::sample_folder(Path::new(name), &mut sample)?;
        } else {
            let split = name.rsplit_once(':').filter(|(file, _)| Path::new(file).is_file());
            let (file, column) = match split {
                Some((file, column)) => (file, column),
                // The error lists the columns or tables to choose from.
                None if Path::new(name).is_file() => (name, ""),
                None => return Err(missing_data_error(name)),
            };
            let file = Path::new(file);
            if sqlite::is_sqlite(file) {
                sqlite::sample_database(file, column, read, &mut sample)?;
            } else {
                table::sample_csv(file, column, &mut sample)?;
            }
        }
        sample.traits().map_err(|why| format!("{name}: {why}"))
    }

    /// Sentences: the data, the values that are measured instead, and what is left out.
    pub fn describe(&self) -> String {
        let size = |bytes: u64| rough_bytes(bytes as f64);
        let mut text = format!(
            "{}: median {}, mean {}, largest {}, nine of ten from {} to {}; a sample deflates to {} %: {}. ",
            plural(self.count, "value"),
            size(self.median),
            rough_bytes(self.mean),
            size(self.largest),
            size(self.most.0),
            size(self.most.1),
            three_digits(100.0 / self.ratio),
            self.data.name(),
        );
        text.push_str(&match self.size.single_range() {
            Some(range) if range.to == range.from + 1 => {
                format!("Measured with sizes of {}.", size(range.from))
            }
            _ => "Measured with sizes distributed like these.".to_owned(),
        });
        if self.empty > 0 {
            text.push_str(&format!(" Left out, as empty or NULL: {}.", plural(self.empty, "value")));
        }
        if self.unreadable > 0 {
            let files = with_commas(self.unreadable);
            text.push_str(&format!(" Left out: files or folders that can't be read: {files}."));
        }
        text
    }
}

fn missing_data_error(name: &str) -> String {
    let problem = format!("{} is neither a folder nor part of a file", quoted(name));
    format!("{problem}: write it like ./thumbnails, data.csv:column or app.db:table.column")
}

/// Collects sizes of all values, and the first bytes of some, each value with the same chance (reservoir sampling: Vitter's
/// algorithm R, 1985).
struct Sample {
    sizes: SizeCounter,
    empty: u64,
    unreadable: u64,
    sampled: Vec<Vec<u8>>,
    random: Xoshiro256PlusPlus,
}

impl Sample {
    fn new() -> Sample {
        let random = Xoshiro256PlusPlus::seed_from_u64(1);
        Sample { sizes: SizeCounter::default(), empty: 0, unreadable: 0, sampled: Vec::new(), random }
    }

    /// Adds a value of `size` bytes. `read` returns up to the given number of its first bytes, and is called if they are needed; if
    /// it fails, the value does not count.
    fn add(&mut self, size: u64, read: impl FnOnce(usize) -> Result<Vec<u8>, String>) -> Result<(), String> {
        if size == 0 {
            self.empty += 1;
            return Ok(());
        }
        let number = u128::from(self.sizes.count) + 1;
        let index = ((u128::from(self.random.next_u64()) * number) >> 64) as usize;
        if self.sampled.len() < SAMPLED {
            self.sampled.push(read(SAMPLED_BYTES)?);
        } else if index < SAMPLED {
            self.sampled[index] = read(SAMPLED_BYTES)?;
        }
        self.sizes.add(size);
        Ok(())
    }

    fn traits(&self) -> Result<DataTraits, String> {
        let count = self.sizes.count;
        if count == 0 {
            return Err(match (self.empty, self.unreadable) {
                (0, 0) => "there are no values in it".into(),
                (0, _) => "nothing in it can be read".into(),
                (1, _) => "the only value in it is empty".into(),
                (empty, _) => format!("all {} values in it are empty", with_commas(empty)),
            });
        }
        let quantile = |share| self.sizes.quantile(share);
        let ratio = deflate_ratio(&self.sampled)?;
        let size = self.sizes.fit_sizes().ok_or("its sizes can't be counted")?;
        Ok(DataTraits {
            count,
            size,
            most: (quantile(0.05), quantile(0.95)),
            median: quantile(0.5),
            mean: self.sizes.mean(),
            largest: self.sizes.largest,
            empty: self.empty,
            unreadable: self.unreadable,
            ratio,
            data: if ratio >= COMPRESSIBLE { Data::Compressible } else { Data::Incompressible },
        })
    }
}

/// The factor by which deflate shrinks the values together, as engines compress neighbours together.
fn deflate_ratio(values: &[Vec<u8>]) -> Result<f64, String> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    values.iter().try_for_each(|value| encoder.write_all(value)).map_err(|error| error.to_string())?;
    let deflated_bytes = encoder.finish().map_err(|error| error.to_string())?.len();
    let total_bytes: usize = values.iter().map(Vec::len).sum();
    Ok(total_bytes as f64 / deflated_bytes.max(1) as f64)
}

#[cfg(test)]
mod tests;
