// Elements without markup: whatever a pool holds is text, never HTML.

export function h(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name in made && typeof value !== "string") made[name] = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false));
  return made;
}

export function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export const byId = (id) => document.getElementById(id);
export const number = (value) => value.toLocaleString("en");
export const plural = (n, word) => `${number(n)} ${word}${n === 1 ? "" : "s"}`;
export const percent = (share) => `${(100 * share).toFixed(1)} %`;

let said = 0;
export function say(text) {
  // A screen reader repeats the same text only if it changes.
  byId("live").textContent = said++ % 2 ? text : `${text}\u00a0`;
}

// The same for everybody: a line at the bottom that goes away by itself.
let leaving = 0;
export function tell(text) {
  say(text);
  byId("toast").textContent = text;
  byId("toast").hidden = false;
  clearTimeout(leaving);
  leaving = setTimeout(() => (byId("toast").hidden = true), 5000);
}

// A dialog with a title; the promise ends when it is closed.
export function openDialog(title, ...content) {
  const dialog = byId("dialog");
  const close = h("button", { type: "button", class: "quiet close", "aria-label": "Close", onclick: () => dialog.close() }, "✕");
  dialog.replaceChildren(h("header", {}, h("h2", { id: "dialog-title" }, title), close), ...content);
  dialog.showModal();
  return new Promise((closed) => dialog.addEventListener("close", () => closed(dialog.returnValue), { once: true }));
}
