import { endpoint } from "../src/endpoint/endpoint.ts";
import { flag, optionalField } from "../src/endpoint/field.ts";
import { collection } from "../src/endpoint/groups.ts";
import { dropped, entriesOf, list, member, nullable, object, unwrapped } from "../src/rules/compose.ts";
import { integer, text, timestamp, verbatim } from "../src/rules/values.ts";
import { idFilter, idList, listBy, narrowTo, page, pageGroups, tagFilter } from "./filters.ts";
import { noRuns, unfiltered } from "./outcomes.ts";

export const listRuns = endpoint("POST /runs/list", {
  summary: "The runs that match every filter: at least one of task, setup, flow, uploader, run.",
  also: ["GET /run/list/{...filters}"],
  input: {
    task: idList,
    setup: idList,
    flow: idList,
    uploader: idList,
    run: idList,
    tag: tagFilter,
    task_type: idList,
    study: idFilter,
    // Runs whose evaluation failed are left out otherwise.
    show_errors: optionalField(flag),
    ...page(),
  },
  groups: pageGroups,
  legacy: ({ show_errors, ...filters }) =>
    listBy(["run", "list"], { ...filters, show_errors: show_errors ? String(show_errors) : undefined }),
  notFound: noRuns,
  rejectEarly: ({ task, setup, flow, uploader, run }) =>
    (task ?? setup ?? flow ?? uploader ?? run) === undefined ? unfiltered("510") : undefined,

  // Legacy escapes a run's message and details in neither form.
  rows: {
    begins:
      /"run_id":\s*(\d{1,10})\s*,\s*"task_id":\s*\d{1,10}\s*,\s*"setup_id":\s*\d{1,10}\s*,\s*"flow_id":\s*\d{1,10}\s*,\s*"uploader":\s*\d{1,10}\s*,\s*"upload_time":\s*"[^"]{0,40}"\s*,\s*"error_message":\s*"|<oml:run_id>\s*(\d{1,10})\s*<\/oml:run_id>\s*<oml:task_id>\s*\d{1,10}\s*<\/oml:task_id>\s*<oml:setup_id>\s*\d{1,10}\s*<\/oml:setup_id>\s*<oml:flow_id>\s*\d{1,10}\s*<\/oml:flow_id>\s*<oml:uploader>\s*\d{1,10}\s*<\/oml:uploader>\s*<oml:upload_time>[^<]{0,40}<\/oml:upload_time>\s*<oml:error_message>/g,
    behind: /^(?:"\s*,\s*"run_details"|<\/oml:error_message>\s*<oml:run_details>)/,
    ends: /\]\s*\}\s*\}\s*$|<\/oml:runs>\s*$/,
    most: 625,
    among: (input, ids) => narrowTo("run", input, ids),
    id: "run_id",
    text: "error_message",
    entriesIn: (legacy) => entriesOf(member(legacy, "runs", "run")),
    members: ["run_id", "task_id", "setup_id", "flow_id", "uploader", "upload_time", "error_message", "run_details"],
    mayLack: { json: [], xml: [] },
  },

  output: unwrapped(
    "runs",
    unwrapped(
      "run",
      list(
        object({
          run_id: integer,
          task_id: integer,
          setup_id: nullable(integer),
          flow_id: nullable(integer),
          uploader: nullable(integer),
          upload_time: nullable(timestamp),
          error_message: nullable(verbatim(text)),
          run_details: nullable(verbatim(text)),
          // Only the XML form, which is used if the JSON is broken, has it.
          task_type_id: dropped,
        }),
      ),
    ),
  ),

  cache: {
    fresh: "1m",
    staleWhileRevalidate: "1h",
    staleIfError: "1h",
    mayTurnPrivate: true,
    // Callers see their own runs on tasks under embargo.
    personal: true,
    groups: ({ study }) => [collection("run"), ...(study === undefined ? [] : [`study/${study}`, "study"])],
  },
  examples: { ofTask: { task: 1, limit: 5 }, one: { run: 1 }, none: { task: 1_000_000 } },
  exampleAnswer: [
    {
      run_id: 1,
      task_id: 1,
      setup_id: 3,
      flow_id: 103,
      uploader: 1,
      upload_time: "2021-01-01T10:00:00",
      error_message: null,
      run_details: null,
    },
  ],
});
