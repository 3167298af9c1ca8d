// The dispatch graph: layers from top to bottom, as SVG, and the panel of the chosen dispatch.

const NODE_HEIGHT = 40;
const LAYER_GAP = 44;
const NODE_GAP = 18;
const MOST_BENDS = 6000;
const FAR = 8;

// Places the nodes: x is the middle, y the top. Every edge goes from an earlier node to a later one.
function layout(nodes, edges) {
  const layer = nodes.map(() => 0);
  for (const [from, to] of edges) layer[to] = Math.max(layer[to], layer[from] + 1);
  const nearest = nodes.map(() => Infinity);
  for (const [from, to] of edges) nearest[from] = Math.min(nearest[from], layer[to] - 1);
  nodes.forEach((node, index) => {
    if (node.kind === "input" && nearest[index] !== Infinity) layer[index] = nearest[index];
  });
  const places = nodes.map((node, index) => ({ node, layer: layer[index], width: node.width, up: [], down: [] }));
  // An edge from far away is a stub, where it would only hide others: from inputs, and where there are too many.
  const span = ([from, to]) => layer[to] - layer[from];
  const readers = nodes.map(() => 0);
  for (const [from] of edges) readers[from] += 1;
  const near = (edge) => nodes[edge[0]].kind !== "input" || span(edge) <= (readers[edge[0]] > 6 ? 1 : FAR);
  const all = sum(edges.filter(near).map(span)) <= MOST_BENDS;
  const routes = edges.map((edge) => {
    const [from, to] = edge;
    if (!near(edge) || (!all && span(edge) > FAR)) return [places[to]];
    const route = [places[from]];
    for (let at = layer[from] + 1; at < layer[to]; at += 1) {
      route.push({ layer: at, width: 4, up: [], down: [] });
      places.push(route.at(-1));
    }
    route.push(places[to]);
    for (let index = 1; index < route.length; index += 1) {
      route[index - 1].down.push(route[index]);
      route[index].up.push(route[index - 1]);
    }
    return route;
  });
  const layers = [];
  for (const place of places) (layers[place.layer] ??= []).push(place);
  for (let index = 0; index < layers.length; index += 1) layers[index] ??= [];
  order(layers);
  align(layers);
  const left = Math.min(...places.map((place) => place.x - place.width / 2));
  for (const place of places) {
    place.x += 16 - left;
    place.y = 16 + place.layer * (NODE_HEIGHT + LAYER_GAP);
  }
  const width = 16 + Math.max(...places.map((place) => place.x + place.width / 2));
  return { places, routes, width, height: 32 + layers.length * (NODE_HEIGHT + LAYER_GAP) - LAYER_GAP };
}

// Fewer crossings: each layer by the middle of its neighbours, downwards and upwards in turn.
function order(layers) {
  const number = () => layers.forEach((layer) => layer.forEach((place, index) => { place.order = index; }));
  number();
  for (let sweep = 0; sweep < 8; sweep += 1) {
    const side = sweep % 2 ? "down" : "up";
    for (const layer of sweep % 2 ? [...layers].reverse() : layers) {
      for (const place of layer) {
        const near = place[side];
        place.wish = near.length ? sum(near.map((one) => one.order)) / near.length : place.order;
      }
      layer.sort((a, b) => a.wish - b.wish || a.order - b.order);
      layer.forEach((place, index) => { place.order = index; });
    }
  }
}

// Each layer as near as it can be to the middle of its neighbours, without overlaps.
function align(layers) {
  for (const layer of layers) {
    let x = 0;
    for (const place of layer) {
      place.x = x + place.width / 2;
      x += place.width + NODE_GAP;
    }
  }
  for (let sweep = 0; sweep < 15; sweep += 1) {
    for (const layer of sweep % 2 ? [...layers].reverse() : layers) {
      const wishes = layer.map((place) => {
        const near = place.node ? place[sweep % 2 ? "down" : "up"] : [...place.up, ...place.down];
        const total = sum(near.map(weight));
        return total ? sum(near.map((one) => one.x * weight(one))) / total : place.x;
      });
      spread(layer, wishes);
    }
  }
}

