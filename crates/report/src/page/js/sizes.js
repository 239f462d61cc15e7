// Data against memory: what becomes of speed as data outgrow memory, where each store falls, and what processors and the disk do.

/** The stores that are drawn together and that have a cell among those chosen. */
function shownSizes() {
  const cells = new Set(onePlace()?.cells || []);
  return model.sizes.find(({ lines }) => lines.some((line) => line.cells.some((cell) => cells.has(cell))));
}

function outgrownCharts() {
  // What the machine did is known of all operations together.
  const overall = model.operations.includes("overall") ? "overall" : state.op;
  const parts = [
    ["throughput", state.op, `${state.op}: operations per second`],
    ["latency_mean", state.op, `${state.op}: mean latency`],
    ["latency_p99", state.op, `${state.op}: 99th percentile of latency`],
    ["operation_io_wait", overall, "processors that wait for a disk, of all"],
    ["operation_idle", overall, "processors that are idle, of all"],
    ["operation_device_read", overall, "read from the disk"],
    ["operation_device_written", overall, "written to the disk"],
  ];
  const lines = shownSizes()?.lines.filter((line) => isOn(line.cells[0])) || [];
  const charts = parts.map(([id, op, title]) => outgrownChart(columnOf(id), op, title, lines)).filter((chart) => chart.lines.length);
  return charts.length ? { charts, beside: true } : { why: `No selected ${model.ranked[0]} has figures at several sizes here.` };
}

/** Shares are drawn from zero; all else is told by how many times it is more. */
function outgrownChart(column, op, title, lines) {
  const type = column.unit === "share" ? "linear" : "logarithmic";
  const isDrawable = (point) => point.figure && (type === "linear" || point.figure.mean > 0);
  const points = (line) => line.times.map((x, i) => ({ x, figure: figureOf(line.cells[i], column.id, op) })).filter(isDrawable)
    .map(({ x, figure }) => ({ x, y: figure.mean, low: figure.low, high: figure.high, range: figure.range }));
  const drawn = lines.map((line) => ({ store: model.stores[line.store], points: points(line), cliff: cliffOf(column, line, op) }))
    .filter((line) => line.points.length);
  const times = [...new Set(drawn.flatMap((line) => line.points.map((point) => point.x)))].sort((a, b) => a - b);
  return {
    title,
    x: { title: "data / memory", values: times, label: (value) => `${value}x` },
    y: { title, unit: column.unit, type },
    lines: drawn,
    tip: (store, point) => `${store}, ${point.x}x: ${figuresText(column, point)}`,
    head: [model.ranked[0], "data / memory", title],
    row: (store, point) => [store, `${point.x}x`, figuresText(column, point)],
  };
}

/** Where a store falls, for charts of how fast it is: found from throughput. */
function cliffOf(column, line, op) {
  const cliff = ["throughput", "latency_mean", "latency_p99"].includes(column.id) ? line.cliffs[op] : undefined;
  return cliff && { low: cliff[0], high: cliff[1] };
}
