// A chart as a picture of its own, with what makes it fit to be published: what was measured, where, how often.

/** The width of a saved picture in pixels; PNG has twice as many. */
const SAVED = 900;
/** Most characters of a file's name. */
const LONGEST = 80;

/** The page's style as text. */
const styleText = () => $("style").textContent;

/** The colours that the page has now, by their variables. */
function colours() {
  const dark = getComputedStyle(document.documentElement).colorScheme === "dark";
  const [, root] = styleText().match(dark ? /:root\[data-theme=dark\]\{([^}]*)\}/ : /:root\{([^}]*)\}/);
  const pairs = root.split(";").map((value) => value.trim().split(":"));
  return Object.fromEntries(pairs.filter(([name]) => name.startsWith("--")));
}

/**
 * Puts colours in place of the variables below an element, and gives those that became classes `k0`, `k1`, ...: most programs that
 * show pictures know no variables.
 */
function withoutVariables(svg, values) {
  const classes = [];
  const plain = (text) => text.replace(/var\((--\w+)\)/g, (_, name) => values[name]);
  const visit = (element) => {
    const style = element.getAttribute("style");
    if (style?.startsWith("--c:")) {
      const colour = plain(style.slice("--c:".length));
      if (!classes.includes(colour)) classes.push(colour);
      element.removeAttribute("style");
      element.setAttribute("class", `${element.getAttribute("class")} k${classes.indexOf(colour)}`);
    } else if (style) element.setAttribute("style", plain(style));
    [...element.children].forEach(visit);
  };
  visit(svg);
  return { classes, plain };
}

/** The rules of the page's style that a picture needs, for an element of each class. */
function pictureStyle({ classes, plain }) {
  const rules = [...styleText().matchAll(/^(\.chart svg [^{]*)\{([^}]*)\}/gm)];
  const written = rules.flatMap(([, selectors, body]) => {
    const own = selectors.split(",").map((selector) => selector.replace(".chart svg ", ""));
    if (!body.includes("var(--c)")) return [`${own.join(",")}{${plain(body)}}`];
    const within = (number) => own.map((selector) => `.k${number} ${selector},.k${number}${selector}`).join(",");
    return classes.map((colour, number) => `${within(number)}{${plain(body.replaceAll("var(--c)", colour))}}`);
  });
  return `svg{font-family:system-ui,sans-serif}${written.join("")}`;
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
    spec.section ? whereText(spec.section) : "",
    spec.legend,
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

/** The picture with its title above and its caption below, as text of an SVG file. */
function asSvg(spec) {
  const chart = picture(spec, SAVED);
  const [, , inner, height] = chart.getAttribute("viewBox").split(" ").map(Number);
  const width = Math.max(inner, SAVED);
  const caption = captionLines(spec).flatMap((line) => broken(line, width - 24));
  const all = height + 40 + caption.length * 16 + 10;
  const svg = draw("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${all}`, width, height: all });
  for (const [name, value] of [["y", 34], ["width", inner], ["height", height]]) chart.setAttribute(name, value);
  const values = colours();
  svg.append(draw("style", {}, pictureStyle(withoutVariables(chart, values))), draw("rect", { width, height: all, fill: values["--bg"] }),
    draw("text", { x: 12, y: 24, style: "font-size:16px;font-weight:600" }, spec.title), chart,
    ...caption.map((line, i) => draw("text", { class: "title", x: 12, y: height + 52 + i * 16 }, line)));
  // XML has no place for what controls a terminal.
  return new XMLSerializer().serializeToString(svg).replace(/[\0-\x08\x0b\x0c\x0e-\x1f]/g, "\ufffd");
}

/** The picture's file name: its title in small letters, digits and hyphens. */
const fileName = (spec) => spec.title.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, LONGEST).replace(/^-|-$/g, "");

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
