// Tables whose cells have colours, as pictures: the matrix of winners, and maps of heat.

/** Pixels between cells, around the text of one, from line to line, and from text to the edge. */
const GRID = { gap: 3, padding: 8, leading: 15, edge: 12 };
/** Most pixels of a line that names others in a cell, before it breaks. */
const TIES = 170;
/** How strong the winner's colour is in its cell, as in the page's style. */
const WINNER = 0.2;

/** The matrix of winners of the chosen group. */
function matrixSpec() {
  const { columns, rows } = matrixShape();
  const heads = matrixHeads(columns);
  const line = ({ row, size, first, places }) => ({
    labels: [{ text: row.name, bold: first, dim: !first }, { text: shortText(variedThat("row"), size), dim: true }, ...(first && row.name === "space" ? [{ text: SPACE_UNIT, dim: true, below: true }] : [])],
    cells: places.map((place) => matrixCell(placeInWords(row, place))),
  });
  return {
    title: "Winners",
    section: "winners",
    picture: gridPicture,
    grid: { ...heads, rows: rows.map(line) },
    lines: [],
    legend: `Each cell names the best ${model.ranked[0]}, its figure, and all that are too close to call with it (≈).`,
  };
}

function matrixCell({ name, lines, tie, colour }) {
  if (!name) return { lines: lines.map((text) => ({ text, dim: true })) };
  const ties = tie ? broken(tie, TIES).map((text) => ({ text, dim: true })) : [];
  return { lines: [{ text: name, bold: true }, ...lines.map((text) => ({ text })), ...ties], fill: `var(--c${colour})`, strength: WINNER, edge: true };
}

/** A map of heat by its data. */
function heatSpec(heat) {
  const cell = (cell) => ({
    lines: cell.lines.map((text, number) => ({ text, bold: number === 0 && cell.best, dim: number > 0 || cell.shade === null })),
    ...(cell.shade === null ? {} : shadeOf(cell.shade)),
  });
  return {
    title: heat.title,
    picture: gridPicture,
    grid: { corner: heat.heads[0], halves: [], columns: heat.heads.slice(1), rows: heat.rows.map((row) => ({ labels: [{ text: row.name }], cells: row.cells.map(cell) })) },
    lines: [],
    legend: heat.legend,
    about: () => {
      const trials = model.cells.succeeded.filter((count) => count > 0);
      const engines = model.stores.filter((store) => store.version && store.name === heat.store).map((store) => `${store.name} ${store.version}`);
      return { hardware: heat.hardware, fewest: Math.min(...trials), most: Math.max(...trials), engines };
    },
  };
}

/** A shade's colour and how strong it is, which the page's style says. */
function shadeOf(shade) {
  const [, fill, percent] = styleText().match(new RegExp(`\\.heat \\.h${shade}\\{background:color-mix\\(in srgb,(var\\(--c\\d+\\)) (\\d+)%`));
  return { fill, strength: Number(percent) / 100 };
}

const lineWidth = (line) => textWidth(line.text) * (line.bold ? BOLD : 1);
const widest = (lines) => Math.max(0, ...lines.map(lineWidth));

/** The picture of a table: as wide as its text. */
function gridPicture({ grid, title }) {
  const beside = (labels) => labels.filter((label) => !label.below);
  const below = grid.rows.flatMap(({ labels }) => labels.filter((label) => label.below));
  // Labels of one kind stand below each other.
  const ofLabels = beside(grid.rows[0]?.labels ?? []).map((_, kind) => widest(grid.rows.map(({ labels }) => beside(labels)[kind])) + GRID.padding);
  const labelWidth = Math.max(textWidth(grid.corner), widest(below), ofLabels.reduce((sum, width) => sum + width, 0));
  const widths = grid.columns.map((text, number) => Math.max(textWidth(text), ...grid.rows.map((row) => widest(row.cells[number].lines))) + 2 * GRID.padding);
  const left = GRID.edge + labelWidth + GRID.padding;
  const starts = widths.map((_, number) => left + widths.slice(0, number).reduce((sum, width) => sum + width + GRID.gap, 0));
  const width = Math.ceil(starts.at(-1) + widths.at(-1) + GRID.edge);
  const svg = draw("svg", { role: "img", "aria-label": title });
  let top = 4;
  if (grid.halves.length) {
    let number = 0;
    for (const half of grid.halves) {
      svg.append(draw("text", { class: "heading", x: starts[number], y: top + GRID.leading }, half.text));
      number += half.columns;
    }
    top += GRID.leading + 6;
  }
  svg.append(draw("text", { class: "title", x: GRID.edge, y: top + GRID.leading }, grid.corner));
  grid.columns.forEach((text, number) => svg.append(draw("text", { class: "title", x: starts[number] + widths[number] / 2, y: top + GRID.leading, "text-anchor": "middle" }, text)));
  top += GRID.leading + 8;
  for (const row of grid.rows) top = gridRow(svg, row, { top, starts, widths, ofLabels, beside });
  svg.setAttribute("viewBox", `0 0 ${width} ${Math.ceil(top + 4)}`);
  return svg;
}

/** Draws one row; gives where the next begins. */
function gridRow(svg, { labels, cells }, { top, starts, widths, ofLabels, beside }) {
  const lines = Math.max(1 + labels.filter((label) => label.below).length, ...cells.map((cell) => cell.lines.length));
  const height = lines * GRID.leading + GRID.padding;
  const textAt = (line, x, y) => draw("text", { class: line.bold ? "best" : line.dim ? "title" : null, x, y }, line.text);
  let x = GRID.edge;
  beside(labels).forEach((label, kind) => {
    svg.append(textAt(label, x, top + GRID.leading));
    x += ofLabels[kind];
  });
  labels.filter((label) => label.below).forEach((label) => svg.append(textAt(label, GRID.edge, top + 2 * GRID.leading)));
  cells.forEach((cell, number) => {
    const at = { x: starts[number], y: top, height };
    if (cell.fill) svg.append(draw("rect", { ...at, width: widths[number], rx: 3, style: `fill:${cell.fill};fill-opacity:${cell.strength}` }));
    if (cell.edge) svg.append(draw("rect", { ...at, width: 4, style: `fill:${cell.fill}` }));
    cell.lines.forEach((line, i) => svg.append(textAt(line, starts[number] + GRID.padding, top + GRID.leading + i * GRID.leading)));
  });
  return top + height + GRID.gap;
}
