import {
  boolean,
  endpoint,
  entity,
  get,
  identifier,
  integer,
  list,
  markup,
  nullable,
  number,
  object,
  renamed,
  sortedBy,
  unwrapped,
  verbatim,
} from "../src/catalogue/index.ts";
import { legacyError } from "./legacyErrors.ts";
import { lossesIn } from "./legacyLosses.ts";
import { lasting } from "./lifetimes.ts";

const iteration = object({
  repeat: integer,
  fold: integer,
  iteration: integer,
  // Legacy escapes it in neither format.
  setup_string: nullable(verbatim(markup)),
  evaluation: number,
  selected: nullable(boolean),
});

export const getRunTrace = endpoint("GET /run/trace/{run_id}", {
  summary: "The steps of a run's search for parameters, by repeat, fold and iteration.",
  also: ["GET /runs/{run_id}/trace"],
  input: { run_id: identifier },
  legacy: ({ run_id }) => get`/run/trace/${run_id}`,
  notFound: legacyError(571),
  echoes: { run_id: ["run_id"] },
  // 572: the run has no trace.
  modern: { codes: [572] },

  output: unwrapped(
    "trace",
    object({
      run_id: integer,
      trace: renamed("trace_iteration", sortedBy(["repeat", "fold", "iteration"], list(iteration))),
    }),
  ),

  legacyForm: {
    elements: "trace{run_id trace_iteration*{repeat fold iteration setup_string evaluation selected}}",
    losses: lossesIn(
      "/trace/trace_iteration",
      Object.keys(iteration.inside ?? {}),
      "Ours are in the order of repeat, fold and iteration.",
    ),
  },
  cache: { ...lasting, groups: ({ run_id }, ours) => entity("run", run_id, ours !== undefined) },
  examples: { one: { run_id: 1 }, none: { run_id: 3 }, unknown: { run_id: 1_000_000 } },
  exampleAnswer: {
    run_id: 1,
    trace: [{ repeat: 0, fold: 0, iteration: 0, setup_string: '{"trees":"10"}', evaluation: 94.02, selected: true }],
  },
});
