// The table of all figures, and what can be taken out of the page.

const ROWS = 200;
let everyRow = false;

const labels = () => [
  { id: "store", title: model.ranked[0], of: (cell) => storeOf(cell).name },
  ...model.axes.filter((axis) => hasValues(axis) && isVaried(axis)).map((axis) => ({
    id: axis.id,
    title: axis.name,
    of: (cell) => valueOf(axis, model.cells.at[axis.id][cell]).short,
    by: axesOfNumbers().includes(axis) ? (cell) => model.cells.at[axis.id][cell] : null,
  })),
  { id: "trials", title: "trials", of: (cell) => `${model.cells.succeeded[cell]}/${model.cells.trials[cell]}`, by: (cell) => model.cells.succeeded[cell] },
];

/** The columns of the table as it is shown. */
function tableColumns() {
  const ofOperation = state.shows === "operation";
  const figures = model.columns.filter((column) => column.operation === ofOperation && isMeasured(column));
  return [...labels(), ...figures.map((column) => ({
    id: column.id,
    title: column.title,
    number: true,
    of: (cell) => showFigure(column.unit, figureOf(cell, column.id, state.op)),
    by: (cell) => figureOf(cell, column.id, state.op)?.mean ?? null,
  }))];
}

/** The cells that the filters let through, in the order asked for. */
function tableCells(columns) {
  const { group, at } = model.cells;
  const fits = (axis, cell) => state[axis.id] < 0 || state[axis.id] === at[axis.id][cell];
  const cells = group.map((_, cell) => cell).filter((cell) =>
    group[cell] === state.group && isOn(cell) && model.axes.every((axis) => fits(axis, cell)));
  const column = columns.find((column) => column.id === state.sort);
  if (!column) return cells;
  const value = column.by || column.of;
  const sign = state.down ? -1 : 1;
  return cells.sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    // What has no figure comes last, whichever way.
    if (x === null || y === null) return (x === null) - (y === null);
    return sign * (typeof x === "number" ? x - y : x.localeCompare(y));
  });
}

function drawTable() {
  const columns = tableColumns();
  const cells = tableCells(columns);
  const scopes = [["operation", `figures of ${state.op}`], ["trial", "figures of whole trials"]];
  $("#table .choices").replaceChildren(
    chooser("shows", "show", scopes, state.shows, (shows) => change({ shows, sort: "", down: false })),
    make("button", { type: "button", id: "copy", onclick: () => copyTable(columns, cells) }, "Copy this table"),
    make("button", { type: "button", id: "csv", onclick: () => save("storebench.csv", "text/csv", allAsCsv()) }, "Download everything as CSV"),
    make("button", { type: "button", id: "json", onclick: () => save("storebench.json", "application/json", JSON.stringify(model)) }, "… as JSON"));
  const shownCells = everyRow ? cells : cells.slice(0, ROWS);
  const body = make("tbody");
  for (const cell of shownCells) body.append(tableRow(columns, cell));
  const caption = `${grouped(cells.length)} cells; means over trials`;
  const table = make("table", {}, make("caption", {}, caption), make("thead", {}, make("tr", {}, ...columns.map(headOf))), body);
  const content = emptyContent("table");
  content.append(make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "All figures" }, table));
  if (shownCells.length < cells.length) {
    const more = () => {
      everyRow = true;
      drawTable();
    };
    content.append(make("button", { type: "button", id: "more", onclick: more }, `Show all ${grouped(cells.length)} rows`));
  }
}

function tableRow(columns, cell) {
  const row = make("tr");
  const why = reasonOf(cell);
  for (const column of columns) {
    if (column.id === "store") row.append(make("th", { scope: "row" }, column.of(cell)));
    else row.append(make("td", { class: column.number ? "n" : null }, column.id === "trials" && why ? why : column.of(cell)));
  }
  return row;
}

function headOf(column) {
  const sorted = state.sort === column.id;
  const sort = () => change({ sort: column.id, down: sorted ? !state.down : false });
  const mark = sorted ? (state.down ? " ▼" : " ▲") : "";
  const order = sorted ? (state.down ? "descending" : "ascending") : null;
  return make("th", { scope: "col", class: column.number ? "n" : null, "aria-sort": order },
    make("button", { type: "button", id: `sort-${column.id}`, onclick: sort }, column.title + mark));
}

/** The table for a spreadsheet: separated by tabs. */
async function copyTable(columns, cells) {
  const clean = (text) => text.replace(/[\t\r\n]+/g, " ");
  const lines = [columns.map((column) => column.title), ...cells.map((cell) => columns.map((column) => column.of(cell)))];
  const text = lines.map((line) => line.map(clean).join("\t")).join("\n");
  $("#status").textContent = (await toClipboard(text)) ? "The table was copied." : "The browser does not let the page copy.";
  $("#copy").textContent = $("#status").textContent;
}

/** A page in a file may not always use the clipboard; a selection can be copied everywhere. */
async function toClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = make("textarea", {}, text);
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    return copied;
  }
}

/** Everything as CSV: a row for each cell and operation, numbers in full. */
function allAsCsv() {
  // Quoted; and what a spreadsheet would take for a formula is kept from being one.
  const field = (value) => {
    if (value === null || value === undefined) return "";
    if (typeof value === "number") return String(value);
    const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const name = (column) => (column.unit ? `${column.id}_${column.unit}` : column.id);
  const figures = model.columns.flatMap((column) => [name(column), `${name(column)}_low`, `${name(column)}_high`]);
  const head = [...model.group_axes.map((axis) => axis.id), ...model.axes.map((axis) => axis.id), "store", "trials", "succeeded", "why", "operation", ...figures];
  const lines = [head];
  model.cells.group.forEach((group, cell) => {
    const labels = model.group_axes.map((axis, i) => axis.values[model.groups[group].at[i]]);
    labels.push(...model.axes.map((axis) => valueOf(axis, model.cells.at[axis.id][cell]).text));
    labels.push(storeOf(cell).name, model.cells.trials[cell], model.cells.succeeded[cell], model.cells.why[cell]);
    const operations = model.groups[group].operations.map((operation) => model.operations[operation]);
    for (const operation of operations.length ? operations : [""])
      lines.push([...labels, operation, ...model.columns.flatMap((column) => {
        const figure = figureOf(cell, column.id, operation);
        return [figure?.mean, figure?.low, figure?.high];
      })]);
  });
  return lines.map((line) => line.map(field).join(",")).join("\r\n") + "\r\n";
}

function save(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
