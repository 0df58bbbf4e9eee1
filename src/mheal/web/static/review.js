// Labels to look at again: those that the model doubts, those on which people differ, and a search.

import { act, get } from "./api.js";
import { h, percent, plural } from "./dom.js";
import { card, chip } from "./item.js";
import { emit, on, onChange, state } from "./state.js";

const LISTS = { doubted: "Doubted", differ: "Disagreements", labelled: "Labelled", skipped: "Skipped", waiting: "Waiting", all: "All items" };
const EMPTY = {
  doubted: "The model doubts no label. It looks from 10 labels of two classes on.",
  differ: "Nobody disagrees. People who enter their names at the top can label the same items: open one under Labelled.",
  labelled: "No item has a label yet.", skipped: "No item is skipped.", waiting: "No pick is waiting.", all: "Nothing found.",
};
let list = "doubted";
let offset = 0;
let asked = 0;
let parts = null;
let section = null;

export function start(place) {
  section = place;
  const tabs = h("div", { class: "segments", role: "group", "aria-label": "Lists" }, Object.entries(LISTS).map(([name, title]) => h("button", { type: "button", "data-list": name, "aria-pressed": String(name === list), onclick: () => choose(name) }, title)));
  parts = {
    tabs,
    search: h("input", { type: "search", id: "search", placeholder: "Search", maxlength: "200" }),
    filter: h("select", { id: "filter", "aria-label": "Class" }),
    count: h("p", { class: "faint", role: "status" }),
    cards: h("div", { class: "cards review" }),
    more: h("button", { type: "button", hidden: true, onclick: () => load(false) }, "Show more"),
  };
  let timer = 0;
  parts.search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => load(true), 200);
  });
  parts.filter.addEventListener("change", () => load(true));
  section.append(h("h1", {}, "Review"), tabs, h("div", { class: "row" }, h("label", { for: "search", class: "hidden" }, "Search"), parts.search, parts.filter), parts.count, parts.cards, parts.more);
  onChange(filter);
  on("model", () => list === "doubted" && load(true));
  filter();
  return { show: () => load(true) };
}

function choose(name) {
  list = name;
  for (const one of parts.tabs.children) one.setAttribute("aria-pressed", String(one.dataset.list === name));
  load(true);
}

function filter() {
  const before = parts.filter.value;
  if (parts.filter.options.length === state.classes.length + 1) return;
  parts.filter.replaceChildren(h("option", { value: "" }, "All classes"), ...state.classes.map((value) => h("option", { value }, value)));
  parts.filter.value = before;
}

async function load(anew) {
  if (section.hidden) return;
  const mine = ++asked;
  if (anew) offset = 0;
  const query = new URLSearchParams({ show: list, q: parts.search.value, offset: String(offset) });
  if (parts.filter.value) query.set("label", parts.filter.value);
  try {
    const found = await get(`/api/list?${query}`);
    if (mine !== asked) return;
    const made = found.items.map(entry);
    if (anew) parts.cards.replaceChildren(...made);
    else parts.cards.append(...made);
    offset += found.items.length;
    parts.count.textContent = found.total ? plural(found.total, "item") : EMPTY[list];
    parts.more.hidden = offset >= found.total;
  } catch (error) {
    parts.count.textContent = error.message;
  }
}

function entry(item) {
  const people = Object.entries(item.labels);
  const choice = h("select", { "aria-label": `Class of ${item.name}` }, h("option", { value: "" }, "no label"), state.classes.map((value) => h("option", { value }, value)));
  choice.value = item.label || "";
  const state_ = h("p", { class: "faint saved-here", role: "status" });
  const give = async (label) => {
    state_.textContent = "Saving …";
    try {
      await act(label ? "label" : "clear", [item.row], label || null);
      choice.value = label;
      state_.textContent = label ? `Saved: ${label}` : "Saved: no label";
    } catch (error) {
      state_.textContent = error.message;
    }
  };
  choice.addEventListener("change", () => give(choice.value));
  const about = [];
  if (item.expected !== undefined) about.push(h("p", {}, "Is ", chip(item.label), ", model expects ", chip(item.expected)), h("p", { class: "faint" }, `It gives ${item.label} a probability of ${percent(item.chance)}.`), h("button", { type: "button", onclick: () => give(item.expected) }, `Change to ${item.expected}`));
  else if (people.length > 1) about.push(h("ul", { class: "votes" }, people.map(([who, label]) => h("li", {}, `${who || "no name"}: `, chip(label)))));
  else if (item.label !== null) about.push(h("p", {}, chip(item.label), people[0]?.[0] ? h("span", { class: "faint" }, ` by ${people[0][0]}`) : null));
  const open = h("button", { type: "button", class: "quiet", onclick: () => emit("open", item.row), "aria-label": `Open ${item.name}` }, "Open");
  return card(item, ...about, h("div", { class: "row" }, choice, open), state_);
}
