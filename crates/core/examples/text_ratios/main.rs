//! Prints how the texts of a folder compress, and how the built-in generator's text does:
//! `cargo run --release -p storebench-core --example text_ratios -- DIR`

mod ratio;

use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::time::Instant;

use ratio::{CODECS, Result, ratio};
use storebench_core::record::text::TextSource;

/// Name, bytes and number of slices of each size measured.
const SIZES: [(&str, usize, usize); 7] = [
    ("100 B", 100, 4000),
    ("1 KiB", 1 << 10, 2000),
    ("4 KiB", 4 << 10, 1000),
    ("10 KiB", 10 << 10, 600),
    ("30 KiB", 30 << 10, 300),
    ("100 KiB", 100 << 10, 150),
    ("1 MiB", 1 << 20, 40),
];

/// Bytes of the generator's text: as many as a pool of values has.
const GENERATED_BYTES: usize = 8 << 20;

fn main() -> Result<()> {
    let folder = std::env::args_os().nth(1).ok_or("say which folder holds the texts (*.txt)")?;
    let texts = read_texts(Path::new(&folder))?;
    let began = Instant::now();
    let mut source = TextSource::new(1);
    let made = began.elapsed();
    let mut generated = vec![b' '; GENERATED_BYTES];
    source.fill(&mut generated);
    let filled = began.elapsed() - made;

    let mut out = stdout().lock();
    writeln!(
        out,
        "{} bytes in {}, beside {GENERATED_BYTES} generated\n",
        texts.len(),
        Path::new(&folder).display()
    )?;
    write!(out, "{:8}", "size")?;
    for codec in &CODECS {
        write!(out, " | {:>7}: texts  built-in", codec.name)?;
    }
    writeln!(out)?;
    for (name, size, slices) in SIZES {
        write!(out, "{name:8}")?;
        for codec in &CODECS {
            let (theirs, ours) =
                (ratio(codec, &texts, size, slices)?, ratio(codec, &generated, size, slices)?);
            write!(out, " | {theirs:6.3} {ours:6.3} {:+7.1} %", 100.0 * (ours / theirs - 1.0))?;
        }
        writeln!(out)?;
    }
    let rate = GENERATED_BYTES as f64 / filled.as_secs_f64() / 1e6;
    writeln!(out, "\nbuilt-in: {:.0} ms to set up, then {rate:.0} MB/s", made.as_secs_f64() * 1e3)?;
    Ok(())
}

/// The `*.txt` of a folder one after the other, in the order of their names.
fn read_texts(folder: &Path) -> Result<Vec<u8>> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "txt") {
            paths.push(path);
        }
    }
    paths.sort();
    let mut texts = Vec::new();
    for path in paths {
        texts.extend(std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?);
    }
    Ok(texts)
}
