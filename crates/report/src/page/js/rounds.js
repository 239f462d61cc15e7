// Round by round: what becomes of speed and files when the same work is done again and again on one database.

function roundsDrawn() {
  const place = onePlace();
  const cells = place?.cells.filter(isOn) || [];
  const parts = [["operations per second", "per_s", model.rounds.speed], ["space of the files on disk after the round", "bytes", model.rounds.files]];
  const charts = parts.map(([title, unit, rounds]) => roundsChart(title, unit, cells.map((cell) => roundsLine(cell, rounds)).filter((line) => line.points.length)));
  const drawn = charts.filter((chart) => chart.lines.length);
  return drawn.length ? { charts: drawn, beside: true } : { why: `No selected ${model.ranked[0]} has several rounds here.` };
}

function roundsLine(cell, rounds) {
  const points = rounds.map((figures, number) => ({ x: number + 1, figure: figureIn(figures, cell) })).filter((point) => point.figure);
  return {
    store: storeOf(cell),
    radius: 3,
    points: points.map(({ x, figure }) => ({ x, y: figure.mean, low: figure.low, high: figure.high, range: figure.range })),
  };
}

/** Both axes from zero, so that growth looks as large as it is. */
const roundsChart = (what, unit, lines) => ({
  title: `Round by round: ${what}`,
  x: { title: "round", type: "linear", unit: "", label: (value) => (value && Number.isInteger(value) ? String(value) : "") },
  y: { title: what, unit, type: "linear" },
  lines,
  tip: (store, point) => `${store}, round ${point.x}: ${pointText(unit, point)}`,
  head: [model.ranked[0], "round", what],
  row: (store, point) => [store, String(point.x), pointText(unit, point)],
});
