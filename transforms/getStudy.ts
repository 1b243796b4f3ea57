import {
  anyOrder,
  collection,
  endpoint,
  entity,
  get,
  identifierOr,
  integer,
  isoTimestamp,
  isUnset,
  type JsonObject,
  list,
  markup,
  member,
  nullable,
  numberOf,
  object,
  renamed,
  type Rule,
  unwrapped,
} from "../src/catalogue/index.ts";
import { legacyError } from "./legacyErrors.ts";
import { legacyStudy } from "./outcomes.ts";
import { firstId } from "./firstEntry.ts";

/** The studies that were defined by tags only: they have no replacement (the specification, 4.7). */
export const legacyStudies: ReadonlySet<number> = new Set([
  1, 2, 3, 5, 7, 8, 10, 11, 12, 13, 17, 20, 22, 24, 25, 27, 30, 31, 32, 34, 37, 38, 41, 50, 51,
]);

/** `{"data": {"data_id": ["1", "2"]}}` -> `[1, 2]`, under its new name. */
const idsIn = (group: string, id: string): Rule<number[]> => renamed(group, unwrapped(id, anyOrder(list(integer))));

/** A study of tasks has no flows, setups and runs. A study of runs has all groups, also those without a member. */
const membersOf = (legacy: JsonObject): JsonObject => {
  const { flows: _, setups: __, runs: ___, ...ofTasks } = legacy["study"] as JsonObject;
  return ofTasks["main_entity_type"] === "task" ? { study: ofTasks } : legacy;
};

export const getStudy = endpoint("GET /studies/{id_or_alias}", {
  summary: "A study: what it is about, and the ids of all that belongs to it.",
  also: ["GET /study/{id_or_alias}"],
  // Proxies and servers resolve `.` and `..`.
  input: { id_or_alias: identifierOr(/^(?!\.{1,2}$)[A-Za-z0-9_.-]{1,64}$/) },
  legacy: ({ id_or_alias }) => get`/study/${id_or_alias}`,
  notFound: legacyError(601),
  rejectEarly: ({ id_or_alias }) =>
    typeof id_or_alias === "number" && legacyStudies.has(id_or_alias) ? legacyStudy : undefined,
  rejectDocument(ours) {
    const isByTag = !isUnset(member(ours, "tag"));
    return isByTag || legacyStudies.has(numberOf(member(ours, "id"))) ? legacyStudy : undefined;
  },
  echoes: { id_or_alias: ["id"] },

  errors: { 603: legacyStudy },
  modern: {
    problems: { "study-not-found": legacyError(601), "study-legacy": legacyStudy, "study-private": legacyError(112) },
    // The reference asks for a key if legacy says that there is no access.
    withoutKey: legacyError(112),
  },

  output: unwrapped(
    "study",
    object({
      id: integer,
      name: nullable(markup),
      alias: nullable(markup),
      main_entity_type: nullable(markup),
      benchmark_suite: nullable(integer),
      description: nullable(markup),
      visibility: nullable(markup),
      status: nullable(markup),
      creation_date: nullable(isoTimestamp),
      creator: nullable(integer),
      data_ids: idsIn("data", "data_id"),
      task_ids: idsIn("tasks", "task_id"),
      flow_ids: idsIn("flows", "flow_id"),
      setup_ids: idsIn("setups", "setup_id"),
      run_ids: idsIn("runs", "run_id"),
    }),
  ),

  legacyForm: {
    elements: `study{id alias? main_entity_type benchmark_suite? name description visibility status creation_date creator
      data{data_id*} tasks{task_id*} flows?{flow_id*} setups?{setup_id*} runs?{run_id*}}`,
    adapt: membersOf,
    codes: { 112: "602" },
  },
  cache: {
    fresh: "5m",
    staleWhileRevalidate: "1h",
    staleIfError: "7d",
    mayTurnPrivate: true,
    // Writes name a study by its id, so an alias is not enough.
    groups: ({ id_or_alias }, ours) => (ours ? entity("study", ours.id) : entity("study", id_or_alias, false)),
    // Legacy makes the members of its old studies from tags.
    goneGroups: ["dataset", "task", "flow", "setup", "run"].map(collection),
  },
  first: firstId("/study/list/limit/1", ["study_list", "study", "id"], "id_or_alias"),
  examples: { byId: { id_or_alias: 99 }, byAlias: { id_or_alias: "sample-suite" }, legacyStudy: { id_or_alias: 1 } },
  exampleAnswer: {
    id: 99,
    name: "Sample suite",
    alias: "sample-suite",
    main_entity_type: "task",
    benchmark_suite: null,
    description: "Small tasks to try things on.",
    visibility: "public",
    status: "active",
    creation_date: "2021-02-03T04:05:06",
    creator: 1,
    data_ids: [61, 187],
    task_ids: [59, 1],
    flow_ids: [],
    setup_ids: [],
    run_ids: [],
  },
});
