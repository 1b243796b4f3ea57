/* Filters that combine and count what each choice would show. The address holds them: #endpoint=getDataset&kind=drift,unexplained */
const PAGE = 100;
/* So few differences are shown unfolded. */
const FEW = 3;

const form = document.querySelector("form.filters");
const output = form.querySelector("output");
const more = document.querySelector(".more button");
const heading = document.getElementById("differences-title");
const examples = [...document.querySelectorAll(".exhibit")];
const examplesOutput = document.querySelector("#exhibits output");

const differences = [...document.querySelectorAll(".differences > li")].map((item) => {
  const { endpoint, kind, form: how, path, rules } = item.dataset;
  return { item, endpoint, kind, form: how, path: path.toLowerCase(), rules: JSON.parse(rules) };
});

/** What a difference offers to each filter. */
const offers = {
  endpoint: ({ endpoint }) => [endpoint],
  rule: ({ rules }) => rules,
  kind: ({ kind }) => [kind],
  form: ({ form: how }) => [how],
};

const passes = (name, difference, wanted) =>
  wanted.length === 0 ||
  (name === "path"
    ? difference.path.includes(wanted[0].toLowerCase())
    : offers[name](difference).some((offer) => wanted.includes(offer)));

const names = ["endpoint", "rule", "path", "kind", "form"];
let wanted = {};
let limit = PAGE;
let shown = [];

/** The differences that pass all filters; and how many each choice would show with the other filters unchanged. */
const search = () => {
  const tallies = Object.fromEntries(Object.keys(offers).map((name) => [name, new Map()]));
  const matching = differences.filter((difference) => {
    const against = names.filter((name) => !passes(name, difference, wanted[name]));
    for (const [name, tally] of Object.entries(tallies))
      if (against.every((one) => one === name))
        for (const offer of offers[name](difference)) tally.set(offer, (tally.get(offer) ?? 0) + 1);
    return against.length === 0;
  });
  return { matching, tallies };
};

const number = (count) => count.toLocaleString("en");

const showTallies = (tallies) => {
  for (const control of form.querySelectorAll("[data-filter]")) {
    const tally = tallies[control.dataset.filter];
    if (control.type === "checkbox")
      control.parentElement.querySelector(".tally").textContent = number(tally.get(control.value) ?? 0);
    for (const option of tally && control.options ? [...control.options].slice(1) : [])
      option.textContent = `${option.value} (${number(tally.get(option.value) ?? 0)})`;
  }
};

const showDifferences = (matching) => {
  for (const { item } of shown) item.classList.remove("shown-now");
  shown = matching.slice(0, limit);
  for (const { item } of shown) {
    item.classList.add("shown-now");
    if (matching.length <= FEW) item.querySelector("details").open = true;
  }
  const left = matching.length - shown.length;
  const first = left > 0 ? `, the first ${number(shown.length)} shown` : "";
  output.textContent = `${number(matching.length)} of ${number(differences.length)} differences${first}`;
  more.hidden = left === 0;
  more.textContent = `Show ${number(Math.min(PAGE, left))} more`;
};

const showExamples = () => {
  const matching = examples.filter(({ dataset }) =>
    passes("endpoint", { endpoint: dataset.endpoint }, wanted.endpoint),
  );
  for (const example of examples) example.hidden = !matching.includes(example);
  if (examplesOutput) examplesOutput.textContent = `${number(matching.length)} of ${number(examples.length)} exhibits`;
};

const show = () => {
  const { matching, tallies } = search();
  showTallies(tallies);
  showDifferences(matching);
  showExamples();
  form.querySelector("[type=reset]").disabled = names.every((name) => wanted[name].length === 0);
};

/** `#kind=drift,unexplained` -> the choices. `undefined` for any other address, which is a place in the page. */
const readAddress = () => {
  const view = new URLSearchParams(location.hash.slice(1));
  if (!location.hash.includes("=")) return false;
  for (const name of names) wanted[name] = valuesOf(name, view.get(name) ?? "");
  return true;
};

const valuesOf = (name, text) => (text === "" ? [] : name === "kind" || name === "form" ? text.split(",") : [text]);

const writeAddress = () => {
  const view = new URLSearchParams(
    names.filter((name) => wanted[name].length > 0).map((name) => [name, wanted[name].join(",")]),
  );
  history.replaceState(null, "", `#${view.toString().replaceAll("%2C", ",") || "differences"}`);
};

const writeControls = () => {
  for (const control of document.querySelectorAll("[data-filter]")) {
    const values = wanted[control.dataset.filter];
    if (control.type === "checkbox") control.checked = values.includes(control.value);
    else control.value = values[0] ?? "";
  }
};

const readControl = ({ dataset, type, value }) => {
  const name = dataset.filter;
  if (type !== "checkbox") return value === "" ? [] : [value];
  return [...form.querySelectorAll(`[data-filter=${name}]:checked`)].map((box) => box.value);
};

const goToView = () => {
  if (!readAddress()) return;
  limit = PAGE;
  writeControls();
  show();
  heading.scrollIntoView();
  heading.focus({ preventScroll: true });
};

let waiting;
document.addEventListener("input", ({ target }) => {
  if (!target.dataset.filter) return;
  wanted[target.dataset.filter] = readControl(target);
  limit = PAGE;
  clearTimeout(waiting);
  waiting = setTimeout(
    () => {
      writeAddress();
      writeControls();
      show();
    },
    target.type === "search" ? 120 : 0,
  );
});

form.addEventListener("reset", (event) => {
  event.preventDefault();
  wanted = Object.fromEntries(names.map((name) => [name, []]));
  limit = PAGE;
  writeAddress();
  writeControls();
  show();
  output.focus();
});
form.addEventListener("submit", (event) => event.preventDefault());

more.addEventListener("click", () => {
  const next = shown.length;
  limit += PAGE;
  show();
  const first = shown[next].item;
  first.tabIndex = -1;
  first.focus();
});

for (const link of document.querySelectorAll("[data-view]")) link.hash = link.dataset.view;
addEventListener("hashchange", goToView);
wanted = Object.fromEntries(names.map((name) => [name, []]));
show();
goToView();
