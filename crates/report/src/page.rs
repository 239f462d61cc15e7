//! One HTML file with a whole report: without a network, for any browser of recent years.
//! Text that must be visible at once, and without scripts, is written here; figures travel as compressed data (`model`), from which the
//! scripts draw the matrix, the charts and the table. docs/report.md describes the page.

mod axes;
mod cells;
mod contests;
mod curves;
mod dots;
pub(crate) mod findings;
pub(crate) mod heats;
mod latencies;
pub(crate) mod machine;
mod missing;
mod model;
mod numbers;
mod prices;
mod published;
mod rounds;
pub(crate) mod section;
mod settings;
mod sizes;
mod standings;
mod timeline;

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::LazyLock;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use rayon::prelude::*;
use serde::Serialize;
use storebench_figures::data::clients;
use storebench_figures::data::clock;
use storebench_figures::data::floor;
use storebench_figures::data::matrix::Matrix;
use storebench_figures::data::merge::{GroupKey, Merged};
use storebench_figures::data::pace;
use storebench_figures::data::rule::rule_text;
use storebench_figures::data::spread;
use storebench_figures::judge::Rule;
use storebench_figures::layout::Position;

use self::missing::Warnings;
use self::model::Model;
use crate::markup::{Html, Literal, escape_fragment, fill, note};
use crate::report::Report;
use crate::section::PagePosition;
use crate::sections::SECTIONS;

const PAGE: &str = include_str!("page/page.html");
pub(crate) const STYLE: &str = include_str!("page/style.css");

/// The scripts. They share one scope, and run in this order.
const SCRIPTS: [&str; 16] = [
    include_str!("page/js/data.js"),
    include_str!("page/js/state.js"),
    include_str!("page/js/filters.js"),
    include_str!("page/js/matrix.js"),
    include_str!("page/js/scale.js"),
    include_str!("page/js/picture.js"),
    include_str!("page/js/dots.js"),
    include_str!("page/js/heat.js"),
    include_str!("page/js/saving.js"),
    include_str!("page/js/charts.js"),
    include_str!("page/js/time.js"),
    include_str!("page/js/rounds.js"),
    include_str!("page/js/sizes.js"),
    include_str!("page/js/chart.js"),
    include_str!("page/js/table.js"),
    include_str!("page/js/page.js"),
];

/// The level of compression, from 1 to 9: beyond this, pages of large runs take twice the time to be a tenth smaller.
const LEVEL: u32 = 4;

/// An answer at the beginning of a page.
#[derive(Debug)]
pub struct Lead {
    /// The answer.
    pub html: Html,
    /// The view on which the page opens, as in its addresses: the group, the record size, the number of records.
    pub start: String,
}

/// The address of a group's place in the page.
pub fn address(key: &GroupKey, position: &Position) -> String {
    let values =
        position.values().map(|(axis, value)| format!("{}={}", axis.name(), escape_fragment(value.text())));
    std::iter::once(group_address(key)).chain(values).collect::<Vec<_>>().join("&")
}

fn group_address(key: &GroupKey) -> String {
    let mut parts = vec![format!("hardware={}", escape_fragment(&key.hardware))];
    parts.extend(key.guarantee().map(|label| format!("guarantee={}", escape_fragment(&label.to_string()))));
    parts
        .extend(key.facets.iter().map(|(axis, value)| format!("{}={}", axis.name(), escape_fragment(value))));
    parts.extend((!key.method.is_empty()).then(|| format!("method={}", escape_fragment(&key.method))));
    parts.join("&")
}

