/* The search among clients, which the gateway does, and the download of all of them. */
import { showMessage } from "../../../../libraries/ui/client/messages.js";
import { requestFile } from "../../../../libraries/ui/client/request.js";

const DELAY_MS = 200;

let searching;

/** Asks for the page with this search in its address. */
const search = (text) => {
  const query = new URLSearchParams(location.search);
  if (text === "") query.delete("clients");
  else query.set("clients", text);
  history.replaceState(null, "", `?${query}`);
  document.dispatchEvent(new Event("page:changed"));
};

const download = async (link) => {
  try {
    const url = URL.createObjectURL(await requestFile(link.getAttribute("href")));
    const named = document.createElement("a");
    named.href = url;
    named.download = link.download;
    named.click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  } catch (problem) {
    showMessage(problem.message);
  }
};

document.addEventListener("input", ({ target }) => {
  if (target.id !== "find-clients") return;
  clearTimeout(searching);
  searching = setTimeout(() => search(target.value.trim()), DELAY_MS);
});
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-download]");
  if (!link) return;
  event.preventDefault();
  void download(link);
});
