/* The dialog that moves one endpoint, or all at once. */
import { setText, showMessage } from "../../../../libraries/ui/client/messages.js";
import { operatorName } from "../../../../libraries/ui/client/remembered.js";
import { requestChange } from "../../../../libraries/ui/client/request.js";

/** The data of the button that opened the dialog: the endpoint that moves, and its stage; or the stage for all. */
let wanted = {};

const readMove = () => {
  const dialog = document.getElementById("move");
  const form = dialog.querySelector("form");
  return { dialog, form, fields: form.elements, now: document.getElementById(`stage-${wanted.move}`)?.dataset };
};

const partOf = (dialog, name) => dialog.querySelector(`[data-part="${name}"]`);

/** `canary, 5 % of callers` */
const formatStage = ({ stage, share }) =>
  document.querySelector(`#move [value=${stage}]`).dataset.text.replace("{share}", share);

/** The share of callers that modern answers, as far as it decides whether a step leads towards modern. */
const callersOf = ({ stage, share }) => (stage === "modern" ? 101 : stage === "canary" ? Number(share) : 0);

/** `12 reads moved. The evidence holds up NAME, NAME.` */
const formatMoved = ({ moved, held }) => {
  const names = Object.keys(held).join(", ");
  return `${moved.length} ${moved.length === 1 ? "read" : "reads"} moved.${names && ` The evidence holds up ${names}.`}`;
};

/** Shows the evidence. A step against it needs a reason. */
const showEvidence = (dialog, fields, evidence, against) => {
  fields.against.disabled = !against && !wanted.isRefused;
  const part = partOf(dialog, "evidence");
  part.classList.toggle("trouble", Boolean(against));
  setText(part, against ? `Against it: ${against}.` : evidence);
};

/** Shows the effect of the move, after a change of a field, of the endpoint or of its evidence. */
const showMove = () => {
  const { dialog, fields, now } = readMove();
  if (!dialog.open) return;
  if (fields.to.disabled) return showEvidence(dialog, fields, "", wanted.against);
  const stage = fields.stage.value;
  const share = fields.share.value || "0";
  // A move to the current stage of the endpoint gives up the stage that Redis has lost.
  const isThere = now?.lost === undefined && stage === now?.stage && (stage === "legacy" || share === now.share);
  // Old clients that are held at legacy may follow, for a reason.
  const isSame = isThere && !now.held;
  const { will } = fields.stage.selectedOptions[0].dataset;
  fields.share.disabled = stage === "legacy";
  setText(partOf(dialog, "now"), now ? `Now: ${formatStage(now)}` : "");
  const effect = [will.replace("{share}", share), wanted.will].filter(Boolean).join("\n");
  setText(partOf(dialog, "will"), isSame ? "It is there already." : isThere ? "Old clients will follow it." : effect);
  setText(partOf(dialog, "confirm"), `Move to ${formatStage({ stage, share })}`);
  partOf(dialog, "confirm").disabled = isSame;
  if (!now) return showEvidence(dialog, fields, "", undefined);
  const isForward = callersOf({ stage, share }) > callersOf(now);
  showEvidence(dialog, fields, now.evidence, isThere ? now.held : isForward && now.against);
};

const openMove = ({ dataset, textContent }) => {
  wanted = { ...dataset };
  const { dialog, form, fields } = readMove();
  form.reset();
  // If the button names a stage, the operator may choose another.
  fields.to.disabled = wanted.stage === undefined;
  fields.stage.querySelector("[value=legacy]").disabled = wanted.all === "reads";
  fields.by.value = operatorName.get();
  fields.stage.value = wanted.stage ?? "legacy";
  fields.share.value = wanted.share ?? "100";
  const texts = { title: textContent.trim(), now: "", will: wanted.will ?? "", error: "", confirm: "Confirm" };
  for (const [name, text] of Object.entries(texts)) partOf(dialog, name).textContent = text;
  partOf(dialog, "confirm").disabled = false;
  dialog.showModal();
  showMove();
  (fields.to.disabled ? fields.why : fields.stage).focus();
};

/** Another stage begins with its own share. */
const changeMove = ({ name, value }) => {
  const { fields, now } = readMove();
  if (name === "stage" || name === "share") wanted.isRefused = false;
  if (name === "stage") fields.share.value = value === now?.stage ? now.share : value === "canary" ? 5 : 100;
  showMove();
};

/** Sends the move, closes the dialog and refreshes the page. On an error, the dialog stays open and shows it. */
const sendMove = async () => {
  const { dialog, form, fields } = readMove();
  const { move: endpoint, all } = wanted;
  if (dialog.ariaBusy === "true") return;
  dialog.ariaBusy = "true";
  partOf(dialog, "error").textContent = "";
  // Disabled fields are not part of it.
  const given = Object.fromEntries([...new FormData(form)].map(([name, text]) => [name, text.trim()]));
  const { share = 100 } = given;
  try {
    const to = { ...given, share: Number(share) };
    if (endpoint) await requestChange(`/stages/${encodeURIComponent(endpoint)}`, to);
    const done = endpoint
      ? undefined
      : await requestChange("/stages", all === "reads" ? { ...to, endpoints: all } : { ...given, stage: all });
    operatorName.set(given.by);
    if (endpoint) showMessage(`${endpoint} is in ${formatStage({ stage: given.stage, share })}.`);
    else if (all === "reads") showMessage(formatMoved(done));
    else showMessage(all === "legacy" ? "Every endpoint is in legacy." : "The former stages are back.");
    dialog.close();
    document.dispatchEvent(new Event("page:changed"));
  } catch (problem) {
    partOf(dialog, "error").textContent = problem.message;
    // The evidence has changed since the page was made.
    if (problem.evidence) {
      wanted.isRefused = true;
      showMove();
      fields.despite.focus();
    }
  } finally {
    dialog.ariaBusy = "false";
  }
};

document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-move], [data-all]");
  if (button) openMove(button);
  if (target.closest("[data-close]")) document.getElementById("move").close();
});
document.addEventListener("input", ({ target }) => {
  if (target.closest("#move")) changeMove(target);
});
document.addEventListener("submit", ({ target }) => {
  if (target.closest("#move")) void sendMove();
});
document.addEventListener("page:shown", showMove);
