// The memory plan: a rectangle for each tensor, from its first command to its last, at its offset in the slab.

const PLAN_HEIGHT = 300;
const LIVE_HEIGHT = 70;
const PLAN_LEFT = 78;
const PLAN_WIDTH = 1200;
const ALIGNMENT = 64; // what a tensor takes of the slab is a multiple of it

function renderMemory() {
  const box = byId("memory-plans");
  const dynamic = data.dynamic_memory;
  if (!data.memory.length && !dynamic.length) box.append(el("p", { class: "empty" }, "The program needs no transient memory that is planned in advance."));
  data.memory.forEach((plan, number) => box.append(el("div", { class: "plan" }, ...planOf(plan, number))));
  if (!dynamic.length) return;
  const name = (one, index) => (data.executions[one.execution]?.steps ?? []).flat()[index] ?? "command";
  const columns = [
    { title: "Function", value: (row) => `@${row.function}` },
    { title: "Bytes", value: (row) => row.size },
    { title: "Written by", value: (row) => row.first, show: (row) => `${name(row, row.first)} (command ${row.first})` },
    { title: "Last used by", value: (row) => row.last, show: (row) => `${name(row, row.last)} (command ${row.last})` },
  ];
  box.append(el("div", { class: "plan dynamic" }, el("h3", {}, "Sizes that are known when the program runs"),
    el("div", { class: "scroll" }, table(plural(dynamic.length, "transient"), columns, dynamic))));
}

function planOf(plan, number) {
  const commands = (data.executions[plan.execution]?.steps ?? []).flat();
  const same = data.memory.filter((other) => other.function === plan.function);
  const which = same.length > 1 ? `, execution ${same.indexOf(plan) + 1} of ${same.length}` : "";
  const over = plan.max_live_bytes ? plan.slab_bytes / plan.max_live_bytes : 1;
  const name = (index) => `${commands[index]?.replace(/^dispatch /, "") ?? "command"} (command ${index})`;
  const rows = plan.tensors.map((tensor, index) => ({ ...tensor, index, text: [
    `tensor ${index}: ${bytes(tensor.size)} at offset ${count(tensor.offset)}`,
    `written by ${name(tensor.first)}`,
    `last used by ${name(tensor.last)}`,
  ] }));
  const columns = [
    { title: "Tensor", value: (row) => row.index, number: true },
    { title: "Offset", value: (row) => row.offset, show: (row) => count(row.offset), number: true },
    { title: "Bytes", value: (row) => row.size, show: (row) => count(row.size), number: true },
    { title: "Written by", value: (row) => row.first, show: (row) => name(row.first) },
    { title: "Last used by", value: (row) => row.last, show: (row) => name(row.last) },
  ];
  const asTable = el("details", {}, el("summary", {}, "The tensors as a table"));
  asTable.addEventListener("toggle", () => {
    if (asTable.open && !asTable.querySelector("table")) {
      asTable.append(el("div", { class: "inner scroll" }, table(`${plural(rows.length, "tensor")}`, columns, rows)));
    }
  });
  return [
    el("h3", {}, `@${plan.function}${which}`),
    el("p", { class: "about" }, `${plural(rows.length, "tensor")} in a slab of ${bytes(plan.slab_bytes)}; at most ${bytes(plan.max_live_bytes)} `
      + `live at one time (the slab is ${over.toFixed(2)} × that); ${plural(plan.commands, "command")}.`),
    drawPlan(plan, rows, number),
    asTable,
  ];
}