/// Writes the page; `lead`, an answer, comes first.
pub fn write(report: &Report<'_>, lead: Option<&Lead>, out: &mut dyn Write) -> io::Result<()> {
    let merged = report.merged;
    let model = Model::new(report, lead.map_or("", |lead| lead.start.as_str()));
    // Compressing takes about as long as all the texts together.
    let (data, texts) = rayon::join(|| compress(&model), || texts(report, lead.is_some()));
    let (singular, plural) = merged.layout.ranked(merged.cells());
    let mut placeholders = vec![
        ("advice", Html::new(lead.map(|lead| &lead.html))),
        ("version", Html::new(env!("CARGO_PKG_VERSION"))),
        ("one", Html::new(singular)),
        ("many", Html::new(plural)),
        ("memory", Html::new(merged.memory.note())),
        ("reach", Html::new(spread::LEGEND)),
        ("style", Html::new(Literal(STYLE))),
        ("data", data?),
        ("scripts", Html::new(SCRIPTS.map(Literal))),
    ];
    placeholders.extend(texts);
    out.write_all(fill(PAGE, &placeholders).as_str().as_bytes())
}

/// The texts that are visible without scripts, by place in the page.
fn texts(report: &Report<'_>, has_lead: bool) -> Vec<(&'static str, Html)> {
    let (merged, matrices) = (report.merged, report.readable());
    // In parallel: some of them take long for a large run.
    SECTIONS.par_iter().with_max_len(1).for_each(|section| {
        report.blocks(section);
    });
    let warnings = LazyLock::new(|| Warnings::new(merged));
    let parts: [(&'static str, &(dyn Fn() -> Html + Sync)); 19] = [
        ("title", &|| Html::new(title(merged))),
        ("subtitle", &|| machine::subtitle(merged)),
        ("first", &|| missing::first(merged, &warnings)),
        ("standings", &|| if has_lead { Html::default() } else { standings::html(report) }),
        ("floor", &|| {
            let lines = floor::describe_floors(&merged.floors).into_iter().chain(pace::describe_pace(merged));
            let lines = lines.chain(clients::describe_clients(merged));
            Html::new(lines.map(note).collect::<Vec<_>>())
        }),
        ("rules", &|| rules(merged, matrices)),
        ("above", &|| sections(report, PagePosition::Above)),
        ("above_links", &|| links(report, PagePosition::Above)),
        ("drawn", &|| sections(report, PagePosition::Drawn)),
        ("drawn_links", &|| links(report, PagePosition::Drawn)),
        ("outgrown", &|| sizes::charts(merged)),
        ("epochs", &|| timeline::epochs(merged)),
        ("epochs_link", &|| timeline::epochs_link(merged)),
        ("findings", &|| findings::html(merged)),
        ("published", &|| published::html(merged)),
        ("missing", &|| missing::html(merged, matrices, &warnings)),
        ("settings", &|| settings::html(merged)),
        ("machine", &|| machine::html(merged)),
        ("again", &|| machine::repeat_section(merged)),
    ];
    let mut texts: Vec<(&'static str, Html)> =
        parts.into_par_iter().with_max_len(1).map(|(name, build)| (name, build())).collect();
    let inner = SECTIONS.iter().filter(|section| section.stands == PagePosition::Within);
    texts.extend(inner.map(|section| (section.name, section::content(report.blocks(section)))));
    texts
}

fn sections(report: &Report<'_>, position: PagePosition) -> Html {
    let sections = SECTIONS.iter().filter(|section| section.stands.page_part() == position);
    Html::join(sections.map(|section| section::html(section, report.blocks(section))), "")
}

fn links(report: &Report<'_>, position: PagePosition) -> Html {
    let sections = SECTIONS.iter().filter(|section| section.stands.page_part() == position);
    Html::join(sections.map(|section| section::link(section, report.blocks(section))), "")
}

fn rules(merged: &Merged<'_>, matrices: &[Option<Matrix>]) -> Html {
    let rules: BTreeSet<Rule> = matrices.iter().flatten().flat_map(Matrix::rules).collect();
    let clock = clock::notes(merged, matrices.iter().flatten().map(Matrix::clocked));
    Html::join(rules.into_iter().map(rule_text).chain(clock), " ")
}

fn title(merged: &Merged<'_>) -> String {
    let mut studies: Vec<&str> = merged.runs.iter().map(|run| run.header.title.as_str()).collect();
    studies.dedup();
    studies.join("; ")
}

/// JSON, deflated, in base64: short, and without characters that could end its element.
pub(crate) fn compress(model: &impl Serialize) -> io::Result<Html> {
    // In one piece: deflating the serializer's small writes would take several times as long.
    let json = serde_json::to_vec(model)?;
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(LEVEL));
    encoder.write_all(&json)?;
    Ok(Html::base64(&encoder.finish()?))
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use storebench_model::stores::NULL;

    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD as BASE64;
    use serde_json::{Value, json};
    use storebench_host::run::Run;
    use storebench_samples::{self as samples, Sample, run};

    use super::*;

    fn page(runs: &[Run]) -> String {
        let mut bytes = Vec::new();
        write(&Report::new(&Merged::new(runs, &[NULL])), None, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    fn data(page: &str) -> Value {
        let (_, rest) = page.split_once("id=\"data\">").unwrap();
        let (text, _) = rest.split_once('<').unwrap();
        let bytes = BASE64.decode(text).unwrap();
        let mut json = String::new();
        flate2::read::ZlibDecoder::new(bytes.as_slice()).read_to_string(&mut json).unwrap();
        serde_json::from_str(&json).unwrap()
    }

    #[test]
    fn ten_thousand_cells_fit_into_five_megabytes() {
        let page = page(&[samples::many(10_000)]);
        let cells = data(&page)["cells"]["store"].as_array().unwrap().len();
        assert!(cells >= 10_000, "{cells}");
        assert!(page.len() < 5_000_000, "{} bytes", page.len());
    }

    #[test]
    fn no_name_or_message_becomes_markup() {
        let evil = "<script>alert(1)</script><!--\u{2028}\"'&{{data}}";
        let mut run =
            run(evil, &[Sample::new(evil).ns(10.0), Sample::new("lmdb"), Sample::new("x").failed(evil)]);
        run.header.title = evil.into();
        run.header.plan = evil.into();
        run.header.command.push(evil.into());
        run.header.environment.cpu = Some(evil.into());
        run.header.locations[0].path = evil.into();
        let setting = storebench_model::store::Setting::read_back(evil, evil);
        run.trials[0].measured.as_mut().unwrap().settings.push(setting);
        let page = page(&[run]);
        assert!(!page.contains("<script>alert") && !page.contains("<!--"));
        assert!(page.matches("&lt;script&gt;alert(1)&lt;/script&gt;&lt;!--").count() > 8);
        // The data appear once, in their place.
        assert_eq!(page.matches("id=\"data\"").count(), 1);
        assert_eq!(data(&page)["stores"][0]["name"].as_str().map(str::len), Some(evil.len()));
    }

    #[test]
    fn the_answer_names_the_store_to_take_and_those_too_close_to_call() {
        let samples = [Sample::new("lmdb").ns(1000.0), Sample::new("redb").ns(3000.0)];
        let page = page(&[samples::blocks("box", &vec![samples.to_vec(); 3])]);
        assert!(page.contains("take lmdb; slower on average: redb 3.00x the time"), "{page}");
        let close = [Sample::new("lmdb").ns(1000.0), Sample::new("redb").ns(1000.0)];
        let tie = [run("box", &close), run("box", &close), run("box", &close)];
        let page = self::page(&tie);
        assert!(page.contains("too close to call: ") && !page.contains("slower on average: "), "{page}");
    }

    #[test]
    fn the_rule_that_decided_is_the_one_that_is_named() {
        let block = vec![Sample::new("lmdb"), Sample::new("redb").ns(3000.0)];
        let once = page(&[samples::blocks("box", std::slice::from_ref(&block))]);
        assert!(once.contains("Candidates: too few trials") && !once.contains("paired by block, includes 1"));
        let often = page(&[samples::blocks("box", &[block.clone(), block.clone(), block])]);
        assert!(often.contains("paired by block, includes 1") && !often.contains("Candidates"));
    }

    #[test]
    fn each_group_has_the_operations_and_rows_of_its_own_workload() {
        let mut device = run("box", &[Sample::new("lmdb")]);
        device.header.plan = "workload = \"device\"".into();
        let operations = &mut device.trials[0].measured.as_mut().unwrap().operations;
        operations.truncate(1);
        operations[0].operation = "read".into();
        let data = data(&page(&[run("box", &[Sample::new("lmdb")]), device]));
        let names = |group: usize, list: &str, name: fn(&Value) -> &str| -> Vec<String> {
            let numbers = data["groups"][group][list].as_array().unwrap();
            numbers.iter().map(|number| name(&data[list][number.as_u64().unwrap() as usize]).into()).collect()
        };
        let operations = |group| names(group, "operations", |operation| operation.as_str().unwrap());
        let rows = |group| names(group, "rows", |row| row["name"].as_str().unwrap());
        let mut groups = [0, 1].map(|group| (operations(group), rows(group)));
        groups.sort_by_key(|(operations, _)| operations.len());
        assert_eq!(groups[0].0, ["read"]);
        assert_eq!(groups[0].1, ["read"]);
        assert_eq!(groups[1].0, ["insert", "update", "get", "remove"]);
        assert!(!groups[1].1.contains(&"read".to_owned()), "{groups:?}");
    }

    #[test]
    fn rounds_have_a_section_where_there_are_any() {
        let filled = page(&[run("box", &[Sample::new("lmdb").rounds(3), Sample::new("redb")])]);
        assert!(filled.contains("<section id=\"rounds\"") && filled.contains("#go=rounds"));
        let rounds = &data(&filled)["rounds"];
        let files: Vec<&Value> =
            rounds["files"].as_array().unwrap().iter().map(|round| &round["mean"]).collect();
        assert_eq!(files, [&json!([50_958.0, null]), &json!([67_944.0, null]), &json!([84_930.0, null])]);
        assert_eq!(rounds["speed"].as_array().unwrap().len(), 3);
        let empty = page(&[run("box", &[Sample::new("lmdb")])]);
        assert!(!empty.contains("<section id=\"rounds\"") && !empty.contains("{{drawn"));
    }

    #[test]
    fn contestants_have_colours_of_their_own() {
        let samples: Vec<Sample> = (0..12).map(|number| Sample::new(&format!("own{number}"))).collect();
        let data = data(&page(&[run("box", &samples)]));
        let stores = data["stores"].as_array().unwrap().iter();
        let colours: BTreeSet<u64> = stores.map(|store| store["colour"].as_u64().unwrap()).collect();
        assert_eq!(colours.len(), 12);
    }

    #[test]
    fn what_a_page_runs_is_all_in_it() {
        let page = page(&[samples::study()]);
        let outside = ["<link rel=\"stylesheet", "<script src", "<img", "@import", "url(http", "fetch("];
        for tag in outside.into_iter().chain(["XMLHttpRequest"]) {
            assert!(!page.contains(tag), "{tag}");
        }
    }

    #[test]
    fn what_was_not_measured_is_said() {
        let mut study = samples::study();
        for measured in study.trials.iter_mut().filter_map(|trial| trial.measured.as_mut()) {
            measured.operations.iter_mut().for_each(|operation| operation.counters = None);
        }
        let page = page(&[study]);
        for text in ["figures during a background load", "syncs/op (syncs_per_operation)", "several threads"]
        {
            assert!(page.contains(text), "{text}");
        }
        let nothing = self::page(&[run("box", &[Sample::new("lmdb").failed("broken")])]);
        assert!(nothing.contains("1 of 1 trial failed.") && nothing.contains("lmdb, error: broken"));
    }
}
