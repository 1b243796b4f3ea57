/* Shows the differences that the filters select, and hides the others. */
import { setText } from "../../../../ui/client/messages.js";

const filtersForm = () => document.getElementById("filters");

const isSelected = ({ dataset }, cause, { kind, endpoint, path }) =>
  (kind === "" || dataset.kind === kind) &&
  (endpoint === "" || dataset.endpoint === endpoint) &&
  `${dataset.path}\n${cause}`.toLowerCase().includes(path.trim().toLowerCase());

const showFiltered = () => {
  const form = filtersForm();
  if (!form) return;
  const filters = Object.fromEntries(["kind", "endpoint", "path"].map((name) => [name, form.elements[name].value]));
  let shown = 0;
  const all = document.querySelectorAll(".explorer .difference");
  for (const group of document.querySelectorAll(".explorer > .cause-group")) {
    const cause = group.querySelector("h3").textContent;
    const items = [...group.querySelectorAll(".difference")];
    for (const item of items) item.hidden = !isSelected(item, cause, filters);
    const left = items.filter((item) => !item.hidden).length;
    group.hidden = left === 0;
    shown += left;
  }
  const clear = filters.kind === "unexplained" && shown === 0 ? ": nothing is unexplained here" : "";
  setText(document.getElementById("filtered"), `${shown} of ${all.length} differences${clear}`);
};

/** Selects the unexplained differences of one endpoint, as links in the table of stages do. */
const showUnexplainedOf = (endpoint) => {
  const form = filtersForm();
  form.elements.kind.value = "unexplained";
  form.elements.endpoint.value = endpoint;
  form.elements.path.value = "";
  showFiltered();
};

document.addEventListener("click", ({ target }) => {
  const link = target.closest("[data-see]");
  if (link) showUnexplainedOf(link.dataset.see);
});
document.addEventListener("input", ({ target }) => {
  if (target.closest("#filters")) showFiltered();
});
document.addEventListener("page:shown", showFiltered);
