// Puts it all together.

function drawAll() {
  const focused = document.activeElement?.id;
  clearCharts();
  drawFilters();
  drawWhere();
  drawDots();
  drawMatrix();
  drawHeats();
  for (const id of Object.keys(SECTION_CHARTS)) drawSection(id);
  drawTable();
  // What had the focus was made anew; the keyboard goes on from there.
  if (focused && document.activeElement?.id !== focused) document.getElementById(focused)?.focus({ preventScroll: true });
  drawDetail();
}

/** The section that a tab opens. */
const sectionOf = (link) => document.getElementById(link.hash.slice("#go=".length));

/** Shows one section below the answer, as a tab. On paper, and without scripts, all stand one below the other. */
function showTab(id) {
  const links = [...document.querySelectorAll("nav a")];
  const asked = document.getElementById(id)?.closest("main section:not(#answer)");
  const chosen = asked || sectionOf(links[1]);
  for (const link of links) {
    const section = sectionOf(link);
    if (!section || section.id === "answer") continue;
    section.classList.toggle("shown", section === chosen);
    if (section === chosen) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  $("#filters").hidden = !$("#drawn").contains(chosen);
}

/** Tells tabs that have nothing to show from those that have. */
const markEmptyTabs = () =>
  document.querySelectorAll("nav a").forEach((link) => link.classList.toggle("empty", sectionOf(link).classList.contains("bare")));

/** Follows a link within the page: takes its choices, and goes where it points. */
function follow(event) {
  const go = readState();
  everyRow = false;
  showTab(go);
  drawAll();
  markEmptyTabs();
  writeState();
  if (!go) {
    // Back to where nothing was pointed at.
    if (event) scrollTo(0, 0);
    return;
  }
  const section = document.getElementById(go);
  const isTab = section?.classList.contains("shown");
  // Where the filters stay in view, a section begins below them.
  const sticky = getComputedStyle($("#filters")).position === "sticky";
  document.documentElement.style.scrollPaddingTop = sticky ? `${$("#filters").offsetHeight}px` : "0";
  const evidence = go === "winners" ? document.getElementById(`cell:${state.cell}`) || $("#winners tr.marked") : null;
  if (evidence) evidence.scrollIntoView({ block: "center" });
  // With the tabs above it, where it is one.
  else (isTab ? $("nav") : section)?.scrollIntoView();
  if (!$("#detail").open) (evidence || section)?.focus({ preventScroll: true });
}

// ---- Light and dark

const THEMES = ["system", "light", "dark"];

function setTheme(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  $("#theme").textContent = `Theme: ${theme}`;
}

/** A file's page may not be allowed to keep anything. */
function kept(theme) {
  try {
    if (theme) localStorage.setItem("storebench-theme", theme);
    return localStorage.getItem("storebench-theme");
  } catch {
    return null;
  }
}

function startTools() {
  let theme = THEMES.includes(kept()) ? kept() : "system";
  setTheme(theme);
  $("#theme").addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    kept(theme);
    setTheme(theme);
    drawAll();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  $("#print").addEventListener("click", () => print());
  // On paper everything is light, drawn and open.
  let opened = [];
  addEventListener("beforeprint", () => {
    setTheme("light");
    printing = true;
    drawAll();
    drawEveryChart();
    opened = [...document.querySelectorAll("main > section details:not([open])")];
    opened.forEach((details) => (details.open = true));
  });
  addEventListener("afterprint", () => {
    opened.forEach((details) => (details.open = false));
    setTheme(theme);
    printing = false;
    drawAll();
  });
  for (const id of ["theme", "print"]) $(`#${id}`).hidden = false;
}

function startDialog() {
  const dialog = $("#detail");
  $("#detail-close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => {
    const cell = state.cell;
    state.cell = "";
    writeState();
    // Back to where it was opened; the filters may have hidden it.
    if (cell) (document.getElementById(`cell:${cell}`) || $("#winners"))?.focus({ preventScroll: true });
  });
}

async function start() {
  model = await readData();
  index();
  state.group = fullestGroup();
  $("#drawn").hidden = false;
  startTools();
  startDialog();
  addEventListener("hashchange", follow);
  follow();
  document.documentElement.dataset.ready = "yes";
}

// At once, so that nothing is seen that a tab then hides.
$("main").classList.add("tabbed");

/**
 * The page counts as loaded once it is drawn: programs that print it, or make a picture of it, wait for that and no longer. An open
 * document within it is still loading. Gives what ends that.
 */
function holdLoading() {
  const frame = make("iframe", { hidden: true });
  document.body.append(frame);
  frame.contentDocument.open();
  return () => {
    frame.contentDocument.close();
    frame.remove();
  };
}

/** The next paint, if there is one: a page that nobody sees may have none. A busy machine's may take seconds. */
const painted = () => new Promise((done) => {
  requestAnimationFrame(() => setTimeout(done));
  setTimeout(done, document.hidden ? 250 : 5000);
});

const loaded = holdLoading();
// The answer is readable before anything is drawn; charts in view are drawn with the paint after that.
painted().then(start).then(painted).catch((error) => {
  $("main").classList.remove("tabbed");
  $("#problem").hidden = false;
  $("#problem").textContent = `The figures could not be drawn: ${error.message}`;
  throw error;
}).finally(loaded);
