// What is chosen. It lives in the address, after the #, so that a link shows the same.

/** Besides what is here, it has for each axis within a matrix the number chosen, or -1 for all. */
const state = {
  group: 0,
  op: "",
  /** Whether the operation was chosen: where it was not, a section may show another. */
  opChosen: false,
  figure: "latency_mean",
  /** The axis that curves go across; empty for the first that has several values. */
  x: "",
  shows: "operation",
  sort: "",
  down: false,
  off: new Set(),
  cell: "",
  mark: "",
  /** The section that the address points to. */
  go: "",
};

/** Whether the group's cells have values on an axis: those of another workload may have none. */
const hasValues = (axis) => model.cells.group.some((group, cell) => group === state.group && model.cells.at[axis.id][cell] !== null);
/** The axes within the group's matrix that make its rows, columns or halves. */
const axesThat = (...made) => made.flatMap((makes) => model.axes.filter((axis) => axis.makes === makes && hasValues(axis)));
/** Those that curves can go across: all their values are numbers. */
const axesOfNumbers = () => axesThat("column", "row", "half").filter((axis) => axis.values.every((value) => value.at !== null));
/** The rows of the chosen group's matrix, and its operations: another workload's are not among them. */
const rowsHere = () => model.groups[state.group].rows.map((row) => model.rows[row]);
const operationsHere = () => model.groups[state.group].operations.map((operation) => model.operations[operation]);
const operationAtFirst = () => (operationsHere().includes("get") ? "get" : operationsHere()[0] || "");
/** Whether any cell of the group has a figure. */
const isMeasured = (column) => {
  const figures = column.operation ? model.operation[state.op]?.[column.id] : model.trial[column.id];
  return Boolean(figures) && model.cells.group.some((group, cell) => group === state.group && figures.mean[cell] !== null);
};
/** A value by its number; cells of other workloads have none. */
const valueOf = (axis, number) => axis.values[number] || { text: "", short: "", words: "" };

/** The group with the values asked for; of several, or none, the one that fits best. The axis named must fit. */
function bestGroup(wanted, requiredAxis) {
  let best = 0;
  let bestScore = -1;
  model.groups.forEach((group, number) => {
    let score = 0;
    model.group_axes.forEach((axis, position) => {
      const fits = axis.values[group.at[position]] === wanted[axis.id];
      if (fits) score += axis.id === requiredAxis ? 1000 : 1;
    });
    if (score > bestScore) [best, bestScore] = [number, score];
  });
  return best;
}

/** The group that the page opens on: the first of those in which the most stores have figures. */
function fullestGroup() {
  const stores = model.groups.map(() => new Set());
  model.cells.group.forEach((group, cell) => {
    if (model.cells.succeeded[cell] > 0 && !storeOf(cell).harness) stores[group].add(model.cells.store[cell]);
  });
  const most = Math.max(0, ...stores.map((set) => set.size));
  return Math.max(0, stores.findIndex((set) => set.size === most));
}

const groupValues = (number) =>
  Object.fromEntries(model.group_axes.map((axis, i) => [axis.id, axis.values[model.groups[number].at[i]]]));

/** Takes the choices from the address, and gives the section that it points to. What it does not name, or names wrongly, is left at its default. */
function readState() {
  const address = new URLSearchParams(location.hash.slice(1));
  // Where the address chooses nothing, the page of an answer opens on what was asked.
  if (!state.op && [...address.keys()].every((key) => key === "go")) new URLSearchParams(model.start).forEach((value, key) => address.append(key, value));
  const wanted = { ...groupValues(state.group) };
  for (const axis of model.group_axes) if (address.has(axis.id)) wanted[axis.id] = address.get(axis.id);
  state.group = bestGroup(wanted);
  // A link to a section alone leaves the rest as it is.
  state.go = address.get("go") || "";
  if (state.op && address.has("go") && [...address.keys()].length === 1) return state.go;
  for (const { id, values } of model.axes) state[id] = address.has(id) ? values.findIndex((value) => value.text === address.get(id)) : -1;
  const oneOf = (name, values, otherwise) => (values.includes(address.get(name)) ? address.get(name) : otherwise);
  state.opChosen = operationsHere().includes(address.get("op"));
  state.op = oneOf("op", operationsHere(), operationAtFirst());
  state.figure = oneOf("figure", model.columns.map((column) => column.id), "latency_mean");
  state.x = oneOf("x", acrossAxes().map((axis) => axis.id), "");
  state.shows = oneOf("shows", ["operation", "trial"], "operation");
  state.sort = address.get("sort") || "";
  state.down = address.get("down") === "1";
  const names = model.stores.map((store) => store.name);
  state.off = new Set(address.getAll("off").filter((name) => names.includes(name)));
  state.cell = address.get("cell") || "";
  state.mark = address.get("mark") || "";
  return state.go;
}

