//! Takes Chart.js out of the crate that carries it, for the HTML report to embed. As a build dependency, so that nothing
//! but this text of it ends up in the program.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo did not set OUT_DIR"))?;
    fs::write(Path::new(&folder).join("chart.js"), rustlavel_chart::plugin::CHART_JS)
}
