// The matrix of winners, and what each of its cells holds.

/** The rows of the matrix and its columns: the places in the page's order. */
function matrixShape() {
  const sizes = combinations(axesThat("row"));
  const columns = combinations(model.axes.filter((axis) => axis.makes !== "row"));
  const rows = rowsHere().flatMap((row) => sizes.map((size, number) => ({ row, size, first: number === 0, places: columns.map((column) => ({ ...column, ...size })) })));
  return { columns, rows };
}

function drawMatrix() {
  const { columns, rows } = matrixShape();
  const body = make("tbody");
  for (const { row, size, first, places } of rows) {
    const marked = state.mark === contestKey(row, size);
    const line = make("tr", { class: [first && "first", marked && "marked"].filter(Boolean).join(" "), tabindex: marked ? "-1" : null });
    line.append(make("th", { scope: "row" }, rowTitle(row, first), " ", make("span", { class: "size" }, shortText(variedThat("row"), size))));
    for (const place of places) line.append(make("td", {}, matrixPlace(row, place)));
    body.append(line);
  }
  const table = make("table", { class: "matrix" }, matrixHead(columns), body);
  const dangers = model.groups[state.group].dangers.map((line) => make("p", { class: "alert soft" }, line));
  const scroll = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Matrix of winners" }, table);
  $("#winners .content").replaceChildren(scroll, make("div", { class: "under" }, saveButtons(matrixSpec())), ...dangers);
}

/** The row that says of space what its figures are. */
const SPACE_UNIT = "bytes on disk per byte of values";

function rowTitle(row, first) {
  const column = columnOf(row.column);
  const better = column?.better === "higher" ? "more is better" : "less is better";
  const unit = first && row.name === "space" ? make("small", {}, `${SPACE_UNIT} `) : "";
  return make("span", { class: first ? "op" : "op again", title: `${column?.title}: ${better}` }, row.name, " ", unit);
}

/** The axes with several values that make a part of the matrix. */
const variedThat = (makes) => axesThat(makes).filter(isVaried);

/** The heads of the matrix: what its rows and columns are, the halves with their numbers of columns, and what heads each column. */
function matrixHeads(columns) {
  const [halves, heads] = [variedThat("half"), variedThat("column")];
  const halfOf = (column) => placeText(Object.fromEntries(halves.map((axis) => [axis.id, column[axis.id]])));
  const spans = [];
  for (const column of columns) {
    if (spans.at(-1)?.text !== halfOf(column)) spans.push({ text: halfOf(column), columns: 0 });
    spans.at(-1).columns++;
  }
  return {
    corner: [variedThat("row"), heads].map(namesOf).filter(Boolean).join(" by "),
    halves: halves.length ? spans : [],
    columns: columns.map((column) => (heads.length ? shortText(heads, column) : halves.length ? "" : `the best ${model.ranked[0]}`)),
  };
}

function matrixHead(columns) {
  const heads = matrixHeads(columns);
  const kinds = make("tr", {}, make("td"), ...heads.halves.map((half) => make("th", { scope: "colgroup", colspan: half.columns }, half.text)));
  const counts = make("tr", {}, make("th", { scope: "col" }, heads.corner), ...heads.columns.map((text) => make("th", { scope: "col" }, text)));
  return heads.halves.length ? make("thead", {}, kinds, counts) : make("thead", {}, counts);
}

/** The names of axes, which the head has so that no row or column repeats them. */
const namesOf = (axes) => axes.map((axis) => axis.name).join(", ");

/** A place's values on some axes, which the head names. */
const shortText = (axes, place) => axes.map((axis) => valueOf(axis, place[axis.id]).short).filter(Boolean).join(", ");

/** What an address calls a cell of the matrix, or a row of it. */
const contestKey = (row, place) =>
  [row.name, ...model.axes.filter((axis) => axis.id in place).map((axis) => valueOf(axis, place[axis.id]).text).filter(Boolean)].join("|");

/** The stores of a cell of the matrix, the best first, those without a figure last. */
function ranked(row, place) {
  const cells = cellsAt(state.group, place);
  const better = columnOf(row.column)?.better === "higher" ? -1 : 1;
  const stores = cells.filter((cell) => !storeOf(cell).harness).map((cell) => {
    const figure = figureOf(cell, row.column, row.name);
    return { cell, figure, standing: standingOf(cell, row.name) };
  });
  const order = (entry) => (entry.standing ? (entry.standing.standing === 0 ? 0 : 1) : 2);
  return stores.sort((a, b) => order(a) - order(b) || better * ((a.figure?.mean ?? 0) - (b.figure?.mean ?? 0)));
}

/** A cell of the matrix in words: its lines, whose colour it has where there is a winner, and all of it for who can't see it. */
function placeInWords(row, place) {
  const stores = ranked(row, place);
  const where = withPlace(row.name, place);
  const [best] = stores;
  if (!best?.standing) {
    const idle = absenceText(stores.map((entry) => entry.cell), row);
    // What others were left out for matters less where the work has no such operation.
    const tells = (why) => why && (why !== "left out" || idle !== "not applicable");
    const missing = stores.find((entry) => tells(model.cells.why[entry.cell])) || stores.find((entry) => saturation(entry.cell, row));
    const why = !missing ? idle : model.cells.why[missing.cell] || "saturated";
    const reason = missing ? reasonOf(missing.cell) || saturation(missing.cell, row) : why;
    // Where no run has these values, such as the other count of a pair, a mark is enough.
    return { lines: [why === "not run" ? "–" : why], reason, label: `${where}: ${reason}` };
  }
  const figure = show(columnOf(row.column).unit, best.figure.mean);
  const { name, colour } = storeOf(best.cell);
  // One store alone wins nothing.
  if (stores.filter((entry) => entry.standing).length === 1) return { lines: [`only ${name}`, figure], label: `${where}: only ${name}, ${figure}` };
  if (best.standing.standing === 3) return { lines: [`${name} ?`, figure], label: `${where}: not judged; ${name}, ${figure}, looked best` };
  const ties = stores.slice(1).filter((entry) => entry.standing?.standing === 1).map((entry) => storeOf(entry.cell).name);
  const label = `${where}: ${name}, ${figure}${ties.length ? `, too close to call with ${ties.join(", ")}` : ""}`;
  return { name, lines: [figure], tie: ties.length ? `≈ ${ties.join(", ")}` : "", colour, label };
}

