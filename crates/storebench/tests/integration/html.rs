//! The HTML report in a real browser: it renders, its controls work, it asks nothing of the network, and no text that others
//! wrote is taken for markup.

pub mod browser;
mod firefox;
mod headless;
mod heights;
mod pictures;
mod reading;
mod site;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use browser::Browser;
use serde_json::{Value, json};
use tempfile::TempDir;

/// The text in every name and message of the run; it would leave a mark if it ran.
const EVIL: &str = "</script><script>window.evil=1</script><!--<img src=x onerror=\"window.evil=1\">'&";

/// The page of a small real run, to which results with hostile names were added.
static PAGE: LazyLock<(TempDir, PathBuf)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "run",
        "crud",
        "--store",
        "flat-folder,nested-folder",
        "--records",
        "10..30,20..40",
        "--record-size",
        "1B..100B,1KiB..2KiB",
        "--operations",
        "20",
        "--trials",
        "3",
        "--data",
        "incompressible",
        "--guarantee",
        "process,power",
        "--hardware",
        EVIL,
        "--out",
    ];
    storebench(folder.path(), &[&arguments[..], &["runs"]].concat());
    let runs: Vec<PathBuf> =
        fs::read_dir(folder.path().join("runs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let run = runs.iter().find(|path| path.join("run.json").exists()).unwrap();
    assert!(run.join("report.html").exists(), "a run ends with its report");
    add_hostile_results(&run.join("results.jsonl"));
    storebench(folder.path(), &["report", run.to_str().unwrap(), "--html", "page.html"]);
    let page = folder.path().join("page.html");
    (folder, page)
});

fn storebench(folder: &Path, arguments: &[&str]) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_storebench")).args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn add_hostile_results(path: &Path) {
    let text = fs::read_to_string(path).unwrap();
    let trials = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    // Of the guarantee that the page shows first.
    let mut trial = trials.into_iter().find(|trial| trial["cell"]["guarantee"] == "process").unwrap();
    trial["cell"]["store"] = json!(EVIL);
    trial["measured"]["settings"] = json!([{"name": EVIL, "value": EVIL, "source": "read-back"}]);
    let mut failed = trial.clone();
    failed["outcome"] = json!({"status": "failed", "reason": "store", "message": EVIL, "log": EVIL});
    failed["measured"] = Value::Null;
    fs::write(path, format!("{text}{trial}\n{failed}\n")).unwrap();
}

/// Opens the page; without Chromium says so and gives nothing.
fn open(after: &str) -> Option<Browser> {
    let browser = Browser::open(&PAGE.1, after);
    if browser.is_none() {
        skipped();
    }
    browser
}

#[allow(clippy::print_stdout, reason = "a test that is skipped says so")]
fn skipped() {
    println!("skipped: needs chromium");
}

fn hash(browser: &mut Browser) -> String {
    browser.value("location.hash").as_str().unwrap().to_owned()
}

fn is_hidden(browser: &mut Browser, id: &str) -> bool {
    browser.value(&format!("document.getElementById('{id}').hidden")) == json!(true)
}

