/* The download of all clients. */
import { showMessage } from "../../../../libraries/ui/client/messages.js";
import { requestFile } from "../../../../libraries/ui/client/request.js";

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

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-download]");
  if (!link) return;
  event.preventDefault();
  void download(link);
});
