// The page's data: columns are loaded at once, texts by parcel.

const store = { rows: 0 };
const opened = new Map();

async function unpacked(name) {
  const text = atob(document.getElementById(`data-${name}`).textContent);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

/** Open a parcel; the most recent ones are cached. */
function parcel(name) {
  if (!opened.has(name)) {
    if (opened.size > 12) opened.delete(opened.keys().next().value);
    opened.set(name, unpacked(name));
  }
  return opened.get(name);
}

async function entry(kind, at) {
  const size = store.sizes[kind];
  return (await parcel(`${kind}-${Math.floor(at / size)}`))[at % size];
}

const outcomeAt = (row) => entry("outcomes", row);

const earlierAt = async (row) => (store.sizes.earlier ? entry("earlier", row) : null);

async function instanceAt(row) {
  const code = store.case.codes[row];
  return code < store.questions.length ? entry("instances", code) : null;
}

async function load() {
  const { columns, ...meta } = await unpacked("columns");
  Object.assign(store, meta, columns);
  store.rows = columns.nodeid.length;
  store.byNode = new Map(columns.nodeid.map((nodeid, row) => [nodeid.toWellFormed(), row]));
  store.testbedOf = new Map(meta.testbeds.map((testbed) => [testbed.nodeid, testbed]));
  const apart = meta.testbeds.filter((testbed) => testbed.labelled);
  store.apart = new Set(apart.length < meta.testbeds.length ? apart.map((testbed) => testbed.nodeid) : []);
  store.facetNames = Object.keys(columns.facets);
}

const caseAddress = (row) => `#case=${encodeURIComponent(store.nodeid[row].toWellFormed())}`;
const textOf = (column, row) => column.values[column.codes[row]];
const facetAt = (row, facet) => (store.facets[facet] ? textOf(store.facets[facet], row) : undefined) ?? null;
const isVariant = (row) => facetAt(row, "relation") !== null && facetAt(row, "variant") !== null;
const statusAt = (row) => textOf(store.status, row);
const systemAt = (row) => textOf(store.system, row);
const testbedAt = (row) => store.testbedOf.get(textOf(store.testbed, row));
const caseAt = (row) => textOf(store.case, row);
const questionAt = (row) => store.questions[store.case.codes[row]] ?? "";
const metricsAt = (row) => testbedAt(row)?.metrics ?? [];
const primaryAt = (row) => metricsAt(row)[0] ?? null;
const scoreAt = (row, metric) => store.scores[metric]?.[row] ?? null;

const OF_SYSTEMS = ["system", "workflow", "model"]; // facets of a system, not of a case

/** Key of a row's case, the same for its repeats and, with `acrossSystems`, for every system. */
function unitOf(row, acrossSystems = false) {
  const parts = [store.testbed.codes[row], acrossSystems ? "" : store.system.codes[row], store.case.codes[row]];
  for (const facet of store.facetNames) {
    if (facet === "repeat" || facet === "knew" || (acrossSystems && OF_SYSTEMS.includes(facet))) continue;
    parts.push(store.facets[facet].codes[row]);
  }
  return parts.join("|");
}

/** The same key for every setting. */
const clusterOf = (row) => [store.testbed.codes[row], store.system.codes[row], store.case.codes[row]].join("|");

/** Links between dependent rows: their case, their dialogue, or the value of their testbed's cluster. */
function linksOf(row, acrossSystems) {
  const system = acrossSystems ? "" : store.system.codes[row];
  const cluster = testbedAt(row)?.cluster ?? "dialogue";
  const [dialogue, value] = [facetAt(row, "dialogue"), facetAt(row, cluster)];
  const links = [["", system, store.case.codes[row]]];
  if (dialogue !== null) links.push(["dialogue", system, dialogue, facetAt(row, "dataset") ?? ""]);
  if (cluster !== "dialogue" && value !== null) links.push([cluster, system, value]);
  return links.map((link) => JSON.stringify(link));
}

/** The independent unit of each row: rows joined by links, directly or indirectly. */
function independent(rows, acrossSystems = false) {
  const first = new Map();
  const parents = rows.map((_, at) => at);
  const root = (at) => {
    let top = at;
    while (parents[top] !== top) top = parents[top] = parents[parents[top]];
    return top;
  };
  rows.forEach((row, at) => {
    for (const link of linksOf(row, acrossSystems)) {
      if (first.has(link)) parents[root(at)] = root(first.get(link));
      else first.set(link, at);
    }
  });
  return rows.map((_, at) => root(at));
}

/** Sort the values of a facet: numbers, then texts, "-" last. */
function inOrder(one, other) {
  const rank = (value) => (value === "-" ? 2 : value.trim() !== "" && Number.isFinite(Number(value)) ? 0 : 1);
  const by = rank(one) - rank(other);
  if (by) return by;
  if (rank(one) === 0 && Number(one) !== Number(other)) return Number(one) - Number(other);
  return one < other ? -1 : one > other ? 1 : 0;
}
