/* The dialog that moves an endpoint. */
import { openDialog, partOf, sendDialog } from "../../../../ui/client/dialogs.js";
import { setText, showMessage } from "../../../../ui/client/messages.js";
import { operatorName } from "../../../../ui/client/remembered.js";
import { requestChange } from "../../../../ui/client/request.js";
import { despiteOf, givesMoreCallers, showObjections } from "./despite.js";

const readMove = () => {
  const dialog = document.getElementById("move");
  const form = dialog.querySelector("form");
  const { endpoint } = dialog.dataset;
  const row = [...document.querySelectorAll("table.stages tbody tr")].find((one) => one.dataset.endpoint === endpoint);
  return { dialog, form, fields: form.elements, endpoint, now: row?.dataset };
};

/** `canary, 5 % of callers`, as the choices of the dialog say it. */
const formatStage = (stage, share) =>
  document.querySelector(`#move [value=${stage}]`).closest("label").dataset.text.replace("{share}", share);

/** Shows what will happen, after a field has changed or the endpoint has moved meanwhile. */
const showMove = () => {
  const { dialog, form, fields, endpoint, now } = readMove();
  if (!dialog.open || !now) return;
  const stage = fields.stage.value;
  const { will = "", share: meaning = "" } =
    form.querySelector("input[name=stage]:checked")?.closest("label").dataset ?? {};
  const share = stage === "legacy" ? "100" : fields.share.value;
  const isSame = stage === now.stage && (stage === "legacy" || share === now.share);
  partOf(dialog, "now").textContent = formatStage(now.stage, now.share);
  partOf(dialog, "share-row").hidden = meaning === "";
  fields.share.disabled = meaning === "";
  partOf(dialog, "meaning").textContent = `${share || "0"} % ${meaning}`;
  const sentence = will.replaceAll("{endpoint}", () => endpoint).replaceAll("{share}", () => share || "0");
  setText(
    partOf(dialog, "will"),
    isSame ? `${endpoint} is there already.` : `${sentence} Was: ${formatStage(now.stage, now.share)}.`,
  );
  const isAgainst = now.against !== undefined && givesMoreCallers(now, { stage, share });
  showObjections(dialog, isAgainst ? [`${endpoint}: ${now.against}`] : []);
  const confirm = partOf(dialog, "confirm");
  confirm.textContent = `Move to ${formatStage(stage, share)}`;
  confirm.disabled = isSame;
};

/** `to`: the stage and share that are chosen at first; default: the present ones. */
const openMove = (endpoint, to) => {
  document.getElementById("move").dataset.endpoint = endpoint;
  const { dialog, form, fields, now } = readMove();
  if (!now) return;
  form.reset();
  const { stage, share } = to ?? now;
  fields.stage.value = stage;
  fields.share.value = share;
  fields.range.value = share;
  fields.by.value = operatorName.get();
  partOf(dialog, "endpoint").textContent = endpoint;
  openDialog(dialog);
  showMove();
  form.querySelector("input[name=stage]:checked").focus();
};

/** The slider and the number show the same share. A chosen stage brings its default share, the present stage its present share. */
const changeMove = (target) => {
  const { fields, now } = readMove();
  if (target.name === "range") fields.share.value = target.value;
  if (target.name === "stage" && now)
    fields.share.value = target.value === now.stage ? now.share : target.value === "canary" ? 5 : 100;
  fields.range.value = fields.share.value;
  showMove();
};

const sendMove = () => {
  const { dialog, fields, endpoint } = readMove();
  const stage = fields.stage.value;
  const share = stage === "legacy" ? 100 : Number(fields.share.value);
  const by = fields.by.value.trim();
  return sendDialog(dialog, async () => {
    const move = { stage, share, by, why: fields.why.value.trim(), ...despiteOf(fields) };
    await requestChange(`/stages/${encodeURIComponent(endpoint)}`, move);
    operatorName.set(by);
    showMessage(`${endpoint} is in ${formatStage(stage, share)}.`);
  });
};

document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-move]");
  if (button) openMove(button.dataset.move);
  const next = target.closest("[data-next]");
  if (next) openMove(next.dataset.next, next.dataset);
});
document.addEventListener("input", ({ target }) => {
  if (target.closest("#move")) changeMove(target);
});
document.addEventListener("submit", ({ target }) => {
  if (target.closest("#move")) void sendMove();
});
document.addEventListener("page:shown", showMove);
