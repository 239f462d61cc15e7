// One chart as SVG: axes, lines or points with intervals as whiskers, names beside the lines.

const SHAPES = ["M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z", "M-4 -4H4V4H-4Z", "M0 -5L5 4H-5Z", "M0 -5.5L5.5 0L0 5.5L-5.5 0Z", "M-4 -4L4 4M-4 4L4 -4", "M-5 0H5M0 -5V5"];
const DASHES = ["", "6 3", "2 3", "8 3 2 3"];
/** Pixels around the plot: room for the ticks and titles of the axes. */
const BELOW = 44;
const ABOVE = 10;
/** Between two names beside each other, from line to line. */
const LEADING = 15;
/** Most pixels of a turned name; a longer one is cut. */
const TURNED = 320;

/** Makes an element of a picture; text is always put in as text. */
function draw(tag, properties, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(properties || {}))
    if (value !== undefined && value !== null) element.setAttribute(name, typeof value === "number" ? toPixel(value) : value);
  element.append(...children);
  return element;
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
  const visible = cut(text, room);
  return visible === text ? [text] : [draw("title", {}, text), visible];
}

/** Of ticks one above the other those that have room. */
function spread(ticks) {
  const kept = [];
  for (const tick of ticks) if (!kept.length || Math.abs(kept.at(-1).at - tick.at) >= LEADING) kept.push(tick);
  return kept;
}

/** A line, or points, with whiskers from the low to the high end of each interval, and a ring around those that ask for one. */
function series(line, number, { above, bottom, x, y }) {
  const colour = colourOf(line);
  const group = draw("g", { class: "series", style: `--c:${colour}` });
  const within = (value) => Math.min(bottom, Math.max(above, y.at(value)));
  const pixels = line.points.map((point) => [x.at(point.x), y.at(point.y)]);
  if (line.joined !== false && pixels.length > 1)
    group.append(draw("path", { class: "line", d: `M${pixels.map((pair) => pair.map((px) => px.toFixed(1)).join(" ")).join("L")}`, "stroke-dasharray": DASHES[Math.floor(number / 5) % DASHES.length] }));
  line.points.forEach((point, i) => {
    const [px, py] = pixels[i];
    if (point.low !== null && point.low !== undefined) {
      const [low, high] = [within(point.low), within(point.high)];
      group.append(draw("path", { class: "whisker", d: `M${px} ${low}V${high}M${px - 4} ${low}h8M${px - 4} ${high}h8` }));
    }
    if (point.ring) group.append(draw("circle", { class: "ring", cx: px.toFixed(1), cy: py.toFixed(1), r: 6.5 }));
    group.append(draw("path", { class: "mark", d: SHAPES[number % SHAPES.length], transform: `translate(${px.toFixed(1)} ${py.toFixed(1)}) scale(${(line.radius ?? 4) / 4.5})` }));
  });
  if (line.cliff) group.append(cliffMark(line.cliff, pixels, x));
  return group;
}

/** A bar along a line between the sizes where it falls. */
function cliffMark({ low, high }, path, x) {
  const height = heightAt(path, x.at(Math.sqrt(low * high)));
  const [start, end] = [x.at(low), x.at(high)];
  return draw("path", { class: "cliff", d: `M${start} ${height - 5}v10M${start} ${height}H${end}M${end} ${height - 5}v10` });
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
