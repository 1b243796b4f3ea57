import {
  endpoint,
  entity,
  get,
  identifier,
  integer,
  list,
  nullable,
  object,
  optional,
  text,
} from "../src/catalogue/index.ts";
import { legacyError } from "./legacyErrors.ts";
import { firstId } from "./firstEntry.ts";
import { exampleParameter, setupParameter } from "./setupParameters.ts";
import { lasting } from "./lifetimes.ts";

export const getSetup = endpoint("GET /setup/{id}", {
  summary: "The flow of a setup and the value of each of its parameters.",
  also: ["GET /setups/{id}"],
  input: { id: identifier },
  legacy: ({ id }) => get`/setup/${id}`,
  notFound: legacyError(281),
  echoes: { id: ["setup_parameters", "setup_id"] },

  output: object({
    setup_parameters: object({
      setup_id: integer,
      flow_id: integer,
      parameter: optional(list(setupParameter(nullable(text)))),
    }),
  }),

  legacyForm: {
    elements: `setup_parameters{setup_id flow_id
    parameter*{id flow_id flow_name full_name name parameter_name data_type default_value value}}`,
  },
  cache: { ...lasting, groups: ({ id }, ours) => entity("setup", id, ours !== undefined) },
  first: firstId("/setup/list/limit/1", ["setups", "setup", "setup_id"], "id"),
  examples: { one: { id: 1 }, unknown: { id: 1_000_000 } },
  exampleAnswer: { setup_parameters: { setup_id: 1, flow_id: 103, parameter: [exampleParameter] } },
});
