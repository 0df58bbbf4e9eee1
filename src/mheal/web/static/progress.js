// How far the labels are, and how accurate a small model of them is.

import { get, post } from "./api.js";
import { h, number, percent, plural, svg, tell } from "./dom.js";
import { colourOf, on, onChange, state, update } from "./state.js";

let parts = null;
let section = null;

export function start(place) {
  section = place;
  parts = { numbers: h("div", { class: "numbers" }), classes: h("table", { class: "bars" }), curve: h("div", { class: "curve" }), advice: h("div", { class: "advice" }), note: h("p", { class: "faint" }) };
  const budget = h("input", { id: "budget", type: "number", min: "1", step: "1", inputmode: "numeric" });
  const change = async (event) => {
    event.preventDefault();
    await post("/api/budget", { budget: Number(budget.value) }).then(update, (error) => tell(error.message));
  };
  const pick = h("button", { type: "button", class: "primary" }, "Pick 50 more");
  pick.addEventListener("click", () =>
    post("/api/pick", { n: 50 }).then(({ started }) => tell(started ? "Picking 50 more items with the labels so far." : "It is picking already."), (error) => tell(error.message)),
  );
  const task = h("p", { class: "faint", role: "status" });
  section.append(
    h("h1", {}, "Progress"),
    parts.numbers,
    h("div", { class: "panels" },
      h("section", { class: "panel" }, h("h2", {}, "Accuracy of a small model"), parts.curve, parts.advice, parts.note),
      h("section", { class: "panel" }, h("h2", {}, "Classes"), parts.classes),
      h("section", { class: "panel" }, h("h2", {}, "Next picks"), h("form", { class: "row", onsubmit: change }, h("label", { for: "budget" }, "Budget"), budget, h("button", { type: "submit" }, "Change")), h("p", { class: "row more" }, pick), task),
    ),
  );
  onChange(() => {
    totals();
    if (document.activeElement !== budget) budget.value = state.budget;
    const job = state.jobs.picks;
    const busy = job && ["waiting", "running"].includes(job.state);
    task.textContent = busy ? `Picking: ${job.what}` : job?.state === "failed" ? job.what : `${plural(state.waiting, "pick")} waiting for a label.`;
  });
  on("plan", plan);
  budget.value = state.budget;
  totals();
  return { show };
}

function show() {
  totals();
  update({});
  plan();
}

function figure(value, name) {
  return h("div", { class: "figure" }, h("strong", {}, value), h("span", {}, name));
}

let now = null;
function totals() {
  const found = state.counts.filter((count) => count > 0).length;
  parts.numbers.replaceChildren(
    figure(`${number(state.labelled)} / ${number(state.budget)}`, "labels of the budget"),
    figure(number(found), "classes found"),
    figure(now ? percent(now.value) : "–", now ? `accuracy, ${percent(now.low)} to ${percent(now.high)}` : "accuracy"),
    figure(number(state.waiting), "picks waiting"),
  );
  const most = Math.max(1, ...state.counts);
  const rows = state.classes.map((name, i) =>
    h("tr", {}, h("th", { scope: "row" }, name), h("td", { class: "meter" }, h("progress", { class: `colour-${colourOf(name)}`, max: most, value: state.counts[i], "aria-label": `${name}: ${state.counts[i]}` })), h("td", { class: "amount" }, number(state.counts[i]))),
  );
  parts.classes.replaceChildren(h("tbody", {}, rows));
}

async function plan() {
  if (section.hidden) return;
  if (state.labelled < 20) {
    parts.note.textContent = `From 20 labels on, cross-validation shows how accurate a model is: ${20 - state.labelled} to go.`;
    return;
  }
  const found = await get("/api/plan").catch(() => null);
  const job = state.jobs.plan;
  parts.note.textContent = job?.state === "failed" ? job.what : "Logistic regression, five-fold cross-validation; the interval holds 80 % of cases. Picked items are harder than most, so each counts for the items near it.";
  if (!found?.now) return;
  now = found.now;
  totals();
  parts.curve.replaceChildren(drawn(found), key());
  const [first, ...others] = found.advice;
  parts.advice.replaceChildren(h("p", { class: found.go_on ? "go" : "stop" }, first), ...others.map((text) => h("p", { class: "faint" }, text)));
}

function drawn({ measured, ahead, now }) {
  const width = 560, height = 270, left = 56, bottom = 34, top = 12, right = 14;
  const last = ahead.at(-1)[0];
  const lowest = Math.min(...measured.map(([, y]) => y), ...ahead.map(([, , y]) => y));
  const step = lowest < 0.6 ? 0.2 : lowest < 0.8 ? 0.1 : 0.05;
  const low = Math.max(0, step * Math.floor(lowest / step + 1e-9));
  const x = (n) => left + ((width - left - right) * n) / last;
  const y = (share) => height - bottom - ((height - bottom - top) * (share - low)) / (1 - low || 1);
  const path = (points) => points.map(([n, share], i) => `${i ? "L" : "M"}${x(n).toFixed(1)} ${y(share).toFixed(1)}`).join("");
  const band = path(ahead.map(([n, , , high]) => [n, high])) + path(ahead.map(([n, , share]) => [n, share]).reverse()).replace("M", "L") + "Z";
  const made = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Learning curve: accuracy ${percent(now.value)} now, expected ${percent(ahead.at(-1)[1])} with ${last} labels` });
  for (let share = 1; share > low - 1e-9; share -= step) {
    made.append(svg("line", { class: "grid", x1: left, x2: width - right, y1: y(share), y2: y(share) }), svg("text", { x: left - 8, y: y(share) + 5, "text-anchor": "end" }, `${Math.round(100 * share)} %`));
  }
  for (const n of [0, last / 2, last].map(Math.round)) made.append(svg("text", { x: x(n), y: height - 10, "text-anchor": n ? (n === last ? "end" : "middle") : "start" }, n === last ? `${number(n)} labels` : number(n)));
  made.append(svg("path", { class: "band", d: band }), svg("path", { class: "expected", d: path(ahead) }), svg("path", { class: "measured", d: path(measured) }));
  for (const [n, share] of measured) made.append(svg("circle", { class: "point", cx: x(n), cy: y(share), r: 3.5 }));
  return made;
}

// What the two lines are.
function key() {
  const line = (name) => svg("svg", { viewBox: "0 0 28 8", width: 28, height: 8, "aria-hidden": "true" }, svg("path", { class: name, d: "M0 4H28" }));
  return h("ul", { class: "legend" }, h("li", {}, line("measured"), "measured, with fewer of the labels"), h("li", {}, line("expected"), "expected, with its interval"));
}