// Bends keep together, so that long edges are straight.
const weight = (place) => (place.node ? 1 : 4);

// Weighted least squares with a least distance between neighbours: groups that would overlap are merged and centred.
function spread(layer, wishes) {
  const groups = [];
  const members = [];
  const offsets = [];
  let offset = 0;
  layer.forEach((place, index) => {
    if (index) offset += (layer[index - 1].width + place.width) / 2 + NODE_GAP;
    offsets.push(offset);
    groups.push({ total: (wishes[index] - offset) * weight(place), size: weight(place) });
    members.push(1);
    while (groups.length > 1 && groups.at(-2).total / groups.at(-2).size > groups.at(-1).total / groups.at(-1).size) {
      const last = groups.pop();
      groups.at(-1).total += last.total;
      groups.at(-1).size += last.size;
      const many = members.pop();
      members[members.length - 1] += many;
    }
  });
  let index = 0;
  groups.forEach((group, number) => {
    for (let member = 0; member < members[number]; member += 1, index += 1) layer[index].x = group.total / group.size + offsets[index];
  });
}

const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
const rowOf = (name) => data.dispatches.find((row) => row.export === name);

function described(node) {
  if (node.kind !== "dispatch") return { top: short(node.label, 34), sub: short(node.type ?? "", 34) };
  const name = dispatchName(node.label);
  const row = rowOf(node.dispatch);
  const facts = [name.number, row?.strategy, row?.flops && flops(row.flops), node.inside && `in ${node.inside.split(" ")[0]}`];
  return { top: short(name.what, 40), sub: short(facts.filter(Boolean).join(" · "), 50), row };
}

let shownGraph;

function renderGraphs() {
  const graphs = data.graphs;
  if (!graphs.length) {
    byId("graph").querySelector(".split").replaceWith(el("p", { class: "empty" }, "The program has no dispatches."));
    return;
  }
  const choice = el("select", { id: "graph-function", onchange: () => showGraph(Number(choice.value)) },
    graphs.map((graph, index) => el("option", { value: index }, `@${graph.function}`)));
  const zoom = (factor) => () => scaleGraph(factor && shownGraph.zoom * factor);
  byId("graph-tools").append(
    el("label", { for: "graph-function" }, "Function"), choice,
    el("button", { type: "button", onclick: zoom(1 / 1.25), "aria-label": "Smaller" }, "−"),
    el("button", { type: "button", onclick: zoom(1.25), "aria-label": "Larger" }, "+"),
    el("button", { type: "button", onclick: zoom(0) }, "Fit"),
    el("output", { id: "graph-size" }),
    el("ul", { class: "legend" }, ["input", "dispatch", "op", "output"].map((kind) =>
      el("li", {}, el("span", { class: `swatch ${kind}`, "aria-hidden": "true" }), kind === "op" ? "other op" : kind))));
  const first = graphs.findIndex((graph) => graph.nodes.some((node) => node.kind === "dispatch"));
  choice.value = Math.max(0, first);
  showGraph(Math.max(0, first));
}

