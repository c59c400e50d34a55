// Elements and texts. Data never become markup: every text is a text node.

const SVG = "http://www.w3.org/2000/svg";

let unseen = /[^\s\S]/u; // set by `start` to the character class of the page's Python part

/** Create an element: attributes (functions become listeners, false is left out), then children (nodes or our own words). */
function el(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

const codePoint = (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

/** Nodes for a text of the data: isolated, with invisible characters by name. */
function data(text) {
  return el("bdi", { class: "data", dir: "auto" }, visible(String(text)));
}

function visible(text) {
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(unseen)) {
    nodes.push(text.slice(end, match.index), el("span", { class: "unseen" }, codePoint(match[0])));
    end = match.index + match[0].length;
  }
  nodes.push(text.slice(end));
  return nodes;
}

/** A text of the data as plain characters, for example for an option of a list. */
function plainly(text) {
  return String(text).replace(unseen, codePoint);
}

function button(label, onclick, attributes = {}) {
  return el("button", { type: "button", click: onclick, ...attributes }, ...[label].flat());
}

let ids = 0;
const newId = () => `control-${(ids += 1)}`;

function labelled(label, control, kind = "choice") {
  return el("div", { class: kind }, el("label", { for: control.id }, plainly(label)), control);
}

/** A labelled select; `options` are [value, text], `onchange` receives the value. */
function choice(label, options, chosen, onchange) {
  const select = el("select", { id: newId(), change: () => onchange(select.value) });
  for (const [value, text] of options) {
    select.append(el("option", { value, selected: value === chosen ? "" : false }, plainly(text)));
  }
  return labelled(label, select);
}

function scrolling(label, ...children) {
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, ...children);
}

function replaced(place, ...children) {
  place.replaceChildren(...children.flat(Infinity).filter(Boolean));
  return place;
}

const counted = (n, what) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;
