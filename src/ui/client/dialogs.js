/* What all dialogs share. A dialog names its parts by `data-part`. */

/** A named part of a dialog. */
export const partOf = (dialog, name) => dialog.querySelector(`[data-part="${name}"]`);

/** Opens a dialog without the error of its last use. */
export const openDialog = (dialog) => {
  partOf(dialog, "error").textContent = "";
  dialog.showModal();
};

/** Sends a dialog, closes it and has the page refreshed. An error is shown in the dialog, which stays open. */
export const sendDialog = async (dialog, send) => {
  const error = partOf(dialog, "error");
  if (dialog.ariaBusy === "true") return;
  dialog.ariaBusy = "true";
  error.textContent = "";
  try {
    await send();
    dialog.close();
    document.dispatchEvent(new Event("page:changed"));
  } catch (problem) {
    error.textContent = problem.message;
  } finally {
    dialog.ariaBusy = "false";
  }
};

document.addEventListener("click", ({ target }) => {
  if (target.closest("[data-close]")) target.closest("dialog").close();
});
