// One chart: Chart.js with log axes, intervals as whiskers, and the same figures as a table for those who can't see it.

const charts = new Map();
/** While printing, charts have sizes of their own, which paper scales: its boxes are not known before. */
let printing = false;
const PAPER = { wide: [760, 270], narrow: [400, 250] };
const SHAPES = ["circle", "rect", "triangle", "rectRot", "star", "crossRot"];
const DASHES = [[], [6, 3], [2, 3], [8, 3, 2, 3]];

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const colourOf = (store) => css(`--c${store.colour}`);

/** Draws a whisker from the low to the high end of each point's interval. */
const whiskers = {
  id: "whiskers",
  afterDatasetsDraw(chart) {
    const { ctx } = chart;
    chart.data.datasets.forEach((dataset, number) => {
      const meta = chart.getDatasetMeta(number);
      if (meta.hidden) return;
      const { left, top, width, height } = chart.chartArea;
      ctx.save();
      ctx.beginPath();
      ctx.rect(left, top, width, height);
      ctx.clip();
      ctx.strokeStyle = dataset.borderColor;
      ctx.lineWidth = 1.5;
      dataset.data.forEach((point, i) => {
        if (point.low === null || point.low === undefined || !meta.data[i]) return;
        const { x } = meta.data[i];
        // On a log axis nothing is at or below zero.
        const low = chart.scales.y.getPixelForValue(Math.max(point.low, chart.scales.y.min));
        const high = chart.scales.y.getPixelForValue(point.high);
        ctx.beginPath();
        ctx.moveTo(x, low);
        ctx.lineTo(x, high);
        for (const y of [low, high]) {
          ctx.moveTo(x - 4, y);
          ctx.lineTo(x + 4, y);
        }
        ctx.stroke();
      });
      ctx.restore();
    });
  },
};

/** Ticks that an axis has at least. */
const FEWEST = 3;

