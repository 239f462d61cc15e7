//! One HTML file that holds a whole report: it needs no network, and opens in any browser of the last years.
//!
//! Text that must be there at once, and also without scripts, is written here: the answer, what is missing, settings, the
//! machine, how to do it again. Figures travel as compressed data ([`model`]), from which the page's scripts draw the
//! matrix, the charts and the table. docs/report.md describes the page.

mod answer;
mod cells;
mod contests;
mod extra;
mod latencies;
mod machine;
mod markup;
mod missing;
mod model;
mod numbers;
mod settings;
mod timeline;

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::Compression;
use flate2::write::ZlibEncoder;

use self::markup::{escape, fill};
use self::model::Model;
use super::matrix::{Matrix, matrix};
use super::merge::Merged;

const PAGE: &str = include_str!("html/page.html");
const STYLE: &str = include_str!("html/style.css");

/// Chart.js, as build.rs found it.
const CHART_LIBRARY: &str = include_str!(concat!(env!("OUT_DIR"), "/chart.js"));

/// The page's scripts. They share one scope and run in this order.
const SCRIPTS: [&str; 8] = [
    include_str!("html/js/data.js"),
    include_str!("html/js/state.js"),
    include_str!("html/js/filters.js"),
    include_str!("html/js/matrix.js"),
    include_str!("html/js/chart.js"),
    include_str!("html/js/charts.js"),
    include_str!("html/js/table.js"),
    include_str!("html/js/page.js"),
];

/// Writes the page.
///
/// # Errors
/// What the writer gives.
pub fn write(merged: &Merged<'_>, out: &mut dyn Write) -> io::Result<()> {
    let matrices: Vec<Option<Matrix>> = merged.groups.iter().map(|group| matrix(merged, group)).collect();
    let model = Model::new(merged, &matrices);
    let data = compressed(&model)?;
    let title = title(merged);
    let page = fill(
        PAGE,
        &[
            ("title", &escape(&title)),
            ("subtitle", &machine::subtitle(merged)),
            ("answer", &answer::html(merged, &matrices)),
            ("missing", &missing::html(merged, &matrices)),
            ("settings", &settings::html(merged)),
            ("machine", &machine::html(merged)),
            ("again", &machine::again(merged)),
            ("version", env!("CARGO_PKG_VERSION")),
            ("style", STYLE),
            ("data", &data),
            ("library", CHART_LIBRARY),
            ("scripts", &SCRIPTS.concat()),
        ],
    );
    out.write_all(page.as_bytes())
}

fn title(merged: &Merged<'_>) -> String {
    let mut studies: Vec<&str> = merged.runs.iter().map(|run| run.header.title.as_str()).collect();
    studies.dedup();
    studies.join("; ")
}

/// JSON, deflated, in base64: short, and without any character that could end the element that it stands in.
fn compressed(model: &Model<'_>) -> io::Result<String> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(7));
    serde_json::to_writer(&mut encoder, model)?;
    Ok(BASE64.encode(encoder.finish()?))
}
