// The phases: passes that changed the program, their differences, and the IR at the end of each phase.

const CONTEXT = 3;

// Replays the edits: for every step the sections before and after, which share the arrays of what did not change.
function replay() {
  let now = new Map();
  return data.passes.map((step) => {
    const before = now;
    if (step.added === undefined) return { step, before, after: now };
    const after = new Map(now);
    for (const key of step.gone ?? []) after.delete(key);
    for (const [key, edits] of Object.entries(step.sections ?? {})) after.set(key, edited(now.get(key) ?? [], edits));
    now = step.order ? new Map(step.order.filter((key) => after.has(key)).map((key) => [key, after.get(key)])) : after;
    return { step, before, after: now };
  });
}

function edited(old, edits) {
  const made = [];
  let position = 0;
  for (const [start, removed, added] of edits) {
    for (; position < start; position += 1) made.push(old[position]);
    made.push(...added);
    position += removed;
  }
  for (; position < old.length; position += 1) made.push(old[position]);
  return made;
}

// The lines of a difference with some lines around, and a gap where lines are left out.
function difference(old, edits) {
  const found = [];
  let position = 0;
  const same = (end, isLast) => {
    const head = found.length ? Math.min(end, position + CONTEXT) : position;
    const tail = isLast ? end : Math.max(head, end - CONTEXT);
    for (let at = position; at < head; at += 1) found.push(["span", `  ${old[at]}`]);
    const hidden = (isLast ? end : tail) - head;
    if (hidden > 0) found.push(["span", `  … ${plural(hidden, "line")} as before`, { class: "gap" }]);
    for (let at = tail; at < end; at += 1) found.push(["span", `  ${old[at]}`]);
    position = end;
  };
  for (const [start, removed, added] of edits) {
    same(start, false);
    const paired = removed === added.length;
    for (let at = 0; at < removed; at += 1) found.push(["del", `- ${old[start + at]}`, paired && { like: `- ${added[at]}` }]);
    added.forEach((line, at) => found.push(["ins", `+ ${line}`, paired && { like: `+ ${old[start + at]}` }]));
    position = start + removed;
  }
  same(old.length, true);
  return found;
}

function changeOf({ step, before }) {
  const parts = [];
  const title = (key, note) => el("h4", {}, el("code", {}, key), note);
  for (const [key, edits] of Object.entries(step.sections ?? {})) {
    const old = before.get(key);
    parts.push(title(key, old?.length ? "" : " is new"), lines(difference(old ?? [], edits)));
  }
  for (const key of step.gone ?? []) parts.push(title(key, " is gone"), lines((before.get(key) ?? []).map((line) => ["del", `- ${line}`]), 20));
  for (const key of step.hidden ?? []) parts.push(title(key, " changed where its text is left out"));
  if (!parts.length) parts.push(el("p", { class: "empty" }, "The order of the sections changed."));
  return parts;
}

const irOf = (sections) => [...sections].filter(([, all]) => all.length).flatMap(([key, all]) => [el("h4", {}, el("code", {}, key)), lines(all)]);

// A `details` whose content is made when it is opened, and made anew when the search changes.
function folded(attributes, summary, content) {
  const inner = el("div", { class: "inner" });
  const box = el("details", attributes, el("summary", {}, summary), inner);
  const make = () => inner.replaceChildren(...(box.open ? content() : []));
  box.addEventListener("toggle", make);
  return { box, make };
}

function renderPhases() {
  const states = replay();
  const entries = [];
  byId("wrap").addEventListener("change", (event) => byId("phases").classList.toggle("wrapped", event.target.checked));
  const uncompared = data.passes.some((step) => step.compared === false);
  for (const phase of data.phases) {
    const mine = states.filter(({ step }) => step.phase === phase.name);
    const changed = mine.filter(({ step }) => step.added !== undefined);
    const last = mine.findLast(({ step }) => step.added !== undefined || step.ops !== undefined);
    if (!last) continue;
    const group = el("div", { class: "phase", "data-phase": phase.name },
      el("h3", {}, phase.name, " ", el("span", { class: "phase-about" }, `– ${phase.description}`)));
    for (const state of changed) {
      const { step } = state;
      const right = el("span", { class: "right" }, el("span", { class: "plus" }, `+${count(step.added)}`), " ",
        el("span", { class: "minus" }, `−${count(step.removed)}`), ` lines · ${plural(step.ops, "op")} · ${seconds(step.seconds)}`);
      const matches = el("span", { class: "matches" });
      const fold = folded({ class: "pass" }, [el("span", { class: "name" }, step.name), matches, right], () => changeOf(state));
      const text = () => [step.name, ...Object.values(step.sections ?? {}).flat().flatMap(([, , added]) => added), ...removedLines(state)];
      entries.push({ ...fold, matches, text, group });
      group.append(fold.box);
    }
    const quiet = mine.filter(({ step }) => step.pass && step.added === undefined).length;
    if (quiet) {
      const why = mine.some(({ step }) => step.compared === false) ? "not compared: the limit of this report is reached" : "changed nothing";
      group.append(el("p", { class: "about quiet" }, `${plural(quiet, changed.length ? "other pass" : "pass")} ${why}.`));
    }
    const size = sum([...last.after.values()].map((all) => all.length));
    const matches = el("span", { class: "matches" });
    const fold = folded({ class: "ir" }, [el("span", {}, `IR after ${phase.name}`), matches, el("span", { class: "right" }, plural(size, "line"))],
      () => irOf(last.after));
    entries.push({ ...fold, matches, text: () => [...last.after.values()].flat(), group });
    group.append(fold.box);
    byId("phases").append(group);
  }
  if (uncompared) byId("phases").append(el("p", { class: "empty" }, "The program is large, or nested deeply: from some pass on its IR is left out."));
  const box = byId("search");
  let timer;
  box.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => search(entries, box.value.trim().toLowerCase()), 120);
  });
}

function removedLines({ step, before }) {
  const found = [];
  for (const [key, edits] of Object.entries(step.sections ?? {})) {
    for (const [start, removed] of edits) found.push(...(before.get(key) ?? []).slice(start, start + removed));
  }
  for (const key of step.gone ?? []) found.push(...(before.get(key) ?? []));
  return found;
}

function search(entries, text) {
  searched = text;
  let total = 0;
  for (const entry of entries) {
    const found = text ? entry.text().filter((line) => line.toLowerCase().includes(text)).length : 0;
    entry.box.hidden = Boolean(text) && !found;
    entry.matches.textContent = found ? `${plural(found, "match")}` : "";
    total += found ? 1 : 0;
    entry.make();
  }
  for (const group of new Set(entries.map((entry) => entry.group))) {
    group.hidden = Boolean(text) && !entries.some((entry) => entry.group === group && !entry.box.hidden);
    for (const quiet of group.querySelectorAll(".quiet")) quiet.hidden = Boolean(text);
  }
  byId("found").textContent = text ? `found in ${plural(total, "place")}` : "";
}
