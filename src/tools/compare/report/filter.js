/* One filter for the whole page. The address holds it: #endpoint=getDataset&kind=drift */
const form = document.querySelector("form.filters");
const output = form.querySelector("output");
const items = [...document.querySelectorAll("main li[data-endpoint]")];

/** An item without the facet, such as a cause without a form, passes. */
const passes = ({ dataset }, [name, wanted]) => {
  const facet = dataset[name];
  if (wanted === "" || facet === undefined) return true;
  if (name === "text") return facet.toLowerCase().includes(wanted.toLowerCase());
  return facet.split(" ").includes(wanted);
};

const show = () => {
  const wanted = [...new FormData(form)];
  for (const item of items) item.hidden = !wanted.every((one) => passes(item, one));
  for (const section of document.querySelectorAll("main > section")) {
    const all = section.querySelectorAll("li[data-endpoint]").length;
    const hidden = section.querySelectorAll("li[data-endpoint][hidden]").length;
    section.hidden = all > 0 && all === hidden;
    section.querySelector(".count").textContent = hidden > 0 ? `${all - hidden} of ${all}` : `${all}`;
  }
  output.textContent = wanted.some(([, value]) => value !== "") ? "Filtered" : "";
};

const readAddress = () => {
  const view = new URLSearchParams(location.hash.slice(1));
  for (const name of ["endpoint", "kind", "form", "text"]) form.elements[name].value = view.get(name) ?? "";
  show();
};

form.addEventListener("input", () => {
  const wanted = [...new FormData(form)].filter(([, value]) => value !== "");
  history.replaceState(null, "", `#${new URLSearchParams(wanted)}`);
  show();
});
form.addEventListener("reset", () => {
  history.replaceState(null, "", "#");
  setTimeout(show);
});
form.addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", () => {
  readAddress();
  form.scrollIntoView();
});
readAddress();
