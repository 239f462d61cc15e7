//! Pictures: those that the page saves, and those that `report --svg` writes without a browser.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::browser::Browser;
use super::{PAGE, open, storebench};

/// The files of a folder, by their names.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let read = |path: &Path| fs::read_to_string(path).unwrap();
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| (entry.file_name().into_string().unwrap(), read(&entry.path()))).collect()
}

/// The pictures of a page that a browser has open, by the names that files have.
fn in_browser(browser: &mut Browser) -> BTreeMap<String, String> {
    let drawn = browser.value("Object.fromEntries(allPictures())");
    serde_json::from_value(drawn).unwrap()
}

fn assert_same(written: &BTreeMap<String, String>, drawn: &BTreeMap<String, String>) {
    let names = |pictures: &BTreeMap<String, String>| pictures.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(written), names(drawn));
    for (name, text) in written {
        assert!(*text == drawn[name], "{name}:\n{text}\n{}", drawn[name]);
    }
}

#[test]
fn a_file_is_the_picture_that_the_page_saves() {
    let Some(mut browser) = open("#go=latency") else { return };
    let (folder, _) = &*PAGE;
    let run = fs::read_dir(folder.path().join("runs")).unwrap().map(|entry| entry.unwrap().path());
    let run = run.into_iter().find(|path| path.join("run.json").exists()).unwrap();
    storebench(folder.path(), &["report", run.to_str().unwrap(), "--svg", "pictures"]);
    let written = files(&folder.path().join("pictures"));
    assert!(written.len() > 40, "{:?}", written.keys());
    assert_same(&written, &in_browser(&mut browser));
    browser.value("window.saved = []; save = (name, type, text) => window.saved.push(text)");
    for (tab, name) in
        [("latency", "latency_get-latency-by-percentile_process.svg"), ("winners", "winners_process.svg")]
    {
        browser.value(&format!("showTab('{tab}')"));
        browser.click(&format!("#{tab} .save button"));
        let saved = browser.value("saved.pop()");
        assert_eq!(saved, json!(written[name]), "{name}");
    }
    // Each stands alone, is well-formed, and has its own colours in place of the page's variables.
    for (name, text) in &written {
        assert!(!text.contains("var(") && text.contains("storebench "), "{name}: {text}");
        let parsed = format!(
            "new DOMParser().parseFromString({}, 'image/svg+xml').querySelector('parsererror, script') === null",
            json!(text)
        );
        assert_eq!(browser.value(&parsed), json!(true), "{name}: {text}");
    }
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn the_matrix_as_a_picture_has_every_winner() {
    let Some(mut browser) = open("") else { return };
    browser.value("window.saved = []; save = (name, type, text) => window.saved.push([name, text])");
    browser.click("#winners .save button");
    let words = "(() => { const svg = new DOMParser().parseFromString(saved[0][1], 'image/svg+xml'); \
                 return [...svg.querySelectorAll('svg svg text')].map((text) => text.textContent); })()";
    let words: Vec<String> = serde_json::from_value(browser.value(words)).unwrap();
    let cells = "[...document.querySelectorAll('#winners .win')].flatMap((cell) => \
                 [...cell.childNodes].map((node) => node.textContent).filter((text) => text && !text.startsWith('≈')))";
    let cells: Vec<String> = serde_json::from_value(browser.value(cells)).unwrap();
    assert!(cells.len() >= 48, "{cells:?}");
    for cell in &cells {
        assert!(words.contains(cell), "{cell}: {words:?}");
    }
    for part in ["insert", "memory", "record size by records"] {
        assert!(words.iter().any(|word| word == part), "{part}: {words:?}");
    }
    assert_eq!(browser.value("saved[0][0]"), json!("winners.svg"));
    // Nothing leaves the picture, and no text stands on another.
    let fits = "(() => { const box = make('div', {}); box.innerHTML = saved[0][1]; document.body.append(box); \
                const outer = box.firstChild.getBoundingClientRect(); \
                const boxes = [...box.querySelectorAll('text')].map((text) => text.getBoundingClientRect()); \
                const apart = (a, b) => a.right <= b.left + 1 || b.right <= a.left + 1 || a.bottom <= b.top + 4 || b.bottom <= a.top + 4; \
                return boxes.every((one, i) => one.right <= outer.right + 1 && boxes.every((other, j) => i === j || apart(one, other))); })()";
    assert_eq!(browser.value(fits), Value::Bool(true));
}

#[test]
fn maps_of_heat_are_saved_with_their_colours() {
    let Some(mut browser) = open("") else { return };
    browser.value(
        "model.heats = [{ section: 'clusters', title: 'sqlite: insert', hardware: groupValues(state.group).hardware, store: 'flat-folder', \
         heads: ['', '512 B', '4 KiB'], legend: 'Green is near the least.', rows: [{ name: 'ext4', cells: [ \
         { lines: ['9.97 µs', '×1.00'], shade: 0, best: true }, { lines: ['left out'], shade: null, best: false }] }] }]; \
         (() => { const figure = make('figure', {}); document.querySelector('main').prepend(make('div', { class: 'heats' }, figure)); drawHeats(); drawHeats(); \
         window.saved = []; save = (name, type, text) => window.saved.push([name, text]); })()",
    );
    assert_eq!(browser.count(".heats .save"), 1, "drawn again it is still one");
    browser.click(".heats .save button");
    let saved = browser.value("saved[0]");
    assert_eq!(saved[0], json!("sqlite-insert.svg"));
    let svg = saved[1].as_str().unwrap();
    for part in [
        "sqlite: insert",
        "512 B",
        "ext4",
        "9.97 µs",
        "×1.00",
        "left out",
        "Green is near the least.",
        "fill-opacity:0.26",
    ] {
        assert!(svg.contains(part), "{part}: {svg}");
    }
    assert!(
        browser
            .value("allPictures().map(([name]) => name)")
            .to_string()
            .contains("clusters_sqlite-insert.svg")
    );
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
