// The page: one view at a time, what it says about saving, and the theme.

import { listen, onSaving, unsaved } from "./api.js";
import { byId, h, number, openDialog, plural } from "./dom.js";
import { emit, on, onChange, reload, state, update } from "./state.js";

const VIEWS = ["label", "map", "progress", "review", "export"];
const open = new Map();

function started(name) {
  if (!open.has(name)) open.set(name, import(`/static/${name}.js`).then((module) => module.start(byId(`view-${name}`))));
  return open.get(name);
}

async function show() {
  const name = VIEWS.includes(location.hash.slice(1)) ? location.hash.slice(1) : "label";
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  for (const view of VIEWS) byId(`view-${view}`).hidden = view !== name;
  const view = await started(name);
  document.title = `${name[0].toUpperCase()}${name.slice(1)} · ${state.pool} · mheal`;
  if (!byId(`view-${name}`).hidden) view.show?.();
}

function totals() {
  byId("pool").textContent = state.pool;
  document.body.dataset.kind = state.kind;
  byId("bar").max = Math.max(state.budget, 1);
  byId("bar").value = Math.min(state.labelled, state.budget);
  byId("totals").textContent = `${number(state.labelled)} of ${plural(state.budget, "label")}${state.skipped ? ` · ${number(state.skipped)} skipped` : ""}`;
  const { pool, picks } = state.jobs;
  const failed = Object.values(state.jobs).find((job) => job.state === "failed" && (job === pool || job === picks));
  if (failed) banner(failed.what);
}

function banner(text) {
  byId("banner").textContent = text || "";
  byId("banner").hidden = !text;
}

function saving(waiting, problem, saved) {
  const place = byId("saved");
  place.textContent = waiting ? (waiting > 1 ? `Saving ${waiting} …` : "Saving …") : "Saved ✓";
  place.classList.toggle("busy", waiting > 0);
  if (problem) banner(`Not saved yet: ${problem} The page keeps trying.`);
  else if (saved) banner("");
  if (saved) update(saved);
}

function heard(event) {
  if (event.type === "job") update({ jobs: { [event.name]: event } });
  else update(event);
  emit(event.type, event);
}

function theme(wanted) {
  const dark = wanted ? wanted === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = wanted || "";
  byId("theme").setAttribute("aria-pressed", String(dark));
  emit("theme");
}

function help() {
  const keys = [["1 … 9, 0, q, w …", "give the class with that key"], ["Enter or g", "agree with the model’s guess"], ["u", "undo"], ["s", "skip"], ["j, k", "next, previous"], ["a", "look-alikes"], ["/", "type a class, or a new one"], ["?", "this help"]];
  const single = h("input", { type: "checkbox", checked: localStorage.getItem("keys") !== "off" });
  single.addEventListener("change", () => localStorage.setItem("keys", single.checked ? "on" : "off"));
  openDialog(
    "Keys and help",
    h("dl", { class: "keys" }, keys.map(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])),
    h("label", { class: "line" }, single, " React to single keys"),
    h("p", {}, "On the map: drag to move, wheel to zoom, Shift and drag for a lasso. With the keyboard: arrows, + and −, Enter selects what is near the centre."),
    h("p", { class: "faint" }, "Everything stays on this machine, in one file beside the pool."),
  );
}

const who = byId("who");
who.value = localStorage.getItem("who") || "";
who.addEventListener("change", () => localStorage.setItem("who", who.value.trim()));
byId("help").addEventListener("click", help);
byId("theme").addEventListener("click", () => {
  const next = byId("theme").getAttribute("aria-pressed") === "true" ? "light" : "dark";
  localStorage.setItem("theme", next);
  theme(next);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => theme(localStorage.getItem("theme")));
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, dialog");
  if (event.key === "?" && !typing && localStorage.getItem("keys") !== "off") help();
});
addEventListener("hashchange", show);
addEventListener("beforeunload", (event) => unsaved() && event.preventDefault());
onChange(totals);
on("open", async (row) => {
  location.hash = "#label";
  await show();
  (await started("label")).open(row).catch((error) => banner(error.message));
});
theme(localStorage.getItem("theme"));
await reload().catch((error) => banner(error.message));
onSaving(saving);
byId("saved").textContent = "";
listen(heard, (connected) => {
  if (connected) reload().then(() => emit("again")); // what happened before the stream began
  if (connected) banner("");
  else banner("The server does not answer. Labels wait in this tab until it is back.");
});
show();
