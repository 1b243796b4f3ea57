import {
  anyOrder,
  collection,
  havingValue,
  integer,
  javaNumber,
  list,
  nullable,
  number,
  object,
  optionalField,
  text,
  verbatim,
} from "../src/catalogue/index.ts";
import { datasetName, datasetSizes, datasetStatus, idFilter, idList, listBy, page, tagFilter } from "./filters.ts";
import { formatCase, noNumber } from "./legacyLosses.ts";
import { formatName } from "./formatName.ts";
import { legacyError } from "./legacyErrors.ts";
import { pagedList } from "./pagedList.ts";

export const listTasks = pagedList("POST /tasks/list", {
  summary: "The tasks that match every filter. Legacy's list has no tags.",
  also: ["GET /tasks/list", "GET /task/list/{...filters}"],
  input: {
    task_type_id: idFilter,
    tag: tagFilter,
    data_tag: tagFilter,
    // The default of legacy is "active".
    status: optionalField(datasetStatus),
    task_id: idList,
    data_id: idList,
    data_name: datasetName,
    ...datasetSizes,
    ...page(),
  },
  legacy: ({ task_type_id, ...filters }) => listBy(["task", "list"], { type: task_type_id, ...filters }),
  notFound: legacyError(482),

  wrappers: ["tasks", "task"],
  row: object({
    task_id: integer,
    task_type_id: integer,
    task_type: nullable(text),
    did: nullable(integer),
    name: nullable(verbatim(text)),
    status: nullable(text),
    format: nullable(formatName),
    input: list(object({ name: text, value: nullable(text) })),
    // Legacy omits qualities without a value.
    quality: havingValue("value", number, list(object({ name: text, value: javaNumber }))),
    // The list of legacy has no such field.
    tags: anyOrder(list(text)),
  }),

  legacyForm: {
    elements: `tasks{task*{#task_id #task_type_id task_type #did name status format input*?{@name =value} quality*?{@name =value}
    tags*?}}`,
    isTemplate: true,
    page: 10_000,
    losses: { "/tasks/task/format": formatCase, "/tasks/task/quality": noNumber },
  },
  // The list shows the names and states of datasets.
  groups: () => [collection("task"), collection("dataset")],
  examples: { firstFive: { limit: 5 }, byType: { task_type_id: 8 }, none: { tag: "no-such-tag" } },
  exampleAnswer: [
    {
      task_id: 59,
      task_type_id: 1,
      task_type: "Supervised Classification",
      did: 61,
      name: "iris",
      status: "active",
      format: "arff",
      input: [{ name: "target_feature", value: "class" }],
      quality: [{ name: "NumberOfClasses", value: 3 }],
      tags: [],
    },
  ],
});