/** Puts the choices into the address. */
function writeState() {
  const parts = new URLSearchParams();
  const values = groupValues(state.group);
  for (const axis of model.group_axes) if (axis.values.length > 1) parts.set(axis.id, values[axis.id]);
  for (const axis of model.axes) if (state[axis.id] >= 0) parts.set(axis.id, axis.values[state[axis.id]].text);
  if (state.opChosen) parts.set("op", state.op);
  for (const name of ["figure", "x", "shows", "sort", "cell", "mark"]) if (state[name]) parts.set(name, state[name]);
  if (state.down) parts.set("down", "1");
  for (const name of state.off) parts.append("off", name);
  if (state.go) parts.set("go", state.go);
  history.replaceState(null, "", `#${parts}`);
}

/** The numbers of an axis that are shown: the one chosen, or all that the group has. */
function shownNumbers(axis) {
  const present = new Set();
  const numbers = model.cells.at[axis.id];
  model.cells.group.forEach((group, cell) => group === state.group && present.add(numbers[cell]));
  return [...present].sort((a, b) => a - b).filter((number) => state[axis.id] < 0 || number === state[axis.id]);
}

/** Every combination of what is shown of some axes: the first axis changes last. */
const combinations = (axes) =>
  axes.reduce((all, axis) => all.flatMap((place) => shownNumbers(axis).map((number) => ({ ...place, [axis.id]: number }))), [{}]);

/** Whether several values of an axis are shown. One alone stands in the caption, and in no row. */
const isVaried = (axis) => shownNumbers(axis).length > 1;
/** What of a place its caption does not tell. */
const variedPart = (place) => Object.fromEntries(Object.entries(place).filter(([id]) => model.axes.some((axis) => axis.id === id && isVaried(axis))));

/** One combination for the charts that show one: what is chosen, and the first that has figures where all are. */
function onePlace() {
  for (const place of combinations(model.axes)) {
    const cells = cellsAt(state.group, place);
    if (cells.some((cell) => model.cells.succeeded[cell] > 0)) return { ...place, cells };
  }
  return null;
}

const isOn = (cell) => !state.off.has(model.stores[model.cells.store[cell]].name);
const storeOf = (cell) => model.stores[model.cells.store[cell]];

/** The values of a place, or of a part of it, in words. */
function placeText(place) {
  const axes = model.axes.filter((axis) => axis.id in place).sort((a, b) => a.spoken - b.spoken);
  return axes.map((axis) => valueOf(axis, place[axis.id]).words).filter(Boolean).join(", ");
}

/** Some words, and where. */
const withPlace = (words, place, between = ", ") => [words, placeText(place)].filter(Boolean).join(between);

/** The sections that show one place: the first that the filters let through. */
const OF_ONE_PLACE = ["epochs", "latency", "timeline", "rounds", "space", "safety", "memory", "writes", "load"];
/** Those that say that they show the chosen operation. */
const OF_ONE_OPERATION = ["outgrown", "epochs", "latency", "timeline", "space", "safety", "load"];

/** What a section shows, in words. */
function whereText(id) {
  const values = groupValues(state.group);
  const across = id === "curves" ? curveAxis(acrossAxes())?.id : ACROSS[id];
  const facets = model.group_axes.filter((axis) => axis.values.length > 1 && axis.id !== "guarantee" && axis.id !== across && values[axis.id]);
  const parts = facets.map((axis) => `${axis.id}: ${values[axis.id]}`);
  if (values.guarantee && id !== "safety") parts.unshift(`Guarantee: ${values.guarantee}`);
  if (OF_ONE_OPERATION.includes(id)) parts.push(`operation: ${id === "safety" ? safetyOperation() : state.op}`);
  const place = OF_ONE_PLACE.includes(id) ? onePlace() : combinations(model.axes.filter((axis) => hasValues(axis) && !isVaried(axis)))[0];
  if (place && placeText(place)) parts.push(placeText(place));
  return parts.join(" · ");
}

/** The axes that sections go across themselves. Servers stand beside libraries where each is compared with itself. */
const ACROSS = { outgrown: "method", load: "background" };
