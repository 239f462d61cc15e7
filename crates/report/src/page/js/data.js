// The page's data, and how figures are written.

const $ = (selector, within) => (within || document).querySelector(selector);

/** Makes an element; text is always put in as text. */
function make(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "colour") element.style.setProperty("--c", `var(--c${value})`);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Reads what the page carries: base64 of deflated JSON. */
async function readData() {
  const text = atob($("#data").textContent);
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

let model;
/** The numbers of the cells of a place, by group and place. A place has the number of a value for each axis within a matrix. */
const places = new Map();

const placeKey = (group, place) => `${group} ${model.axes.map((axis) => place[axis.id]).join(" ")}`;
const placeOf = (cell) => Object.fromEntries(model.axes.map((axis) => [axis.id, model.cells.at[axis.id][cell]]));
const cellsAt = (group, place) => places.get(placeKey(group, place)) || [];

function index() {
  const { group } = model.cells;
  for (let cell = 0; cell < group.length; cell++) {
    const key = placeKey(group[cell], placeOf(cell));
    if (!places.has(key)) places.set(key, []);
    places.get(key).push(cell);
  }
}

const columnOf = (id) => model.columns.find((column) => column.id === id);

/** A figure of a cell, with its interval where there is one; null where there is no figure. */
const figureOf = (cell, id, operation) => figureIn(columnOf(id)?.operation ? model.operation[operation]?.[id] : model.trial[id], cell);

/** The same of all cells' figures. */
function figureIn(figures, cell) {
  const mean = figures?.mean[cell];
  if (mean === null || mean === undefined) return null;
  const spread = figures.spread[cell];
  if (spread === null) return { mean, low: null, high: null };
  // Of two trials it is their range.
  const range = model.cells.succeeded[cell] < model.fewest_trials || (figures.fewer || []).includes(cell);
  // Nothing that is counted can be below zero, whatever an interval's arithmetic says.
  if (spread < 0) return { mean, low: mean >= 0 ? Math.max(0, mean + spread) : mean + spread, high: mean - spread, range };
  return { mean, ...around(mean, spread), range };
}

/** The ends of an interval that the data carry as a factor to either side. */
const around = (value, spread) => ({ low: value / (1 + spread), high: value * (1 + spread) });

/** How many times longer operations take in one cell than in another, with its interval; null where that is not known. */
function priceOf(cell, beside, operation) {
  const { prices } = model;
  pairs ||= new Map(prices.cell.map((pairCell, number) => [`${pairCell} ${prices.beside[number]}`, number]));
  const ratios = prices.of[operation];
  const number = pairs.get(`${cell} ${beside}`);
  const times = number === undefined ? null : ratios?.times[number] ?? null;
  if (times === null) return null;
  const spread = ratios.spread[number];
  return { times, range: ratios.blocks[number] < model.fewest_trials, ...(spread === null ? { low: null, high: null } : around(times, spread)) };
}
let pairs;

/** How a cell's store stands in a row of the matrix; null where it has no figure. */
function standingOf(cell, row) {
  const contests = model.contests[row];
  const standing = contests?.standing[cell];
  if (standing === null || standing === undefined) return null;
  const times = contests.times[cell];
  const spread = contests.spread[cell];
  return {
    standing,
    times,
    ...(times === null || spread === null ? { low: null, high: null } : around(times, spread)),
    range: contests.blocks[cell] < model.fewest_trials,
    blocks: contests.blocks[cell],
    rule: contests.rule[cell],
  };
}

// ---- Figures for people: three digits, as in the terminal.

/** A whole number with thousands separated. */
const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");

function threeDigits(value) {
  const size = Math.abs(value);
  const magnitude = size === 0 ? 0 : Math.floor(Math.log10(size));
  if (magnitude >= 3) return grouped(Math.round(value));
  return value.toFixed(Math.min(9, Math.max(0, 2 - magnitude)));
}

const TIMES = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 0]];
const SIZES = [["TiB", 2 ** 40], ["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10], ["B", 0]];

function scaled(value, units) {
  const [name, factor] = units.find(([, factor]) => Math.abs(value) >= factor);
  return `${threeDigits(value / (factor || 1))} ${name}`;
}

/** Whole below 1 KiB. */
const bytes = (value) => (Math.abs(value) < 1024 ? `${Math.round(value)} B` : scaled(value, SIZES));

function show(unit, value) {
  if (value === null || value === undefined) return "–";
  switch (unit) {
    case "ns": return scaled(value, TIMES);
    case "bytes": return bytes(value);
    case "bytes_per_s": return `${bytes(value)}/s`;
    case "per_s": return `${threeDigits(value)}/s`;
    case "share": return `${threeDigits(value * 100)} %`;
    default: return Number.isInteger(value) && Math.abs(value) < 1000 ? String(value) : threeDigits(value);
  }
}

/** An interval that reaches further than this many times tells nothing. */
const WIDEST = 1e6;

/** How far a figure reaches, to be put after it: its interval, or the range of too few for one. */
function extentText({ low, high, range }, write) {
  if (low === null || low === undefined) return "";
  if (range) return low === high ? "" : ` (${write(low)}..${write(high)})`;
  return low >= 0 && high > WIDEST * low ? " [too wide to say]" : ` [${write(low)}, ${write(high)}]`;
}

/** A figure with its interval. */
function showFigure(unit, figure) {
  if (!figure) return "–";
  const write = (value) => show(unit, value);
  return write(figure.mean) + (figure.low === figure.high ? "" : extentText(figure, write));
}
