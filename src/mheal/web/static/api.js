// Requests to the server. What changes something goes through a queue: in order, and again until it is saved.

export class Refused extends Error {
  constructor(message, status, code) {
    super(message);
    Object.assign(this, { status, code });
  }
}

let csrf = "";
export const tab = await ownTab();

export async function get(path) {
  return answer(await fetch(path));
}

export async function post(path, body, again = true) {
  const raw = body instanceof Blob;
  const headers = { "x-mheal-csrf": csrf, "content-type": raw ? "application/octet-stream" : "application/json" };
  const response = await fetch(path, { method: "POST", headers, body: raw ? body : JSON.stringify(body) });
  if (response.status === 403 && again && (await response.clone().json()).code === "csrf") {
    await readState(); // the server was started anew
    return post(path, body, false);
  }
  return answer(response);
}

export async function readState() {
  const state = await get("/api/state");
  csrf = state.csrf;
  return state;
}

async function answer(response) {
  const found = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refused(found.error || `The server answers ${response.status}.`, response.status, found.code);
  return found;
}

// Each tab has a name of its own, which it keeps when it is loaded again. A copy of a tab gets another one.
async function ownTab() {
  const name = sessionStorage.getItem("tab") || crypto.getRandomValues(new Uint32Array(4)).join("-");
  const mine = await new Promise((decided) => {
    if (!navigator.locks) return decided(true);
    navigator.locks.request(`mheal-${name}`, { ifAvailable: true }, (lock) => {
      decided(lock !== null);
      return lock && new Promise(() => {}); // held until the tab is closed
    });
  });
  if (mine) {
    sessionStorage.setItem("tab", name);
    return name;
  }
  sessionStorage.removeItem("tab");
  sessionStorage.removeItem("unsaved");
  return ownTab();
}

// What is not saved yet survives a reload: each action has a name, and the server writes it once.
const waiting = JSON.parse(sessionStorage.getItem("unsaved") || "[]");
const listeners = new Map();
let sending = false;
let told = () => {};

export function onSaving(listener) {
  told = listener;
  send();
}

export function act(kind, rows = [], label = null) {
  const request = crypto.getRandomValues(new Uint32Array(4)).join("-");
  const who = localStorage.getItem("who") || "";
  waiting.push({ request, tab, who, kind, rows, label });
  const done = new Promise((resolve, reject) => listeners.set(request, { resolve, reject }));
  done.catch(() => {});
  send();
  return done;
}

export const unsaved = () => waiting.length;

async function send() {
  keep();
  if (sending) return;
  sending = true;
  let pause = 250;
  while (waiting.length) {
    const one = waiting[0];
    told(waiting.length, null);
    let saved = null;
    let wrong = null;
    try {
      saved = await post("/api/act", one);
    } catch (error) {
      wrong = error;
    }
    if (wrong && (!(wrong instanceof Refused) || wrong.status === 507)) {
      told(waiting.length, wrong instanceof Refused ? wrong.message : "The server does not answer.");
      await new Promise((go) => setTimeout(go, pause));
      pause = Math.min(4000, 2 * pause);
      continue;
    }
    waiting.shift();
    keep();
    pause = 250;
    const { resolve, reject } = listeners.get(one.request) || { resolve() {}, reject() {} };
    listeners.delete(one.request);
    if (wrong) reject(wrong);
    else resolve(saved);
    told(waiting.length, null, saved);
  }
  sending = false;
}

function keep() {
  if (waiting.length) sessionStorage.setItem("unsaved", JSON.stringify(waiting));
  else sessionStorage.removeItem("unsaved");
}

// Events from the server. A hidden tab closes its stream, since browsers allow few of them.
export function listen(heard, connected) {
  let source = null;
  const open = () => {
    if (source || document.hidden) return;
    source = new EventSource(`/api/events?tab=${encodeURIComponent(tab)}`);
    source.addEventListener("hello", () => connected(true));
    source.addEventListener("message", (event) => heard(JSON.parse(event.data)));
    source.addEventListener("error", () => {
      connected(false);
      if (source.readyState === EventSource.CLOSED) {
        source = null;
        setTimeout(open, 2000);
      }
    });
  };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      source?.close();
      source = null;
    } else open();
  });
  open();
}
