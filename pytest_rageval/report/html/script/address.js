// The view in the address: "#case=ID", "#cases&state=missed&facet.task=qa&case=ID" or "#matrix&metric=accuracy&rows=topic".

const PLAIN = ["search", "of", "metric", "system", "state", "error", "cause", "sort", "minus"];

const written = (text) => encodeURIComponent(String(text).toWellFormed());

function readable(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // not every % is an escape
  }
}

/** The parts of an address behind its first word, as [name, value]. */
const partsOf = (hash) => hash.split("&").slice(1).map((each) => [readable(each.split("=", 1)[0]), readable(each.slice(each.indexOf("=") + 1))]);

/** The address of the list with its filters, and of its selected case. */
function addressOf(filters, row) {
  const first = firstFilters();
  const parts = PLAIN.filter((name) => filters[name] !== first[name]).map((name) => `${name}=${written(filters[name])}`);
  for (const [facet, value] of Object.entries(filters.facets)) parts.push(`${written(`facet.${facet}`)}=${written(value)}`);
  if (!parts.length) return row < 0 ? "#cases" : caseAddress(row);
  return ["#cases", ...parts, ...(row < 0 ? [] : [caseAddress(row).slice(1)])].join("&");
}

/** The filters and the case that an address of the list names; unknown names are left out. */
function readList(hash) {
  const filters = firstFilters();
  let nodeid = null;
  for (const [name, value] of partsOf(hash)) {
    const facet = name.startsWith("facet.") ? name.slice(6) : null;
    if (name === "case") nodeid = value;
    else if (PLAIN.includes(name)) filters[name] = value;
    else if (store.facetNames.includes(facet)) filters.facets[facet] = value === "-" ? wantedOf(facet, "-") : value;
  }
  return { filters, nodeid };
}

/** Write an address: "jump" adds to the browser's history, "step" does not. */
function address(hash, how) {
  if (hash === location.hash) return;
  try {
    history[how === "jump" ? "pushState" : "replaceState"](null, "", hash);
  } catch { /* a page in a frame without an address of its own */ }
}

/** Show what the address names: a case, a filtered list, a view of the matrix; without one, the first list. */
function route() {
  const { hash } = location;
  const name = /^#case=(.*)$/s.exec(hash)?.[1];
  if (name !== undefined) openCase(readable(name));
  else if (hash.startsWith("#cases&")) openList(hash);
  else if (hash.startsWith("#matrix&")) openMatrix(hash);
  else if (!hash) openFirst();
}

/** Handle a link to the current address, which fires no hashchange. */
function followed(event) {
  const link = event.target.closest?.('a[href^="#case"], a[href^="#matrix&"]');
  if (link?.hash !== location.hash || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (link.hash === "#cases") return;
  event.preventDefault();
  route();
}

function openFirst() {
  setFilters(firstFilters());
  if (browser.hits.length && browser.filters.state === LOOK) select(0, "first");
  else showNone(CHOOSE);
}

function openCase(nodeid) {
  const row = store.byNode.get(nodeid);
  if (row === undefined) {
    showNone(el("span", { role: "alert" }, "This run has no case ", data(nodeid), "."));
    toCase();
    return;
  }
  if (!browser.hits.includes(row)) setFilters(noFilters());
  select(browser.hits.indexOf(row), "follow");
}

function openList(hash) {
  const { filters, nodeid } = readList(hash);
  setFilters(filters);
  if (nodeid !== null) {
    openCase(nodeid);
    return;
  }
  document.getElementById("cases").scrollIntoView();
  browser.list.focus({ preventScroll: true });
  if (browser.hits.length) select(0, "first");
  else showNone(CHOOSE);
}
