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
  for (const { id, name, values } of model.axes.filter(hasValues)) {
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
    const isShown = !state.off.has(store.name);
    const toggle = () => {
      const off = new Set(state.off);
      if (isShown) off.add(store.name);
      else off.delete(store.name);
      change({ off });
    };
    const properties = { type: "button", class: "chip", id: `store-${number}`, "aria-pressed": String(isShown), colour: store.colour, onclick: toggle };
    const name = store.harness ? `${store.name} (harness)` : store.name;
    field.append(make("button", properties, make("span", { class: "dot" }), name));
  });
  return field;
}

/** Says above each section what it shows. Not every section is in every page. */
function drawWhere() {
  for (const id of ["winners", "table", ...Object.keys(SECTION_CHARTS)]) if ($(`#${id}`)) $(`#${id} .where`).textContent = whereText(id);
}
