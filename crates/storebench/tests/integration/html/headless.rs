//! The page in a headless browser: what it reads and prints has all that a reader would see, without an added delay.

use std::fs;

use super::browser::once;
use super::{PAGE, open, skipped};

#[test]
fn a_page_counts_as_loaded_once_it_is_drawn() {
    let Some(output) = once(&["--dump-dom"], &PAGE.1, "#go=latency") else { return skipped() };
    let page = String::from_utf8_lossy(&output.stdout);
    let (_, latency) = page.split_once("<section id=\"latency\"").unwrap();
    let (latency, _) = latency.split_once("</section>").unwrap();
    assert!(page.contains("data-ready=\"yes\"") && latency.contains("class=\"mark\""), "{latency}");
    assert!(!page.contains("<iframe"));
}

#[test]
fn what_is_printed_has_every_chart() {
    let folder = tempfile::tempdir().unwrap();
    // The same page without its scripts, as it would be printed before they have run.
    let bare = folder.path().join("bare.html");
    let page = fs::read_to_string(&PAGE.1).unwrap();
    let (texts, _) = page.rsplit_once("<script>").unwrap();
    fs::write(&bare, texts).unwrap();
    let sizes = [&PAGE.1, &bare].map(|page| {
        let file = folder.path().join("page.pdf");
        once(&[&format!("--print-to-pdf={}", file.display())], page, "")?;
        Some(fs::metadata(&file).unwrap().len())
    });
    let [Some(drawn), Some(bare)] = sizes else { return skipped() };
    assert!(drawn > 2 * bare, "{drawn} bytes, and {bare} without scripts");
    // Whatever was in view before.
    let Some(mut browser) = open("") else { return };
    browser.value("dispatchEvent(new Event('beforeprint'))");
    let charts = browser.count("#drawn .chart");
    assert!(charts >= 5 && browser.count("#drawn .chart svg") == charts, "{charts} charts");
}
