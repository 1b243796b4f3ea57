import { endpoint } from "../src/catalogue/endpoint/endpoint.ts";
import { collection } from "../src/catalogue/endpoint/groups.ts";
import { get } from "../src/catalogue/endpoint/legacyRequest.ts";
import { commaSeparated } from "../src/catalogue/rules/commaSeparated.ts";
import { list, nullable, object } from "../src/catalogue/rules/compose.ts";
import { integer, text } from "../src/catalogue/rules/values.ts";
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
  cache: { ...fixed, groups: () => [collection("tasktype")] },
  examples: { all: {} },
  exampleAnswer: {
    task_types: {
      task_type: [{ id: 1, name: "Supervised Classification", description: "Learn a class.", creator: ["A. Example"] }],
    },
  },
});
