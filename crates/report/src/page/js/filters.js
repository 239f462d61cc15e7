// The filters, and what else can be chosen.

/** A labelled list to choose from; `values` are [value, text]. */
function chooser(id, label, values, chosen, changed) {
  const select = make("select", { id: `choose-${id}`, onchange: (event) => changed(event.target.value) });
  for (const [value, text] of values) select.append(make("option", { value, selected: String(value) === String(chosen) }, text));
  return make("label", {}, label, select);
}

function change(changes) {
  Object.assign(state, changes);
  if (!operationsHere().includes(state.op)) Object.assign(state, { op: operationAtFirst(), opChosen: false });
  // Sorting leaves all rows open that were.
  if (!("sort" in changes)) everyRow = false;
  writeState();
  drawAll();
}

function drawFilters() {
  const form = $("#filters");
  const parts = [];
  model.group_axes.forEach((axis, position) => {
    if (axis.values.length < 2) return;
    const chosen = axis.values[model.groups[state.group].at[position]];
    const pick = (value) => change({ group: bestGroup({ ...groupValues(state.group), [axis.id]: value }, axis.id), cell: "" });
    parts.push(chooser(axis.id, axis.id.replaceAll("_", " "), axis.values.map((value) => [value, value]), chosen, pick));
  });
  for (const { id, name, values } of model.axes.filter(isHere)) {
    if (values.length < 2) continue;
    const options = [[-1, "all"], ...values.map((value, number) => [number, value.words])];
    parts.push(chooser(id, name, options, state[id], (value) => change({ [id]: Number(value), cell: "" })));
  }
  if (operationsHere().length > 1)
    parts.push(chooser("op", "operation", operationsHere().map((name) => [name, name]), state.op, (op) => change({ op, opChosen: true })));
  parts.push(storeChips());
  form.replaceChildren(...parts);
}

function storeChips() {
  const field = make("fieldset", {}, make("legend", {}, `${model.ranked[1]} in charts and table`));
  model.stores.forEach((store, number) => {
    const on = !state.off.has(store.name);
    const toggle = () => {
      const off = new Set(state.off);
      if (on) off.add(store.name);
      else off.delete(store.name);
      change({ off });
    };
    const properties = { type: "button", class: "chip", id: `store-${number}`, "aria-pressed": String(on), colour: store.colour, onclick: toggle };
    const name = store.harness ? `${store.name} (harness)` : store.name;
    field.append(make("button", properties, make("span", { class: "dot" }), name));
  });
  return field;
}

/** Says above each section what it shows. */
function drawWhere() {
  const values = groupValues(state.group);
  const facets = model.group_axes.filter((axis) => axis.values.length > 1 && axis.id !== "guarantee");
  const guarantee = values.guarantee ? [`Guarantee: ${values.guarantee}`] : [];
  const partsWithout = (id) => [...guarantee, ...facets.filter((axis) => axis.id !== id && values[axis.id]).map((axis) => `${axis.id}: ${values[axis.id]}`)];
  const parts = partsWithout("");
  for (const id of ["winners", "curves", "table", "outgrown", "epochs", "latency", "timeline", "rounds", "space", "safety", "memory", "writes", "load"]) {
    // Not every section is in every page.
    if (!$(`#${id}`)) continue;
    const one = ["epochs", "latency", "timeline", "rounds", "space", "safety", "memory", "writes", "load"].includes(id);
    const place = one ? onePlace() : null;
    // Servers stand beside libraries where each is compared with itself.
    const across = id === "curves" ? curveAxis(acrossAxes())?.id : id === "outgrown" ? "method" : "";
    const what = id === "safety" ? parts.slice(guarantee.length) : partsWithout(id === "load" ? "background" : across);
    if (["outgrown", "epochs", "latency", "timeline", "space", "safety", "load"].includes(id)) what.push(`operation: ${id === "safety" ? safetyOperation() : state.op}`);
    if (place && placeText(place)) what.push(placeText(place));
    $(`#${id} .where`).textContent = what.join(" · ");
  }
}
