// The charts: what is in each section. Nothing here touches the page.

/**
 * What a section of the page has to draw: `why` there is nothing, or `charts`, alone or side by side (`beside`; `many` for those that take
 * the whole width), `more` charts to be folded, `notes` below them, and what makes a `table`.
 */
const SECTION_CHARTS = {
  curves: curvesCharts,
  latency: latencyCharts,
  outgrown: outgrownCharts,
  epochs: epochsCharts,
  timeline: timelineCharts,
  rounds: roundsCharts,
  space: spaceCharts,
  safety: safetyCharts,
  memory: memoryCharts,
  writes: writesCharts,
  load: loadCharts,
};

/** The same of one section, its charts knowing whose they are. */
function sectionCharts(id) {
  const drawn = SECTION_CHARTS[id]();
  for (const spec of [...(drawn.charts || []), ...(drawn.more || [])]) spec.section = id;
  return drawn;
}

/** Zero has no place on a log axis. */
const positive = (points) => points.filter((point) => point.x > 0 && point.y > 0);

const pointText = (unit, point) => showFigure(unit, { mean: point.y, low: point.low ?? null, high: point.high ?? null, range: point.range });
const figuresText = (column, point) => pointText(column.unit, point);

/** Says which of some stores are zero, which a log axis has no room for. */
const zeroNotes = (names) => (names.length ? [`Zero, and so not drawn on a log axis: ${names.join(", ")}.`] : []);

/** An axis within the matrix, for curves to go across: its numbers, what else a place is fixed on, and the cells of a place. */
const acrossWithin = (axis) => ({
  ...axis,
  numbers: shownNumbers(axis),
  fixed: model.axes.filter((other) => other !== axis),
  cells: (place, number) => cellsAt(state.group, { ...place, [axis.id]: number }),
  line: (cell) => storeOf(cell).name,
});

/** One that tells groups apart, such as threads or a rate. */
const acrossGroups = (axis) => {
  const cells = (place, number) => alongGroups(axis.id, place).find((set) => set.value === axis.values[number])?.cells ?? [];
  const chosen = model.groups[state.group].at;
  const position = model.group_axes.indexOf(axis);
  const sibling = (number) => model.groups.some((group) => group.at.every((value, i) => value === (i === position ? number : chosen[i])));
  return {
    id: axis.id,
    name: axis.id.replaceAll("_", " "),
    one: axis.one,
    ordered: axis.ordered,
    without: axis.ordered ? axis.values.filter((_, number) => axis.numbers[number] === null) : [],
    values: axis.values.map((text, number) => ({ text, short: text, words: `${axis.id.replaceAll("_", " ")} ${text}`, at: axis.numbers[number] })),
    numbers: axis.values.map((_, number) => number).filter((number) => axis.numbers[number] !== null && sibling(number)),
    fixed: model.axes,
    cells,
    line: (cell) => storeOf(cell).name,
  };
};

/** One that tells contestants apart, such as a setting: those that differ in nothing else are one line. */
const acrossVariants = (axis) => ({
  id: axis.id,
  name: axis.name,
  one: axis.one,
  values: axis.values.map(([text, at]) => ({ text, short: text || axis.unnamed, words: `${axis.name} ${text || axis.unnamed}`, at })),
  without: axis.values.filter(([, at]) => at === null).map(([text]) => text || axis.unnamed),
  numbers: axis.values.map((_, number) => number).filter((number) => axis.values[number][1] !== null),
  fixed: model.axes,
  cells: (place, number) => cellsAt(state.group, place).filter((cell) => axis.of[model.cells.store[cell]] === number),
  line: (cell) => axis.line[model.cells.store[cell]],
});

/** What curves can go across. */
function acrossAxes() {
  const outside = [
    ...model.variants.map(acrossVariants),
    ...model.group_axes.filter((axis) => axis.numbers.some((number) => number !== null)).map(acrossGroups),
  ];
  return [...axesOfNumbers().map(acrossWithin), ...outside.filter((axis) => axis.numbers.length > 1)]
    .map((axis) => ({ ...axis, numbers: axis.numbers.sort((a, b) => axis.values[a].at - axis.values[b].at) }));
}

/** The axis that curves go across: the one chosen, else the first of those with the most values, if that has two to go between. */
function curveAxis(axes) {
  const most = Math.max(2, ...axes.map((axis) => axis.numbers.length));
  return axes.find((axis) => axis.id === state.x) || axes.find((axis) => axis.numbers.length === most) || null;
}