function matrixPlace(row, place) {
  const { name, lines, tie, colour, reason, label } = placeInWords(row, place);
  const key = contestKey(row, place);
  const properties = { type: "button", id: `cell:${key}`, onclick: () => change({ cell: key }), "aria-label": label, title: reason };
  const text = lines.flatMap((line, number) => (number ? [make("br"), line] : [line]));
  if (!name) return make("button", { ...properties, class: "win none" }, ...text);
  return make("button", { ...properties, class: "win", colour }, make("b", {}, name), ...text, tie ? make("span", { class: "tie" }, tie) : null);
}

/** Why a cell has no figure, or has no place in the ranking, with the reason where one is known; else empty. */
function reasonOf(cell) {
  const why = model.cells.why[cell];
  const reason = model.reasons[model.cells.reason[cell]];
  return reason ? `${why}: ${reason}` : why;
}

/** Why cells that lack nothing else have no figure: what did its work has done all of it. */
function absenceText(cells, row) {
  const ran = cells.some((cell) => model.cells.succeeded[cell] > 0);
  return ran && columnOf(row.column)?.operation ? "not applicable" : ran ? "not measured" : "not run";
}

/** How far a cell stayed behind the rate asked for, where its latency is not ranked for that; else empty. */
function saturation(cell, row) {
  const did = columnOf(row.column)?.unit === "ns" && model.saturated[row.name]?.[cell];
  return did ? `saturated: ${did}` : "";
}

/** Opens the cell of the matrix that the address names. */
function drawDetail() {
  const dialog = $("#detail");
  const named = state.cell ? namedCell() : null;
  if (!named) {
    if (dialog.open) dialog.close();
    return;
  }
  const { row, place } = named;
  $("#detail-title").textContent = withPlace(row.name, place, ": ");
  $("#detail-content").replaceChildren(detail(row, place));
  if (!dialog.open) dialog.showModal();
}

/** The row and the place that the address calls by its key. */
function namedCell() {
  const row = model.rows.find((row) => row.name === state.cell.split("|")[0]);
  const placesByKey = new Map(model.cells.group.map((_, cell) => [placeKey("", placeOf(cell)), placeOf(cell)]));
  const place = row && [...placesByKey.values()].find((place) => contestKey(row, place) === state.cell);
  return place ? { row, place } : null;
}

function detail(row, place) {
  const column = columnOf(row.column);
  const head = [model.ranked[0], column.title, "times worse than the best", "verdict", "trials"];
  const body = make("tbody");
  const stores = ranked(row, place);
  const alone = stores.filter((entry) => entry.standing).length === 1;
  for (const { cell, figure, standing } of stores) {
    const won = standing && standing.standing < 2 && !alone;
    const { succeeded, trials } = model.cells;
    const line = make("tr", { class: won ? "best" : null, colour: storeOf(cell).colour },
      make("th", { scope: "row" }, storeOf(cell).name),
      make("td", { class: "n" }, showFigure(column.unit, figure)),
      make("td", { class: "n" }, standing && standing.times !== null ? timesText(standing) : "–"),
      make("td", {}, standing ? (alone ? "nothing to compare with" : verdict(standing)) : reasonOf(cell) || saturation(cell, row) || absenceText([cell], row)),
      make("td", { class: "n" }, succeeded[cell] === trials[cell] ? String(trials[cell]) : `${succeeded[cell]} of ${trials[cell]}`));
    body.append(line);
  }
  const heads = head.map((text, number) => make("th", { scope: "col", class: [1, 2, 4].includes(number) ? "n" : null }, text));
  const table = make("table", {}, make("thead", {}, make("tr", {}, ...heads)), body);
  const { guarantee } = groupValues(state.group);
  const note = `${guarantee ? `Guarantee: ${guarantee}. ` : ""}Ratios are paired by block, so what slowed a whole block cancels out. Their intervals allow for all ${model.ranked[1]} of the cell at once.`;
  return make("div", {}, make("div", { class: "scroll" }, table), make("p", { class: "note" }, note));
}

function timesText(standing) {
  const { times, blocks } = standing;
  return `${threeDigits(times)}${extentText(standing, threeDigits)}, ${blocks} block${blocks === 1 ? "" : "s"}`;
}

function verdict({ standing, rule }) {
  if (rule === 5) return "a candidate: this run does not show how much trials scatter";
  if (rule === 6) return "not judged: other programs left too few processors";
  const reason = ["by the interval", "by the 5 % threshold", "by what the clock can tell", "", "by how much trials scatter in this run"][rule];
  return standing === 0 ? "the best" : standing === 1 ? `too close to call, ${reason}` : `worse, ${reason}`;
}