/** Round values between two others, for a log axis; evenly spaced where decades have too few of them. */
function roundValues(min, max, unit) {
  const values = ofDecades(min, max, unit);
  if (values.length >= FEWEST || !(max > min)) return values;
  // In the unit that the values are shown in: 5 MiB is round, 5,000,000 bytes are not.
  const scale = unit === "bytes" ? 1024 ** Math.max(0, Math.floor(Math.log2(min) / 10)) : 1;
  const rough = (max - min) / scale / (FEWEST + 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * scale * ([5, 2, 1].find((digit) => digit * power <= rough) || 1);
  const even = [];
  for (let number = Math.ceil(min / step); number * step <= max; number++) even.push(Number((number * step).toPrecision(9)));
  return even;
}

/** In each decade as many values as there is room for; powers of 2 for bytes. */
function ofDecades(min, max, unit) {
  const values = [];
  if (unit === "bytes") {
    const step = Math.max(1, Math.round(Math.log2(max / min) / 7));
    for (let power = Math.ceil(Math.log2(min)); 2 ** power <= max; power++) if (power % step === 0) values.push(2 ** power);
    return values;
  }
  const decades = Math.log10(max / min);
  const digits = decades < 0.7 ? [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9] : decades < 1.5 ? [1, 2, 3, 5, 7] : decades < 3.5 ? [1, 2, 5] : [1];
  for (let power = Math.floor(Math.log10(min)); 10 ** power <= max; power++)
    for (const digit of digits) values.push(Number((digit * 10 ** power).toPrecision(2)));
  return values.filter((value) => value >= min && value <= max);
}

/** A round value without the zeros that a measured one has. */
const showRound = (unit, value) => show(unit, value).replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");

/** Of values on a log axis those whose labels have room beside each other, the last among them. */
function withRoom(scale, values, label) {
  const { ctx, width } = scale.chart;
  const room = Math.max(1, width - 90) / Math.log(scale.max / scale.min);
  const at = (value) => Math.log(value / scale.min) * room;
  // A few may be turned, for which the height of a line is room enough.
  if (values.length <= 6 && values.every((value, i) => i === 0 || at(value) - at(values[i - 1]) > 18)) return values;
  ctx.save();
  ctx.font = `12px ${Chart.defaults.font.family}`;
  const half = (value) => ctx.measureText(label(value)).width / 2 + 4;
  const apart = (a, b) => at(b) - at(a) > half(a) + half(b);
  const kept = [];
  for (const value of values) if (!kept.length || apart(kept.at(-1), value)) kept.push(value);
  const last = values.at(-1);
  if (kept.at(-1) !== last) {
    while (kept.length && !apart(kept.at(-1), last)) kept.pop();
    kept.push(last);
  }
  ctx.restore();
  return kept;
}

function axis(options) {
  const { title, unit, type, values, label, labels } = options;
  const common = {
    title: { display: true, text: title, color: css("--dim") },
    grid: { color: css("--line"), tickLength: 4 },
    border: { color: css("--line") },
  };
  const ticks = { color: css("--dim"), maxRotation: 50, autoSkipPadding: 8 };
  if (type === "category") return { ...common, type, labels, offset: true, ticks: { ...ticks, autoSkip: false, maxRotation: 90 } };
  if (values) {
    const set = (scale) => (scale.ticks = withRoom(scale, values, label).map((value) => ({ value })));
    return { ...common, type: "logarithmic", min: values[0] * 0.8, max: values.at(-1) * 1.25, afterBuildTicks: set, ticks: { ...ticks, autoSkip: false, callback: label } };
  }
  if (type === "linear") return { ...common, type, ticks: { ...ticks, callback: (value) => (label ? label(value) : show(unit, value)) } };
  const set = (scale) => (scale.ticks = roundValues(scale.min, scale.max, unit).map((value) => ({ value })));
  return { ...common, type: "logarithmic", afterBuildTicks: set, ticks: { ...ticks, callback: (value) => showRound(unit, value) } };
}

/** How far an axis reaches beyond the points, so that their intervals can be seen; a very wide one is cut off. */
function reach(lines, axis) {
  const points = lines.flatMap((line) => line.points);
  const means = points.map((point) => point[axis]);
  if (axis === "x") return { suggestedMin: Math.min(...means) / 1.2, suggestedMax: Math.max(...means) * 1.2 };
  const [low, high] = [Math.min(...means), Math.max(...means)];
  return {
    suggestedMin: Math.max(low / 3, Math.min(low * 0.9, ...points.map((point) => point.low ?? point.y))),
    suggestedMax: Math.min(high * 3, Math.max(high * 1.1, ...points.map((point) => point.high ?? point.y))),
  };
}

function options(spec) {
  return {
    responsive: !printing,
    devicePixelRatio: printing ? 2 : undefined,
    maintainAspectRatio: false,
    animation: false,
    parsing: false,
    normalized: true,
    color: css("--text"),
    layout: { padding: { right: 10 } },
    interaction: { mode: "nearest", intersect: false },
    scales: {
      x: { ...axis(spec.x), ...(spec.x.type || spec.x.values ? {} : reach(spec.lines, "x")) },
      y: { ...axis(spec.y), ...(spec.y.type === "linear" ? { beginAtZero: true } : reach(spec.lines, "y")) },
    },
    plugins: {
      legend: { display: spec.lines.length > 1, labels: { color: css("--text"), usePointStyle: true, boxHeight: 6, padding: 8 } },
      tooltip: { callbacks: { title: () => "", label: (item) => spec.tip(item.dataset.label, item.raw) } },
    },
  };
}

function dataset(line, number) {
  const colour = line.colour ?? colourOf(line.store);
  return {
    label: line.name || line.store.name,
    data: line.points,
    borderColor: colour,
    backgroundColor: colour,
    borderWidth: 1.8,
    borderDash: line.dash || DASHES[Math.floor(number / 5) % DASHES.length],
    showLine: line.joined !== false,
    pointStyle: SHAPES[number % SHAPES.length],
    pointRadius: line.radius ?? 4,
    pointHoverRadius: 6,
    stepped: line.stepped || false,
  };
}

/** Puts a chart into an element. It is drawn when it comes into view. */
function chartIn(parent, spec) {
  const canvas = make("canvas", { role: "img", "aria-label": `${spec.title}. The same figures follow as a table.` });
  const figure = make("figure", {}, make("figcaption", {}, spec.title), make("div", { class: "canvas" }, canvas), asTable(spec));
  parent.append(figure);
  const draw = () => {
    if (charts.has(canvas)) return;
    if (printing) [canvas.width, canvas.height] = PAPER[canvas.closest(".multiples") ? "narrow" : "wide"];
    charts.set(canvas, new Chart(canvas, { type: "line", data: { datasets: spec.lines.map(dataset) }, options: options(spec), plugins: [whiskers] }));
  };
  canvas.draw = draw;
  watcher.observe(canvas);
}

const watcher = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) if (isIntersecting) target.draw();
}, { rootMargin: "300px" });

const drawEveryChart = () => document.querySelectorAll("#drawn canvas").forEach((canvas) => canvas.draw());

/** Forgets all charts. */
function clearCharts() {
  watcher.disconnect();
  for (const chart of charts.values()) chart.destroy();
  charts.clear();
}

function asTable(spec) {
  const details = make("details", {}, make("summary", {}, "as a table"));
  details.addEventListener("toggle", () => {
    if (!details.open || $("table", details)) return;
    const body = make("tbody");
    for (const line of spec.lines)
      for (const point of line.points) body.append(make("tr", {}, ...spec.row(line.name || line.store.name, point).map((text) => make("td", {}, text))));
    const head = make("thead", {}, make("tr", {}, ...spec.head.map((text) => make("th", { scope: "col" }, text))));
    details.append(make("div", { class: "scroll" }, make("table", {}, head, body)));
  });
  return details;
}
