import type { Handler } from "./call.ts";
import { sampleCatalogue } from "./catalogue.ts";
import { element, optionalElement } from "./renderXml.ts";
import { firstCsvLine } from "./textQuirks.ts";

/** `tasktype/list`, whose creators stay csv. */
export const taskTypeList: Handler = () => ({
  root: element(
    "task_types",
    sampleCatalogue.taskTypes.map(({ id, name, description, creator }) =>
      element("task_type", [
        element("id", id),
        element("name", name),
        element("description", description),
        element("creator", creator),
      ]),
    ),
  ),
});

/** `tasktype/{id}` */
export const taskTypeById: Handler = ({ segments: [segment] }) => {
  if (segment === "0") return { error: 240 };
  const row = sampleCatalogue.taskTypes.find(({ id }) => id === Number(segment));
  if (!row) return { error: 241 };
  const root = element("task_type", [
    element("id", row.id),
    element("name", row.name),
    element("description", row.description),
    ...firstCsvLine(row.creator).map((name) => element("creator", name)),
    ...(row.contributor ? firstCsvLine(row.contributor) : []).map((name) => element("contributor", name)),
    element("creation_date", row.creation_date),
    ...row.inputs.map(([name, dataType, requirement]) => ({
      name: "input",
      attributes: { name },
      children: [...optionalElement("requirement", requirement), ...optionalElement("data_type", dataType)],
    })),
  ]);
  return { root };
};
