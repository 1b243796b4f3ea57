import {
  commaSeparated,
  endpoint,
  entity,
  get,
  identifier,
  integer,
  list,
  nullable,
  object,
  text,
  timestamp,
} from "../src/catalogue/index.ts";
import { legacyError } from "./legacyErrors.ts";
import { splitNames } from "./legacyLosses.ts";
import { fixed } from "./lifetimes.ts";

export const getTaskType = endpoint("GET /tasktype/{id}", {
  summary: "A type of tasks, and the inputs that its tasks have.",
  input: { id: identifier },
  legacy: ({ id }) => get`/tasktype/${id}`,
  notFound: legacyError(241),
  echoes: { id: ["task_type", "id"] },
  errors: { 240: legacyError(241) },
  modern: { problems: { "task-type-not-found": legacyError(241) } },

  output: object({
    task_type: object({
      id: integer,
      name: nullable(text),
      description: nullable(text),
      creator: commaSeparated,
      contributor: commaSeparated,
      creation_date: nullable(timestamp),
      input: list(object({ name: text, requirement: nullable(text), data_type: nullable(text) })),
    }),
  }),

  legacyForm: {
    elements: `task_type{id name description creator* contributor* creation_date input*{@name requirement? data_type?}}`,
    losses: { "/task_type/creator": splitNames, "/task_type/contributor": splitNames },
  },
  cache: { ...fixed, groups: ({ id }, ours) => entity("tasktype", id, ours !== undefined) },
  examples: { classification: { id: 1 }, unknown: { id: 1_000_000 } },
  exampleAnswer: {
    task_type: {
      id: 1,
      name: "Supervised Classification",
      description: "Learn a class.",
      creator: ["A. Example", "B. Example"],
      contributor: [],
      creation_date: "2013-01-24T00:00:00",
      input: [{ name: "source_data", requirement: "required", data_type: "numeric" }],
    },
  },
});
