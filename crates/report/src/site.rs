//! A static site of many runs: pages of stores, of pairs that met, of published findings and of runs, with a search over all of them.
//! Each run is analysed separately, as in its own report; pages list these facts together. docs/site.md describes them.

mod facts;
mod finding;
mod frame;
mod index;
mod known_checks;
mod newest;
mod pair;
mod run;
mod same_type;
mod store;

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

use rayon::prelude::*;
use storebench_model::store::StoreDef;

pub use self::facts::{Conditions, MOST_PAIRED, RunFacts, Source, facts};
use self::frame::{page_name, pair_name};
use self::index::Site;
use self::known_checks::KnownChecks;
use self::newest::Newest;
use self::store::Line;
use crate::page::STYLE;

/// A file of the site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The name below the site's folder, with `/` between folders.
    pub name: String,
    /// The content.
    pub text: String,
}

/// The folders of a site's pages.
pub const FOLDERS: [&str; 4] = ["stores", "pairs", "findings", "runs"];

const OWN_STYLE: &str = include_str!("site/site.css");

/// The strongest guarantee first, then by machine; the newest last.
fn order(a: (&RunFacts, &Conditions), b: (&RunFacts, &Conditions)) -> Ordering {
    let key = |run: &RunFacts| [&run.header.hardware, &run.header.started, &run.name].map(String::clone);
    b.1.tier.cmp(&a.1.tier).then_with(|| a.1.cmp(b.1)).then_with(|| key(a.0).cmp(&key(b.0)))
}

/// Every file of the site, independent of the order of the runs; `entries` are the program's stores.
pub fn pages(mut runs: Vec<RunFacts>, entries: &[StoreDef]) -> io::Result<Vec<Page>> {
    runs.sort_by(|a, b| a.folder.cmp(&b.folder));
    let run_pages: Vec<String> = runs.iter_mut().map(|run| std::mem::take(&mut run.page)).collect();
    let mut stores: BTreeMap<&str, Vec<Line<'_>>> = BTreeMap::new();
    let mut pairs: BTreeMap<&[String; 2], Vec<_>> = BTreeMap::new();
    for run in &runs {
        run.sides.iter().for_each(|side| stores.entry(&side.store).or_default().push((run, side)));
        run.store_pairs.iter().for_each(|pair| pairs.entry(&pair.stores).or_default().push((run, pair)));
    }
    for lines in stores.values_mut() {
        lines.sort_by(|(run_a, a), (run_b, b)| {
            order((run_a, &a.conditions), (run_b, &b.conditions)).then_with(|| a.settings.cmp(&b.settings))
        });
    }
    for store_pairs in pairs.values_mut() {
        store_pairs.sort_by(|(run_a, a), (run_b, b)| order((run_a, &a.conditions), (run_b, &b.conditions)));
    }
    let site = Site {
        runs: &runs,
        stores,
        pairs: pairs.keys().copied().collect(),
        findings: finding::group_by_finding(&runs),
        checks: KnownChecks::from_runs(&runs),
        newest: Newest::from_runs(&runs),
    };
    let page = |folder: &str, name: &str, text: String| Page { name: format!("{folder}/{name}.html"), text };
    let store_page = |(store, lines): (&&str, &Vec<Line<'_>>)| {
        let entry = entries.iter().find(|entry| entry.name == *store);
        page("stores", &page_name(store), store::store_page(store, lines, &site, entry))
    };
    let mut pages: Vec<Page> = site.stores.par_iter().map(store_page).collect();
    pages.par_extend(
        pairs
            .par_iter()
            .map(|(pair, store_pairs)| page("pairs", &pair_name(pair), pair::pair_page(pair, store_pairs))),
    );
    let measured = site.findings.par_iter().filter(|(_, verdicts)| finding::is_measured(verdicts));
    pages.par_extend(
        measured.map(|((_, _, name), verdicts)| page("findings", name, finding::finding_page(verdicts))),
    );
    let root = |name: &str, text: String| Page { name: name.to_owned(), text };
    pages.push(root("index.html", index::page(&site, entries)?));
    pages.push(root("runs.html", index::runs(&site)));
    pages.extend(index::papers(&site).map(|text| root(index::PAPERS, text)));
    pages.push(root("style.css", [STYLE, OWN_STYLE].concat()));
    pages.extend(runs.iter().zip(run_pages).map(|(run, text)| page("runs", &run.name, text)));
    let names: BTreeSet<&str> = pages.iter().map(|page| page.name.as_str()).collect();
    debug_assert_eq!(names.len(), pages.len(), "two pages have one name");
    Ok(pages)
}
