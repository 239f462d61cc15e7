//! The frame of every page: its head, the links to the parts of the site, and shared elements.

use storebench_figures::data::moment::{day, to_the_second};
use storebench_model::result::RunHeader;
use xxhash_rust::xxh3::xxh3_64;

use super::facts::{Conditions, Proof, RunFacts, Speed};
use super::same_type::describe_types;
use crate::markup::{Html, Literal, Part, Tag, column, fill, note, scroll, small, table, tag};

const PAGE: &str = include_str!("page.html");
/// The longest part of a page's name that comes from its subject, in bytes.
const MAX_NAME_BYTES: usize = 120;

/// The path from a page's folder to the site's root.
pub const UP: &str = "../";

pub fn page(title: &str, subtitle: impl Part, content: impl Part) -> String {
    frame_page(UP, title, subtitle, content, "")
}

/// A page with the path `root` to the site's root, and with an addition after its content.
pub fn frame_page(
    root: &str,
    title: &str,
    subtitle: impl Part,
    content: impl Part,
    script: impl Part,
) -> String {
    let placeholders = [
        ("version", Html::new(env!("CARGO_PKG_VERSION"))),
        ("root", Html::new(root)),
        ("title", Html::new(title)),
        ("subtitle", Html::new(subtitle)),
        ("content", Html::new(content)),
        ("script", Html::new(script)),
    ];
    fill(PAGE, &placeholders).into_string()
}

/// The name of the page about something, without its ending: unique for each text, and no path.
pub fn page_name(text: &str) -> String {
    let mut name = String::new();
    for byte in text.bytes() {
        match byte {
            b'.' if name.is_empty() => name.push_str("~2E"),
            b'/' => name.push('+'),
            b'-' | b'_' | b'.' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => name.push(char::from(byte)),
            _ => name.push_str(&format!("~{byte:02X}")),
        }
    }
    if name.len() > MAX_NAME_BYTES {
        name.truncate(MAX_NAME_BYTES);
        name.push_str(&format!("~{:016x}", xxh3_64(text.as_bytes())));
    }
    name
}

pub fn link(root: &str, folder: &str, name: &str, text: impl Part) -> Tag {
    tag("a").attr("href", format!("{root}{folder}/{name}.html")).with(text)
}

pub fn store_link(root: &str, store: &str) -> Tag {
    link(root, "stores", &page_name(store), store)
}

pub fn pair_name([a, b]: &[String; 2]) -> String {
    format!("{}+{}", page_name(a), page_name(b))
}

pub fn run_link(root: &str, run: &RunFacts) -> Tag {
    link(root, "runs", &run.name, (run.header.study.as_str(), " ", day(&run.header.started)))
        .class("run")
        .attr("title", to_the_second(&run.header.started))
}

/// A note for each type with several of the runs' machines: they count separately.
pub fn type_notes<'f>(runs: impl Iterator<Item = &'f RunFacts>) -> Vec<Tag> {
    let mut machines: Vec<&RunHeader> = Vec::new();
    for header in runs.map(|run| &run.header) {
        if machines.iter().all(|other| other.hardware != header.hardware) {
            machines.push(header);
        }
    }
    machines.sort_by(|a, b| a.hardware.cmp(&b.hardware));
    describe_types(&machines).into_iter().map(|words| note((words, "."))).collect()
}

pub fn speeds(run: &RunFacts, speeds: &[Speed]) -> Tag {
    let figure = |speed: &Speed| {
        let single = speed.is_single.then_some(Literal("<sup>1</sup>"));
        link(UP, "runs", &run.name, (tag("span").with(&speed.figure), " ", &speed.range, single))
    };
    let figures: Vec<Html> = speeds.iter().map(|speed| Html::new((figure(speed), " "))).collect();
    let no_figure = speeds.is_empty().then_some(NO_FIGURE);
    let single = speeds.iter().any(|speed| speed.is_single).then(|| small(ONCE));
    tag("td").class("speeds").with((figures, no_figure, single))
}

/// The words for a store without a figure, and for figures of one trial.
pub const NO_FIGURE: &str = "none: it failed, or was not measured";
pub const ONCE: &str = "¹ one trial: only candidates";

pub const NAMED: usize = 4;

/// The conditions besides the guarantee: where, what else differs from the default, and the combinations.
pub fn describe_conditions(conditions: &Conditions) -> Html {
    let places = match conditions.places.as_slice() {
        [] | [_] => String::new(),
        places if places.len() <= NAMED => places.join("; "),
        places => format!("{} combinations", places.len()),
    };
    let parts = [&conditions.others, &conditions.common, &places];
    let parts = parts.into_iter().filter(|part| !part.is_empty()).map(small);
    Html::new((&conditions.disk, parts.collect::<Vec<_>>()))
}

pub fn guarantee(conditions: &Conditions) -> &str {
    if conditions.guarantee.is_empty() { "not applicable" } else { &conditions.guarantee }
}

pub fn proof_class(proof: &Proof) -> &'static str {
    if proof.is_broken { "broken" } else { "held" }
}

/// Evidence on power cuts, each linked to its run if it has one.
pub fn proofs<'f>(root: &str, proofs: Vec<(&'f Proof, Option<&'f RunFacts>)>) -> Html {
    let draw_proof = |(proof, run): (&Proof, Option<&RunFacts>)| {
        let text = match run {
            Some(run) => Html::new(link(root, "runs", &run.name, &proof.text)),
            None => Html::new(&proof.text),
        };
        tag("div").class(proof_class(proof)).with(text)
    };
    let proofs: Vec<Tag> = proofs.into_iter().map(draw_proof).collect();
    if proofs.is_empty() { Html::new("none of this version") } else { Html::new(proofs) }
}

/// A section with its title; empty without rows.
pub fn table_section(id: &str, title: &str, note: impl Part, heads: &[&str], rows: Vec<Tag>) -> Option<Tag> {
    let heads = heads.iter().map(|head| column(*head)).collect();
    (!rows.is_empty()).then(|| section(id, title, (note, scroll(table(heads, rows)))))
}

pub fn section(id: &str, title: &str, content: impl Part) -> Tag {
    tag("section").attr("id", id).attr("tabindex", "-1").with((tag("h2").with(title), content))
}

pub fn td(part: impl Part) -> Tag {
    tag("td").with(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_pages_are_names_of_files_and_never_alike() {
        assert_eq!(page_name("flat-folder"), "flat-folder");
        assert_eq!(page_name("a/b c"), "a+b~20c");
        assert_eq!(page_name("../x"), "~2E.+x");
        assert_ne!(page_name("a+b"), page_name("a/b"));
        let long = [300, 301].map(|length| page_name(&"é".repeat(length)));
        assert!(long.iter().all(|name| name.len() < 150) && long[0] != long[1]);
    }
}
