// SVG charts, each with a table of its numbers for screen readers.

const ROOM = { left: 56, right: 16, top: 28, bottom: 46 };

/** Round tick values over a range, in about four steps. */
function ticks(low, high) {
  const rough = (high - low || 1) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const ticks = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step / 1e6; at += step) ticks.push(Number(at.toPrecision(10)));
  return ticks;
}

const widthOf = (place) => Math.max(280, Math.min(720, place.clientWidth || 640));

/** Draw both axes; `x` and `y` are {low, high, label, text}. Returns the SVG parts and the functions that place values. */
function axes(width, height, x, y) {
  const span = (axis) => axis.high - axis.low || 1;
  const atX = (value) => ROOM.left + ((value - x.low) / span(x)) * (width - ROOM.left - ROOM.right);
  const atY = (value) => height - ROOM.bottom - ((value - y.low) / span(y)) * (height - ROOM.top - ROOM.bottom);
  const parts = [];
  for (const value of y.ticks ?? ticks(y.low, y.high)) {
    parts.push(svg("line", { class: "grid", x1: ROOM.left, x2: width - ROOM.right, y1: atY(value), y2: atY(value) }),
      svg("text", { class: "tick end", x: ROOM.left - 8, y: atY(value) + 4 }, y.text(value)));
  }
  for (const value of x.ticks ?? ticks(x.low, x.high)) {
    parts.push(svg("line", { class: "grid", x1: atX(value), x2: atX(value), y1: height - ROOM.bottom, y2: height - ROOM.bottom + 5 }),
      svg("text", { class: "tick middle", x: atX(value), y: height - ROOM.bottom + 19 }, x.text(value)));
  }
  parts.push(svg("line", { class: "axis", x1: ROOM.left, x2: width - ROOM.right, y1: height - ROOM.bottom, y2: height - ROOM.bottom }),
    svg("text", { class: "label middle", x: (ROOM.left + width - ROOM.right) / 2, y: height - 6 }, plainly(x.label)),
    svg("text", { class: "label start", x: 4, y: 10 }, plainly(y.label)));
  return { parts, atX, atY };
}

/** Wrap a text at spaces and underscores, else within words. */
function wrapped(text, most) {
  const lines = [""];
  for (const word of plainly(text).match(/[^\s_]+_?\s*|[\s_]+/g) ?? []) {
    const last = lines.length - 1;
    if ((lines[last] + word).trimEnd().length <= most || lines[last] === "") lines[last] += word;
    else lines.push(word);
  }
  return lines.map((line) => (line.trimEnd().length > most ? `${line.slice(0, most - 1)}…` : line.trimEnd()));
}

/** A system's colour, one of eight; lines from the ninth system on are dashed. */
const hue = (at) => `s${at % 8}${at < 8 ? "" : " again"}`;

/** A system's mark, one of eight shapes: systems differ by more than colour. */
function mark(at, x, y, size = 5) {
  const points = (...pairs) => pairs.map(([dx, dy]) => `${x + dx * size},${y + dy * size}`).join(" ");
  const shapes = [
    () => svg("circle", { cx: x, cy: y, r: size }),
    () => svg("polygon", { points: points([-1, -1], [1, -1], [1, 1], [-1, 1]) }),
    () => svg("polygon", { points: points([0, -1.2], [1.2, 1], [-1.2, 1]) }),
    () => svg("polygon", { points: points([0, -1.4], [1.4, 0], [0, 1.4], [-1.4, 0]) }),
    () => svg("polygon", { points: points([0, 1.2], [1.2, -1], [-1.2, -1]) }),
    () => svg("rect", { x: x - size * 1.3, y: y - size * 0.5, width: size * 2.6, height: size }),
    () => svg("rect", { x: x - size * 0.5, y: y - size * 1.3, width: size, height: size * 2.6 }),
    () => svg("polygon", { points: points([-0.6, -1.2], [0.6, -1.2], [1.2, 0], [0.6, 1.2], [-0.6, 1.2], [-1.2, 0]) }),
  ];
  const shape = shapes[(at + Math.floor(at / 8)) % shapes.length]();
  shape.setAttribute("class", `mark ${hue(at)}`);
  return shape;
}

function key(systems) {
  const entries = systems.map((name, at) => el("li", {}, svg("svg", { viewBox: "0 0 16 16", class: "sample", "aria-hidden": "true" }, mark(at, 8, 8)), data(name)));
  return el("ul", { class: "systems", "aria-label": "Systems" }, entries);
}

/** A chart with key and table; each of `rows` has the texts of a line under `head`, its name first. */
function figure(title, drawing, systems, head, rows) {
  const table = el("table", { class: "plain" }, el("caption", {}, title, ", the numbers"),
    el("thead", {}, el("tr", {}, head.map((name) => el("th", { scope: "col" }, data(name))))),
    el("tbody", {}, rows.map(([first, ...others]) => el("tr", {}, el("th", { scope: "row" }, data(first)), others.map((text) => el("td", { class: "number" }, text))))));
  return el("figure", {}, drawing, systems.length ? key(systems) : null,
    el("details", {}, el("summary", {}, "Its numbers as a table"), scrolling(`${title}, the numbers`, table)));
}

const drawing = (width, height, label, ...parts) => svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "chart", "aria-label": plainly(label) }, ...parts);

/** The domain of values: 0..1 for shares, else from 0 to slightly above the maximum. */
function domain(metric, values) {
  if (metric === GAIN) return [-1, 1];
  if (!isPseudo(metric) || metric === "error_rate") return [0, 1];
  return [0, Math.max(...values, 0) * 1.1 || 1];
}