function showGraph(index) {
  const graph = data.graphs[index];
  const most = Math.max(1, ...graph.nodes.map((node) => rowOf(node.dispatch)?.flops ?? 0));
  const nodes = graph.nodes.map((node) => {
    const text = described(node);
    return { ...node, text, width: Math.max(90, 22 + 6.7 * Math.max(text.top.length, 0.92 * text.sub.length)) };
  });
  const { places, routes, width, height } = layout(nodes, graph.edges);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `Dispatches of ${graph.function}` },
    svg("defs", {}, arrowHead("arrow"), arrowHead("arrow-near")));
  const edges = routes.map((route, number) => {
    const [from, to, type] = graph.edges[number];
    const line = svg("path", { d: route.length > 1 ? curve(route) : stub(route[0]), class: route.length > 1 ? "edge" : "edge far" });
    tip(line, `${nodes[from].label}\n${type}`);
    return { from, to, line };
  });
  picture.append(...edges.map((edge) => edge.line));
  const shapes = nodes.map((node, number) => shapeOf(node, places[number], most));
  picture.append(...shapes);
  shownGraph = { graph, nodes, edges, shapes, width, height, zoom: 1 };
  shapes.forEach((shape, number) => {
    shape.addEventListener("click", () => choose(number));
    shape.addEventListener("keydown", (event) => steer(event, number));
  });
  byId("graph-canvas").replaceChildren(picture);
  const dispatches = nodes.filter((node) => node.kind === "dispatch").length;
  byId("graph-size").textContent = `${plural(dispatches, "dispatch")}, ${plural(graph.edges.length, "edge")}`;
  scaleGraph(0);
  const heaviest = nodes.reduce((best, node, number) =>
    (node.text.row?.flops ?? -1) > (nodes[best]?.text.row?.flops ?? -1) ? number : best, nodes.findIndex((n) => n.kind === "dispatch"));
  choose(Math.max(0, heaviest), false);
}

function arrowHead(id) {
  const place = { viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, markerUnits: "userSpaceOnUse", orient: "auto" };
  return svg("marker", { id, class: id, ...place }, svg("path", { d: "M0 0L8 4L0 8z" }));
}

const stub = (place) => `M${place.x + place.width / 2 - 30} ${place.y - 16}v16`;

function curve(route) {
  let path = "";
  route.forEach((place, index) => {
    const bottom = place.y + NODE_HEIGHT;
    if (index === 0) {
      path = `M${place.x} ${bottom}`;
      return;
    }
    const before = route[index - 1];
    const middle = (before.y + NODE_HEIGHT + place.y) / 2;
    path += `C${before.x} ${middle} ${place.x} ${middle} ${place.x} ${place.y}`;
    if (!place.node) path += `V${bottom}`;
  });
  return path;
}

function shapeOf(node, place, most) {
  const isDispatch = node.kind === "dispatch";
  const left = place.x - place.width / 2;
  const shape = svg("g", {
    class: `node ${node.kind}${node.inside ? " inside" : ""}`, tabindex: -1, role: "button", "aria-pressed": "false",
    "aria-label": `${node.kind === "op" ? "operation" : node.kind} ${node.label}${node.text.sub && `, ${node.text.sub}`}`,
  },
  svg("rect", { class: "body", x: left, y: place.y, width: place.width, height: NODE_HEIGHT, rx: isDispatch ? 6 : 18 }),
  svg("text", { x: place.x, y: place.y + (node.text.sub ? 17 : 24), "text-anchor": "middle" }, node.text.top),
  svg("text", { class: "sub", x: place.x, y: place.y + 31, "text-anchor": "middle" }, node.text.sub));
  if (isDispatch && node.text.row?.flops) {
    const width = Math.max(1, ((place.width - 12) * node.text.row.flops) / most);
    shape.append(svg("rect", { class: "share", x: left + 6, y: place.y + NODE_HEIGHT - 4, width, height: 2.5, rx: 1 }));
  }
  tip(shape, [node.label, node.type, node.inside && `inside ${node.inside}`].filter(Boolean).join("\n"));
  return shape;
}

// A zoom of 0 makes the graph as wide as its box, within what can be read.
function scaleGraph(zoom) {
  const box = byId("graph-canvas");
  const fit = Math.min(1.3, Math.max(0.45, (box.clientWidth - 20) / shownGraph.width));
  shownGraph.zoom = Math.min(4, Math.max(0.05, zoom || fit));
  const picture = box.querySelector("svg");
  picture.setAttribute("width", shownGraph.width * shownGraph.zoom);
  picture.setAttribute("height", shownGraph.height * shownGraph.zoom);
}

