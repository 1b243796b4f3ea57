/* What both dialogs share. */
export const toldIn = (dialog, name) => dialog.querySelector(`[data-told="${name}"]`);

export const openDialog = (dialog) => {
  toldIn(dialog, "error").textContent = "";
  dialog.showModal();
};

/** Sends what a dialog says; what is wrong with it is said in the dialog, which stays as it is. */
export const sendFrom = async (dialog, send) => {
  const button = dialog.querySelector("[type=submit]");
  const error = toldIn(dialog, "error");
  if (button.disabled) return;
  button.disabled = true;
  error.textContent = "";
  try {
    await send();
    dialog.close();
  } catch (problem) {
    error.textContent = problem.message;
  } finally {
    button.disabled = false;
  }
};
