/* The dialog that adds an entry to the ledger of expected differences. */
import { openDialog, partOf, sendDialog } from "../../../../ui/client/dialogs.js";
import { setText, showMessage } from "../../../../ui/client/messages.js";
import { operatorName } from "../../../../ui/client/remembered.js";
import { requestChange } from "../../../../ui/client/request.js";

const DEFAULT_DAYS = 90;

const dayIn = (days) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

const readExpect = () => {
  const dialog = document.getElementById("expect");
  const form = dialog.querySelector("form");
  return { dialog, form, fields: form.elements };
};

/** Shows what the entry will allow. */
const showExpect = () => {
  const { dialog, fields } = readExpect();
  const difference = fields.kind.value === "*" ? "Any difference" : `A difference of ${fields.kind.value}`;
  const at = fields.path.value === "" ? "in the whole answer" : `at ${fields.path.value}`;
  const of = fields.endpoint.value === "*" ? "every endpoint" : fields.endpoint.value;
  const until = fields.until.value === "" ? "" : ` until ${fields.until.value}`;
  setText(partOf(dialog, "will"), `${difference} ${at} of ${of} will be allowed${until}.`);
};

const openExpect = ({ endpoint, path, form: kind }) => {
  const { dialog, form, fields } = readExpect();
  form.reset();
  const [own] = fields.endpoint.options;
  own.value = endpoint;
  own.textContent = endpoint;
  fields.endpoint.value = endpoint;
  fields.path.value = path;
  fields.kind.value = kind;
  fields.owner.value = operatorName.get();
  fields.until.min = dayIn(0);
  fields.until.value = dayIn(DEFAULT_DAYS);
  openDialog(dialog);
  showExpect();
  fields.reason.focus();
};

const sendExpect = () => {
  const { dialog, fields } = readExpect();
  const entry = Object.fromEntries(
    ["endpoint", "path", "kind", "reason", "owner", "until"].map((name) => [name, fields[name].value.trim()]),
  );
  const link = fields.link.value.trim();
  return sendDialog(dialog, async () => {
    await requestChange("/expected", { ...entry, ...(link === "" ? {} : { link }) });
    operatorName.set(entry.owner);
    const where = entry.path === "" ? "the whole answer" : entry.path;
    showMessage(`Expected until ${entry.until}: ${where} of ${entry.endpoint}.`);
  });
};

document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-expect]");
  if (button) openExpect(button.dataset);
});
document.addEventListener("input", ({ target }) => {
  if (target.closest("#expect")) showExpect();
});
document.addEventListener("submit", ({ target }) => {
  if (target.closest("#expect")) void sendExpect();
});
