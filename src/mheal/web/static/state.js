// What all views know: the totals of the project, and how background tasks get on.

import { readState } from "./api.js";

export const state = { pool: "", kind: "", classes: [], counts: [], labelled: 0, waiting: 0, skipped: 0, budget: 0, jobs: {}, n: null };
const changes = new EventTarget();

export function update(news) {
  for (const name of Object.keys(state)) if (name in news && name !== "jobs") state[name] = news[name];
  if (news.jobs) Object.assign(state.jobs, news.jobs);
  changes.dispatchEvent(new Event("change"));
}

export const reload = async () => update(await readState());
export const onChange = (listener) => changes.addEventListener("change", listener);
export const emit = (name, detail) => changes.dispatchEvent(new CustomEvent(name, { detail }));
export const on = (name, listener) => changes.addEventListener(name, (event) => listener(event.detail));

// Twelve colours that differ in lightness too; further classes use them again.
export const COLOURS = ["#2f6fde", "#e07b00", "#159a62", "#c9344d", "#8a56d8", "#a8741a", "#0f93b5", "#d1549f", "#6d8b00", "#5a6b85", "#e2593a", "#3c4fa0"];
export const colourOf = (label) => Math.max(0, state.classes.indexOf(label)) % COLOURS.length;

// Keys of the classes; u s j k a g and / are taken. A class that is called like a key has that one.
const KEYS = [..."1234567890qwertyiopdfhzxcvbnm"];
let keys = [];
let keyed = "";

function keysOfClasses() {
  const names = state.classes.join("\n");
  if (names === keyed) return keys;
  keyed = names;
  const own = state.classes.map((name) => (KEYS.includes(name.toLowerCase()) ? name.toLowerCase() : ""));
  keys = own.map((key, i) => (own.indexOf(key) === i ? key : ""));
  const free = KEYS.filter((key) => !keys.includes(key));
  keys = keys.map((key) => key || free.shift() || "");
  return keys;
}

export const keyOf = (at) => keysOfClasses()[at];
export const classOf = (key) => (key.length === 1 ? state.classes[keysOfClasses().indexOf(key.toLowerCase())] : undefined);
