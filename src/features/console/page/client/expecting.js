/* The dialog that writes an entry of the ledger. */
import { askChange } from "./asking.js";
import { openDialog, sendFrom, toldIn } from "./dialogs.js";
import { operatorName } from "./remembered.js";
import { tell } from "./telling.js";

const USUAL_DAYS = 90;

const dayIn = (days) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

const expectOf = () => {
  const dialog = document.getElementById("expect");
  const form = dialog.querySelector("form");
  return { dialog, form, fields: form.elements };
};

export const showExpect = () => {
  const { dialog, fields } = expectOf();
  const form = fields.kind.value === "*" ? "Any difference" : `A difference of ${fields.kind.value}`;
  const at = fields.path.value === "" ? "in the whole answer" : `at ${fields.path.value}`;
  const of = fields.endpoint.value === "*" ? "every endpoint" : fields.endpoint.value;
  const text = `${form} ${at} of ${of} will be allowed${fields.until.value === "" ? "" : ` until ${fields.until.value}`}.`;
  const told = toldIn(dialog, "will");
  if (told.textContent !== text) told.textContent = text;
};

export const openExpect = ({ endpoint, path, form: kind }) => {
  const { dialog, form, fields } = expectOf();
  form.reset();
  const [own] = fields.endpoint.options;
  own.value = endpoint;
  own.textContent = endpoint;
  fields.endpoint.value = endpoint;
  fields.path.value = path;
  fields.kind.value = kind;
  fields.owner.value = operatorName.get();
  fields.until.min = dayIn(0);
  fields.until.value = dayIn(USUAL_DAYS);
  openDialog(dialog);
  showExpect();
  fields.reason.focus();
};

export const sendExpect = () => {
  const { dialog, fields } = expectOf();
  const given = Object.fromEntries(
    ["endpoint", "path", "kind", "reason", "owner", "until"].map((name) => [name, fields[name].value.trim()]),
  );
  const link = fields.link.value.trim();
  return sendFrom(dialog, async () => {
    await askChange("/expected", { ...given, ...(link === "" ? {} : { link }) });
    operatorName.set(given.owner);
    tell(`Expected until ${given.until}: ${given.path === "" ? "the whole answer" : given.path} of ${given.endpoint}.`);
  });
};