#[test]
fn it_renders_without_a_complaint_and_asks_for_nothing() {
    let Some(mut browser) = open("") else { return };
    assert!(is_hidden(&mut browser, "problem"));
    browser.value("drawEveryChart()");
    for section in ["curves", "latency", "space", "safety", "memory"] {
        let drawn = format!(
            "[...document.querySelectorAll('#{section} .chart')].filter((c) => charts.has(c) && c.querySelector('svg .mark')).length"
        );
        assert!(browser.value(&drawn).as_u64().unwrap() > 0, "{section} has no chart");
    }
    // A figure that was not measured says so instead of a chart.
    assert!(browser.text("#load .content").starts_with("Not measured"));
    assert!(browser.text("#safety .content").contains("power / process"));
    // Six rows, two sizes, two counts.
    assert_eq!(browser.count("#winners .win"), 24);
    assert!(browser.requests() >= 1, "requests are not seen");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn rounds_have_a_curve_of_speed_one_of_files_and_one_of_pauses() {
    let study = "ycsb --workload A,C --records 20 --operations 30 --rounds 3 --trials 2";
    let Some(mut browser) = rounds_of(study) else { return };
    assert_eq!(browser.count("#rounds .series .mark"), 3 * 2 * 3, "charts, stores, rounds");
    assert!(!browser.text("#rounds").contains("bytes of values written"));
    assert_eq!(browser.count("nav a[href='#go=rounds']"), 1);
    assert!(browser.text("#rounds .where").contains("workload A"));
    // Workload C updates nothing.
    let whys =
        browser.value("[...document.querySelectorAll('#winners .none')].map((cell) => cell.textContent)");
    assert_eq!(whys, json!(["not applicable"]));
    // A pause in one round of one store is a ring in each chart, and in what is saved of it.
    for (longest_ns, rings) in [(9e6, 0), (11e6, 1)] {
        browser.value(&format!(
            "model.rounds.longest.forEach((round) => round.mean.fill(1)); \
             model.rounds.longest[2].mean[onePlace().cells[0]] = {longest_ns}; drawAll(); drawEveryChart()"
        ));
        assert_eq!(browser.count("#rounds .ring"), 3 * rings);
        assert_eq!(browser.text("#rounds").contains("A ring marks a round with a pause"), rings > 0);
        let saved = "[...charts.values()].filter((spec) => spec.section === 'rounds').map((spec) => \
                     asSvg(spec).includes('A ring marks a round with a pause'))";
        assert_eq!(browser.value(saved), json!([rings > 0, rings > 0, rings > 0]));
    }
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_life_is_drawn_over_the_bytes_that_it_wrote() {
    let Some(mut browser) = rounds_of("life --churn uniform --records 20 --turnover 1 --trials 1") else {
        return;
    };
    assert_eq!(browser.count("#rounds .series .mark"), 3 * 2 * 10, "charts, stores, tenths");
    assert!(browser.text("#rounds").contains("bytes of values written"));
}

#[test]
fn on_a_phone_the_cost_of_a_power_cut_is_below_the_name() {
    let Some(mut browser) = rounds_of("life --churn uniform --records 20 --turnover 1 --trials 1") else {
        return;
    };
    let shown = |class: &str| {
        format!(
            "[...document.querySelectorAll('.standings {class}')].filter((cost) => \
             cost.getClientRects()[0]?.right <= innerWidth).length"
        )
    };
    for (width, is_phone, narrow, wide) in [(400, true, 2, 0), (1280, false, 0, 3)] {
        browser.show_on(width, 800, is_phone);
        assert_eq!([shown(".narrow"), shown(".wide")].map(|shown| browser.value(&shown)), [narrow, wide]);
    }
}

/// The charts of the rounds of a study on two stores.
fn rounds_of(study: &str) -> Option<Browser> {
    let folder = tempfile::tempdir().unwrap();
    let arguments = format!("run {study} --store flat-folder,nested-folder --guarantee process --out runs");
    storebench(folder.path(), &arguments.split_whitespace().collect::<Vec<_>>());
    let run = fs::read_dir(folder.path().join("runs")).unwrap().map(|entry| entry.unwrap().path());
    let page = run.map(|run| run.join("report.html")).find(|page| page.exists()).unwrap();
    let mut browser = Browser::open(&page, "#go=rounds")?;
    browser.value("drawEveryChart()");
    browser.until("document.querySelectorAll('#rounds svg').length === 3");
    Some(browser)
}

#[test]
fn published_findings_are_reached_and_open() {
    let Some(mut browser) = open("#go=findings") else { return };
    let claims = storebench_host::plan::find("crud").unwrap().claims.len();
    let listed = browser.count("#findings .claims > li, #findings .unmeasured > li");
    assert_eq!(listed as usize, claims);
    // In so small a run a finding may happen to be reported, or none.
    browser.click("#findings details summary");
    assert_eq!(browser.value("document.querySelector('#findings details').open"), json!(true));
    let unmeasured = browser.text("#findings .unmeasured");
    assert!(unmeasured.contains("Berkeley DB") && unmeasured.contains(": needs "), "{unmeasured}");
    assert!(browser.text("#findings").contains("has nothing to compare with"), "of the published tables");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn nothing_that_others_wrote_is_taken_for_markup() {
    let Some(mut browser) = open("") else { return };
    browser.value("document.querySelectorAll('details').forEach((d) => (d.open = true)); drawEveryChart()");
    assert_eq!(browser.value("window.evil"), Value::Null);
    assert_eq!(browser.count("img"), 0);
    assert_eq!(browser.count("script"), 2);
    assert!(browser.text("#filters").contains(EVIL), "the hostile store is not shown as it is called");
    assert!(browser.text("#missing").contains(EVIL));
    assert!(browser.text("#settings").contains(EVIL));
    assert!(browser.text("#table").contains(EVIL));
    assert!(browser.text(".subtitle").contains(EVIL));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_place_opens_by_mouse_and_keyboard_and_shows_all_stores() {
    let Some(mut browser) = open("") else { return };
    browser.click("#winners .win");
    browser.until("document.getElementById('detail').open");
    let detail = browser.text("#detail");
    assert!(
        detail.contains("flat-folder") && detail.contains("nested-folder") && detail.contains("the best"),
        "{detail}"
    );
    browser.until("location.hash.includes('cell=insert')");
    browser.press("Escape");
    browser.until("!document.getElementById('detail').open");
    browser.until("!location.hash.includes('cell=')");
    // The focus is unchanged, so that the keyboard continues from there.
    browser.until("document.activeElement === document.querySelector('#winners .win')");
    browser.value("document.querySelector('#winners .win').focus()");
    browser.press("Enter");
    browser.until("document.getElementById('detail').open");
    browser.click("#detail-close");
    browser.until("!document.getElementById('detail').open");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn filters_work_and_a_link_shows_the_same() {
    let Some(mut browser) = open("") else { return };
    let all = browser.count("#winners .win");
    let rows = browser.count("#table tbody tr");
    browser.choose("#choose-guarantee", "power");
    assert!(browser.text("#winners .where").contains("Guarantee: power"));
    browser.choose("#choose-record_size", "1KiB..2KiB");
    assert_eq!(browser.count("#winners .win"), all / 2);
    assert!(browser.count("#table tbody tr") < rows);
    browser.choose("#choose-op", "remove");
    let link = hash(&mut browser);
    browser.send("Page.navigate", json!({"url": "about:blank"}));
    browser.go(&PAGE.1, &link);
    assert_eq!(hash(&mut browser), link);
    assert!(browser.text("#winners .where").contains("Guarantee: power"));
    assert_eq!(browser.count("#winners .win"), all / 2);
    assert!(browser.text("#latency .where").contains("operation: remove"));
    // As the charts of a smaller run link to the row behind them.
    browser.send("Page.navigate", json!({"url": "about:blank"}));
    browser.go(&PAGE.1, "#mark=remove%7C1KiB..2KiB&go=winners");
    browser.until("document.querySelector('#winners tr.marked') !== null");
    let (top, bottom) = ("row.top >= 0", "row.bottom <= innerHeight");
    browser.until(&format!(
        "(() => {{ const row = document.querySelector('#winners tr.marked').getBoundingClientRect(); return {top} && {bottom}; }})()"
    ));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn stores_are_toggled_in_charts_and_table() {
    let Some(mut browser) = open("") else { return };
    let lines = "(() => { drawEveryChart(); return [...charts.values()].flatMap((spec) => spec.lines.map(nameOf)); })()";
    let name = "[...document.querySelectorAll('.chip')].findIndex((c) => c.textContent === 'flat-folder')";
    let number = browser.value(name).as_u64().unwrap();
    assert!(browser.value(lines).to_string().contains("flat-folder"));
    browser.click(&format!("#store-{number}"));
    assert!(!browser.value(lines).to_string().contains("flat-folder"));
    assert!(!browser.text("#table tbody").contains("flat-folder"));
    assert!(hash(&mut browser).contains("off=flat-folder"));
    let pressed = format!("document.getElementById('store-{number}').getAttribute('aria-pressed')");
    assert_eq!(browser.value(&pressed), json!("false"));
    // The focus stays on the toggle, so that the keyboard goes on from there.
    assert_eq!(browser.value("document.activeElement.id"), json!(format!("store-{number}")));
    browser.press("Enter");
    assert!(browser.text("#table tbody").contains("flat-folder"));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn the_table_sorts_copies_and_everything_can_be_taken_out() {
    let Some(mut browser) = open("#go=table") else { return };
    let means =
        "tableCells(tableColumns()).map((c) => figureOf(c, 'latency_mean', state.op)?.mean).filter((m) => m)";
    for (order, sorted) in [("ascending", "m[i - 1] <= x"), ("descending", "m[i - 1] >= x")] {
        browser.click("#sort-latency_mean");
        let at = browser.value("document.querySelector('#table th[aria-sort]').ariaSort");
        assert_eq!(at, json!(order));
        let check = format!("{means}.every((x, i, m) => i === 0 || {sorted})");
        assert_eq!(browser.value(&check), json!(true));
    }
    browser.value("window.copied = ''; toClipboard = async (text) => { window.copied = text; return true; }");
    browser.click("#copy");
    let copied = browser.value("window.copied");
    let lines: Vec<&str> = copied.as_str().unwrap().lines().collect();
    assert_eq!(lines.len() as u64, browser.count("#table tbody tr") + 1);
    assert!(lines[0].starts_with("store\trecord size\trecords\ttrials\tops/s\tbytes/s\tmean\t"));
    browser.value("window.saved = []; save = (name, type, text) => window.saved.push([name, text])");
    browser.click("#csv");
    browser.click("#json");
    let saved = browser.value("window.saved");
    let csv = saved[0][1].as_str().unwrap();
    let cells = browser.value("model.cells.group.length").as_u64().unwrap() as usize;
    assert_eq!(csv.matches("\r\n").count(), cells * 4 + 1);
    assert!(csv.starts_with("hardware,guarantee,"));
    let json: Value = serde_json::from_str(saved[1][1].as_str().unwrap()).unwrap();
    assert_eq!(json["cells"]["group"].as_array().unwrap().len(), cells);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn it_fits_a_phone_and_has_a_dark_side() {
    let Some(mut browser) = open("") else { return };
    browser.show_on(390, 844, true);
    let width = browser.value("document.documentElement.scrollWidth").as_u64().unwrap();
    assert!(width <= 390, "the page is {width} wide");
    let ground = "getComputedStyle(document.body).backgroundColor";
    let dark = json!({"features": [{"name": "prefers-color-scheme", "value": "dark"}]});
    browser.send(
        "Emulation.setEmulatedMedia",
        json!({"features": [{"name": "prefers-color-scheme", "value": "light"}]}),
    );
    let light_ground = browser.value(ground);
    browser.send("Emulation.setEmulatedMedia", dark);
    let dark_ground = browser.value(ground);
    assert_ne!(light_ground, dark_ground);
    browser.click("#theme");
    assert_eq!(browser.text("#theme"), "Theme: light");
    assert_eq!(browser.value(ground), light_ground);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
