//! What a user's own data are like: how many records, how large, and how well they compress. Read, never changed; of large
//! data a sample is looked into.

mod files;
mod sqlite;
mod table;

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::DeflateEncoder;
use hdrhistogram::Histogram;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::cell::Data;
use crate::units::{SizeRange, grouped, rough_bytes, three_digits};

/// Values whose bytes are looked at.
const SAMPLED: usize = 256;
/// Bytes of each that are looked at.
const SAMPLED_BYTES: usize = 64 << 10;
/// Values that deflate makes this many times smaller count as compressible: below it, what an engine's codec saves is eaten
/// by its blocks.
const COMPRESSIBLE: f64 = 1.25;
/// The largest value told apart, in bytes.
const LARGEST: u64 = 1 << 40;

/// Reads the values of a column of a table in a SQLite file, or whole rows without a column, and hands each to a function.
pub type ReadSqlite = fn(
    file: &Path,
    table: &str,
    column: Option<&str>,
    value: &mut dyn FnMut(&[u8]) -> Result<(), String>,
) -> Result<(), String>;

/// What data are like.
#[derive(Debug, Clone, PartialEq)]
pub struct Likeness {
    /// How many values there are.
    pub count: u64,
    /// Their sizes in bytes, without the smallest and the largest twentieth.
    pub size: SizeRange,
    /// Their median size in bytes.
    pub median: u64,
    /// How many times smaller deflate makes a sample of them.
    pub ratio: f64,
    /// What they count as.
    pub data: Data,
}

impl Likeness {
    /// Looks at a folder (every file in it and below is a value), at a column of a CSV file (`data.csv:column`), or at a table
    /// of a SQLite file or one of its columns (`app.db:table.column`), which `read` reads.
    ///
    /// # Errors
    /// A sentence, when it is none of these, can't be read, or holds no values.
    pub fn of(name: &str, read: Option<ReadSqlite>) -> Result<Likeness, String> {
        let mut sample = Sample::new()?;
        if Path::new(name).is_dir() {
            files::look(Path::new(name), &mut sample)?;
        } else {
            let split = name.rsplit_once(':').filter(|(file, _)| Path::new(file).is_file());
            let Some((file, column)) = split else {
                return Err(format!(
                    "{name:?} is no folder and no part of a file: write it like ./thumbnails, data.csv:column or app.db:table.column"
                ));
            };
            let file = Path::new(file);
            if sqlite::is_one(file) {
                sqlite::look(file, column, read, &mut sample)?;
            } else {
                table::look(file, column, &mut sample)?;
            }
        }
        sample.likeness().map_err(|why| format!("{name}: {why}"))
    }

    /// In a sentence.
    pub fn describe(&self) -> String {
        format!(
            "{} values, nine of ten of them from {} to {}, half of them up to {}; a sample deflates to {} %: {}",
            grouped(self.count),
            rough_bytes(self.size.from as f64),
            rough_bytes((self.size.to - 1) as f64),
            rough_bytes(self.median as f64),
            three_digits(100.0 / self.ratio),
            self.data.name(),
        )
    }
}

/// Collects sizes of all values, and the first bytes of some, each value with the same chance (reservoir sampling: Vitter's
/// algorithm R, 1985).
struct Sample {
    sizes: Histogram<u64>,
    empty: u64,
    kept: Vec<Vec<u8>>,
    random: Xoshiro256PlusPlus,
}

impl Sample {
    fn new() -> Result<Sample, String> {
        let sizes = Histogram::new_with_bounds(1, LARGEST, 3).map_err(|error| error.to_string())?;
        Ok(Sample { sizes, empty: 0, kept: Vec::new(), random: Xoshiro256PlusPlus::seed_from_u64(1) })
    }

    /// One value of `size` bytes. `read` gives up to so many of its first bytes, and is called if they are wanted.
    fn add(&mut self, size: u64, read: impl FnOnce(usize) -> Result<Vec<u8>, String>) -> Result<(), String> {
        if size == 0 {
            self.empty += 1;
            return Ok(());
        }
        self.sizes.saturating_record(size);
        let place = ((u128::from(self.random.next_u64()) * u128::from(self.sizes.len())) >> 64) as usize;
        if self.kept.len() < SAMPLED {
            self.kept.push(read(SAMPLED_BYTES)?);
        } else if place < SAMPLED {
            self.kept[place] = read(SAMPLED_BYTES)?;
        }
        Ok(())
    }

    fn likeness(&self) -> Result<Likeness, String> {
        let count = self.sizes.len();
        if count == 0 {
            return Err(match self.empty {
                0 => "there are no values in it".into(),
                empty => format!("all {} values in it are empty", grouped(empty)),
            });
        }
        let at = |quantile| self.sizes.value_at_quantile(quantile);
        let ratio = deflated(&self.kept)?;
        Ok(Likeness {
            count,
            size: SizeRange { from: at(0.05).max(1), to: at(0.95) + 1 },
            median: at(0.5),
            ratio,
            data: if ratio >= COMPRESSIBLE { Data::Compressible } else { Data::Incompressible },
        })
    }
}

/// How many times smaller deflate makes the values, together, as engines compress neighbours together.
fn deflated(values: &[Vec<u8>]) -> Result<f64, String> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    values.iter().try_for_each(|value| encoder.write_all(value)).map_err(|error| error.to_string())?;
    let deflated = encoder.finish().map_err(|error| error.to_string())?.len();
    let whole: usize = values.iter().map(Vec::len).sum();
    Ok(whole as f64 / deflated.max(1) as f64)
}

#[cfg(test)]
mod tests;