function drawPlan(plan, rows, number) {
  const width = Math.max(PLAN_WIDTH, PLAN_LEFT + 20 + 5 * plan.commands);
  const x = (command) => PLAN_LEFT + ((width - PLAN_LEFT - 20) * command) / Math.max(1, plan.commands);
  const y = (offset) => 22 + PLAN_HEIGHT - (PLAN_HEIGHT * offset) / Math.max(1, plan.slab_bytes);
  const bottom = 22 + PLAN_HEIGHT;
  const picture = svg("svg", {
    viewBox: `0 0 ${width} ${bottom + LIVE_HEIGHT + 64}`, role: "img", width,
    "aria-label": `${rows.length} tensors of ${plan.function} in ${bytes(plan.slab_bytes)}; the table below has them all`,
  }, svg("rect", { class: "frame", x: PLAN_LEFT, y: 22, width: width - PLAN_LEFT - 20, height: PLAN_HEIGHT }));
  for (let tick = 0; tick <= 4; tick += 1) {
    const at = (plan.slab_bytes * tick) / 4;
    picture.append(svg("line", { class: "tick", x1: PLAN_LEFT - 5, x2: PLAN_LEFT, y1: y(at), y2: y(at) }),
      svg("text", { x: PLAN_LEFT - 9, y: y(at) + 4, "text-anchor": "end" }, bytes(at)));
  }
  for (const row of rows) {
    const box = { x: x(row.first), y: y(row.offset + row.size), width: x(row.last + 1) - x(row.first), height: y(row.offset) - y(row.offset + row.size) };
    const shape = svg("rect", { class: "tensor", "data-tensor": row.index, ...box, y: Math.min(box.y, y(row.offset) - 5), height: Math.max(5, box.height), rx: Math.min(3, box.height / 3) });
    shape.style.fill = `var(--c${row.index % (COLORS - 1)})`;
    tip(shape, row.text.join("\n"));
    picture.append(shape);
    const label = bytes(row.size);
    if (box.height > 14 && box.width > 9 + 6.5 * label.length) {
      picture.append(svg("text", { class: "inside", x: box.x + box.width / 2, y: box.y + box.height / 2 + 4, "text-anchor": "middle" }, label));
    }
  }
  const peak = y(plan.max_live_bytes);
  picture.append(svg("line", { class: "peak", x1: PLAN_LEFT, x2: width - 20, y1: peak, y2: peak }),
    svg("text", { class: "peak-label", x: PLAN_LEFT + 2, y: peak - 6 },
      `peak of live bytes: ${bytes(plan.max_live_bytes)}${plan.max_live_bytes === plan.slab_bytes ? ", the whole slab" : ""}`));
  picture.append(...drawLive(plan, rows, x, bottom + 26));
  const base = bottom + 26 + LIVE_HEIGHT;
  const every = Math.max(1, Math.ceil(plan.commands / Math.floor((width - PLAN_LEFT) / 46)));
  for (let command = 0; command < plan.commands; command += every) {
    picture.append(svg("text", { x: (x(command) + x(command + 1)) / 2, y: base + 15, "text-anchor": "middle" }, command));
  }
  picture.append(svg("text", { x: PLAN_LEFT - 9, y: base + 15, "text-anchor": "end" }, "command"));
  picture.id = `plan-${number}`;
  return width > PLAN_WIDTH ? el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Memory picture" }, picture) : picture;
}

function drawLive(plan, rows, x, top) {
  const change = new Array(plan.commands + 2).fill(0);
  for (const row of rows) {
    const size = ALIGNMENT * Math.ceil(row.size / ALIGNMENT);
    change[row.first] += size;
    change[row.last + 1] -= size;
  }
  const most = Math.max(1, plan.max_live_bytes);
  const y = (live) => top + LIVE_HEIGHT - (LIVE_HEIGHT * live) / most;
  let live = 0;
  let path = `M${x(0)} ${y(0)}`;
  for (let command = 0; command < plan.commands; command += 1) {
    live += change[command];
    path += `L${x(command)} ${y(live)}L${x(command + 1)} ${y(live)}`;
  }
  path += `L${x(plan.commands)} ${y(0)}Z`;
  return [
    svg("path", { class: "live", d: path }),
    svg("text", { x: PLAN_LEFT - 9, y: top + 8, "text-anchor": "end" }, bytes(most)),
    svg("text", { x: PLAN_LEFT - 9, y: top + LIVE_HEIGHT / 2 + 8, "text-anchor": "end" }, "live"),
  ];
}
