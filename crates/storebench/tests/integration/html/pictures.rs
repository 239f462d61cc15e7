//! Pictures that the page saves.

use serde_json::{Value, json};

use super::open;

/// Draws every chart of each group and operation, and gives what is wrong with the picture that is saved of it: it must be well-formed,
/// stand alone, and have every element of the chart as drawn at this width, in its place and colours.
const WRONG: &str = r#"(() => {
  const wrong = [];
  let compared = 0;
  const text = (element) => (element.children.length ? "" : element.textContent);
  const place = (element) => ["d", "transform", "x", "y", "x1", "y1", "r", "width"].map((name) => element.getAttribute(name));
  const look = (style) => [style.fill, style.stroke, style.strokeWidth, style.fontSize, style.fontWeight, style.opacity];
  const told = (element) => JSON.stringify([element.tagName, text(element), place(element), look(getComputedStyle(element))]);
  const all = (svg) => [...svg.querySelectorAll("*")].map(told);
  const shadow = make("div", {});
  shadow.attachShadow({ mode: "open" });
  document.body.append(shadow);
  for (const group of model.groups.keys()) {
    Object.assign(state, { group, off: new Set() });
    for (const op of operationsHere()) {
      Object.assign(state, { op, opChosen: true });
      drawAll();
      drawEveryChart();
      for (const [box, spec] of charts) {
        compared++;
        const saved = asSvg(spec);
        const parsed = new DOMParser().parseFromString(saved, "image/svg+xml");
        if (parsed.querySelector("parsererror, script") || saved.includes("var(") || !saved.includes("storebench ")) wrong.push(saved);
        shadow.shadowRoot.replaceChildren(document.importNode(parsed.documentElement, true));
        box.replaceChildren(picture(spec, SAVED));
        const [page, file] = [box.querySelector("svg"), shadow.shadowRoot.querySelector("svg svg")].map(all);
        if (page.length < 3 || page.length !== file.length) wrong.push(`${spec.title}: ${page.length} elements, saved ${file.length}`);
        page.forEach((element, i) => element !== file[i] && wrong.push(`${spec.title}: ${element}, saved ${file[i]}`));
      }
    }
  }
  shadow.remove();
  return [compared, wrong];
})()"#;

#[test]
fn every_chart_is_saved_as_the_page_shows_it() {
    let Some(mut browser) = open("#go=latency") else { return };
    let result = browser.value(WRONG);
    assert!(result[0].as_u64().unwrap() > 40, "{} pictures", result[0]);
    assert_eq!(result[1], json!([]));
    browser.value("window.saved = []; save = (name, type, text) => window.saved.push(text)");
    browser.value("drawAll(); showTab('latency'); drawEveryChart()");
    browser.click("#latency .save button");
    let asked = "saved[0] === asSvg([...charts.values()].find((spec) => spec.section === 'latency'))";
    assert_eq!(browser.value(asked), json!(true));
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
    // Nothing leaves the picture, and no texts overlap.
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
        "model.heats = [{ title: 'sqlite: insert', hardware: groupValues(state.group).hardware, store: 'flat-folder', \
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
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
