// Round by round: what becomes of speed, files and pauses when the same work is done again and again on one database.

/** A call that takes longer is a pause, in nanoseconds. */
const PAUSE_NS = 1e7;
const RINGS = "A ring marks a round with a pause: its longest call took more than 10 ms, in the mean over trials.";

function roundsCharts() {
  const place = onePlace();
  const cells = place?.cells.filter(isOn) || [];
  const { speed, files, longest } = model.rounds;
  const parts = [
    ["operations per second", "per_s", speed],
    ["space of the files", "bytes", files],
    ["longest operation of the round", "ns", longest],
  ];
  const charts = parts.map(([title, unit, rounds]) => roundsChart(title, unit, cells.map((cell) => roundsLine(cell, rounds)).filter((line) => line.points.length)));
  const drawn = charts.filter((chart) => chart.lines.length);
  const notes = drawn.some((chart) => chart.legend) ? [RINGS] : [];
  return drawn.length ? { charts: drawn, beside: true, notes } : { why: `No selected ${model.ranked[0]} has several rounds here.` };
}

function roundsLine(cell, rounds) {
  const written = (number) => figureIn(model.rounds.written[number], cell)?.mean;
  const longest = (number) => figureIn(model.rounds.longest[number], cell)?.mean;
  const points = rounds.map((figures, number) => ({ round: number + 1, x: written(number) || number + 1, figure: figureIn(figures, cell) })).filter((point) => point.figure);
  return {
    store: storeOf(cell),
    radius: 3,
    points: points.map(({ round, x, figure }) => ({ round, x, y: figure.mean, low: figure.low, high: figure.high, range: figure.range, ring: longest(round - 1) > PAUSE_NS })),
  };
}

/** Over what a set's life has written, or else over the rounds; from zero, so that growth looks as large as it is, but for pauses. */
function roundsChart(what, unit, lines) {
  const over = lines.some((line) => line.points.some((point) => point.x !== point.round))
    ? { title: "bytes of values written", type: "linear", unit: "bytes" }
    : { title: "round", type: "linear", unit: "", label: (value) => (value && Number.isInteger(value) ? String(value) : "") };
  return {
    title: `Round by round: ${what}`,
    legend: lines.some((line) => line.points.some((point) => point.ring)) ? RINGS : "",
    x: over,
    y: { title: what, unit, type: unit === "ns" ? "log" : "linear" },
    lines,
    tip: (store, point) => `${store}, round ${point.round}: ${pointText(unit, point)}`,
    head: [model.ranked[0], "round", what],
    row: (store, point) => [store, String(point.round), pointText(unit, point)],
  };
}
