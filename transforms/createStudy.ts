import {
  added,
  buildXml,
  collectErrors,
  endpoint,
  entriesOf,
  explained,
  identifier,
  identifierList,
  integer,
  type JsonObject,
  matching,
  member,
  numberOf,
  object,
  optionalField,
  type Outcome,
  renamed,
  unwrapped,
  upload,
  withDefault,
} from "../src/catalogue/index.ts";
import { listBy } from "./filters.ts";
import { legacyError } from "./legacyErrors.ts";
import { MAX_MEMBERS, studyEntity } from "./studies.ts";

/**
 * A text of at most `most` characters that legacy's schema allows. `&`, `<` and `]]>` are refused: legacy does not
 * escape them when it shows a study, so they would break the study and every list with it.
 */
const basicLatin = (most: number) =>
  explained(
    matching(new RegExp(String.raw`^(?![\s\S]*\]\]>)[\t\n\r\x20-\x25\x27-\x3B\x3D-\x7F]{1,${most}}$`)),
    /[&<]|]]>/,
    "the legacy interface could not show the study: it does not escape '&', '<' and ']]>'",
  );

/** Words that lead to other paths if they stand in the place of an alias. */
const words = "list$|attach$|detach$|status$";
/** Texts that legacy reads as ids. */
const decimals = ["[0-9]+[.]?[0-9]*", "[.][0-9]+"];
const numbers = decimals.flatMap((form) => [`-?${form}$`, `-?${form}[eE]-?[0-9]+$`]).join("|");
const studyAlias = explained(
  // Proxies and servers resolve `.` and `..`.
  matching(new RegExp(String.raw`^(?!\.{1,2}$|${words}|${numbers})[A-Za-z0-9_.-]{1,32}$`)),
  new RegExp(`^(?:${words}|${numbers})`),
  "the study could not be read by this alias: 'list', 'attach', 'detach' and 'status' are paths, and a number is an id",
);

const members = withDefault(identifierList(0, MAX_MEMBERS), []);

/** The element of a list of distinct ids; an empty list has no element, since legacy's schema does not allow it. */
const idsIn = (group: string, id: string, ids: readonly number[]) =>
  ids.length === 0 ? {} : { [`oml:${group}`]: { [`oml:${id}`]: [...new Set(ids)] } };

/** The most members that are looked up: legacy takes their ids in its path, which has at most 8 KB. */
const MAX_LOOKED_UP = 600;

type Members = { main_entity_type: string; tasks: readonly number[]; runs: readonly number[] };

/** The lists by which legacy shows the members of a study: their filters name all of these ids. */
const memberLists = {
  task: { field: "tasks", id: "task_id", by: (ids: number[]) => ({ task_id: ids, status: "all" }) },
  run: { field: "runs", id: "run_id", by: (ids: number[]) => ({ run: ids, show_errors: "true" }) },
} as const;

const kindOf = ({ main_entity_type: type }: Members): "task" | "run" => (type === "run" ? "run" : "task");

/** The first members of a new study, without repetitions. */
const lookedUp = (study: Members): number[] =>
  [...new Set(study[memberLists[kindOf(study)].field])].slice(0, MAX_LOOKED_UP);

/** The 422 that names the members missing in legacy's list; `undefined` if all looked-up members are there. */
const unknownMembers = (study: Members, legacy: JsonObject): Outcome | undefined => {
  const kind = kindOf(study);
  const { field, id } = memberLists[kind];
  const unknownIds = new Set(lookedUp(study));
  for (const row of entriesOf(member(legacy, field, kind))) unknownIds.delete(numberOf(member(row, id)));
  const collected = collectErrors("body");
  for (const [i, each] of study[field].entries())
    if (unknownIds.has(each))
      collected.add(["body", field, i], { at: [], msg: `there is no ${kind} ${each}`, type: "value_error.unknown" });
  const errors = collected.errors();
  return errors.length === 0 ? undefined : { kind: "refused", message: `There are unknown ${field}.`, errors };
};

export const createStudy = endpoint("POST /studies", {
  summary: "Creates a study of tasks or of runs.",
  input: {
    name: basicLatin(256),
    alias: optionalField(studyAlias),
    main_entity_type: studyEntity,
    benchmark_suite: optionalField(identifier),
    description: basicLatin(4096),
    tasks: members,
    runs: members,
  },
  writes: () => added(["study"]),
  rejectEarly: ({ main_entity_type: type, benchmark_suite, tasks, runs }) => {
    if ((type === "task" ? runs : tasks).length > 0) return legacyError(1034);
    return type === "task" && benchmark_suite !== undefined ? legacyError(1035) : undefined;
  },
  // The elements stand in the order of legacy's schema.
  legacy: ({ name, alias, main_entity_type, benchmark_suite, description, tasks, runs }) =>
    upload("/study", {
      description: buildXml({
        "oml:study": {
          "@xmlns:oml": "http://openml.org/openml",
          ...(alias === undefined ? {} : { "oml:alias": alias }),
          "oml:main_entity_type": main_entity_type,
          ...(benchmark_suite === undefined ? {} : { "oml:benchmark_suite": benchmark_suite }),
          "oml:name": name,
          "oml:description": description,
          ...idsIn("tasks", "task_id", tasks),
          ...idsIn("runs", "run_id", runs),
        },
      }),
    }),
  notFound: legacyError(1036),
  // Legacy answers this code for several causes. Its list shows which members exist.
  recover: {
    code: 1039,
    look(study) {
      const ids = lookedUp(study);
      const kind = kindOf(study);
      return ids.length === 0
        ? { unsent: "There are no members to look up." }
        : listBy([kind, "list"], { ...memberLists[kind].by(ids), limit: ids.length, offset: 0 });
    },
    errors: new Set([482, 512]),
    verbatim: ["runs.run.error_message", "runs.run.run_details"],
    outcome: unknownMembers,
  },
  modern: { codes: [1038] },
  output: unwrapped("study_upload", object({ study_id: renamed("id", integer) })),
  examples: {
    ofTasks: { name: "My suite", main_entity_type: "task", description: "Tasks to try things on.", tasks: [1] },
  },
  exampleAnswer: { study_id: 108 },
});
