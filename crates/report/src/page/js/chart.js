// One chart, drawn as SVG: axes, lines or points with intervals as whiskers, names beside the lines, and the same figures as
// a table for those who can't see it.

/** The charts that are in the page, by their elements. */
const charts = new Map();
/** While printing, charts have a width of their own, which paper scales: its boxes are not known before. */
let printing = false;
const PAPER = { wide: 760, narrow: 400 };
const SHAPES = ["M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z", "M-4 -4H4V4H-4Z", "M0 -5L5 4H-5Z", "M0 -5.5L5.5 0L0 5.5L-5.5 0Z", "M-4 -4L4 4M-4 4L4 -4", "M-5 0H5M0 -5V5"];
const DASHES = ["", "6 3", "2 3", "8 3 2 3"];
/** Pixels around the plot: room for the ticks and titles of the axes. */
const BELOW = 44;
const ABOVE = 10;
/** Between two names beside each other, from line to line. */
const LEADING = 15;
/** Most pixels of a turned name; a longer one is cut. */
const TURNED = 320;
/** How near to a point the pointer must be, in pixels. */
const NEAR = 40;

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Makes an element of a picture; text is always put in as text. */
function draw(tag, properties, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(properties || {})) if (value !== undefined && value !== null) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Puts a chart into an element. It is drawn when it comes into view. */
function chartIn(parent, spec) {
  const box = make("div", { class: "chart" });
  const tip = make("div", { class: "tip", hidden: true });
  const figure = make("figure", {}, make("figcaption", {}, spec.title), make("div", { class: "frame" }, box, tip), make("div", { class: "under" }, spec.row ? asTable(spec) : null, saveButtons(spec)));
  // What the section says that it shows.
  spec.shows = () => figure.closest("section")?.querySelector(".where")?.textContent ?? "";
  parent.append(figure);
  box.draw = () => {
    if (charts.has(box)) return;
    charts.set(box, spec);
    drawIn(box, spec);
    followPointer(box, spec, tip);
  };
  watcher.observe(box);
}

const watcher = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) if (isIntersecting) target.draw();
}, { rootMargin: "300px" });

const drawEveryChart = () => document.querySelectorAll("main .chart").forEach((box) => box.draw());

/** Forgets all charts. */
function clearCharts() {
  watcher.disconnect();
  charts.clear();
}

/** A chart has as many pixels as its box, so that its text is as large as the page's: another width is another picture. */
let widthBefore = innerWidth;
addEventListener("resize", () => {
  if (printing || Math.abs(innerWidth - widthBefore) < 24) return;
  widthBefore = innerWidth;
  for (const [box, spec] of charts) drawIn(box, spec);
});

function drawIn(box, spec) {
  const narrow = Boolean(box.closest(".multiples"));
  const width = Math.max(280, printing ? PAPER[narrow ? "narrow" : "wide"] : box.clientWidth);
  box.replaceChildren(picture(spec, width));
}

const nameOf = (line) => line.name || line.store.name;
const colourOf = (line) => line.colour ?? `var(--c${line.store.colour})`;

/** The picture of a chart that is so many pixels wide. */
const picture = (spec, width) => (spec.picture || linesPicture)(spec, width);

