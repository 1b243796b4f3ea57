/* The differences that the operator wants to see; the others are hidden, whatever comes. */
const filtersForm = () => document.getElementById("filters");

const isWanted = ({ dataset }, cause, { kind, endpoint, path }) =>
  (kind === "" || dataset.kind === kind) &&
  (endpoint === "" || dataset.endpoint === endpoint) &&
  `${dataset.path}\n${cause}`.toLowerCase().includes(path.trim().toLowerCase());

export const showFiltered = () => {
  const form = filtersForm();
  if (!form) return;
  const wanted = Object.fromEntries(["kind", "endpoint", "path"].map((name) => [name, form.elements[name].value]));
  let shown = 0;
  const all = document.querySelectorAll(".explorer .difference");
  for (const group of document.querySelectorAll(".explorer > .cause-group")) {
    const cause = group.querySelector("h3").textContent;
    const items = [...group.querySelectorAll(".difference")];
    for (const item of items) item.hidden = !isWanted(item, cause, wanted);
    const left = items.filter((item) => !item.hidden).length;
    group.hidden = left === 0;
    shown += left;
  }
  const nothing = wanted.kind === "unexplained" && shown === 0 ? ": nothing is unexplained here" : "";
  const text = `${shown} of ${all.length} differences${nothing}`;
  const output = document.getElementById("filtered");
  if (output.textContent !== text) output.textContent = text;
};

/** What is unexplained at one endpoint, as the table of stages leads to it. */
export const showDifferencesOf = (endpoint) => {
  const form = filtersForm();
  form.elements.kind.value = "unexplained";
  form.elements.endpoint.value = endpoint;
  form.elements.path.value = "";
  showFiltered();
};
