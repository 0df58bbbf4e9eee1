// Labels as files, and back.

import { post, tab } from "./api.js";
import { h, plural, say } from "./dom.js";
import { reload } from "./state.js";

const FORMS = [["csv", "CSV", "for spreadsheets and mheal select --labeled"], ["jsonl", "JSON Lines", "one JSON object per line"], ["parquet", "Parquet", "keeps the types of all columns"], ["label-studio", "Label Studio JSON", "tasks with annotations"]];

export function start(section) {
  const formulas = h("input", { type: "checkbox", id: "formulas" });
  const links = FORMS.map(([form, name, what]) => h("li", {}, h("a", { class: "button", href: `/api/export/${form}`, download: "", "data-form": form }, name), h("span", { class: "faint" }, what)));
  formulas.addEventListener("change", () => (links[0].firstChild.href = `/api/export/csv${formulas.checked ? "?spreadsheet=1" : ""}`));
  const file = h("input", { type: "file", id: "file", accept: ".csv,.tsv,.jsonl,.parquet,.json,.xlsx" });
  const told = h("p", { role: "status" });
  const load = async (event) => {
    event.preventDefault();
    if (!file.files.length) return;
    told.textContent = "Importing …";
    const request = crypto.getRandomValues(new Uint32Array(4)).join("-");
    const query = new URLSearchParams({ name: file.files[0].name, tab, request });
    try {
      const { imported, notes } = await post(`/api/import?${query}`, file.files[0]);
      told.textContent = [`${plural(imported, "label")} imported; u on the page Label undoes it.`, ...notes].join(" ");
      reload();
    } catch (error) {
      told.textContent = error.message;
      say(error.message);
    }
  };
  section.append(
    h("h1", {}, "Export and import"),
    h("section", { class: "panel" }, h("h2", {}, "Export the labels"), h("ul", { class: "plain forms" }, links), h("label", { class: "line" }, formulas, " In CSV, put ' before text that a spreadsheet would run as a formula")),
    h("section", { class: "panel" }, h("h2", {}, "Import labels"), h("p", {}, "A table with the columns id or row, and label; or an export of Label Studio."), h("form", { class: "row", onsubmit: load }, h("label", { for: "file", class: "hidden" }, "File of labels"), file, h("button", { type: "submit" }, "Import")), told),
  );
  return {};
}
