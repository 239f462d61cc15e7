// A chart in the page: drawn when it comes into view, with the figures of the point under the pointer, and the same figures as a
// table for those who can't see it.

/** The charts that are in the page, by their elements. */
const charts = new Map();
/** While printing, charts have a width of their own, which paper scales: its boxes are not known before. */
let printing = false;
const PAPER = { wide: 760, narrow: 400 };
/** How near to a point the pointer must be, in pixels. */
const NEAR = 40;

/** Puts a chart into an element. It is drawn when it comes into view. */
function chartIn(parent, spec) {
  const box = make("div", { class: "chart" });
  const tip = make("div", { class: "tip", hidden: true });
  const figure = make("figure", {}, make("figcaption", {}, spec.title), make("div", { class: "frame" }, box, tip), make("div", { class: "under" }, spec.row ? tableOf(spec) : null, saveButtons(spec)));
  parent.append(figure);
  box.draw = () => {
    if (charts.has(box)) return;
    charts.set(box, spec);
    drawIn(box, spec);
    followPointer(box, spec, tip);
  };
  watcher.observe(box);
}

const watcher = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) if (isIntersecting) target.draw();
}, { rootMargin: "300px" });

const drawEveryChart = () => document.querySelectorAll("main .chart").forEach((box) => box.draw());

/** Forgets all charts. */
function clearCharts() {
  watcher.disconnect();
  charts.clear();
}

/** A chart has as many pixels as its box, so that its text is as large as the page's: another width is another picture. */
let widthBefore = innerWidth;
addEventListener("resize", () => {
  if (printing || Math.abs(innerWidth - widthBefore) < 24) return;
  widthBefore = innerWidth;
  for (const [box, spec] of charts) drawIn(box, spec);
});

function drawIn(box, spec) {
  const narrow = Boolean(box.closest(".multiples"));
  const width = Math.max(280, printing ? PAPER[narrow ? "narrow" : "wide"] : box.clientWidth);
  box.replaceChildren(picture(spec, width));
}

/** Shows the figures of the point that the pointer is nearest to, and dims the other lines; a name does so too. */
function followPointer(box, spec, tip) {
  const show = (number, text, [left, top] = []) => {
    const svg = $("svg", box);
    svg.classList.toggle("dimming", number !== null);
    [...svg.querySelectorAll(".series")].forEach((series, i) => series.classList.toggle("on", i === number));
    svg.querySelectorAll(".name").forEach((name) => name.classList.toggle("on", Number(name.dataset.line) === number));
    tip.hidden = !text;
    tip.textContent = text || "";
    if (text) tip.style.left = `${Math.max(0, Math.min(left + 12, box.clientWidth - tip.offsetWidth))}px`;
    if (text) tip.style.top = `${top < 44 ? top + 18 : top - 34}px`;
  };
  box.addEventListener("pointermove", (event) => {
    const name = event.target.closest?.(".name");
    if (name) return show(Number(name.dataset.line), "");
    const near = nearest(box, spec, event);
    return near ? show(near.number, spec.tip(nameOf(near.line), near.point), near.at) : show(null, "");
  });
  box.addEventListener("pointerleave", () => show(null, ""));
}

/** The point nearest to the pointer, if one is near. */
function nearest(box, spec, event) {
  const bounds = box.getBoundingClientRect();
  const pointer = [event.clientX - bounds.left, event.clientY - bounds.top];
  let best = null;
  [...box.querySelectorAll(".series")].forEach((series, number) => {
    [...series.querySelectorAll(".mark")].forEach((mark, i) => {
      const place = mark.getBoundingClientRect();
      const [px, py] = [place.x + place.width / 2 - bounds.left, place.y + place.height / 2 - bounds.top];
      const distance = Math.hypot(px - pointer[0], py - pointer[1]);
      if (distance < (best?.distance ?? NEAR)) best = { distance, number, line: spec.lines[number], point: spec.lines[number].points[i], at: [px, py] };
    });
  });
  return best;
}

function tableOf(spec) {
  const details = make("details", {}, make("summary", {}, "as a table"));
  details.addEventListener("toggle", () => {
    if (!details.open || $("table", details)) return;
    const body = make("tbody");
    for (const line of spec.lines)
      for (const point of line.points) body.append(make("tr", {}, ...spec.row(nameOf(line), point).map((text) => make("td", {}, text))));
    const head = make("thead", {}, make("tr", {}, ...spec.head.map((text) => make("th", { scope: "col" }, text))));
    details.append(make("div", { class: "scroll" }, make("table", {}, head, body)));
  });
  return details;
}

// ---- Sections

/** A section that has nothing to draw is one line that says why. */
function showNote(id, text) {
  emptyContent(id).append(make("p", { class: "note" }, text));
  $(`#${id}`).classList.add("bare");
}

function emptyContent(id) {
  $(`#${id}`).classList.remove("bare");
  const content = $(`#${id} .content`);
  content.replaceChildren();
  return content;
}

/** Puts into a section what there is to draw. Not every section is in every page. */
function drawSection(id) {
  if (!$(`#${id}`)) return;
  if (id === "curves") drawCurveChoosers();
  const { why, charts, beside, many, more = [], notes = [], table } = sectionCharts(id);
  if (why) return showNote(id, why);
  const content = emptyContent(id);
  const grid = (charts) => {
    const element = make("div", { class: beside ? (many ? "multiples many" : "multiples") : null });
    for (const chart of charts) chartIn(element, chart);
    return element;
  };
  content.append(grid(charts), ...(table ? [table()] : []), ...notes.map((note) => make("p", { class: "note" }, note)));
  if (more.length) content.append(make("details", {}, make("summary", {}, "more of what the machine did meanwhile"), grid(more)));
}

function drawCurveChoosers() {
  const axes = acrossAxes();
  const x = curveAxis(axes);
  const choices = model.columns.filter(isMeasured).map((column) => [column.id, column.operation ? `${state.op}: ${column.title}` : column.title]);
  $("#curves .choices").replaceChildren(...(x ? [
    chooser("figure", "figure", choices, state.figure, (figure) => change({ figure })),
    chooser("x", "across", axes.map((axis) => [axis.id, axis.one]), x.id, (x) => change({ x })),
  ] : []));
}

/** Draws what settings are worth where the page has room for it. */
function drawDots() {
  for (const place of document.querySelectorAll(".dots")) {
    const data = model.dots[Number(place.dataset.dots)];
    place.replaceChildren();
    if (data.groups.length) chartIn(place, dotsSpec(data));
  }
}

/** Maps of heat are tables of the page's text, in the order of the data: what is drawn is the means to save them. */
function drawHeats() {
  document.querySelectorAll(".heats figure").forEach((figure, number) => {
    if (!$(".save", figure)) figure.append(make("div", { class: "under" }, saveButtons(heatSpec(model.heats[number]))));
  });
}
