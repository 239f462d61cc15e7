// The matrix of winners, and what each of its cells holds.

function drawMatrix() {
  const columns = combinations(model.axes.filter((axis) => axis.makes !== "row"));
  const sizes = combinations(axesThat("row"));
  const body = make("tbody");
  for (const row of rowsHere()) {
    sizes.forEach((size, number) => {
      const marked = state.mark === contestKey(row, size);
      const line = make("tr", { class: [number === 0 && "first", marked && "marked"].filter(Boolean).join(" "), tabindex: marked ? "-1" : null });
      line.append(make("th", { scope: "row" }, rowTitle(row, number === 0), " ", make("span", { class: "size" }, shortText(axesThat("row"), size))));
      for (const column of columns) line.append(make("td", {}, matrixPlace(row, { ...column, ...size })));
      body.append(line);
    });
  }
  const table = make("table", { class: "matrix" }, matrixHead(columns), body);
  const dangers = model.groups[state.group].dangers.map((line) => make("p", { class: "alert soft" }, line));
  $("#winners .content").replaceChildren(make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Matrix of winners" }, table), ...dangers);
}

function rowTitle(row, first) {
  const column = columnOf(row.column);
  const better = column?.better === "higher" ? "more is better" : "less is better";
  const unit = first && row.name === "space" ? make("small", {}, "bytes on disk per byte of values ") : "";
  return make("span", { class: first ? "op" : "op again", title: `${column?.title}: ${better}` }, row.name, " ", unit);
}

function matrixHead(columns) {
  const [halves, heads] = [axesThat("half"), axesThat("column")];
  const kinds = make("tr", {}, make("td"));
  const counts = make("tr", {}, make("th", { scope: "col" }, [axesThat("row"), heads].map(namesOf).filter(Boolean).join(" by ")));
  const halfOf = (column) => placeText(Object.fromEntries(halves.map((axis) => [axis.id, column[axis.id]])));
  let kind = null;
  for (const column of columns) {
    const half = halfOf(column);
    if (half !== kind) kinds.append(make("th", { scope: "colgroup", colspan: columns.filter((other) => halfOf(other) === half).length }, half));
    kind = half;
    counts.append(make("th", { scope: "col" }, shortText(heads, column)));
  }
  return halves.length ? make("thead", {}, kinds, counts) : make("thead", {}, counts);
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
  const all = cells.filter((cell) => !storeOf(cell).harness).map((cell) => {
    const figure = figureOf(cell, row.column, row.name);
    return { cell, figure, standing: standingOf(cell, row.name) };
  });
  const order = (one) => (one.standing ? (one.standing.standing === 0 ? 0 : 1) : 2);
  return all.sort((a, b) => order(a) - order(b) || better * ((a.figure?.mean ?? 0) - (b.figure?.mean ?? 0)));
}

function matrixPlace(row, place) {
  const all = ranked(row, place);
  const id = `cell:${contestKey(row, place)}`;
  const open = () => change({ cell: contestKey(row, place) });
  const where = withPlace(row.name, place);
  const [best] = all;
  if (!best?.standing) {
    const idle = notThere(all.map((one) => one.cell), row);
    // What others were left out for matters less where the work has no such operation.
    const tells = (why) => why && (why !== "left out" || idle !== "not applicable");
    const missing = all.find((one) => tells(model.cells.why[one.cell])) || all.find((one) => saturation(one.cell, row));
    const why = !missing ? idle : model.cells.why[missing.cell] || "saturated";
    const reason = missing ? whyNot(missing.cell) || saturation(missing.cell, row) : why;
    return make("button", { type: "button", class: "win none", id, onclick: open, title: reason, "aria-label": `${where}: ${reason}` }, why);
  }
  const column = columnOf(row.column);
  const figure = show(column.unit, best.figure.mean);
  // One store alone wins nothing.
  if (all.filter((one) => one.standing).length === 1) {
    const { name } = storeOf(best.cell);
    return make("button", { type: "button", class: "win none", id, onclick: open, "aria-label": `${where}: only ${name}, ${figure}` }, `only ${name}`, make("br"), figure);
  }
  const ties = all.slice(1).filter((one) => one.standing?.standing === 1).map((one) => storeOf(one.cell).name);
  const store = storeOf(best.cell);
  const label = `${where}: ${store.name}, ${figure}${ties.length ? `, too close to call with ${ties.join(", ")}` : ""}`;
  return make("button", { type: "button", class: "win", id, colour: store.colour, onclick: open, "aria-label": label },
    make("b", {}, store.name), figure, ties.length ? make("span", { class: "tie" }, `≈ ${ties.join(", ")}`) : null);
}

/** Why a cell has no figure, or has no place in the ranking, with the reason where one is known; else empty. */
function whyNot(cell) {
  const why = model.cells.why[cell];
  const reason = model.reasons[model.cells.reason[cell]];
  return reason ? `${why}: ${reason}` : why;
}

/** Why cells that lack nothing else have no figure: what did its work has done all of it. */
function notThere(cells, row) {
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
  const all = new Map(model.cells.group.map((_, cell) => [placeKey("", placeOf(cell)), placeOf(cell)]));
  const place = row && [...all.values()].find((place) => contestKey(row, place) === state.cell);
  return place ? { row, place } : null;
}

function detail(row, place) {
  const column = columnOf(row.column);
  const head = [model.ranked[0], `${column.title} ${reachTitle()}`, "times worse than the best", "verdict", "trials"];
  const body = make("tbody");
  const all = ranked(row, place);
  const alone = all.filter((one) => one.standing).length === 1;
  for (const { cell, figure, standing } of all) {
    const won = standing && standing.standing < 2 && !alone;
    const { succeeded, trials } = model.cells;
    const line = make("tr", { class: won ? "best" : null, colour: storeOf(cell).colour },
      make("th", { scope: "row" }, storeOf(cell).name),
      make("td", { class: "n" }, showFigure(column.unit, figure)),
      make("td", { class: "n" }, standing && standing.times !== null ? timesText(standing) : "–"),
      make("td", {}, standing ? (alone ? "nothing to compare with" : verdict(standing)) : whyNot(cell) || saturation(cell, row) || notThere([cell], row)),
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
  if (rule === 3) return "open: better where both ran, but measured too seldom to be ranked";
  if (rule === 5) return "a candidate: nothing in this run tells how far trials lie apart";
  if (rule === 6) return "a candidate: other programs left too few processors";
  const by = ["by the interval", "by the 5 % threshold", "by what the clock can tell", "", "by how far trials lie apart in this run"][rule];
  return standing === 0 ? "the best" : standing === 1 ? `too close to call, ${by}` : `worse, ${by}`;
}
