import type { SampleHandler } from "./call.ts";
import { completeDataset } from "./completeDataset.ts";
import { isOwn } from "./documents.ts";
import { isSameText } from "./textQuirks.ts";
import { readUpload } from "./tree.ts";

/** The texts of an uploaded document's elements, by name; `undefined` if its root has another name. */
const readFields = (root: string, xml: string): Record<string, string> | undefined => {
  const elements = readUpload(root, xml);
  return elements && Object.fromEntries(elements.map(({ name, text }) => [name, text]));
};

/** `POST data`: a new dataset of the caller, not processed yet. Its file is ignored. */
export const dataUpload: SampleHandler = ({ caller, datasets, form, given }) => {
  const xml = form.get("description");
  if (!xml) return { error: 135 };
  const { name, description, format, visibility } = readFields("data_set_description", xml) ?? {};
  if (!name) return { error: 131 };

  const id = datasets.reduce((last, row) => Math.max(last, row.id), given.last) + 1;
  given.last = id;
  const versions = datasets.filter((row) => isSameText(row.name, name)).map((row) => row.version);
  const said = Object.fromEntries(
    Object.entries({ description, format, visibility }).filter(([, text]) => text !== undefined),
  );
  datasets.push(
    completeDataset({
      id,
      name,
      ...said,
      version: Math.max(0, ...versions) + 1,
      status: "in_preparation",
      processing_date: null,
      uploader: caller?.id ?? 0,
    }),
  );
  return { tree: { upload_data_set: { id } } };
};

/** Fields that every caller with a key may edit. */
const editableByAll = [
  "description",
  "creator",
  "contributor",
  "collection_date",
  "language",
  "citation",
  "original_data_url",
  "paper_url",
];

/**
 * Fields that only owners may edit. In legacy, `visibility` is not a field of `data/edit`: owners change it on the
 * website. Tests change it here.
 */
const editableByOwners = ["default_target_attribute", "row_id_attribute", "ignore_attribute", "visibility"];

/** Fields that are lists: csv, in which a quoted comma separates here, too. */
const lists = new Set(["creator", "contributor", "ignore_attribute"]);

/** `data/edit`: every caller with a key may edit a dataset, but some fields only its owner. */
export const dataEdit: SampleHandler = ({ caller, datasets, form }) => {
  const sent = form.get("data_id") ?? "";
  if (sent === "" || sent === "0") return { error: 1062 };
  const xml = form.get("edit_parameters");
  if (!xml) return { error: 1061 };
  const fields = readFields("data_edit_parameters", xml);
  if (!fields) return { error: 1060 };
  const row = datasets.find(({ id }) => id === Number(sent));
  if (!row) return { error: 1063 };

  const names = Object.keys(fields);
  if (!names.some((name) => editableByAll.includes(name) || editableByOwners.includes(name))) return { error: 1064 };
  if (names.some((name) => editableByOwners.includes(name)) && !isOwn(caller, row)) return { error: 1065 };
  for (const [name, text] of Object.entries(fields))
    if ([...editableByAll, ...editableByOwners].includes(name))
      Object.assign(row, { [name]: lists.has(name) ? text.split(",").filter(Boolean) : text });
  if (fields.description !== undefined) row.description_version = (row.description_version ?? 0) + 1;
  return { tree: { data_edit: { id: row.id } } };
};

/** `data/status/update`, by any method. */
export const dataStatusUpdate: SampleHandler = ({ caller, datasets, form }) => {
  const sent = form.get("data_id") ?? "";
  const status = form.get("status") ?? "";
  if (status !== "active" && status !== "deactivated") return { error: 691 };
  const row = datasets.find(({ id }) => id === Number(sent));
  if (!row) return { error: 692 };
  if (!isOwn(caller, row)) return { error: 693 };
  if (status === "active" && caller?.role !== "administrator") return { error: 696 };
  if (status === row.status) return { error: 694 };
  row.status = status;
  return { tree: { data_status_update: { id: sent, status } } };
};

/** `DELETE data/{id}` */
export const dataDelete: SampleHandler = ({ segments: [segment = ""], caller, datasets, given }) => {
  const row = datasets.find(({ id }) => id === Number(segment));
  if (!row) return { error: 352 };
  if (!isOwn(caller, row)) return { error: 353 };
  given.last = Math.max(given.last, row.id);
  datasets.splice(datasets.indexOf(row), 1);
  return { tree: { data_delete: { id: row.id } } };
};
