// The map: every item a point. Hover shows an item, a lasso takes many.

import { act, get, post } from "./api.js";
import { h, number, plural, say, svg } from "./dom.js";
import { card, chip } from "./item.js";
import { COLOURS, emit, on, onChange, state, update } from "./state.js";
import { isDark, rgb, Scatter } from "./scatter.js";

const SHOWN = 60; // selected items that are shown
const CHOSEN = [255, 196, 0, 255];

let parts = null;
let section = null;
let scatter = null;
let rows = null; // row numbers of the points, where rows of the files were left out
let places = null; // the other way round
let loading = null;
let selected = [];
let taking = null; // corners of the lasso
let tool = "move";
const pointers = new Map();

export function start(place) {
  section = place;
  const canvas = h("canvas", { id: "map-canvas", tabindex: "0", role: "application", "aria-label": "Map of all items. Arrow keys move it, plus and minus zoom, Enter selects the items near the centre." });
  parts = {
    canvas,
    lasso: svg("svg", { class: "lasso", "aria-hidden": "true" }, svg("path")),
    hover: h("div", { class: "hover", hidden: true }),
    told: h("div", { class: "drawing", role: "status" }),
    legend: h("ul", { class: "legend", "aria-label": "Colours" }),
    panel: h("aside", { class: "selection", "aria-label": "Selected items" }),
    move: h("button", { type: "button", "aria-pressed": "true", onclick: () => use("move") }, "Move"),
    take: h("button", { type: "button", "aria-pressed": "false", onclick: () => use("lasso") }, "Lasso"),
  };
  const tools = h("div", { class: "row maptools", role: "group", "aria-label": "Map tools" }, parts.move, parts.take,
    h("button", { type: "button", "aria-label": "Zoom in", onclick: () => scatter?.zoom(1.5) }, "+"),
    h("button", { type: "button", "aria-label": "Zoom out", onclick: () => scatter?.zoom(1 / 1.5) }, "−"),
    h("button", { type: "button", onclick: whole }, "Whole map"));
  section.append(h("div", { class: "mapside" }, h("h1", { class: "hidden" }, "Map"), tools, h("div", { class: "plot" }, canvas, parts.lasso, parts.hover, parts.told), parts.legend), parts.panel);
  canvas.addEventListener("pointerdown", down);
  canvas.addEventListener("pointermove", moved);
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", () => (parts.hover.hidden = true));
  canvas.addEventListener("wheel", wheel, { passive: false });
  canvas.addEventListener("keydown", key);
  on("acts", marks);
  on("picks", marks);
  on("classes", marks);
  on("theme", marks);
  on("job", (job) => job.name === "map" && !scatter && drawing(job));
  onChange(legend);
  legend();
  select([]);
  return { show: load };
}

async function load() {
  if (scatter) return marks().then(() => scatter.draw());
  loading ??= points().finally(() => (loading = null));
  return loading;
}

async function points() {
  const response = await fetch("/api/map");
  if (response.status === 202) return drawing(await response.json());
  if (!response.ok) return told("The map cannot be read.");
  const buffer = await response.arrayBuffer();
  const [n, numbered] = new Uint32Array(buffer, 0, 2);
  const found = new Uint16Array(buffer, 8, 2 * n);
  rows = numbered ? new Uint32Array(buffer.slice(8 + 4 * n)) : null;
  places = rows && new Map(Array.from(rows, (row, i) => [row, i]));
  try {
    scatter = new Scatter(parts.canvas, found);
  } catch (error) {
    return told(error.message);
  }
  told("");
  parts.canvas.dataset.points = String(n);
  await marks();
}

function drawing(job) {
  if (job.state === "failed") return told(job.what);
  if (job.state === "done") return section.hidden || load();
  const bar = h("progress", job.total && job.done ? { max: job.total, value: job.done, "aria-label": "Progress of the map" } : { "aria-label": "Progress of the map" });
  parts.told.replaceChildren(h("p", {}, job.what || "Drawing the map"), bar);
}

function told(text) {
  parts.told.replaceChildren(...(text ? [h("p", {}, text)] : []));
}

const rowOf = (i) => (rows ? rows[i] : i);
const pointOf = (row) => (places ? places.get(row) : row);

async function marks() {
  if (!scatter || section.hidden) return;
  const found = await get("/api/marks").catch(() => null);
  if (!found) return;
  const waiting = isDark() ? [240, 240, 240, 255] : [20, 20, 20, 255];
  const all = [
    ...selected.map((row) => [row, CHOSEN]),
    ...found.waiting.map((row) => [row, waiting]),
    ...found.labels.map(([row, at]) => [row, [...rgb[at % rgb.length], 255]]),
  ].filter(([row]) => pointOf(row) < scatter.n);
  const at = new Uint16Array(2 * all.length), colours = new Uint8Array(4 * all.length);
  all.forEach(([row, colour], i) => {
    at.set(scatter.places.subarray(2 * pointOf(row), 2 * pointOf(row) + 2), 2 * i);
    colours.set(colour, 4 * i);
  });
  scatter.setMarks(at, colours);
}

let legendShown = "";
function legend() {
  const wanted = state.classes.join("\n");
  if (legendShown === wanted && parts.legend.children.length) return;
  legendShown = wanted;
  parts.legend.replaceChildren(h("li", {}, h("span", { class: "dot waiting", "aria-hidden": "true" }), "picked"), ...state.classes.slice(0, 3 * COLOURS.length).map((name) => h("li", {}, chip(name))), h("li", { class: "faint" }, "grey: no label; yellow: selected"));
  if (selected.length) panel();
}

