// An item as a person sees it: an image, a text, or a row as a card.

import { h } from "./dom.js";
import { colourOf, state } from "./state.js";

export const imageOf = (item, side) => `/api/image/${item.row}?side=${side}`;

export function chip(label, ...more) {
  return h("span", { class: "chip" }, h("span", { class: `dot colour-${colourOf(label)}`, "aria-hidden": "true" }), label, ...more);
}

export function shown(item, size = "large") {
  const content = item.content || {};
  if (state.kind === "images") return picture(item, size);
  if ("text" in content && Object.keys(content).length === 1) return h("div", { class: `text ${size}`, dir: "auto" }, content.text);
  const cells = Object.entries(content).sort(([, a], [, b]) => long(b) - long(a));
  const some = size === "large" ? cells : cells.slice(0, 6);
  return h("dl", { class: `cells ${size}` }, some.map(([name, value]) => [h("dt", {}, name), h("dd", { dir: "auto" }, cell(value))]));
}

const long = (value) => (typeof value === "string" && value.length > 60 ? 1 : 0);

function cell(value) {
  if (value === null || value === "") return h("span", { class: "faint" }, "—");
  if (typeof value === "number" && !Number.isInteger(value)) return String(Number(value.toPrecision(5)));
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function picture(item, size) {
  const image = h("img", { src: imageOf(item, size), alt: item.name, class: size, draggable: "false", decoding: "async" });
  image.addEventListener("load", () => image.classList.toggle("pixels", Math.max(image.naturalWidth, image.naturalHeight) < 100));
  image.addEventListener("error", () => image.replaceWith(h("p", { class: "faint" }, `${item.name} cannot be shown.`)));
  return image;
}

export function card(item, ...more) {
  return h("article", { class: "card", "data-row": String(item.row) }, h("div", { class: "thumb" }, shown(item, "small")), h("p", { class: "name", title: item.name }, item.name), ...more);
}
