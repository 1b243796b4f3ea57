/* The dialog that moves everything to legacy, and the one that undoes it. */
import { openDialog, partOf, sendDialog } from "../../../../ui/client/dialogs.js";
import { showMessage } from "../../../../ui/client/messages.js";
import { operatorName } from "../../../../ui/client/remembered.js";
import { requestChange } from "../../../../ui/client/request.js";
import { despiteOf, showObjections } from "./despite.js";

const readAll = () => {
  const dialog = document.getElementById("all");
  return { dialog, fields: dialog.querySelector("form").elements };
};

const openAll = ({ all, will, moves, objections }, title) => {
  const { dialog, fields } = readAll();
  dialog.querySelector("form").reset();
  dialog.dataset.stage = all;
  partOf(dialog, "title").textContent = title;
  partOf(dialog, "will").textContent = will;
  partOf(dialog, "moves").replaceChildren(
    ...JSON.parse(moves).map((text) => Object.assign(document.createElement("li"), { textContent: text })),
  );
  showObjections(dialog, JSON.parse(objections));
  partOf(dialog, "confirm").textContent = all === "legacy" ? title : "Undo";
  fields.by.value = operatorName.get();
  openDialog(dialog);
  fields.why.focus();
};

const sendAll = () => {
  const { dialog, fields } = readAll();
  const { stage } = dialog.dataset;
  const by = fields.by.value.trim();
  return sendDialog(dialog, async () => {
    await requestChange("/stages", { stage, by, why: fields.why.value.trim(), ...despiteOf(fields) });
    operatorName.set(by);
    showMessage(stage === "legacy" ? "Every endpoint is in legacy." : "The former stages are back.");
  });
};

document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-all]");
  if (button) openAll(button.dataset, button.textContent.trim());
});
document.addEventListener("submit", ({ target }) => {
  if (target.closest("#all")) void sendAll();
});
