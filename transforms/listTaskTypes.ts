import {
  collection,
  commaSeparated,
  endpoint,
  get,
  integer,
  list,
  nullable,
  object,
  text,
} from "../src/catalogue/index.ts";
import { splitNames } from "./legacyLosses.ts";
import { fixed } from "./lifetimes.ts";

export const listTaskTypes = endpoint("GET /tasktype/list", {
  summary: "The types that tasks can have.",
  input: {},
  legacy: () => get`/tasktype/list`,
  output: object({
    task_types: object({
      task_type: list(
        object({ id: integer, name: nullable(text), description: nullable(text), creator: commaSeparated }),
      ),
    }),
  }),
  legacyForm: {
    elements: "task_types{task_type+{id name description creator}}",
    losses: { "/task_types/task_type/creator": splitNames },
  },
  cache: { ...fixed, groups: () => [collection("tasktype")] },
  examples: { all: {} },
  exampleAnswer: {
    task_types: {
      task_type: [{ id: 1, name: "Supervised Classification", description: "Learn a class.", creator: ["A. Example"] }],
    },
  },
});
