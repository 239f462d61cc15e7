"use strict";
// The search of the first page: words and filters choose rows, which are drawn a screenful at a time.

const $ = (id) => document.getElementById(id);
const FILTERS = ["store", "version", "guarantee", "disk", "machine"];
/** The place of each filter's word in a row. */
const PLACE = { store: 0, version: 2, guarantee: 3, disk: 4, machine: 5 };
/** Rows that are drawn before the rest is asked for. */
const SHOWN = 200;

let data;
let showsAll = false;

async function unpack() {
  const packed = Uint8Array.from(atob($("data").textContent), (character) => character.charCodeAt(0));
  const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(plain).json();
}

/** An element with its text, which is never read as HTML, and what else stands in it. */
function make(name, text = "", ...parts) {
  const element = document.createElement(name);
  element.append(text, ...parts);
  return element;
}

function link(address, ...parts) {
  const element = make("a", ...parts);
  element.href = address;
  return element;
}

const runPage = (run) => `runs/${data.runs[run][0]}.html`;

/** A cell of what the program itself has written as HTML. */
function written(number) {
  const cell = make("td");
  cell.innerHTML = data.html[number];
  return cell;
}

function draw([values, speeds]) {
  const { words } = data;
  const [store, page, version, guarantee, , machine, settings, where, evidence, recovery, opened, run] = values;
  const line = make("tr");
  const head = make("th", link(`stores/${words[page]}.html`, words[store]), make("small", ` ${words[version]} ${words[settings]}`));
  head.scope = "row";
  const figures = make("td");
  figures.className = "speeds";
  for (const [figure, range, once] of speeds) {
    const parts = [make("span", words[figure]), ` ${words[range]}`];
    if (once) parts.push(make("sup", "1"));
    figures.append(link(runPage(run), ...parts), " ");
  }
  if (!speeds.length) figures.append(words[data.none]);
  if (speeds.some(([, , once]) => once)) figures.append(make("small", words[data.once]));
  const opens = make("td", words[recovery] ? link(runPage(opened), words[recovery]) : "");
  const [, study, day] = data.runs[run];
  line.append(head, make("td", words[guarantee]), written(evidence), opens, figures, make("td", words[machine]), written(where));
  const runLink = link(runPage(run), `${study} ${day}`);
  runLink.className = "run";
  line.append(make("td", runLink));
  return line;
}

/** What a search looks at in a row. */
function textOf([values, speeds]) {
  const run = data.runs[values[11]];
  const words = [0, 2, 3, 4, 5, 6].map((place) => data.words[values[place]]);
  return [...words, data.html[values[7]], ...run, ...speeds.map(([figure]) => data.words[figure])].join(" ").toLowerCase();
}

const chosen = () => FILTERS.map((id) => [PLACE[id], $(id).value]).filter(([, value]) => value !== "");

function show() {
  const wanted = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const filters = chosen();
  const fits = (row, index) =>
    filters.every(([place, value]) => data.words[row[0][place]] === value) && wanted.every((word) => data.texts[index].includes(word));
  const matches = data.rows.filter(fits);
  const drawn = showsAll ? matches : matches.slice(0, SHOWN);
  $("rows").tBodies[0].replaceChildren(...drawn.map(draw));
  $("rows").hidden = !matches.length;
  $("more").hidden = drawn.length === matches.length;
  $("more").textContent = `Show all ${matches.length.toLocaleString("en")}`;
  const some = drawn.length < matches.length ? `, of which the first ${SHOWN} are shown` : "";
  const count = `${matches.length.toLocaleString("en")} of ${data.rows.length.toLocaleString("en")} rows${some}`;
  $("count").textContent = matches.length ? `${count}.` : `${count}: none has all of this. Reset the filters, or search for fewer words.`;
}

/** The address has the search, so that it can be sent and returned to. */
function note() {
  const values = [["q", $("search").value], ...FILTERS.map((id) => [id, $(id).value])].filter(([, value]) => value !== "");
  const text = new URLSearchParams(values).toString();
  history.replaceState(null, "", text ? `#${text}` : location.pathname);
}

function changed() {
  showsAll = false;
  note();
  show();
}

/** Lists the values of a filter that there are. */
function fill(id) {
  const numbers = new Set(data.rows.map(([values]) => values[PLACE[id]]));
  const words = [...numbers].map((number) => data.words[number]).sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  $(id).replaceChildren(new Option("all", ""), ...words.map((word) => new Option(word, word)));
}

function read() {
  const values = new URLSearchParams(location.hash.slice(1));
  $("search").value = values.get("q") ?? "";
  for (const id of FILTERS) {
    const value = values.get(id) ?? "";
    $(id).value = [...$(id).options].some((option) => option.value === value) ? value : "";
  }
}

function onKey(event) {
  const search = $("search");
  if (event.key === "/" && !["INPUT", "SELECT"].includes(document.activeElement.tagName)) {
    event.preventDefault();
    search.focus();
  } else if (event.key === "Escape" && document.activeElement === search) {
    search.value = "";
    changed();
  }
}

async function start() {
  data = await unpack();
  data.texts = data.rows.map(textOf);
  FILTERS.forEach(fill);
  read();
  $("filters").hidden = false;
  for (const kind of ["input", "change"]) $("filters").addEventListener(kind, changed);
  $("filters").addEventListener("reset", () => setTimeout(changed));
  $("filters").addEventListener("submit", (event) => {
    // Enter goes on to what was found.
    event.preventDefault();
    document.querySelector("#rows tbody a")?.focus();
  });
  $("more").addEventListener("click", () => {
    showsAll = true;
    show();
  });
  addEventListener("keydown", onKey);
  addEventListener("hashchange", () => {
    // A link to a part of the page is no search.
    if (location.hash && !location.hash.includes("=")) return;
    read();
    show();
  });
  show();
  document.documentElement.dataset.ready = "yes";
}

start();
