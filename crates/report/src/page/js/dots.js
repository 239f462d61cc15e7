// Charts of what settings are worth: a row for each combination or value, its name at the left, a dot where its figure is.

/** Pixels from row to row, of a row whose name stands above it, and of a heading. */
const ROW = { wide: 21, narrow: 36, heading: 26 };
/** The share of the width that names may take at most. */
const NAMES = 0.45;
const SQUARE = 1;
const CIRCLE = 0;

function dotsSpec(data) {
  const versions = model.stores.filter((store) => store.version && (store.name === data.store || store.name.startsWith(`${data.store} `)));
  const engines = versions.slice(0, 1).map((store) => `${data.store} ${store.version}`);
  return {
    title: data.title,
    picture: dotsPicture,
    dots: data,
    lines: data.groups.map((group) => ({ name: group.name, colour: `var(--c${group.tone})`, points: group.rows })),
    tip: (_, point) => point.tip,
    about: () => ({ hardware: data.hardware, fewest: data.trials[0], most: data.trials[1], engines, whiskers: data.whiskers }),
  };
}

/** Where the rows of a chart so wide stand, and what room is left for the figures. */
function dotsPlan(spec, width) {
  const { dots } = spec;
  const rows = dots.groups.flatMap((group) => group.rows);
  const wide = width >= 560;
  const names = wide ? Math.min(width * NAMES, Math.max(...rows.map((row) => boldWidth(row.name)))) + 14 : 14;
  const aside = dots.aside ? Math.max(textWidth(dots.aside), ...rows.map((row) => textWidth(row.aside))) + 14 : 14;
  let at = dots.aside ? 20 : 4;
  const places = dots.groups.map((group) => {
    const heading = at + 17;
    at += ROW.heading;
    return { heading, rows: group.rows.map(() => ((at += wide ? ROW.wide : ROW.narrow), at - ROW.wide / 2)) };
  });
  return { wide, left: names, right: width - aside, bottom: at + 6, places };
}

/** How many times as wide bold text is. */
const BOLD = 1.12;
const boldWidth = (text) => textWidth(text) * BOLD;

function dotsPicture(spec, width) {
  const { dots } = spec;
  const { wide, left, right, bottom, places } = dotsPlan(spec, width);
  const title = dots.across;
  const titleLines = broken(title, width - 24);
  const height = bottom + 30 + titleLines.length * 15;
  const [low, high] = reach(spec.lines, "y");
  const range = dots.from_one ? [Math.min(low, 0.9), Math.max(high, 1.1)] : [low, high];
  const x = scaleOf({ unit: dots.unit }, range, left, right);
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${spec.title}. The same figures follow as a table.` });
  const axes = draw("g", { class: "axes" });
  for (const { at, text } of withRoom(x.ticks.filter((tick) => tick.text)))
    axes.append(draw("line", { x1: at, x2: at, y1: 20, y2: bottom + 4 }), draw("text", { x: at, y: bottom + 17, "text-anchor": "middle" }, text));
  if (dots.from_one) axes.append(draw("line", { class: "base", x1: x.at(1), x2: x.at(1), y1: 14, y2: bottom + 4 }));
  if (dots.aside) axes.append(draw("text", { x: width - 2, y: 12, "text-anchor": "end" }, dots.aside));
  titleLines.forEach((line, i) => axes.append(draw("text", { class: "title", x: width / 2, y: bottom + 36 + i * 15, "text-anchor": "middle" }, line)));
  svg.append(axes);
  const bounds = { left, right, width, wide, x };
  dots.groups.forEach((group, number) => {
    svg.append(draw("text", { class: "heading", style: `fill:var(--c${group.tone})`, x: 2, y: places[number].heading }, ...shortened(group.name, width - 4)));
    const series = draw("g", { class: "series", style: `--c:var(--c${group.tone})` });
    group.rows.forEach((row, i) => series.append(...dotRow(row, places[number].rows[i], bounds)));
    svg.append(series);
  });
  return svg;
}

/** One row: its name, how far its figure reaches, the dot, and what stands at its end. */
function dotRow(row, y, { left, right, width, wide, x }) {
  const parts = [];
  const room = wide ? left - 14 : width - 12;
  parts.push(draw("text", { class: row.best ? "best" : null, x: 8, y: wide ? y + 4 : y - 11 }, ...shortened(row.name, room / (row.best ? BOLD : 1))));
  parts.push(draw("line", { class: "thread", x1: left, x2: right, y1: y, y2: y }));
  const within = (value) => Math.min(right, Math.max(left, x.at(value)));
  if (row.low !== null && row.high > row.low) {
    const [from, to] = [within(row.low), within(row.high)];
    const end = (value, at) => (x.at(value) < left - 0.5 || x.at(value) > right + 0.5 ? "" : `M${at} ${y - 4}v8`);
    parts.push(draw("path", { class: row.open ? "whisker open" : "whisker", d: `M${from} ${y}H${to}${end(row.low, from)}${end(row.high, to)}` }));
  }
  const shape = SHAPES[row.named ? SQUARE : CIRCLE];
  parts.push(draw("path", { class: row.open ? "mark open" : "mark", d: shape, transform: `translate(${x.at(row.y).toFixed(1)} ${y})` }));
  if (row.aside) parts.push(draw("text", { x: width - 2, y: y + 4, "text-anchor": "end" }, row.aside));
  return parts;
}
