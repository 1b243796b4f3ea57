import { endpoint } from "../src/endpoint/endpoint.ts";
import { optionalField } from "../src/endpoint/field.ts";
import { collection } from "../src/endpoint/groups.ts";
import { anyOrder, entriesOf, havingValue, list, member, nullable, object, unwrapped } from "../src/rules/compose.ts";
import { integer, lowercase, number, text, verbatim } from "../src/rules/values.ts";
import {
  datasetName,
  datasetSizes,
  datasetStatus,
  idFilter,
  idList,
  listBy,
  page,
  pageGroups,
  tagFilter,
  narrowTo,
} from "./filters.ts";
import { noTasks } from "./outcomes.ts";

export const listTasks = endpoint("POST /tasks/list", {
  summary: "The tasks that match every filter. Legacy's list has no tags.",
  also: ["GET /tasks/list", "GET /task/list/{...filters}"],
  input: {
    task_type_id: idFilter,
    tag: tagFilter,
    data_tag: tagFilter,
    // Legacy's own default is "active".
    status: optionalField(datasetStatus),
    task_id: idList,
    data_id: idList,
    data_name: datasetName,
    ...datasetSizes,
    ...page(),
  },
  groups: pageGroups,
  legacy: ({ task_type_id, ...filters }) => listBy(["task", "list"], { type: task_type_id, ...filters }),
  notFound: noTasks,

  // Legacy escapes the dataset's name in neither form, the values of inputs only in XML.
  rows: {
    begins:
      /"task_id":\s*(\d{1,10})\s*,\s*"task_type_id":\s*\d{1,10}\s*,\s*"task_type":\s*"[^"]{0,128}"\s*,\s*"did":\s*\d{1,10}\s*,\s*"name":\s*"|<oml:task_id>\s*(\d{1,10})\s*<\/oml:task_id>\s*<oml:task_type_id>\s*\d{1,10}\s*<\/oml:task_type_id>\s*<oml:task_type>[^<]{0,128}<\/oml:task_type>\s*<oml:did>\s*\d{1,10}\s*<\/oml:did>\s*<oml:name>/g,
    behind: /^(?:"\s*,\s*"status"|<\/oml:name>\s*<oml:status>)/,
    ends: /\]\s*\}\s*\}\s*$|<\/oml:tasks>\s*$/,
    most: 625,
    among: (input, ids) => narrowTo("task_id", input, ids),
    id: "task_id",
    text: "name",
    entriesIn: (legacy) => entriesOf(member(legacy, "tasks", "task")),
    members: ["task_id", "task_type_id", "task_type", "did", "name", "status", "format", "input", "quality"],
    mayLack: { json: ["input", "quality"], xml: ["input", "quality"] },
  },

  output: unwrapped(
    "tasks",
    unwrapped(
      "task",
      list(
        object({
          task_id: integer,
          task_type_id: integer,
          task_type: nullable(text),
          did: nullable(integer),
          name: nullable(verbatim(text)),
          status: nullable(text),
          format: nullable(lowercase),
          input: list(object({ name: text, value: nullable(text) })),
          // Legacy omits qualities without a value.
          quality: havingValue("value", number, list(object({ name: text, value: number }))),
          // Legacy's list has none.
          tags: anyOrder(list(text)),
        }),
      ),
    ),
  ),

  cache: {
    fresh: "1m",
    staleWhileRevalidate: "1h",
    staleIfError: "1h",
    mayTurnPrivate: true,
    // Owners see tasks on their private datasets.
    personal: true,
    // It shows the names and states of datasets.
    groups: () => [collection("task"), collection("dataset")],
  },
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
