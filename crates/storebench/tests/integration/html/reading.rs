//! The report as its reader sees it: charts that say something, on paper too, and an address and a focus that stay.

use serde_json::json;

use super::browser::Browser;
use super::{hash, open, storebench};

/// Whether all pictures in it are within their boxes, and the boxes within the page.
fn within(selector: &str) -> String {
    format!(
        "[...document.querySelectorAll('{selector} .chart svg')].every((svg) => {{ \
         const [inner, outer] = [svg, svg.parentElement].map((e) => e.getBoundingClientRect()); \
         return inner.height > 0 && inner.bottom <= outer.bottom + 1 && inner.right <= outer.right + 1 \
         && outer.right <= document.documentElement.clientWidth; }})"
    )
}

/// The sections below the answer that the reader sees.
const SEEN: &str = "[...document.querySelectorAll('main > section, #drawn > section')]\
                    .filter((section) => section.id !== 'answer' && section.getClientRects().length).map((section) => section.id)";

#[test]
fn below_the_answer_is_one_section_and_on_paper_are_all() {
    let Some(mut browser) = open("") else { return };
    browser.show_on(1280, 900, false);
    assert_eq!(browser.value(SEEN), json!(["winners"]));
    let height = browser.value("document.documentElement.scrollHeight").as_u64().unwrap();
    assert!(height <= 4_000, "the page opens {height} px tall");
    browser.click("nav a[href='#go=memory']");
    browser.until(&format!("JSON.stringify({SEEN}) === '[\"memory\"]'"));
    assert_eq!(browser.text("nav a[aria-current]"), "Memory");
    // Its chart is drawn as it comes into view, as wide as its box.
    browser.until("document.querySelector('#memory .chart svg') !== null");
    assert_eq!(browser.value(&within("#memory")), json!(true));
    browser.click("nav a[href='#go=machine']");
    browser.until("document.getElementById('filters').hidden");
    assert_eq!(browser.value(SEEN), json!(["machine"]));
    let empty =
        browser.value("[...document.querySelectorAll('nav a.empty')].map((link) => link.textContent)");
    assert!(empty.as_array().unwrap().contains(&json!("Load")), "{empty}");
    browser.send("Emulation.setEmulatedMedia", json!({"media": "print"}));
    let all = browser.count("nav a") - 1;
    assert_eq!(browser.value(&format!("{SEEN}.length")), json!(all));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn on_paper_charts_stay_within_their_boxes() {
    let Some(mut browser) = open("") else { return };
    browser.value("drawEveryChart()");
    browser.value("dispatchEvent(new Event('beforeprint'))");
    browser.send("Emulation.setEmulatedMedia", json!({"media": "print"}));
    browser.show_on(700, 1000, false);
    assert_eq!(browser.value(&within("#drawn")), json!(true));
    browser.send("Emulation.setEmulatedMedia", json!({"media": ""}));
    browser.value("dispatchEvent(new Event('afterprint'))");
    for section in ["curves", "latency", "space", "safety", "memory"] {
        browser.value(&format!("showTab('{section}'); drawAll(); drawEveryChart()"));
        browser.until(&format!("document.querySelector('#{section} .chart svg') !== null"));
        browser.until(&within(&format!("#{section}")));
    }
    let pdf = browser.send("Page.printToPDF", json!({}));
    assert!(pdf["data"].as_str().unwrap().len() > 100_000, "the charts are in it");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_chart_without_points_is_words() {
    let Some(mut browser) = open("") else { return };
    browser.value("model.trial[model.memory].mean.fill(0); drawAll()");
    assert_eq!(browser.count("#memory .chart"), 0);
    assert!(browser.text("#memory .content").starts_with("Zero, and so not drawn on a log axis: "));
    browser.value("change({ off: new Set(model.stores.map((store) => store.name)) })");
    assert_eq!(browser.count("#drawn .chart"), 0);
    assert_eq!(browser.text("#memory .content"), "No store is selected.");
    browser.value(
        "change({ off: new Set() }); model.trial[model.memory].mean.fill(null); drawSection('memory')",
    );
    assert_eq!(browser.text("#memory .content"), "Not measured here.");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn curves_go_across_an_axis_that_has_values() {
    let Some(mut browser) = open("") else { return };
    assert_eq!(browser.value("document.getElementById('choose-x').value"), json!("records"));
    browser.value("change({ records: 0 })");
    assert_eq!(browser.value("document.getElementById('choose-x').value"), json!("record_size"));
    assert!(browser.count("#curves .chart") > 0);
    browser.value("change({ record_size: 0 })");
    assert_eq!((browser.count("#curves .chart"), browser.count("#curves select")), (0, 0));
    assert!(browser.text("#curves .content").contains("nothing to draw curves across"));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// A machine of one processor is one that any user may hold a trial to.
const ON_MACHINES: &str = r#"
format = 1
name = "machines"
title = "t"
workload = "crud"
trials = 3
operations = 5
seed = 1
size_limit = "1GiB"
timeout = "120s"
[machines.one-processor]
processors = 1
[axes]
store = ["flat-folder", "nested-folder"]
record_size = ["1B..1KiB"]
records = ["20..40"]
data = ["incompressible"]
guarantee = ["process"]
machine = ["here", "one-processor"]
"#;

#[test]
fn each_machine_is_shown_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("plan.toml"), ON_MACHINES).unwrap();
    storebench(folder.path(), &["run", "plan.toml", "--out", "runs"]);
    storebench(folder.path(), &["report", "latest", "--out", "runs", "--html", "page.html"]);
    let Some(mut browser) = Browser::open(&folder.path().join("page.html"), "") else { return };
    let shown = "JSON.stringify(tableCells(tableColumns()))";
    let mut cells = Vec::new();
    for machine in ["one-processor", "here"] {
        browser.choose("#choose-machine", machine);
        assert!(browser.text("#winners .where").contains(&format!("machine: {machine}")));
        assert!(browser.text("#table .where").contains(&format!("machine: {machine}")));
        cells.push(browser.value(shown));
    }
    assert_ne!(cells[0], cells[1], "each has its own figures");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn variants_of_a_store_are_one_curve() {
    let Some(mut browser) = open("") else { return };
    browser.value(
        "model.variants = [{ id: 'a.b', name: 'b', one: 'value of b', values: [['1', 1], ['2', 2]], \
         of: model.stores.map((_, number) => number % 2), line: model.stores.map(() => 'variants') }]; \
         change({ x: 'a.b' }); drawEveryChart()",
    );
    browser.until("document.querySelector('#curves .chart svg') !== null");
    assert_eq!(
        browser.count("#curves .chart:first-of-type svg .series"),
        browser.count("#curves .chart:first-of-type")
    );
    assert!(browser.text("#curves svg .name").contains("variants"));
    assert!(browser.text("#curves .axes").contains('b'), "the axis is named");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn what_settings_are_worth_has_a_row_for_each() {
    let Some(mut browser) = open("") else { return };
    assert_eq!(browser.count("#effects, nav a[href='#go=effects']"), 0, "this run varied no settings");
    browser.value(
        "(() => { const row = (name, open) => ({ name, y: 2, low: 0.5, high: 3000, open, best: !open, named: open, aside: 'less', tip: name + ' 2' }); \
         model.dots = [{ title: 'worth', across: 'times', unit: 'count', from_one: true, aside: 'promises', whiskers: 'ranges', \
         hardware: groupValues(state.group).hardware, store: 'flat-folder', trials: [3, 3], \
         groups: [{ name: 'levels, beside 2', tone: 1, rows: [row('a name as long as it can be '.repeat(9), true), row('3', false)] }] }]; \
         const place = make('div', { class: 'dots', 'data-dots': '0' }); document.querySelector('main').prepend(place); drawAll(); drawEveryChart(); })()",
    );
    for width in [1280, 390] {
        browser.show_on(width, 900, false);
        browser.until("document.querySelectorAll('.dots svg .mark').length === 2");
        assert_eq!(browser.count(".dots svg .mark.open"), 1);
        assert!(browser.text(".dots svg").contains("levels, beside 2"));
        let fits = "document.documentElement.scrollWidth <= innerWidth && document.querySelector('.dots svg').getBBox().width <= innerWidth";
        assert_eq!(browser.value(fits), json!(true), "{width}");
    }
    browser.value("window.saved = []; save = (name, type, text) => window.saved.push(text)");
    browser.click(".dots .save button");
    // Lines break where the machine's name leaves no room.
    let words = "[...new DOMParser().parseFromString(saved[0], 'image/svg+xml').querySelectorAll('text')]\
                 .map((text) => text.textContent).join(' ')";
    let saved = browser.value(words);
    for part in ["worth", "3 trials each; whiskers: ranges", "storebench "] {
        assert!(saved.as_str().unwrap().contains(part), "{part}: {saved}");
    }
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_saved_chart_says_what_it_shows() {
    let Some(mut browser) = open("#go=latency") else { return };
    browser.value("window.saved = []; save = (name, type, text) => window.saved.push([name, type, text])");
    browser.until("document.querySelector('#latency .chart svg') !== null");
    browser.click("#latency .save button");
    let saved = browser.value("saved[0]");
    assert_eq!((&saved[0], &saved[1]), (&json!("get-latency-by-percentile.svg"), &json!("image/svg+xml")));
    let svg = saved[2].as_str().unwrap();
    for part in [
        "xmlns=\"http://www.w3.org/2000/svg\"",
        "get: latency by percentile",
        // Machine and what the section shows; lines may break behind them.
        " cores",
        "Guarantee:",
        "operation:",
        "records",
        "trial",
        "storebench ",
    ] {
        assert!(svg.contains(part), "{part}: {svg}");
    }
    browser.value("document.querySelectorAll('#latency .save button')[1].click()");
    browser.until("saved.length === 2");
    let png = browser.value("[saved[1][1], saved[1][2].size > 10000]");
    assert_eq!(png, json!(["image/png", true]));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn labels_have_room_and_axes_have_ticks() {
    let Some(mut browser) = open("") else { return };
    for (low, high, unit) in [(100, 130, "ns"), (980, 1100, "ns"), (5 << 20, 6 << 20, "bytes"), (1, 2, "")] {
        let ticks = browser.value(&format!("roundValues({low}, {high}, '{unit}')"));
        let ticks: Vec<f64> = ticks.as_array().unwrap().iter().map(|tick| tick.as_f64().unwrap()).collect();
        assert!(ticks.len() >= 3, "{low} to {high}: {ticks:?}");
        assert!(ticks.iter().all(|tick| (f64::from(low)..=f64::from(high)).contains(tick)), "{ticks:?}");
    }
    let kept = "(() => { const at = logScale(80, 8000, 60, 390); \
                const counts = Array.from({ length: 63 }, (_, i) => 100 * (i + 1)); \
                return withRoom(counts.map((count) => ({ at: at(count), text: grouped(count) }))).map((tick) => tick.text); })()";
    let kept = browser.value(kept);
    let kept = kept.as_array().unwrap();
    assert!((3..12).contains(&kept.len()), "{kept:?}");
    assert_eq!((&kept[0], &kept[kept.len() - 1]), (&json!("100"), &json!("6,300")));
    assert_eq!(browser.value("show('bytes', 0)"), json!("0 B"));
    let low = "(() => { const { mean, spread } = model.trial.files; mean[0] = 1; spread[0] = -5; return figureOf(0, 'files').low; })()";
    assert_eq!(browser.value(low), json!(0));
}

#[test]
fn the_focus_stays_on_what_was_changed() {
    let Some(mut browser) = open("") else { return };
    for (tab, id, value) in [
        ("curves", "figure", "latency_p50"),
        ("curves", "x", "record_size"),
        ("table", "shows", "trial"),
        ("table", "op", "update"),
    ] {
        browser.value(&format!(
            "(() => {{ showTab('{tab}'); const list = document.getElementById('choose-{id}'); list.focus(); list.value = '{value}'; \
             list.dispatchEvent(new Event('change', {{ bubbles: true }})); }})()"
        ));
        assert_eq!(browser.value("document.activeElement.id"), json!(format!("choose-{id}")));
        assert_eq!(browser.value(&format!("document.getElementById('choose-{id}').value")), json!(value));
    }
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn the_price_of_safety_is_that_of_writing() {
    let Some(mut browser) = open("") else { return };
    assert!(browser.text("#safety .where").contains("operation: insert"));
    assert!(browser.text("#memory ~ section#load .where").contains("operation: get"));
    // Three trials of each: the ratio has an interval.
    assert!(browser.text("#safety .content table").contains("× ["));
    browser.choose("#choose-op", "get");
    assert!(browser.text("#safety .where").contains("operation: get"));
    assert!(hash(&mut browser).contains("op=get"));
    browser.value("alongGroups = (axis) => ['flat-folder', 'nested-folder'].map((name, number) => ({ value: name, cells: [model.cells.store.findIndex((store) => model.stores[store].name === name)], number }))");
    browser.value("drawSection('safety')");
    assert!(browser.text("#safety .content").contains("No store was measured under two guarantees"));
}

#[test]
fn a_copied_link_opens_its_section_and_back_goes_back() {
    let Some(mut browser) = open("#go=memory") else { return };
    let is_at = |id: &str| {
        format!(
            "Math.abs(document.getElementById('{id}').getBoundingClientRect().top) < innerHeight && location.hash.includes('go={id}')"
        )
    };
    browser.until(&is_at("memory"));
    browser.click("nav a[href='#go=settings']");
    browser.until(&is_at("settings"));
    browser.value("history.back()");
    browser.until(&is_at("memory"));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn wide_tables_keep_their_names_and_sorting_keeps_their_rows() {
    let Some(mut browser) = open("#go=table") else { return };
    for cell in ["#winners tbody th", "#winners thead th", "#table tbody th", "#table thead th"] {
        let position = format!("getComputedStyle(document.querySelector('{cell}')).position");
        assert_eq!(browser.value(&position), json!("sticky"), "{cell}");
    }
    browser.value("everyRow = true; drawTable()");
    browser.click("#sort-latency_mean");
    assert_eq!(browser.value("everyRow"), json!(true));
    browser.choose("#choose-op", "update");
    assert_eq!(browser.value("everyRow"), json!(false));
}
