/* What both dialogs share. */
import { refresh } from "./live.js";

export const toldIn = (dialog, name) => dialog.querySelector(`[data-told="${name}"]`);

export const openDialog = (dialog) => {
  toldIn(dialog, "error").textContent = "";
  dialog.showModal();
};

/** Sends what a dialog says; what is wrong with it is said in the dialog, which stays as it is. */
export const sendFrom = async (dialog, send) => {
  const error = toldIn(dialog, "error");
  if (dialog.ariaBusy === "true") return;
  dialog.ariaBusy = "true";
  error.textContent = "";
  try {
    await send();
    dialog.close();
    void refresh();
  } catch (problem) {
    error.textContent = problem.message;
  } finally {
    dialog.ariaBusy = "false";
  }
};
