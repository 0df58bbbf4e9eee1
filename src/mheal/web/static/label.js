// One item at a time: its content, why it was picked, the classes with their keys.

import { act, get, post, tab, unsaved } from "./api.js";
import { chosenAlike, typedClass } from "./ask.js";
import { h, number, percent, plural, say, tell } from "./dom.js";
import { card, chip, imageOf, shown } from "./item.js";
import { classOf, keyOf, on, onChange, state, update } from "./state.js";

const AHEAD = 12; // items that are there already
const FEW = 8; // of these, below which more are fetched
const trail = []; // items that were shown, and those that come next
let at = 0;
let parts = null;
let asking = null;
let again = false; // ask once more after the answer
let classesShown = "";
const contexts = new Map();
const preloaded = new Map();

export function start(section) {
  parts = {
    title: h("h1", { id: "item-title", tabindex: "-1" }, "Reading the pool …"),
    item: h("div", { class: "item" }),
    why: h("p", { class: "why" }),
    guess: h("div", { class: "guess", hidden: true }),
    classes: h("div", { class: "classes", role: "group", "aria-label": "Classes" }),
    actions: h("div", { class: "actions" }),
    near: h("div", {}),
    alike: h("div", {}),
  };
  parts.actions.append(
    button("Previous", "k", () => move(-1)),
    button("Skip", "s", skip),
    button("Undo", "u", undo),
    button("Next", "j", () => move(1)),
  );
  const task = h("div", { class: "task" }, parts.guess, parts.classes, parts.actions);
  section.append(
    h("div", { class: "stage" }, h("header", {}, parts.title), parts.item, parts.why),
    task,
    h("aside", { class: "beside", "aria-label": "About this item" }, parts.alike, parts.near),
  );
  document.addEventListener("keydown", (event) => section.hidden || key(event));
  onChange(classes);
  on("picks", () => fill());
  on("again", () => fill(true)); // other tabs may hold the items by now
  on("job", () => current() || draw());
  on("model", () => contexts.clear());
  on("acts", ({ acts }) => acts.forEach(seen));
  classes();
  fill();
  return { show: () => fill(), open };
}

// Open an item that was found elsewhere.
export async function open(row) {
  const item = await get(`/api/item/${row}`);
  const there = trail.findIndex((one) => one.row === row);
  if (there >= 0) trail.splice(there, 1, item);
  else trail.splice(at, 0, item);
  at = there >= 0 ? there : at;
  draw(true);
}

function button(text, name, onclick) {
  return h("button", { type: "button", onclick, "aria-keyshortcuts": name }, text, " ", h("kbd", { "aria-hidden": "true" }, name));
}

const current = () => trail[at];
const done = (item) => item.label !== null || item.skipped;

// Get items, so that there are always some ahead.
async function fill(anew = false) {
  if (asking) {
    again = true;
    return asking;
  }
  const ahead = trail.slice(at).filter((item) => !done(item));
  if (!anew && ahead.length >= FEW) return;
  // What is not saved yet is, to the server, still to be labelled.
  asking = post("/api/next", { tab, hold: ahead.map((item) => item.row), want: Math.min(50, AHEAD + unsaved()) })
    .then((found) => {
      const held = new Set(found.items.map((item) => item.row));
      for (let i = trail.length - 1; i > at; i--) if (!done(trail[i]) && !held.has(trail[i].row)) trail.splice(i, 1);
      for (const item of found.items) {
        const known = trail.findIndex((one) => one.row === item.row);
        if (known < 0) trail.push(item);
        else if (known < at && !done(trail[known])) trail.push(...trail.splice(known, 1)), at--;
      }
      update(found);
      trail.slice(at, at + AHEAD).forEach(preload);
      draw();
    })
    .catch((error) => error.status && tell(error.message))
    .finally(() => {
      asking = null;
      if (again) fill();
      again = false;
      if (!current()) draw();
    });
  return asking;
}

function preload(item) {
  if (state.kind !== "images" || preloaded.has(item.row)) return;
  const image = new Image();
  image.src = imageOf(item, "large");
  preloaded.set(item.row, image);
  if (preloaded.size > 40) preloaded.delete(preloaded.keys().next().value);
}