function use(name) {
  tool = name;
  parts.move.setAttribute("aria-pressed", String(name === "move"));
  parts.take.setAttribute("aria-pressed", String(name === "lasso"));
  parts.canvas.classList.toggle("lassoing", name === "lasso");
}

function whole() {
  if (!scatter) return;
  scatter.view = { x: 0.5, y: 0.5, zoom: 1 };
  scatter.draw();
}

const at = (event) => {
  const box = parts.canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
};

function down(event) {
  if (!scatter) return;
  parts.canvas.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, at(event));
  if (pointers.size === 1 && (tool === "lasso" || event.shiftKey)) taking = [at(event)];
  if (pointers.size > 1) taking = null;
  parts.hover.hidden = true;
}

function moved(event) {
  if (!scatter) return;
  const here = at(event), before = pointers.get(event.pointerId);
  if (!before) return hover(here);
  if (taking) {
    taking.push(here);
    parts.lasso.firstChild.setAttribute("d", `M${taking.map((one) => one.map(Math.round).join(" ")).join("L")}Z`);
  } else if (pointers.size === 2) {
    const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
    const far = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
    scatter.zoom(far(here, other) / Math.max(1, far(before, other)), (here[0] + other[0]) / 2, (here[1] + other[1]) / 2);
  } else {
    scatter.move(here[0] - before[0], here[1] - before[1]);
    pointers.moved = true;
  }
  pointers.set(event.pointerId, here);
}

function up(event) {
  if (!pointers.delete(event.pointerId)) return;
  if (taking) {
    const corners = taking;
    taking = null;
    parts.lasso.firstChild.removeAttribute("d");
    if (corners.length > 3) select(scatter.inside(corners).map(rowOf));
  } else if (!pointers.moved && event.type === "pointerup") {
    const [nearest] = scatter.near(...at(event));
    if (nearest !== undefined) select([rowOf(nearest)]);
  }
  if (!pointers.size) pointers.moved = false;
}

function wheel(event) {
  event.preventDefault();
  scatter?.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), ...at(event));
}

function key(event) {
  if (!scatter) return;
  const { clientWidth: width, clientHeight: height } = parts.canvas;
  const does = { ArrowLeft: () => scatter.move(width / 10, 0), ArrowRight: () => scatter.move(-width / 10, 0), ArrowUp: () => scatter.move(0, height / 10), ArrowDown: () => scatter.move(0, -height / 10), "+": () => scatter.zoom(1.3), "=": () => scatter.zoom(1.3), "-": () => scatter.zoom(1 / 1.3), Enter: () => select(scatter.near(width / 2, height / 2, 50, Math.min(width, height) / 5).map(rowOf)) }[event.key];
  if (!does) return;
  event.preventDefault();
  does();
}

let hovering = 0;
let hovered = null;
function hover([x, y]) {
  clearTimeout(hovering);
  hovering = setTimeout(async () => {
    const [nearest] = scatter.near(x, y);
    if (nearest === undefined) return (parts.hover.hidden = true), (hovered = null);
    const row = rowOf(nearest);
    parts.hover.classList.toggle("left", x > parts.canvas.clientWidth / 2);
    if (row === hovered && !parts.hover.hidden) return;
    hovered = row;
    const item = await get(`/api/item/${row}`).catch(() => null);
    if (!item || hovered !== row) return;
    parts.hover.replaceChildren(card(item, item.label === null ? null : chip(item.label)));
    parts.hover.hidden = false;
  }, 60);
}

async function select(found) {
  selected = found;
  marks();
  await panel();
  if (found.length) say(`${plural(found.length, "item")} selected.`);
}

async function panel() {
  if (!selected.length) {
    parts.panel.replaceChildren(h("h2", {}, "Selection"), h("p", { class: "faint" }, "Click a point, or draw a lasso around several: choose Lasso, or hold Shift and drag."));
    return;
  }
  const mine = selected;
  const items = (await Promise.all(mine.slice(0, SHOWN).map((row) => get(`/api/item/${row}`).catch(() => null)))).filter(Boolean);
  if (mine !== selected) return;
  const told = h("p", { role: "status", class: "faint" });
  const all = async (label) => {
    told.textContent = "Saving …";
    try {
      await act("label", mine, label);
      told.textContent = `Saved: ${plural(mine.length, "item")} labelled ${label}. The key u on the page Label undoes it.`;
    } catch (error) {
      told.textContent = error.message;
    }
  };
  const queue = () =>
    post("/api/queue", { rows: mine }).then((found) => {
      update(found);
      told.textContent = `${plural(found.queued, "item")} come next on the page Label.`;
    }, (error) => (told.textContent = error.message));
  const open = mine.length === 1 && h("button", { type: "button", class: "primary", onclick: () => emit("open", mine[0]) }, "Open it");
  parts.panel.replaceChildren(
    h("h2", {}, `${plural(mine.length, "item")} selected`),
    h("p", { class: "row" }, open, h("button", { type: "button", onclick: queue }, "Label them next"), h("button", { type: "button", class: "quiet", onclick: () => select([]) }, "Clear")),
    state.classes.length ? h("div", { role: "group", "aria-label": "Label all" }, h("p", {}, `Or label all ${number(mine.length)} as:`), h("div", { class: "classes small" }, state.classes.map((name) => h("button", { type: "button", "data-class": name, onclick: () => all(name) }, chip(name))))) : null,
    told,
    h("div", { class: "cards" }, items.map((item) => card(item, item.label === null ? null : chip(item.label)))),
    mine.length > items.length ? h("p", { class: "faint" }, `and ${number(mine.length - items.length)} more`) : "",
  );
}
