// Scales: where a value stands on an axis, and which values are marked there.

/** Ticks that an axis has at least. */
const FEWEST = 3;

/** Round values between two others, for a log axis; evenly spaced where decades have too few of them. */
function roundValues(min, max, unit) {
  const values = decadeValues(min, max, unit);
  if (values.length >= FEWEST || !(max > min)) return values;
  return evenValues(min, max, unit, FEWEST);
}

/** Values at even distances, at least so many, each round in the unit that it is shown in: 5 MiB is round, 5,000,000 bytes are not. */
function evenValues(min, max, unit, fewest) {
  const scale = unit?.startsWith("bytes") ? 1024 ** Math.max(0, Math.floor(Math.log2(Math.max(min, max / 2)) / 10)) : 1;
  const rough = (max - min) / scale / (fewest + 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * scale * ([5, 2, 1].find((digit) => digit * power <= rough) || 1);
  const even = [];
  for (let number = Math.ceil(min / step); number * step <= max; number++) even.push(Number((number * step).toPrecision(9)));
  return even;
}

/** In each decade as many values as there is room for; powers of 2 for bytes. */
function decadeValues(min, max, unit) {
  const values = [];
  if (unit?.startsWith("bytes")) {
    const step = Math.max(1, Math.round(Math.log2(max / min) / 7));
    for (let power = Math.ceil(Math.log2(min)); 2 ** power <= max; power++) if (power % step === 0) values.push(2 ** power);
    return values;
  }
  const decades = Math.log10(max / min);
  const digits = decades < 0.7 ? [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9] : decades < 1.5 ? [1, 2, 3, 5, 7] : decades < 3.5 ? [1, 2, 5] : [1];
  for (let power = Math.floor(Math.log10(min)); 10 ** power <= max; power++)
    for (const digit of digits) values.push(Number((digit * 10 ** power).toPrecision(2)));
  return values.filter((value) => value >= min && value <= max);
}

/** A round value without the zeros that a measured one has. */
const showRound = (unit, value) => show(unit, value).replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");

/**
 * How wide the characters from the space to the tilde are, in hundredths of their size, in a wide face (DejaVu Sans): a chart looks the
 * same wherever it is drawn, and has room for its text in any other face.
 */
const WIDTHS = [
  32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 34, 34, 84, 84, 84, 53,
  100, 68, 69, 70, 77, 63, 58, 77, 75, 29, 29, 66, 56, 86, 75, 79, 60, 79, 69, 63, 61, 73, 68, 99, 69, 61, 69, 39, 34, 39, 84, 50,
  50, 61, 63, 55, 63, 62, 35, 63, 63, 28, 28, 58, 28, 97, 63, 61, 63, 63, 41, 52, 39, 63, 59, 82, 59, 59, 52, 64, 34, 64, 84,
];
/** That of all others. */
const OTHERS = 84;

/** How wide a text is in a chart, in pixels. */
const textWidth = (text, size = 12) => ([...text].reduce((sum, character) => sum + (WIDTHS[character.codePointAt(0) - 32] ?? OTHERS), 0) * size) / 100;

/** Of ticks in their order those whose labels have room beside each other, the last among them. */
function withRoom(ticks) {
  const half = (tick) => textWidth(tick.text) / 2 + 5;
  const apart = (a, b) => Math.abs(b.at - a.at) > half(a) + half(b);
  const kept = [];
  for (const tick of ticks) if (!kept.length || apart(kept.at(-1), tick)) kept.push(tick);
  const last = ticks.at(-1);
  if (last && kept.at(-1) !== last) {
    while (kept.length && !apart(kept.at(-1), last)) kept.pop();
    kept.push(last);
  }
  return kept;
}

/** A place to a tenth of a pixel: logarithms differ in their last digits from one engine of scripts to the next. */
const toPixel = (place) => Math.round(place * 10) / 10;

/** A log scale from `min` to `max` along the pixels from `start` to `end`. */
const logScale = (min, max, start, end) => (value) => toPixel(start + ((end - start) * Math.log(Math.max(value, min * 1e-9) / min)) / Math.log(max / min));

/** A linear one. */
const linearScale = (min, max, start, end) => (value) => toPixel(start + ((end - start) * (value - min)) / (max - min || 1));

/** How far an axis reaches beyond the points, so that their intervals can be seen; a very wide one is cut off. */
function reach(lines, axis) {
  const points = lines.flatMap((line) => line.points);
  const means = points.map((point) => point[axis]);
  const [low, high] = [Math.min(...means), Math.max(...means)];
  if (axis === "x") return [low / 1.2, high * 1.2];
  const least = Math.min(low * 0.9, ...points.map((point) => point.low ?? point.y));
  const most = Math.max(high * 1.1, ...points.map((point) => point.high ?? point.y));
  return [Math.max(low / 3, least), Math.min(high * 3, most)];
}

/**
 * The scale of an axis and its ticks. `axis.values`: these, on a log axis; `axis.labels`: names at even distances; else by
 * `axis.type`, linear from zero or logarithmic.
 */
function scaleOf(axis, range, start, end) {
  const ticksAt = (at, values, text) => values.map((value) => ({ at: at(value), text: text(value) }));
  if (axis.labels) {
    const at = linearScale(-0.5, axis.labels.length - 0.5, start, end);
    return { at, ticks: axis.labels.map((text, i) => ({ at: at(i), text })) };
  }
  if (axis.values) {
    const at = logScale(axis.values[0] * 0.85, axis.values.at(-1) * 1.18, start, end);
    return { at, ticks: ticksAt(at, axis.values, axis.label) };
  }
  const [min, max] = range;
  if (axis.type === "linear") {
    const at = linearScale(0, max || 1, start, end);
    return { at, ticks: ticksAt(at, [0, ...evenValues(0, max || 1, axis.unit, 4).filter((value) => value > 0)], axis.label || ((value) => showRound(axis.unit, value))) };
  }
  const at = logScale(min, max, start, end);
  return { at, ticks: ticksAt(at, roundValues(min, max, axis.unit), (value) => showRound(axis.unit, value)) };
}