function curvesCharts() {
  const axes = acrossAxes();
  const x = curveAxis(axes);
  if (!x)
    return { why: axes.length
      ? `There is ${axes.map((axis) => `one ${axis.one}`).join(" and ")} here: nothing to draw curves across.`
      : "No values here are numbers: nothing to draw curves across." };
  const column = columnOf(state.figure);
  if (!column || !isMeasured(column)) return { why: `${column?.title ?? "This figure"} was not measured.` };
  if (x.numbers.length < 2) return { why: `Only one ${x.one} is chosen or was measured: there is nothing to draw across it.` };
  const charts = [];
  const zeros = new Set();
  for (const fixed of combinations(x.fixed)) {
    const curves = curveLines(column, x, fixed);
    for (const { name, points } of curves) if (points.some((point) => point.y === 0)) zeros.add(name);
    const lines = curves.map((line) => ({ ...line, points: positive(line.points) })).filter((line) => line.points.length);
    if (lines.length) charts.push(curve(column, x, fixed, lines));
  }
  if (!charts.length && !zeros.size) return { why: `No selected ${model.ranked[0]} has a figure here.` };
  const notes = x.without?.length ? [`Without a place on this axis: ${x.name} ${x.without.join(", ")}.`] : [];
  notes.push(...zeroNotes(zeros.size ? [`${column.title} of ${[...zeros].join(", ")}, at some points or all`] : []));
  // Many lines take the whole width to be told apart, and a chart alone has it.
  const many = charts.length === 1 || charts.some((chart) => chart.lines.length > FEW_LINES);
  return { charts, notes, beside: true, many };
}

/** So many lines can be told apart in a chart of half the page's width. */
const FEW_LINES = 4;

function curveLines(column, x, fixed) {
  const lines = new Map();
  for (const number of x.numbers) {
    for (const cell of x.cells(fixed, number)) {
      const figure = isOn(cell) ? figureOf(cell, column.id, state.op) : null;
      if (!figure) continue;
      const name = x.line(cell);
      if (!lines.has(name)) lines.set(name, { name, store: model.stores.find((store) => store.name === name) || storeOf(cell), points: [] });
      const figures = { y: figure.mean, low: figure.low, high: figure.high, range: figure.range };
      lines.get(name).points.push({ x: x.ordered ? x.numbers.indexOf(number) : x.values[number].at, ...figures, at: number, store: storeOf(cell).name });
    }
  }
  return [...lines.values()];
}

function curve(column, x, fixed, lines) {
  const name = (number) => x.values[number].words;
  const values = x.numbers.map((number) => x.values[number].at);
  const label = (value) => x.values.find((one) => one.at === value)?.short ?? "";
  const what = column.operation ? `${state.op}, ${column.title}` : column.title;
  return {
    title: withPlace(what, variedPart(fixed), ": "),
    x: x.ordered ? { title: x.name, type: "category", labels: x.numbers.map((number) => x.values[number].text) } : { title: x.name, values, label },
    y: { title: what, unit: column.unit },
    lines,
    tip: (store, point) => `${store}, ${name(point.at)}: ${figuresText(column, point)}`,
    head: [model.ranked[0], x.name, what],
    row: (store, point) => [store, name(point.at), figuresText(column, point)],
  };
}

function latencyCharts() {
  const place = onePlace();
  const { curves, quantiles, steps } = model.percentiles;
  if (!place) return { why: "Nothing succeeded here." };
  const lines = [];
  for (const cell of place.cells.filter(isOn)) {
    const differences = curves[state.op]?.[cell] || [];
    if (!differences.length) continue;
    let step = 0;
    const points = differences.map((difference, number) => {
      step += difference;
      const last = number === differences.length - 1;
      const quantile = last ? 1 : quantiles[number];
      // The longest stands where the next rarer quantile would.
      const beyond = 1 / (1 - quantiles[Math.min(number, quantiles.length - 2)]);
      return { x: last ? Math.max(beyond, 2 / (1 - quantiles[number - 1] || 1)) : 1 / (1 - quantile), y: Math.exp(step / steps), quantile };
    });
    lines.push({ store: storeOf(cell), points, radius: 2.5 });
  }
  if (!lines.length) return { why: `No selected ${model.ranked[0]} has a histogram of this operation here.` };
  const name = (quantile) => (quantile === 1 ? "longest" : quantile === 0 ? "shortest" : `p${Number((quantile * 100).toFixed(4))}`);
  const most = Math.max(...lines.flatMap((line) => line.points.map((point) => point.x)));
  const label = (value) => {
    if (value === most) return "longest";
    const at = quantiles.find((quantile) => quantile < 1 && Math.abs(1 / (1 - quantile) / value - 1) < 0.01);
    return at === undefined ? "" : name(at);
  };
  const ticks = [0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999].map((quantile) => 1 / (1 - quantile)).filter((value) => value < most);
  return { charts: [{
    title: `${state.op}: latency by percentile`,
    x: { title: "percentile", values: [...ticks, most].filter((value, i, all) => all.indexOf(value) === i), label },
    y: { title: "latency", unit: "ns" },
    lines,
    tip: (store, point) => `${store}, ${name(point.quantile)}: ${show("ns", point.y)}`,
    head: [model.ranked[0], "percentile", "latency"],
    row: (store, point) => [store, name(point.quantile), show("ns", point.y)],
  }] };
}

