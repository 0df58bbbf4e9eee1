// Dialogs of the page Label: which class, and which of the look-alikes.

import { post } from "./api.js";
import { byId, h, openDialog, plural } from "./dom.js";
import { card, chip } from "./item.js";
import { classOf, keyOf, state, update } from "./state.js";

// The name of a class, which is added where it is new; null where the dialog was closed.
export async function typedClass(verb) {
  let chosen = null;
  const input = h("input", { id: "class-name", maxlength: "200", autocomplete: "off", list: "class-names" });
  const names = h("datalist", { id: "class-names" }, state.classes.map((value) => h("option", { value })));
  const wrong = h("p", { class: "wrong", role: "alert" });
  const submit = async (event) => {
    event.preventDefault();
    try {
      const found = await post("/api/classes", { name: input.value });
      update(found);
      chosen = found.name;
      byId("dialog").close();
    } catch (error) {
      wrong.textContent = error.message;
    }
  };
  const closed = openDialog("Type a class", h("form", { onsubmit: submit }, h("label", { for: "class-name" }, "Name of the class"), input, names, wrong, h("p", { class: "row" }, h("button", { class: "primary", type: "submit" }, verb))));
  input.focus();
  await closed;
  return chosen;
}

// The rows and their label, the item's own among them; null where the dialog was closed.
export async function chosenAlike(item) {
  let chosen = null;
  const boxes = item.alike.map((one) => {
    const box = h("input", { type: "checkbox", checked: true, "data-row": String(one.row) });
    return h("label", { class: "pick" }, box, card(one));
  });
  const kept = () => item.alike.filter((one, i) => boxes[i].querySelector("input").checked);
  const count = h("strong", {});
  const tally = () => (count.textContent = plural(kept().length + 1, "item"));
  const grid = h("div", { class: "cards alike", onchange: tally }, boxes);
  const all = (label) => {
    chosen = { label, rows: [item, ...kept()].map((one) => one.row) };
    byId("dialog").close();
  };
  const buttons = state.classes.map((name, i) => h("button", { type: "button", "data-class": name, onclick: () => all(name) }, keyOf(i) && h("kbd", { "aria-hidden": "true" }, keyOf(i)), chip(name)));
  const keys = (event) => {
    const label = event.ctrlKey || event.metaKey || event.altKey ? undefined : classOf(event.key);
    if (label !== undefined && localStorage.getItem("keys") !== "off") event.preventDefault(), all(label);
  };
  tally();
  const body = h("div", { onkeydown: keys }, h("p", {}, "Take out those that differ, then choose the class for ", count, ", this one included."), grid, h("div", { class: "classes" }, buttons));
  const closed = openDialog(`Look-alikes of ${item.name}`, body);
  (buttons[0] || grid).focus();
  await closed;
  return chosen;
}
