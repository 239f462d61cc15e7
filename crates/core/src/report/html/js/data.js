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
/** The numbers of the cells of a place, by group, data, size and records. */
const places = new Map();

const placeKey = (group, data, size, records) => `${group} ${data} ${size} ${records}`;

function index() {
  const { group, data, size, records } = model.cells;
  for (let cell = 0; cell < group.length; cell++) {
    const key = placeKey(group[cell], data[cell], size[cell], records[cell]);
    if (!places.has(key)) places.set(key, []);
    places.get(key).push(cell);
  }
}

const columnOf = (id) => model.columns.find((column) => column.id === id);

/** A figure of a cell, with its interval where there is one; null where there is no figure. */
function figureOf(cell, id, operation) {
  const all = columnOf(id)?.operation ? model.operation[operation]?.[id] : model.trial[id];
  const mean = all?.mean[cell];
  if (mean === null || mean === undefined) return null;
  const spread = all.spread[cell];
  if (spread === null) return { mean, low: null, high: null };
  // Nothing that is counted can be below zero, whatever an interval's arithmetic says.
  if (spread < 0) return { mean, low: mean >= 0 ? Math.max(0, mean + spread) : mean + spread, high: mean - spread };
  return { mean, low: mean / (1 + spread), high: mean * (1 + spread) };
}

/** How a cell's store stands in a row of the matrix; null where it has no figure. */
function standingOf(cell, row) {
  const all = model.contests[row];
  const standing = all?.standing[cell];
  if (standing === null || standing === undefined) return null;
  const times = all.times[cell];
  const spread = all.spread[cell];
  return {
    standing,
    times,
    low: times === null || spread === null ? null : times / (1 + spread),
    high: times === null || spread === null ? null : times * (1 + spread),
    blocks: all.blocks[cell],
    rule: all.rule[cell],
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

/** A figure with its interval. */
function showFigure(unit, figure) {
  if (!figure) return "–";
  if (figure.low === null || figure.low === figure.high) return show(unit, figure.mean);
  return `${show(unit, figure.mean)} [${show(unit, figure.low)}, ${show(unit, figure.high)}]`;
}
