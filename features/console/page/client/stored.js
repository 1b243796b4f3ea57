/* Purges the answers that are stored for an address. */
import { showMessage } from "../../../../libraries/ui/client/messages.js";
import { requestChange } from "../../../../libraries/ui/client/request.js";

const takeOut = async (url) => {
  try {
    await requestChange("/purge", { url });
    showMessage("It is taken out: the next request asks legacy.");
    document.dispatchEvent(new Event("page:changed"));
  } catch (problem) {
    showMessage(problem.message);
  }
};

document.addEventListener("click", ({ target }) => {
  const url = new URLSearchParams(location.search).get("stored");
  if (url && target.closest("[data-purge]")) void takeOut(url);
});
