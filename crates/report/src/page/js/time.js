// Over time: operations by seconds and by epochs, and below them what the machine did meanwhile.

/** Charts of what was done; `type` of the axis. */
const DONE = [
  { id: "per_s", title: "operations per second", unit: "per_s", type: "linear" },
  { id: "p99_ns", title: "99th percentile", unit: "ns", type: "logarithmic" },
  { id: "max_ns", title: "longest", unit: "ns", type: "logarithmic" },
];

/** What the machine did, the most telling first. */
const MACHINE = [
  { id: "processors", title: "processors at work, of all", unit: "share" },
  { id: "io_wait", title: "processors that wait for a disk, of all", unit: "share" },
  { id: "device_read", title: "bytes read from the disk a second", unit: "bytes" },
  { id: "device_written", title: "bytes written to the disk a second", unit: "bytes" },
  { id: "memory", title: "memory with the page cache", unit: "bytes" },
];

/** The rest, folded. */
const MORE = [
  { id: "user", title: "processors: programs", unit: "share" },
  { id: "system", title: "processors: kernel", unit: "share" },
  { id: "idle", title: "processors: idle", unit: "share" },
  { id: "reads", title: "reads from the disk a second", unit: "per_s" },
  { id: "writes", title: "writes to the disk a second", unit: "per_s" },
  { id: "queue", title: "requests that waited or were served", unit: "" },
  { id: "busy", title: "the disk at work", unit: "share" },
  { id: "page_cache", title: "page cache", unit: "bytes" },
  { id: "processor_pressure", title: "some process waited for a processor", unit: "share" },
  { id: "memory_pressure", title: "some process waited for memory", unit: "share" },
  { id: "io_pressure", title: "some process waited for the disk", unit: "share" },
];

/** The timelines of the chosen operation and place. */
function shownTimelines(timelines) {
  const place = onePlace();
  return (timelines[state.op] || []).filter((line) => place?.cells.includes(line.cell) && isOn(line.cell) && line.at_s.length > 2);
}

function timelineCharts() {
  const timelines = model.timelines.by_operation;
  // The last second is not whole: two seconds are no line.
  const lines = shownTimelines(timelines);
  if (!lines.length)
    return { why: timelines[state.op]?.length
      ? "No trial of this operation here took longer than two seconds."
      : "Not measured: no operation took longer than a second, or seconds were not recorded. Run more operations to see stalls." };
  return chartsOverTime(lines, { worst: ", worst second", partial: 1, each: "second" });
}

function epochsCharts() {
  const lines = shownTimelines(model.timelines.epochs);
  if (!lines.length) return { why: "No trial of this operation here had three epochs. Run for longer, or with shorter epochs." };
  return chartsOverTime(lines, { worst: "", partial: 0, each: "epoch" });
}

/** All charts of a section over time; `partial` points at the end of a line are of a shorter time than the others. */
function chartsOverTime(lines, style) {
  const chartsOf = (parts) => parts.map((part) => overTime(part, lines, style)).filter(Boolean);
  return { charts: [...chartsOf(DONE), ...chartsOf(MACHINE)], beside: true, more: chartsOf(MORE) };
}

/** One chart over time; nothing where no line has two points. */
function overTime({ id, title, unit, type = "linear" }, lines, { worst, partial, each }) {
  const isDone = DONE.some((part) => part.id === id);
  const until = id === "per_s" && partial ? -partial : undefined;
  const isDrawable = (point) => point.y !== null && (type === "linear" || point.y > 0);
  const drawn = lines.filter((line) => line[id]).map((line) => ({
    store: storeOf(line.cell),
    radius: 1.5,
    points: line.at_s.map((x, i) => ({ x, y: line[id][i] })).filter(isDrawable).slice(0, until),
  })).filter((line) => line.points.length > 1);
  if (!drawn.length) return null;
  const label = title + (id === "p99_ns" ? worst : "");
  return {
    title: isDone ? `${state.op}: ${label}` : label,
    x: { title: "seconds since the operation began (the longest trial)", type: "linear", unit: "", label: (value) => `${value} s` },
    y: { title: unit === "share" ? "share of the time" : label, unit, type },
    lines: drawn,
    tip: (store, point) => `${store}, ${point.x} s: ${show(unit, point.y)}`,
    head: [model.ranked[0], each, label],
    row: (store, point) => [store, String(point.x), show(unit, point.y)],
  };
}
