/* The filter of a page hides the items that it does not select. The address holds it: #endpoint=NAME&kind=drift */
const filterForm = () => document.getElementById("filters");

/** True if an item matches one field of the filter, or does not have the facet of that field. */
const isSelected = ({ dataset }, [name, wanted]) => {
  const facet = dataset[name];
  if (wanted === "" || facet === undefined) return true;
  return name === "text" ? facet.toLowerCase().includes(wanted.toLowerCase()) : facet.split(" ").includes(wanted);
};

const showFiltered = () => {
  const form = filterForm();
  if (!form) return;
  const wanted = [...new FormData(form)];
  const items = [...document.querySelectorAll("li[data-endpoint]")];
  for (const item of items) item.hidden = !wanted.every((facet) => isSelected(item, facet));
  const text = `${items.filter(({ hidden }) => !hidden).length} of ${items.length} shown`;
  const output = form.querySelector("output");
  // A screen reader reads each setting aloud.
  if (output.textContent !== text) output.textContent = text;
};

/** Reads the filter from the address. An address of a place on the page leaves the filter unchanged. */
const readAddress = () => {
  const form = filterForm();
  if (!form || !location.hash.includes("=")) return;
  const wanted = new URLSearchParams(location.hash.slice(1));
  for (const field of form.querySelectorAll("[name]")) field.value = wanted.get(field.name) ?? "";
  form.scrollIntoView();
};

const onChange = () => {
  const wanted = [...new FormData(filterForm())].filter(([, value]) => value !== "");
  history.replaceState(null, "", `#${new URLSearchParams(wanted)}`);
  showFiltered();
};

document.addEventListener("input", ({ target }) => {
  if (filterForm()?.contains(target)) onChange();
});
document.addEventListener("reset", ({ target }) => {
  // The fields have their new values after the event.
  if (target === filterForm()) setTimeout(onChange);
});
document.addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("page:shown", showFiltered);
addEventListener("hashchange", () => {
  readAddress();
  showFiltered();
});
readAddress();
showFiltered();