/** One whose figures stand above an axis. */
function linesPicture(spec, width) {
  // Legend and turned names take no room from the plot.
  const besides = legendHeight(spec, width) + turnedHeight(spec.x, width);
  const height = Math.round(Math.min(460, Math.max(260, width * 0.52)) + besides);
  const above = ABOVE + legendHeight(spec, width);
  const range = reach(spec.lines, "y");
  const bottom = height - BELOW - turnedHeight(spec.x, width);
  const y = scaleOf(spec.y, range, bottom, above);
  const beside = namesBeside(spec, width);
  const lastTick = spec.x.values ? textWidth(spec.x.label(spec.x.values.at(-1))) / 2 + 2 : 0;
  const right = width - (beside ? Math.max(...spec.lines.map((line) => textWidth(nameOf(line)))) + 22 : Math.max(12, lastTick));
  const left = Math.max(Math.max(...y.ticks.map((tick) => textWidth(tick.text)), 20) + 32, turnedLeft(spec.x, width, right));
  const x = scaleOf(spec.x, spec.x.type || spec.x.values ? linearReach(spec.lines) : reach(spec.lines, "x"), left, right);
  const plot = { left, right, above, bottom, width, height, x, y };
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${spec.title}. The same figures follow as a table.` });
  svg.append(axes(spec, plot), ...spec.lines.map((line, number) => series(line, number, plot)));
  if (beside) svg.append(...names(spec, plot));
  else if (hasLegend(spec)) svg.append(legend(spec, width));
  return svg;
}

const linearReach = (lines) => [0, Math.max(...lines.flatMap((line) => line.points.map((point) => point.x)))];

/** Whether the lines' names stand at their ends: where they are joined, and there is room. */
const namesBeside = (spec, width) => width >= 480 && spec.lines.every((line) => line.joined !== false);

/** Names along an axis are turned where they are many or long. */
const turned = (axis, width) => axis.labels?.length > 1 && Math.max(...axis.labels.map((text) => textWidth(text) + 12)) * axis.labels.length > width - 100;
/** Pixels that a turned name may take of a chart so wide. */
const turnedRoom = (width) => Math.min(TURNED, width * 0.45);
/** How far a turned name reaches, both down and to the left. */
const turnedReach = (text, width) => Math.min(turnedRoom(width), textWidth(text)) * Math.SQRT1_2;
const turnedHeight = (axis, width) => (turned(axis, width) ? Math.max(...axis.labels.map((text) => turnedReach(text, width))) : 0);

/** Where the plot must begin so that no turned name leaves the chart: each ends below the middle of its part of the axis. */
function turnedLeft(axis, width, right) {
  if (!turned(axis, width)) return 0;
  return Math.max(...axis.labels.map((text, i) => {
    const share = (i + 0.5) / axis.labels.length;
    return (turnedReach(text, width) + 8 - right * share) / (1 - share);
  }));
}

function axes(spec, { left, right, above, bottom, width, height, x, y }) {
  const group = draw("g", { class: "axes" });
  const across = spec.x.labels ? x.ticks : withRoom(x.ticks.filter((tick) => tick.text));
  for (const { at, text } of across) {
    const isTurned = turned(spec.x, width);
    const place = isTurned ? { transform: `translate(${at} ${bottom + 14}) rotate(-45)`, "text-anchor": "end" } : { x: at, y: bottom + 17, "text-anchor": "middle" };
    group.append(draw("line", { x1: at, x2: at, y1: above, y2: bottom + 4 }), draw("text", place, ...(isTurned ? shortened(text, turnedRoom(width)) : [text])));
  }
  for (const { at, text } of spread(y.ticks)) group.append(draw("line", { x1: left - 4, x2: right, y1: at, y2: at }), draw("text", { x: left - 8, y: at + 4, "text-anchor": "end" }, text));
  const middle = (above + bottom) / 2;
  group.append(
    draw("text", { class: "title", x: (left + right) / 2, y: height - 6, "text-anchor": "middle" }, spec.x.title),
    draw("text", { class: "title", transform: `translate(13 ${middle}) rotate(-90)`, "text-anchor": "middle" }, cut(spec.y.title, bottom - above)));
  return group;
}

/** As much of a text as has room in so many pixels. */
function cut(text, room) {
  if (textWidth(text) <= room) return text;
  let length = text.length;
  while (length > 1 && textWidth(`${text.slice(0, length)}…`) > room) length--;
  return `${text.slice(0, length).trimEnd()}…`;
}

/** A text with as much of it as has room; its full form as a title where it was cut. */
function shortened(text, room) {
  const shown = cut(text, room);
  return shown === text ? [text] : [draw("title", {}, text), shown];
}

/** Of ticks one above the other those that have room. */
function spread(ticks) {
  const kept = [];
  for (const tick of ticks) if (!kept.length || Math.abs(kept.at(-1).at - tick.at) >= LEADING) kept.push(tick);
  return kept;
}

/** A line, or points, with whiskers from the low to the high end of each interval. */
function series(line, number, { above, bottom, x, y }) {
  const colour = colourOf(line);
  const group = draw("g", { class: "series", style: `--c:${colour}` });
  const within = (value) => Math.min(bottom, Math.max(above, y.at(value)));
  const at = line.points.map((point) => [x.at(point.x), y.at(point.y)]);
  if (line.joined !== false && at.length > 1)
    group.append(draw("path", { class: "line", d: `M${at.map((pair) => pair.map((px) => px.toFixed(1)).join(" ")).join("L")}`, "stroke-dasharray": DASHES[Math.floor(number / 5) % DASHES.length] }));
  line.points.forEach((point, i) => {
    const [px, py] = at[i];
    if (point.low !== null && point.low !== undefined) {
      const [low, high] = [within(point.low), within(point.high)];
      group.append(draw("path", { class: "whisker", d: `M${px} ${low}V${high}M${px - 4} ${low}h8M${px - 4} ${high}h8` }));
    }
    group.append(draw("path", { class: "mark", d: SHAPES[number % SHAPES.length], transform: `translate(${px.toFixed(1)} ${py.toFixed(1)}) scale(${(line.radius ?? 4) / 4.5})` }));
  });
  if (line.cliff) group.append(...cliffMarks(line.cliff, at, x));
  return group;
}

/** A bar along a line between the sizes from which it may fall, and a triangle above where it does, if that is known. */
function cliffMarks({ at, low, high }, path, x) {
  const middle = x.at(at ?? Math.sqrt(low * high));
  const height = heightAt(path, middle);
  const [from, to] = [x.at(low), x.at(high)];
  const bar = draw("path", { class: "cliff", d: `M${from} ${height - 5}v10M${from} ${height}H${to}M${to} ${height - 5}v10` });
  return at === null ? [bar] : [bar, draw("path", { class: "cliff full", d: `M${middle - 6} ${height - 13}h12l-6 10Z` })];
}

/** How high a path of points is at a place between them. */
function heightAt(path, px) {
  const next = path.findIndex(([x]) => x >= px);
  if (next <= 0) return path.at(next)[1];
  const [[x0, y0], [x1, y1]] = [path[next - 1], path[next]];
  return y0 + ((y1 - y0) * (px - x0)) / (x1 - x0 || 1);
}

/** Names at the ends of their lines, moved apart where they would stand on each other. */
function names(spec, { right, above, bottom, x, y }) {
  const ends = spec.lines.map((line, number) => {
    const last = line.points.at(-1);
    return { line, number, from: [x.at(last.x), y.at(last.y)], at: y.at(last.y) };
  }).sort((a, b) => a.at - b.at);
  apart(ends, above + 4, bottom - 2);
  return ends.map(({ line, number, from, at }) => {
    const group = draw("g", { class: "name", "data-line": number, style: `--c:${colourOf(line)}` });
    group.append(draw("path", { class: "leader", d: `M${from[0] + 5} ${from[1]}L${right + 12} ${at}` }), draw("text", { x: right + 16, y: at + 4 }, nameOf(line)));
    return group;
  });
}

/** Moves what is sorted by `at` apart, within bounds. */
function apart(ends, above, bottom) {
  ends.forEach((end, i) => (end.at = Math.max(end.at, above, i ? ends[i - 1].at + LEADING : above)));
  for (let i = ends.length - 1; i >= 0; i--) ends[i].at = Math.min(ends[i].at, i < ends.length - 1 ? ends[i + 1].at - LEADING : bottom);
}

/** Where the names of a legend stand, from line to line. */
function legendPlaces(spec, width) {
  let [left, row] = [0, 0];
  return spec.lines.map((line) => {
    const wide = textWidth(nameOf(line)) + 34;
    if (left && left + wide > width - 40) [left, row] = [0, row + 1];
    const place = { left: left + 36, row };
    left += wide;
    return place;
  });
}

/** A single set of points needs no name; a single line has one. */
const hasLegend = (spec) => spec.lines.length > 1 || spec.lines.every((line) => line.joined !== false);

function legendHeight(spec, width) {
  if (!hasLegend(spec) || namesBeside(spec, width)) return 0;
  return (legendPlaces(spec, width).at(-1).row + 1) * 18 + 4;
}

function legend(spec, width) {
  const group = draw("g", { class: "legend" });
  legendPlaces(spec, width).forEach(({ left, row }, number) => {
    const line = spec.lines[number];
    const entry = draw("g", { class: "name", "data-line": number, style: `--c:${colourOf(line)}`, transform: `translate(${left} ${ABOVE + 6 + row * 18})` });
    entry.append(draw("path", { class: "mark", d: SHAPES[number % SHAPES.length] }), draw("text", { x: 10, y: 4 }, nameOf(line)));
    group.append(entry);
  });
  return group;
}

/** Shows the figures of the point that the pointer is nearest to, and dims the other lines; a name does so too. */
function followPointer(box, spec, tip) {
  const show = (number, text, [left, top] = []) => {
    const svg = $("svg", box);
    svg.classList.toggle("dimming", number !== null);
    [...svg.querySelectorAll(".series")].forEach((series, i) => series.classList.toggle("on", i === number));
    svg.querySelectorAll(".name").forEach((name) => name.classList.toggle("on", Number(name.dataset.line) === number));
    tip.hidden = !text;
    tip.textContent = text || "";
    if (text) tip.style.left = `${Math.max(0, Math.min(left + 12, box.clientWidth - tip.offsetWidth))}px`;
    if (text) tip.style.top = `${top < 44 ? top + 18 : top - 34}px`;
  };
  box.addEventListener("pointermove", (event) => {
    const name = event.target.closest?.(".name");
    if (name) return show(Number(name.dataset.line), "");
    const near = nearest(box, spec, event);
    return near ? show(near.number, spec.tip(nameOf(near.line), near.point), near.at) : show(null, "");
  });
  box.addEventListener("pointerleave", () => show(null, ""));
}

/** The point nearest to the pointer, if one is near. */
function nearest(box, spec, event) {
  const bounds = box.getBoundingClientRect();
  const at = [event.clientX - bounds.left, event.clientY - bounds.top];
  let best = null;
  [...box.querySelectorAll(".series")].forEach((series, number) => {
    [...series.querySelectorAll(".mark")].forEach((mark, i) => {
      const place = mark.getBoundingClientRect();
      const [px, py] = [place.x + place.width / 2 - bounds.left, place.y + place.height / 2 - bounds.top];
      const distance = Math.hypot(px - at[0], py - at[1]);
      if (distance < (best?.distance ?? NEAR)) best = { distance, number, line: spec.lines[number], point: spec.lines[number].points[i], at: [px, py] };
    });
  });
  return best;
}

function asTable(spec) {
  const details = make("details", {}, make("summary", {}, "as a table"));
  details.addEventListener("toggle", () => {
    if (!details.open || $("table", details)) return;
    const body = make("tbody");
    for (const line of spec.lines)
      for (const point of line.points) body.append(make("tr", {}, ...spec.row(nameOf(line), point).map((text) => make("td", {}, text))));
    const head = make("thead", {}, make("tr", {}, ...spec.head.map((text) => make("th", { scope: "col" }, text))));
    details.append(make("div", { class: "scroll" }, make("table", {}, head, body)));
  });
  return details;
}