function spaceCharts() {
  const place = onePlace();
  const lines = [];
  for (const cell of place?.cells.filter(isOn) || []) {
    const space = figureOf(cell, "space_amplification_allocated");
    const latency = figureOf(cell, "latency_mean", state.op);
    if (!space?.mean || !latency) continue;
    lines.push({ store: storeOf(cell), joined: false, radius: 6, points: [{ x: space.mean, y: latency.mean, low: latency.low, high: latency.high, range: latency.range }] });
  }
  if (!lines.length) return { why: `No selected ${model.ranked[0]} has both figures here.` };
  return { charts: [{
    title: `${state.op} latency against bytes on disk per byte of values`,
    x: { title: "bytes on disk per byte of values", unit: "" },
    y: { title: `${state.op}, mean latency`, unit: "ns" },
    lines,
    tip: (store, point) => `${store}: ${show("ns", point.y)}, ${threeDigits(point.x)} bytes on disk per byte`,
    head: [model.ranked[0], "bytes on disk per byte of values", "mean latency"],
    row: (store, point) => [store, threeDigits(point.x), pointText("ns", point)],
  }] };
}

/** The cells at this place in the groups that differ from the chosen one in one axis alone, by the axis's value. */
function alongGroups(axisId, place) {
  const position = model.group_axes.findIndex((axis) => axis.id === axisId);
  if (position < 0) return [];
  const chosen = model.groups[state.group].at;
  const sets = [];
  model.groups.forEach((group, number) => {
    if (!group.at.every((value, i) => i === position || value === chosen[i])) return;
    const cells = cellsAt(number, place);
    sets.push({ value: model.group_axes[position].values[group.at[position]], cells: cells.filter(isOn), number });
  });
  return sets;
}

/** Stores side by side, one set of points for each value of an axis; and a table of what `columns` say of each. */
function sideBySide(operation, sets, title, columns, notes = []) {
  const names = [...new Set(sets.flatMap((set) => set.cells.map((cell) => storeOf(cell).name)))];
  const tones = ["--c0", "--c2", "--c1", "--c6", "--c3", "--c8"];
  const lines = sets.map((set, number) => ({
    name: set.value,
    colour: `var(${tones[number % tones.length]})`,
    joined: false,
    radius: 5,
    points: set.cells.map((cell) => {
      const figure = figureOf(cell, "latency_mean", operation);
      return figure && { x: names.indexOf(storeOf(cell).name), y: figure.mean, low: figure.low, high: figure.high, range: figure.range, store: storeOf(cell).name };
    }).filter(Boolean),
  })).filter((line) => line.points.length);
  if (!lines.length) return { why: `No selected ${model.ranked[0]} has a figure here.` };
  const chart = {
    title,
    x: { title: "", type: "category", labels: names },
    y: { title: `${operation}, mean latency`, unit: "ns" },
    lines,
    tip: (value, point) => `${point.store}, ${value}: ${pointText("ns", point)}`,
    head: ["", model.ranked[0], "mean latency"],
    row: (value, point) => [value, point.store, pointText("ns", point)],
  };
  return { charts: [chart], notes, table: () => pricesTable(sets, names, columns) };
}

function pricesTable(sets, names, columns) {
  const head = make("tr", {}, make("th", { scope: "col" }, model.ranked[0]), ...columns.map((column) => make("th", { scope: "col", class: "n" }, column.title)));
  const body = make("tbody");
  for (const name of names)
    body.append(make("tr", {}, make("th", { scope: "row" }, name), ...columns.map((column) => {
      const cells = sets.map((set) => set.cells.find((cell) => storeOf(cell).name === name));
      return make("td", { class: "n" }, column.text(cells));
    })));
  return make("div", { class: "scroll" }, make("table", {}, make("thead", {}, head), body));
}

/** What one set costs in times of the first: paired by block, as the data say. */
function ratioText(cells, number, operation) {
  const price = cells[0] === undefined || cells[number] === undefined ? null : priceOf(cells[number], cells[0], operation);
  return price ? `${threeDigits(price.times)} ×${extentText(price, threeDigits)}` : "–";
}

const textOf = (cell, id, operation) => (cell === undefined ? "–" : show(columnOf(id).unit, figureOf(cell, id, operation)?.mean));

/** Reads wait for nothing: unless another operation was chosen, one that writes shows what safety costs. */
function safetyOperation() {
  if (state.opChosen) return state.op;
  return ["insert", "update"].find((name) => operationsHere().includes(name)) || state.op;
}

