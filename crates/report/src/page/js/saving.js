// A chart as a picture of its own, with what makes it fit to be published: what was measured, where, how often.

/** The width of a saved picture in pixels; PNG has twice as many. */
const SAVED = 900;

/** The rules of the page's style that a picture needs, as it leaves the page. */
function pictureStyle() {
  const names = ["--text", "--dim", "--line", "--bg", ...Array.from({ length: 16 }, (_, i) => `--c${i}`)];
  const values = names.map((name) => `${name}:${css(name)}`).join(";");
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).map((rule) => rule.cssText).filter((text) => text.includes(".chart svg"));
  return `svg{${values};font-family:system-ui,sans-serif}${rules.join("").replaceAll(".chart svg", "svg")}`;
}

/** The machine, the trials and the engines behind a chart of the chosen group. */
function aboutChosen(spec) {
  const { hardware } = groupValues(state.group);
  const trials = model.cells.group.map((of, cell) => (of === state.group ? model.cells.succeeded[cell] : 0)).filter((count) => count > 0);
  const used = new Set(spec.lines.flatMap((line) => (line.points[0]?.store ? line.points.map((point) => point.store) : [line.store?.name])).filter(Boolean));
  const engines = model.stores.filter((store) => store.version && (!used.size || used.has(store.name))).map((store) => `${store.name} ${store.version}`);
  const [fewest, most] = [Math.min(...trials), Math.max(...trials)];
  return { hardware, fewest, most, engines, whiskers: whiskerTitle(fewest, most) };
}

/** What a reader of the picture must know, in lines. */
function captionLines(spec) {
  const { hardware, fewest, most, engines, whiskers } = (spec.about || aboutChosen)(spec);
  const drawn = spec.lines.some((line) => line.points.some((point) => point.low !== null && point.low !== undefined));
  return [
    spec.shows(),
    `${hardware}${model.machines[hardware] ? ` (${model.machines[hardware]})` : ""}; ${fewest === most ? fewest : `${fewest} to ${most}`} ${most === 1 ? "trial" : "trials"} each${drawn ? `; whiskers: ${whiskers}` : ""}.`,
    engines.join(", "),
    `storebench ${model.storebench}${model.measured ? `, measured ${model.measured}` : ""}`,
  ].filter(Boolean);
}

/** Breaks a text into lines of up to so many pixels. */
function broken(text, width) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = lines.at(-1) ? `${lines.at(-1)} ${word}` : word;
    if (textWidth(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** The chart with its title above and its caption below, as text of an SVG file. */
function asSvg(spec) {
  const chart = picture(spec, SAVED);
  const height = chart.viewBox.baseVal.height;
  const caption = captionLines(spec).flatMap((line) => broken(line, SAVED - 24));
  const all = height + 40 + caption.length * 16 + 10;
  const svg = draw("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${SAVED} ${all}`, width: SAVED, height: all });
  chart.setAttribute("y", 34);
  chart.setAttribute("width", SAVED);
  chart.setAttribute("height", height);
  svg.append(draw("style", {}, pictureStyle()), draw("rect", { width: SAVED, height: all, style: "fill:var(--bg)" }),
    draw("text", { x: 12, y: 24, style: "font-size:16px;font-weight:600" }, spec.title), chart,
    ...caption.map((line, i) => draw("text", { class: "title", x: 12, y: height + 52 + i * 16 }, line)));
  return new XMLSerializer().serializeToString(svg);
}

/** The picture's file name: its title in small letters. */
const fileName = (spec) => spec.title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");

async function savePng(spec) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(asSvg(spec))}`;
  await image.decode();
  const canvas = make("canvas", { width: image.width * 2, height: image.height * 2 });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => save(`${fileName(spec)}.png`, "image/png", blob));
}

const saveButtons = (spec) =>
  make("span", { class: "save" }, "Save as ",
    make("button", { type: "button", onclick: () => save(`${fileName(spec)}.svg`, "image/svg+xml", asSvg(spec)) }, "SVG"), " ",
    make("button", { type: "button", onclick: () => savePng(spec) }, "PNG"));

/** What whiskers are where cells have so many trials. */
function whiskerTitle(fewest, most) {
  if (most < model.fewest_trials) return "the range of two trials";
  return fewest < model.fewest_trials ? "95 % intervals, or the range of two trials" : "95 % intervals";
}