function draw(focus = false) {
  const item = current();
  parts.actions.hidden = !item && !trail.length;
  parts.guess.hidden = true;
  if (!item) return empty();
  if (parts.item.dataset.row !== String(item.row)) {
    parts.item.replaceChildren(shown(item));
    parts.item.dataset.row = String(item.row);
    parts.near.replaceChildren();
    parts.alike.replaceChildren();
  }
  parts.title.replaceChildren(item.name, ...(item.label !== null ? [" ", chip(item.label)] : item.skipped ? [" ", h("span", { class: "chip" }, "skipped")] : []));
  parts.why.textContent = item.reason ? `Why this one? ${item.reason}` : "";
  classes();
  for (const one of parts.classes.querySelectorAll("button[data-class]")) one.setAttribute("aria-pressed", String(one.dataset.class === item.label));
  if (focus) parts.title.focus({ preventScroll: true });
  about(item);
}

function empty() {
  const { pool, picks } = state.jobs;
  const busy = [pool, picks].find((job) => job && ["waiting", "running"].includes(job.state));
  parts.item.dataset.row = "";
  parts.why.textContent = "";
  parts.near.replaceChildren();
  parts.alike.replaceChildren();
  if (busy) {
    parts.title.textContent = busy === pool ? "Reading the pool …" : "Picking the next items …";
    parts.item.replaceChildren(h("p", { class: "faint" }, busy.what || ""), h("progress", busy.total ? { max: busy.total, value: busy.done, "aria-label": "Progress" } : { "aria-label": "Progress" }));
  } else if (asking) {
    parts.title.textContent = "Getting the next items …";
    parts.item.replaceChildren();
  } else {
    parts.title.textContent = state.labelled >= state.budget ? `All ${plural(state.budget, "label")} are given` : "No item is waiting";
    const more = h("button", { type: "button", class: "primary", onclick: () => post("/api/pick", { n: 50 }).catch((error) => tell(error.message)) }, "Pick 50 more");
    parts.item.replaceChildren(h("p", {}, "Another tab may hold the last items. See how accurate a model of the labels is, or go on."), h("p", { class: "row" }, more, h("a", { class: "button", href: "#progress" }, "Progress"), h("a", { class: "button", href: "#export" }, "Export")));
  }
}

// What helps to label an item. One request after the other, and none for items that were passed meanwhile, so that fast
// labelling does not wait for them.
let last = Promise.resolve();
function context(item) {
  if (!contexts.has(item.row)) {
    const wanted = () => item === current() || (!done(item) && trail.indexOf(item) > at);
    last = last.then(() => (wanted() ? get(`/api/context/${item.row}`) : contexts.delete(item.row) && null)).catch(() => null);
    contexts.set(item.row, last);
    if (contexts.size > 30) contexts.delete(contexts.keys().next().value);
  }
  return contexts.get(item.row);
}

async function about(item) {
  const found = await context(item);
  if (!found?.ready) contexts.delete(item.row);
  if (!found || current() !== item) return;
  item.guess = found.guess;
  item.alike = found.alike;
  if (found.guess && item.label === null) {
    const [label, chance] = found.guess;
    parts.guess.hidden = false;
    parts.guess.replaceChildren("The model expects ", chip(label), ` (${percent(chance)}). `, button("Agree", "Enter", agree));
  }
  parts.near.replaceChildren(...(found.neighbours.length ? [h("h2", {}, "Nearest labelled"), h("div", { class: "cards" }, found.neighbours.map((one) => card(one, chip(one.label))))] : []));
  parts.alike.replaceChildren(...(found.alike.length && item.label === null ? [h("h2", {}, "Look-alikes"), h("div", { class: "strip" }, found.alike.slice(0, 4).map((one) => shown(one, "small"))), button(`Look at ${plural(found.alike.length, "look-alike")}`, "a", alike)] : []));
  const following = trail.slice(at + 1).find((one) => !done(one));
  if (following) context(following);
}