function safetyCharts() {
  const place = onePlace();
  if (!place) return { why: "Nothing succeeded here." };
  if (!model.group_axes.some((axis) => axis.id === "guarantee")) return { why: "No guarantee is asked for here." };
  const sets = alongGroups("guarantee", place).filter((set) => set.cells.some((cell) => model.cells.succeeded[cell] > 0));
  if (!sets.length) return { why: `No selected ${model.ranked[0]} has a figure here.` };
  if (sets.length < 2) return { why: "Only one guarantee was measured here, so its price is unknown." };
  const operation = safetyOperation();
  if (!underTwo(sets, operation)) return { why: `No ${model.ranked[0]} was measured under two guarantees here, so no price is known.` };
  const counted = Boolean(model.operation[operation]?.syncs_per_operation);
  const columns = sets.map((set, i) => ({ title: set.value, text: (cells) => textOf(cells[i], "latency_mean", operation) }));
  sets.slice(1).forEach((set, i) => columns.push({ title: `${set.value} / ${sets[0].value}`, text: (cells) => ratioText(cells, i + 1, operation) }));
  if (counted) sets.forEach((set, i) => columns.push({ title: `syncs/op, ${set.value}`, text: (cells) => textOf(cells[i], "syncs_per_operation", operation) }));
  const notes = counted ? [] : ["Syncs per operation: not measured in this run."];
  return sideBySide(operation, sets, `${operation}: mean latency under each guarantee`, columns, notes);
}

/** Whether any store has a figure in two sets. */
function underTwo(sets, operation) {
  const seen = new Set();
  for (const { cells } of sets)
    for (const cell of cells.filter((cell) => figureOf(cell, "latency_mean", operation))) {
      if (seen.has(storeOf(cell))) return true;
      seen.add(storeOf(cell));
    }
  return false;
}

function loadCharts() {
  const place = onePlace();
  if (!place) return { why: "Nothing succeeded here." };
  const sets = alongGroups("background", place);
  if (sets.length < 2) return { why: "Not measured: here nothing ran with a background load, or all with one." };
  sets.sort((a, b) => (b.value === "none") - (a.value === "none"));
  const columns = sets.map((set, i) => ({ title: set.value === "none" ? "undisturbed" : set.value, text: (cells) => textOf(cells[i], "latency_mean", state.op) }));
  if (sets[0].value === "none")
    sets.slice(1).forEach((set, i) => columns.push({ title: `slow-down by ${set.value}`, text: (cells) => ratioText(cells, i + 1, state.op) }));
  return sideBySide(state.op, sets, `${state.op}: mean latency beside each background load`, columns);
}

/** Figures of trials, one point for each store. */
function trialFigures(title, columns, otherwise) {
  const place = onePlace();
  const cells = place?.cells.filter(isOn) || [];
  const names = cells.map((cell) => storeOf(cell).name);
  const tones = ["--c0", "--c2"];
  const all = columns.filter((column) => model.trial[column]).map(columnOf).map((column, number) => ({
    name: column.title,
    unit: column.unit,
    colour: `var(${tones[number]})`,
    joined: false,
    radius: 5,
    points: cells.map((cell, i) => ({ x: i, figure: figureOf(cell, column.id) })).filter((point) => point.figure)
      .map(({ x, figure }) => ({ x, y: figure.mean, low: figure.low, high: figure.high, range: figure.range })),
  }));
  const zeros = all.map((line) => [line.name, line.points.filter((point) => point.y <= 0).map((point) => names[point.x])]).filter(([, of]) => of.length);
  const lines = all.map((line) => ({ ...line, points: line.points.filter((point) => point.y > 0) })).filter((line) => line.points.length);
  if (!lines.length && !zeros.length)
    return { why: place?.cells.length && !cells.length ? `No ${model.ranked[0]} is selected.` : otherwise };
  const text = (point) => pointText(all[0].unit, point);
  const chart = {
    title,
    x: { title: "", type: "category", labels: names },
    y: { title, unit: all[0].unit },
    lines,
    tip: (name, point) => `${names[point.x]}, ${name}: ${text(point)}`,
    head: ["figure", model.ranked[0], "mean"],
    row: (name, point) => [name, names[point.x], text(point)],
  };
  return { charts: lines.length ? [chart] : [], notes: zeroNotes(zeros.map(([name, of]) => `${name} of ${of.join(", ")}`)) };
}

function memoryCharts() {
  return trialFigures(columnOf(model.memory).title, [model.memory], "Not measured here.");
}

function writesCharts() {
  return trialFigures("bytes to the device per byte of values", ["write_amplification_burst", "write_amplification_settled"],
    "Not measured here: these results have no counters of a block device.");
}
