// Tables that sort by any column, bars, and the sections that are nothing else.

// A column is {title, value(row), show(row)?, number?}; `first` is the column sorted by, from the largest if `falling`.
function table(caption, columns, rows, first, falling) {
  const body = el("tbody");
  const heads = columns.map((column, index) =>
    el(column.title ? "th" : "td", { scope: "col", class: column.number && "number" },
      column.plain ? column.title : el("button", { type: "button", onclick: () => sort(index) }, column.title)));
  const shown = rows.map((row) => ({
    row,
    line: el("tr", {}, columns.map((column) => {
      const content = (column.show ?? column.value)(row);
      return el("td", { class: column.class ?? (column.number && "number") }, content ?? "–");
    })),
  }));
  function sort(index, down) {
    const before = heads[index].getAttribute("aria-sort");
    const falling = down ?? (before ? before === "ascending" : Boolean(columns[index].number));
    const value = columns[index].value;
    const order = columns[index].number
      ? (a, b) => (value(a.row) ?? -1) - (value(b.row) ?? -1)
      : (a, b) => String(value(a.row) ?? "").localeCompare(String(value(b.row) ?? ""), "en", { numeric: true });
    shown.sort((a, b) => (falling ? order(b, a) : order(a, b)));
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[index].setAttribute("aria-sort", falling ? "descending" : "ascending");
    body.append(...shown.map((one) => one.line));
  }
  body.append(...shown.map((one) => one.line));
  if (first !== undefined) sort(first, falling);
  return el("table", {}, el("caption", {}, caption), el("thead", {}, el("tr", {}, heads)), body);
}

function meter(share) {
  const bar = el("span", { class: "meter" });
  bar.style.width = `${100 * share}%`;
  return bar;
}

const meterColumn = (title, share) => ({ title, value: share, show: (row) => meter(share(row)), class: "share", plain: true });

const COLORS = 8;

// One bar of several parts [name, size, text], with a legend.
function stack(parts) {
  const total = sum(parts.map((part) => part[1])) || 1;
  const color = (index) => `var(--c${index % COLORS})`;
  const bar = el("div", { class: "stack", "aria-hidden": "true" }, parts.map(([name, size, text], index) => {
    const piece = el("span", {});
    piece.style.flex = `${size / total} 1 0`;
    piece.style.background = color(index);
    tip(piece, `${name}: ${text}`);
    return piece;
  }));
  const legend = el("ul", { class: "legend" }, parts.map(([name, size, text], index) => {
    const swatch = el("span", { class: "swatch", "aria-hidden": "true" });
    swatch.style.background = color(index);
    return el("li", {}, swatch, `${name} ${text} (${((100 * size) / total).toFixed(1)} %)`);
  }));
  return [bar, legend];
}

function renderError() {
  const error = data.error;
  if (!error) return;
  const where = error.pass ? `pass ${error.pass} of phase ${error.phase}` : `phase ${error.phase}`;
  byId("summary").prepend(el("div", { class: "error", role: "alert" },
    el("p", {}, `The compilation failed in ${where}. What follows is what was known by then.`),
    el("pre", {}, error.message)));
}

function renderSummary() {
  const rows = data.dispatches;
  const calls = sum(rows.map((row) => row.call_sites));
  const work = sum(rows.map((row) => (row.flops ?? 0) * row.call_sites));
  const moved = sum(rows.map((row) => (row.bytes ?? 0) * row.call_sites));
  const peak = Math.max(0, ...data.memory.map((plan) => plan.max_live_bytes));
  const slab = Math.max(0, ...data.memory.map((plan) => plan.slab_bytes));
  const changed = data.passes.filter((step) => step.pass && step.added !== undefined).length;
  const passes = data.passes.filter((step) => step.pass).length;
  const code = sum(Object.values(data.binary_bytes));
  const tiles = [
    ["Dispatches", count(calls), `of ${plural(rows.length, "kernel")}`],
    ["Work", flops(work), `${bytes(moved)} read and written`],
    ["Transient memory", bytes(slab), peak ? `${bytes(peak)} live at the peak` : "none is needed"],
    ["Artifact", data.artifact.bytes ? bytes(data.artifact.bytes) : "–", `${bytes(code)} machine code`],
    ["Compile time", seconds(sum(data.passes.map((step) => step.seconds))), `${changed} of ${passes} passes changed something`],
  ];
  byId("tiles").append(...tiles.map(([name, value, note]) =>
    el("div", {}, el("dt", {}, name), el("dd", { class: "value" }, value), el("dd", { class: "note" }, note))));
  byId("version").textContent = `Tiree ${data.tiree}`;
}

