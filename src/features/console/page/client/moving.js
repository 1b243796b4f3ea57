/* The dialog that moves an endpoint. */
import { askChange } from "./asking.js";
import { openDialog, sendFrom, toldIn } from "./dialogs.js";
import { operatorName } from "./remembered.js";
import { tell } from "./telling.js";

const moveOf = () => {
  const dialog = document.getElementById("move");
  const form = dialog.querySelector("form");
  const { endpoint } = dialog.dataset;
  const row = [...document.querySelectorAll("table.stages tbody tr")].find((one) => one.dataset.endpoint === endpoint);
  return { dialog, form, fields: form.elements, endpoint, now: row?.dataset };
};

const stageWords = (stage, share) => (stage === "legacy" ? stage : `${stage}, ${share} %`);

/** What will happen, in words; told anew whenever a field changes, or the endpoint has moved meanwhile. */
export const showMove = () => {
  const { dialog, form, fields, endpoint, now } = moveOf();
  if (!dialog.open || !now) return;
  const stage = fields.stage.value;
  const { will = "", share: meaning = "" } =
    form.querySelector("input[name=stage]:checked")?.closest("label").dataset ?? {};
  const share = stage === "legacy" ? "100" : fields.share.value;
  const isSame = stage === now.stage && (stage === "legacy" || share === now.share);
  toldIn(dialog, "now").textContent = stageWords(now.stage, now.share);
  toldIn(dialog, "share-row").hidden = meaning === "";
  fields.share.disabled = meaning === "";
  toldIn(dialog, "meaning").textContent = `${share || "0"} % ${meaning}`;
  const sentence = will.replaceAll("{endpoint}", () => endpoint).replaceAll("{share}", () => share || "0");
  const text = isSame ? `${endpoint} is there already.` : `${sentence} Was: ${stageWords(now.stage, now.share)}.`;
  const told = toldIn(dialog, "will");
  if (told.textContent !== text) told.textContent = text;
  const confirm = toldIn(dialog, "confirm");
  confirm.textContent = `Move to ${stageWords(stage, share)}`;
  confirm.disabled = isSame;
};

/** A stage begins with its usual share; the one that is in force with its own. */
const shareAt = (stage, now) => (stage === now.stage ? now.share : stage === "canary" ? 5 : 100);

export const openMove = (endpoint) => {
  const dialog = document.getElementById("move");
  dialog.dataset.endpoint = endpoint;
  const { form, fields, now } = moveOf();
  if (!now) return;
  form.reset();
  fields.stage.value = now.stage;
  fields.share.value = now.share;
  fields.range.value = now.share;
  fields.by.value = operatorName.get();
  toldIn(dialog, "endpoint").textContent = endpoint;
  openDialog(dialog);
  showMove();
  form.querySelector("input[name=stage]:checked").focus();
};

/** The slider and the number say the same; a stage brings its usual share along. */
export const changeMove = (target) => {
  const { fields, now } = moveOf();
  if (target.name === "range") fields.share.value = target.value;
  if (target.name === "stage" && now) fields.share.value = shareAt(target.value, now);
  fields.range.value = fields.share.value;
  showMove();
};

export const sendMove = () => {
  const { dialog, fields, endpoint } = moveOf();
  const stage = fields.stage.value;
  const share = stage === "legacy" ? 100 : Number(fields.share.value);
  const by = fields.by.value.trim();
  return sendFrom(dialog, async () => {
    await askChange(`/stages/${encodeURIComponent(endpoint)}`, { stage, share, by, why: fields.why.value.trim() });
    operatorName.set(by);
    tell(`${endpoint} is in ${stageWords(stage, share)}.`);
  });
};
