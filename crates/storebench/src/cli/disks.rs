//! `storebench disks`: the simulated disks: their speed under common loads, the sources of their parameters, and their limits.

use storebench_disk::disks::{Disk, NAMES, Parameter, shipped};
use storebench_disk::figures::{LOADS, Load};
use storebench_model::error::{Error, Exit, Result, unknown};
use storebench_model::units::three_digits;

use super::output::{fitted, print};

/// The heads of the columns, in the order of [`LOADS`].
const HEADS: [&str; LOADS.len()] = ["reads/s", "32 deep", "writes/s", "flushed/s", "read MB/s", "written"];

pub fn list(name: Option<&str>) -> Result<Exit> {
    let text = match name {
        Some(name) => describe_disk(name, &find_disk(name)?)?,
        None => list_all()?,
    };
    print(&text)?;
    Ok(Exit::Success)
}

fn find_disk(name: &str) -> Result<Disk> {
    shipped(name).ok_or_else(|| Error::bad_value(unknown("disk", name, NAMES)))
}

/// A line for each disk.
fn list_all() -> Result<String> {
    let mut text = row("disk", HEADS.map(str::to_owned));
    for name in NAMES {
        let mut cells = HEADS.map(|_| String::new());
        for (cell, rate) in cells.iter_mut().zip(rates(&find_disk(name)?)?) {
            *cell = three_digits(rate);
        }
        text.push_str(&row(name, cells));
    }
    text.push('\n');
    text.push_str(&fitted(
        "The rates are what the models give, computed without waiting: requests of 4 KiB all over a file of 128 MiB, one at a time \
         or 32 at once (32 deep); 4 KiB written in sequence, each flushed; the file in sequence. A real device differs: storebench \
         disks NAME says in what, and where each parameter comes from (docs/disks.md).",
        0,
    ));
    Ok(text)
}

fn rates(disk: &Disk) -> Result<Vec<f64>> {
    LOADS.into_iter().map(|load| load.rate_on(disk).map_err(Error::bad_value)).collect()
}

fn describe_disk(name: &str, disk: &Disk) -> Result<String> {
    let mut text = fitted(&format!("{name} (simulated): {}", disk.about), 0);
    text.push_str("\n  what its model gives\n");
    for (load, rate) in LOADS.into_iter().zip(rates(disk)?) {
        text.push_str(&fitted(&format!("{}: {} {}", load.describe(), three_digits(rate), unit(load)), 4));
    }
    text.push_str("\n  parameters\n");
    for Parameter { name, value, source } in disk.parameters() {
        text.push_str(&format!("    {name} = {value}\n"));
        text.push_str(&fitted(&format!("source: {source}"), 6));
    }
    text.push_str("\n  what it is not\n");
    text.push_str(&fitted(&disk.lacks, 4));
    Ok(text)
}

fn unit(load: Load) -> &'static str {
    if load.is_in_bytes() { "MB per second" } else { "per second" }
}

fn row(name: &str, cells: [String; LOADS.len()]) -> String {
    let cells: String = cells.iter().map(|cell| format!(" {cell:>9}")).collect();
    format!("{name:<19}{cells}\n")
}