function renderDispatchTable() {
  const rows = data.dispatches;
  const most = Math.max(1, ...rows.map((row) => (row.flops ?? 0) * row.call_sites));
  const columns = [
    { title: "Dispatch", value: (row) => row.export,
      show: (row) => el("button", { type: "button", onclick: () => openDispatch(row.export) }, row.export) },
    { title: "Strategy", value: (row) => row.strategy },
    { title: "Workgroups", value: (row) => row.workgroups && row.workgroups.reduce((a, b) => a * b, 1),
      show: (row) => row.workgroups?.join(" × ") ?? "at run time", number: true },
    { title: "Calls", value: (row) => row.call_sites, number: true },
    { title: "Flops", value: (row) => row.flops, show: (row) => row.flops !== undefined ? count(row.flops) : undefined, number: true },
    { title: "Bytes", value: (row) => row.bytes, show: (row) => row.bytes !== undefined ? count(row.bytes) : undefined, number: true },
    { title: "Flops / byte", value: (row) => row.flops / row.bytes || undefined,
      show: (row) => (row.bytes ? (row.flops / row.bytes).toFixed(2) : undefined), number: true },
    meterColumn("Share of flops", (row) => ((row.flops ?? 0) * row.call_sites) / most),
  ];
  byId("dispatch-table").append(rows.length
    ? table(`${plural(rows.length, "kernel")}; flops and bytes of one call`, columns, rows)
    : el("p", { class: "empty" }, "The program has no dispatches."));
  for (const [executable, variants] of Object.entries(data.variants)) {
    const names = variants.map((one) => (one.cpu || one.backend) + (one.asks.length ? ` (asks for ${one.asks.join(", ")})` : ""));
    byId("dispatch-table").append(el("p", { class: "note" },
      `Variants of ${executable}, the first that the machine can run: ${names.join("; ")}. The table is of the first.`));
  }
}

function renderArtifact() {
  const parts = data.artifact.parts;
  const box = byId("artifact-parts");
  if (!parts.length) {
    box.append(el("p", { class: "empty" }, "No file was written: compilation ended at an earlier phase."));
    return;
  }
  const kinds = new Map();
  for (const part of parts) kinds.set(part.kind, (kinds.get(part.kind) ?? 0) + part.bytes);
  const sorted = [...kinds].sort((a, b) => b[1] - a[1]);
  const most = Math.max(1, ...parts.map((part) => part.bytes));
  box.append(...stack(sorted.map(([kind, size]) => [kind, size, bytes(size)])));
  const columns = [
    { title: "Part", value: (part) => part.kind },
    { title: "Name", value: (part) => part.name, show: (part) => (part.name ? el("code", {}, part.name) : "") },
    { title: "Bytes", value: (part) => part.bytes, show: (part) => count(part.bytes), number: true },
    meterColumn("", (part) => part.bytes / most),
  ];
  box.append(el("div", { class: "scroll" }, table(`${count(data.artifact.bytes)} bytes by part`, columns, parts, 2, true)));
}

function renderTiming() {
  const steps = data.passes.map((step, index) => ({ ...step, index }));
  const phases = new Map();
  for (const step of steps) phases.set(step.phase, (phases.get(step.phase) ?? 0) + step.seconds);
  const most = Math.max(1e-9, ...steps.map((step) => step.seconds));
  const total = sum(steps.map((step) => step.seconds)) || 1;
  const label = (phase) => (phase === "start" ? "reading" : phase === "end" ? "writing" : phase);
  byId("timing").append(...stack([...phases].map(([phase, time]) => [label(phase), time, seconds(time)])));
  const columns = [
    { title: "Order", value: (step) => step.index + 1, number: true },
    { title: "Pass", value: (step) => step.name, show: (step) => el("code", {}, step.name) },
    { title: "Phase", value: (step) => step.phase },
    { title: "Time", value: (step) => step.seconds, show: (step) => seconds(step.seconds), number: true },
    { title: "Share", value: (step) => step.seconds, show: (step) => `${((100 * step.seconds) / total).toFixed(1)} %`, number: true },
    meterColumn("", (step) => step.seconds / most),
  ];
  byId("timing").append(el("div", { class: "scroll" }, table("Every pass, without the time of this report", columns, steps, 3, true)));
}
