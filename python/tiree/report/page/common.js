// Elements, numbers and lines. Text from the program only ever becomes text nodes and attribute values.

const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false));
  return element;
}

const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

const count = (number) => Math.round(number).toLocaleString("en-US");
const plural = (number, word) => `${count(number)} ${word}${number === 1 ? "" : /(s|ch)$/.test(word) ? "es" : "s"}`;

function scaled(number, base, units) {
  let unit = 0;
  while (number >= base && unit < units.length - 1) {
    number /= base;
    unit += 1;
  }
  const digits = unit === 0 || number >= 100 ? 0 : number >= 10 ? 1 : 2;
  return `${number.toFixed(digits)} ${units[unit]}`;
}

const bytes = (number) => scaled(number, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]);
const flops = (number) => scaled(number, 1000, ["flop", "kflop", "Mflop", "Gflop", "Tflop"]);
const seconds = (number) => (number >= 1 ? `${number.toFixed(2)} s` : `${(1000 * number).toFixed(number < 0.01 ? 2 : 1)} ms`);
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

// `main_dispatch_3_matmul_8x8_f32` in parts; a name of another form is all `what`.
function dispatchName(name) {
  const found = /^(.*)_dispatch_(\d+)_(.+)$/.exec(name);
  return found ? { what: found[3], number: `#${found[2]}` } : { what: name, number: "" };
}

// A `pre` of lines: each is text, or [element, text, options]. Beyond `limit` a button shows more.
function lines(all, limit = 200) {
  const pre = el("pre", { tabindex: 0 });
  const box = el("div", {}, pre);
  let shown = 0;
  const more = el("button", { type: "button", onclick: () => show(shown < 2000 ? 2000 : all.length) });
  function show(upTo) {
    const end = Math.min(upTo, all.length);
    pre.append(...all.slice(shown, end).map((line) =>
      typeof line === "string" ? el("span", {}, marked(line)) : lineOf(...line)));
    shown = end;
    more.textContent = `Show ${shown < 2000 && all.length > 2000 ? "more" : "all"} (${plural(all.length - shown, "line")} left)`;
    more.hidden = shown >= all.length;
  }
  show(limit);
  box.append(more);
  return box;
}

// What differs from the line that it is `like` stands out.
function lineOf(tag, text, options) {
  const { like, ...attributes } = options || {};
  if (!like || searched) return el(tag, attributes, marked(text));
  const most = Math.min(text.length, like.length);
  let start = 0;
  while (start < most && text[start] === like[start]) start += 1;
  let end = 0;
  while (end < most - start && text.at(-1 - end) === like.at(-1 - end)) end += 1;
  const middle = text.slice(start, text.length - end);
  return el(tag, attributes, text.slice(0, start), middle && el("b", {}, middle), text.slice(text.length - end));
}

let searched = "";

// `text` with what is searched for in `mark` elements. An empty line keeps its height.
function marked(text) {
  if (!searched) return [text || " "];
  const low = text.toLowerCase();
  const parts = [];
  let end = 0;
  for (let at = low.indexOf(searched); at >= 0; at = low.indexOf(searched, end)) {
    parts.push(text.slice(end, at), el("mark", {}, text.slice(at, at + searched.length)));
    end = at + searched.length;
  }
  return [...parts, text.slice(end) || " "];
}

// A text that follows the pointer over `element`.
function tip(element, text) {
  const box = byId("tip");
  element.addEventListener("pointermove", (event) => {
    box.textContent = text;
    box.hidden = false;
    const left = Math.min(event.clientX + 14, innerWidth - box.offsetWidth - 8);
    const below = event.clientY + 16 + box.offsetHeight < innerHeight;
    box.style.left = `${Math.max(4, left)}px`;
    box.style.top = `${below ? event.clientY + 16 : event.clientY - box.offsetHeight - 10}px`;
  });
  element.addEventListener("pointerleave", () => { box.hidden = true; });
}
