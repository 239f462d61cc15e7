//! The site of results in real browsers: search, filters and keyboard, dark mode, paper, and Firefox.

use std::path::PathBuf;

use serde_json::json;
use storebench_core::error::Exit;

use super::browser::Browser;
use super::firefox::Firefox;
use super::skipped;
use crate::cli::site::runs;
use crate::cli::support::Scratch;

fn made() -> (Scratch, PathBuf) {
    let scratch = runs();
    scratch.storebench("site runs --out site").ends(Exit::Success);
    let index = scratch.join("site/index.html");
    (scratch, index)
}

/// The rows that are drawn, as text.
const ROWS: &str = "[...document.querySelectorAll('#rows tbody tr')].map((row) => row.textContent)";

#[test]
fn results_are_searched_and_filtered_and_the_address_keeps_it() {
    let (_scratch, index) = made();
    let Some(mut browser) = Browser::open(&index, "") else { return skipped() };
    assert_eq!(browser.value(&format!("{ROWS}.length")), json!(6), "three runs of two stores");
    browser.choose("#machine", "board");
    assert_eq!(browser.value(&format!("{ROWS}.length")), json!(2));
    assert!(
        browser.value(&format!("{ROWS}.every((row) => row.includes('board') && row.includes('power'))"))
            == json!(true)
    );
    browser.choose("#store", "one-file");
    assert_eq!(browser.text("#count"), "1 of 6 rows.");
    let address = browser.value("location.hash").as_str().unwrap().to_owned();
    browser.go(&index, "#");
    browser.until("document.getElementById('count').textContent === '6 of 6 rows.'");
    browser.go(&index, &address);
    browser.until("document.getElementById('count').textContent === '1 of 6 rows.'");
    browser.click("#reset");
    browser.until("document.getElementById('count').textContent === '6 of 6 rows.'");
    assert_eq!(browser.value("location.hash"), json!(""));
    // Each figure leads to its run.
    browser.click("#rows .speeds a");
    browser.until("document.querySelector('#figures table') !== null");
    assert!(browser.text("main").contains("the whole report"));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn the_keyboard_reaches_all_of_it() {
    let (_scratch, index) = made();
    let Some(mut browser) = Browser::open(&index, "") else { return skipped() };
    browser.value("dispatchEvent(new KeyboardEvent('keydown', {key: '/'}))");
    assert_eq!(browser.value("document.activeElement.id"), json!("search"));
    browser.send("Input.insertText", json!({"text": "one-FILE process"}));
    browser.until("document.getElementById('count').textContent === '1 of 6 rows.'");
    browser.press("Enter");
    assert_eq!(browser.value("document.activeElement.getAttribute('href')"), json!("stores/one-file.html"));
    assert_ne!(browser.value("getComputedStyle(document.activeElement).outlineStyle"), json!("none"));
    browser.value("document.getElementById('search').focus()");
    browser.press("Escape");
    browser.until("document.getElementById('count').textContent === '6 of 6 rows.'");
    browser.send("Input.insertText", json!({"text": "nosuchstore"}));
    browser.until("document.getElementById('count').textContent.includes('Reset the filters')");
    // From the top, the first stop of the keyboard skips the links to the parts of the site.
    browser.value("document.activeElement.blur()");
    browser.value("document.querySelector('.skip').focus()");
    browser.press("Enter");
    browser.until("document.activeElement.id === 'content'");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn it_is_dark_where_the_system_is_and_fits_paper_and_a_phone() {
    let (_scratch, index) = made();
    let Some(mut browser) = Browser::open(&index, "") else { return skipped() };
    let ground = "getComputedStyle(document.body).backgroundColor";
    let dark = json!({"features": [{"name": "prefers-color-scheme", "value": "dark"}]});
    assert_eq!(browser.value(ground), json!("rgb(255, 255, 255)"));
    browser.send("Emulation.setEmulatedMedia", dark);
    browser.until(&format!("{ground} === 'rgb(20, 23, 27)'"));
    browser.send("Emulation.setEmulatedMedia", json!({"media": "print"}));
    let seen = |selector: &str| format!("document.querySelector('{selector}').getClientRects().length > 0");
    assert_eq!(browser.value(&seen("#filters")), json!(false));
    assert_eq!(browser.value(&seen("#rows tbody tr")), json!(true));
    browser.send("Emulation.setEmulatedMedia", json!({"media": ""}));
    browser.show_on(390, 844, true);
    let fits = "document.documentElement.scrollWidth <= innerWidth";
    assert_eq!(browser.value(fits), json!(true));
    let pages = ["stores/one-file.html", "pairs/flat-folder+one-file.html", "runs.html"];
    for page in pages {
        // Pages without a script are ready as soon as they are there.
        let address = format!("file://{}", index.with_file_name(page).display());
        browser.send("Page.navigate", json!({"url": address}));
        browser.until(&format!("location.href === {} && document.readyState === 'complete'", json!(address)));
        assert_eq!(browser.value(fits), json!(true), "{page}");
        assert!(browser.count("main tbody tr") >= 3, "{page}");
    }
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn firefox_shows_the_same() {
    let (_scratch, index) = made();
    let Some(mut firefox) = Firefox::open(&index) else { return skipped() };
    firefox.until("document.documentElement.dataset.ready === 'yes'");
    assert_eq!(firefox.value(&format!("{ROWS}.length")), json!(6));
    assert_eq!(
        firefox.value("getComputedStyle(document.querySelector('nav ul')).listStyleType"),
        json!("none"),
        "styled"
    );
    let search = "(() => { const e = document.getElementById('search'); e.value = 'board one-file'; \
                  e.dispatchEvent(new Event('input', {bubbles: true})); return true; })()";
    assert_eq!(firefox.value(search), json!(true));
    assert_eq!(firefox.value("document.getElementById('count').textContent"), json!("1 of 6 rows."));
}