function steer(event, number) {
  const last = shownGraph.shapes.length - 1;
  const target = { ArrowDown: number + 1, ArrowRight: number + 1, ArrowUp: number - 1, ArrowLeft: number - 1, Home: 0, End: last }[event.key];
  if (target !== undefined) focusNode(Math.min(last, Math.max(0, target)));
  else if (event.key === "Enter" || event.key === " ") choose(number);
  else return;
  event.preventDefault();
}

function focusNode(number) {
  for (const shape of shownGraph.shapes) shape.setAttribute("tabindex", -1);
  shownGraph.shapes[number].setAttribute("tabindex", 0);
  shownGraph.shapes[number].focus();
}

function choose(number, scroll = true) {
  shownGraph.shapes.forEach((shape, index) => {
    shape.setAttribute("aria-pressed", index === number ? "true" : "false");
    shape.setAttribute("tabindex", index === number ? 0 : -1);
  });
  for (const edge of shownGraph.edges) edge.line.classList.toggle("near", edge.from === number || edge.to === number);
  if (scroll) shownGraph.shapes[number].scrollIntoView({ block: "nearest", inline: "nearest" });
  showDetails(shownGraph.nodes[number], number);
}

// Chooses a dispatch by name, in the first graph that has it.
function openDispatch(name) {
  const has = (graph) => graph.nodes.findIndex((node) => node.dispatch === name);
  let index = data.graphs.indexOf(shownGraph?.graph);
  if (index < 0 || has(data.graphs[index]) < 0) index = data.graphs.findIndex((graph) => has(graph) >= 0);
  if (index < 0) {
    showDetails({ kind: "dispatch", label: name, dispatch: name, text: { row: rowOf(name) } }, -1);
  } else {
    if (data.graphs[index] !== shownGraph.graph) {
      byId("graph-function").value = index;
      showGraph(index);
    }
    choose(has(data.graphs[index]));
  }
  byId("graph").scrollIntoView();
}

function showDetails(node, number) {
  const row = node.text.row;
  const near = (at, other) => (shownGraph?.edges ?? []).map((edge, index) => [edge, shownGraph.graph.edges[index][2]])
    .filter(([edge]) => edge[at] === number).map(([edge, type]) => [shownGraph.nodes[edge[other]].label, type]);
  const facts = [
    ["Kind", node.kind !== "dispatch" && node.kind],
    ["Type", node.type && el("code", {}, node.type)],
    ["Strategy", row?.strategy],
    ["Workgroups", row && (row.workgroups?.join(" × ") ?? "computed at run time")],
    ["Flops", row?.flops !== undefined && count(row.flops)],
    ["Bytes", row?.bytes !== undefined && `${count(row.bytes)} (${bytes(row.bytes)})`],
    ["Calls", row && count(row.call_sites)],
    ["Executable", row && el("code", {}, row.executable)],
    ["Inside", node.inside && el("code", {}, node.inside)],
  ].filter(([, value]) => value);
  const list = (title, items) => (items.length ? [el("h4", {}, title), el("ul", {}, items.map((item) => el("li", {}, el("code", {}, item))))] : []);
  const reads = [...near("to", "from").map(([label, type]) => `${label}: ${type}`), ...(node.constants ?? [])];
  byId("details").scrollTop = 0;
  byId("chosen").replaceChildren(
    el("h3", {}, node.label),
    el("dl", { class: "facts" }, facts.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])));
  byId("chosen-more").replaceChildren(
    ...list("Computes", row?.ops ?? []),
    ...list("Reads", reads),
    ...list("Read by", near("from", "to").map(([label, type]) => `${label}: ${type}`)),
    ...(row?.kernels ?? []).flatMap((kernel) => [
      el("h4", {}, `Kernel in ${kernel.form}${row.kernels.some((one) => one.variant !== kernel.variant) ? `, ${kernel.variant}` : ""}`),
      el("div", { class: "kernel" }, lines(kernel.lines, kernel.form === "tensors" ? 200 : 60)),
    ]));
}