function classes() {
  const names = state.classes.join("\n") + state.counts.join();
  if (!parts || names === classesShown) return;
  classesShown = names;
  const made = state.classes.map((name, i) =>
    h("button", { type: "button", "data-class": name, "aria-pressed": String(current()?.label === name), "aria-keyshortcuts": keyOf(i) || null, onclick: (event) => give(name, event.detail > 0) },
      keyOf(i) && h("kbd", { "aria-hidden": "true" }, keyOf(i)), chip(name), h("span", { class: "count", "aria-label": `${state.counts[i]} labels` }, number(state.counts[i]))),
  );
  parts.classes.replaceChildren(...made, h("button", { type: "button", class: "new", onclick: typed, "aria-keyshortcuts": "/" }, h("kbd", { "aria-hidden": "true" }, "/"), state.classes.length ? "Other class" : "Add the first class"));
}

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || localStorage.getItem("keys") === "off") return;
  if (event.target.closest("input, textarea, select, dialog")) return;
  const name = event.key.toLowerCase();
  if (name === "enter" && event.target.closest("button, a")) return;
  const does = { u: undo, s: skip, j: () => move(1), k: () => move(-1), a: alike, g: agree, enter: agree, "/": typed, arrowright: () => move(1), arrowleft: () => move(-1) }[name];
  const chosen = classOf(name);
  if (!does && chosen === undefined) return;
  event.preventDefault();
  if (does) does();
  else give(chosen);
}

function give(label, focus = false) {
  const item = current();
  if (!item) return;
  const before = item.label;
  item.label = label;
  item.skipped = false;
  advance(`${item.name}: ${label}.`, focus);
  act("label", [item.row], label).then(() => fill(), (error) => {
    item.label = before;
    tell(error.message);
    draw();
  });
}

function skip() {
  const item = current();
  if (!item || item.label !== null) return;
  item.skipped = true;
  advance(`${item.name} skipped.`);
  act("skip", [item.row]).then(() => fill(), (error) => tell(error.message));
}

const agree = () => current()?.guess && current().label === null && give(current().guess[0]);

function advance(text, focus = false) {
  contexts.delete(current().row);
  at = Math.min(at + 1, trail.length);
  while (at < trail.length && done(trail[at])) at++;
  draw(focus);
  const item = current();
  say(`${text} ${item ? `Next: ${item.content?.text?.slice(0, 200) || item.name}` : "No further item is there."}`);
  fill();
}

async function undo() {
  try {
    const { rows } = await act("undo");
    if (!rows.length) return;
    const [row, label, skipped] = rows[0];
    for (const [one, l, s] of rows) Object.assign(trail.find((item) => item.row === one) || {}, { label: l, skipped: s });
    let there = trail.findIndex((item) => item.row === row);
    if (there < 0) {
      trail.splice(at, 0, await get(`/api/item/${row}`));
      there = at;
    }
    at = there;
    Object.assign(trail[at], { label, skipped });
    contexts.delete(row);
    draw();
    say(`Undone. ${trail[at].name} ${label === null ? "has no label" : `is ${label}`} again.`);
    fill();
  } catch (error) {
    tell(error.message);
  }
}

function move(by) {
  const to = at + by;
  if (to < 0 || to >= trail.length) return tell(to < 0 ? "This is the first item." : "No further item is there.");
  at = to;
  draw();
  say(`${current().name}${current().label === null ? "" : `, ${current().label}`}`);
  if (by > 0) fill();
}

// What another tab did.
function seen(event) {
  for (const [row, label, skipped] of event.rows) {
    const item = trail.find((one) => one.row === row);
    if (!item || event.tab === tab) continue;
    Object.assign(item, { label, skipped });
    if (item === current()) draw();
  }
}

// A class by its name: one that is there, or a new one.
async function typed() {
  const name = await typedClass(current() ? "Label with it" : "Add it");
  if (name && current()) give(name);
}

// All look-alikes at once, after looking at them.
async function alike() {
  const item = current();
  if (!item?.alike?.length || item.label !== null) return;
  const chosen = await chosenAlike(item);
  if (!chosen) return;
  const { label, rows } = chosen;
  for (const one of trail) if (rows.includes(one.row)) one.label = label;
  act("label", rows, label).then(
    () => tell(`${plural(rows.length, "item")} labelled ${label}.`) || fill(),
    (error) => tell(error.message),
  );
  advance(`${plural(rows.length, "item")}: ${label}.`);
}
