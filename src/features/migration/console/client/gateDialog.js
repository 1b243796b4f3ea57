/* The dialog that pauses, changes or removes a gate. */
import { openDialog, partOf, sendDialog } from "../../../../ui/client/dialogs.js";
import { showMessage } from "../../../../ui/client/messages.js";
import { operatorName } from "../../../../ui/client/remembered.js";
import { requestChange } from "../../../../ui/client/request.js";

const readGate = () => {
  const dialog = document.getElementById("gate");
  const form = dialog.querySelector("form");
  return { dialog, form, fields: form.elements };
};

const boundsOf = (form) => [...form.querySelectorAll("[data-scale]")];

/** The conditions count for a gate that there is. */
const showGateState = () => {
  const { dialog, form, fields } = readGate();
  const isNone = fields.state.value === "none";
  partOf(dialog, "bounds").hidden = isNone;
  for (const field of boundsOf(form)) field.disabled = isNone;
};

const openGate = (endpoint, gate) => {
  const { dialog, form, fields } = readGate();
  form.reset();
  dialog.dataset.endpoint = endpoint;
  partOf(dialog, "endpoint").textContent = endpoint;
  const bounds = gate ?? JSON.parse(partOf(dialog, "bounds").dataset.default);
  for (const field of boundsOf(form))
    field.value = String(Number((bounds[field.name] * Number(field.dataset.scale)).toFixed(6)));
  fields.state.value = gate === null ? "none" : gate.paused ? "paused" : "acts";
  fields.by.value = operatorName.get();
  openDialog(dialog);
  showGateState();
  form.querySelector("input[name=state]:checked").focus();
};

const sendGate = () => {
  const { dialog, form, fields } = readGate();
  const { endpoint } = dialog.dataset;
  const state = fields.state.value;
  const bounds = boundsOf(form).map((field) => [
    field.name,
    Number((Number(field.value) / Number(field.dataset.scale)).toFixed(8)),
  ]);
  const paused = state === "paused" ? { paused: true } : {};
  const gate = state === "none" ? null : { ...Object.fromEntries(bounds), ...paused };
  const by = fields.by.value.trim();
  return sendDialog(dialog, async () => {
    await requestChange(`/stages/${encodeURIComponent(endpoint)}/gate`, { gate, by, why: fields.why.value.trim() });
    operatorName.set(by);
    showMessage(
      gate === null
        ? `${endpoint} has no gate now.`
        : `The gate of ${endpoint} ${state === "paused" ? "is paused" : "acts"}.`,
    );
  });
};

document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-gate]");
  if (button) openGate(button.dataset.gate, JSON.parse(button.dataset.bounds));
});
document.addEventListener("input", ({ target }) => {
  if (target.closest("#gate [name=state]")) showGateState();
});
document.addEventListener("submit", ({ target }) => {
  if (target.closest("#gate")) void sendGate();
});
