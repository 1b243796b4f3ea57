import { collectErrors } from "../src/endpoint/answer.ts";
import { buildXml } from "../src/endpoint/buildXml.ts";
import { endpoint } from "../src/endpoint/endpoint.ts";
import { explained, identifier, identifierList, matching, optionalField, withDefault } from "../src/endpoint/field.ts";
import { collection } from "../src/endpoint/groups.ts";
import { upload } from "../src/endpoint/legacyRequest.ts";
import type { Outcome } from "../src/endpoint/outcome.ts";
import { entriesOf, member, numberOf, object, renamed, unwrapped } from "../src/rules/compose.ts";
import type { Json } from "../src/rules/rule.ts";
import { integer } from "../src/rules/values.ts";
import { listBy } from "./filters.ts";
import { noBenchmarkSuite, noTasks } from "./outcomes.ts";
import { MAX_MEMBERS, studyEntity } from "./studies.ts";

const refused = (code: string, message: string): Outcome => ({ kind: "refused", code, message });
const ofAnotherType = refused("1034", "can only link entities of the type main_entity_type");
const suiteOfTasks = refused("1035", "Can only register benchmark suite if main entity type is run");

/**
 * Legacy's schema allows these characters only, and so many of them. It does not escape them where it shows a study: `&`, `<` and `]]>` would
 * break the study and every list with it.
 */
const basicLatin = (most: number) =>
  explained(
    matching(new RegExp(String.raw`^(?![\s\S]*\]\]>)[\t\n\r\x20-\x25\x27-\x3B\x3D-\x7F]{1,${most}}$`)),
    /[&<]|]]>/,
    "the legacy interface could not show the study: it does not escape '&', '<' and ']]>'",
  );

/** An alias that leads to another path, and one that legacy reads as an id. */
const words = "list$|attach$|detach$|status$";
const decimals = ["[0-9]+[.]?[0-9]*", "[.][0-9]+"];
const numbers = decimals.flatMap((one) => [`-?${one}$`, `-?${one}[eE]-?[0-9]+$`]).join("|");
const studyAlias = explained(
  // Proxies and servers resolve `.` and `..`.
  matching(new RegExp(String.raw`^(?!\.{1,2}$|${words}|${numbers})[A-Za-z0-9_.-]{1,32}$`)),
  new RegExp(`^(?:${words}|${numbers})`),
  "the study could not be read by this alias: 'list', 'attach', 'detach' and 'status' are paths, and a number is an id",
);

const members = withDefault(identifierList(0, MAX_MEMBERS), []);

/** The element around a list of ids, each once, which legacy's schema does not allow without one. */
const idsIn = (group: string, id: string, ids: readonly number[]) =>
  ids.length === 0 ? {} : { [`oml:${group}`]: { [`oml:${id}`]: [...new Set(ids)] } };

/** Tasks that are looked up: legacy takes their ids in its path, which may have 8 KB. */
const MAX_LOOKED_UP = 600;

/** The first of the tasks, each once. */
const lookedUp = (tasks: readonly number[]): number[] => [...new Set(tasks)].slice(0, MAX_LOOKED_UP);

/** The 422 that names the tasks which were looked up and are not in legacy's list; `undefined` where all of them are. */
const unknownTasks = (tasks: readonly number[], listed: readonly Json[]): Outcome | undefined => {
  const unknownIds = new Set(lookedUp(tasks));
  for (const row of listed) unknownIds.delete(numberOf(member(row, "task_id")));
  const found = collectErrors("body");
  for (const [i, task] of tasks.entries())
    if (unknownIds.has(task))
      found.add(["body", "tasks", i], { at: [], msg: `there is no task ${task}`, type: "value_error.unknown" });
  const unknown = found.errors();
  return unknown.length === 0 ? undefined : { kind: "refused", message: "There are unknown tasks.", errors: unknown };
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
  writes: () => [collection("study")],
  rejectEarly: ({ main_entity_type: type, benchmark_suite, tasks, runs }) => {
    if ((type === "task" ? runs : tasks).length > 0) return ofAnotherType;
    return type === "task" && benchmark_suite !== undefined ? suiteOfTasks : undefined;
  },
  // The order of the elements is that of legacy's schema.
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
  notFound: noBenchmarkSuite,
  // Legacy says so whatever the cause: its list shows the tasks that it has.
  recover: {
    code: 1039,
    look({ tasks }) {
      const ids = lookedUp(tasks);
      return ids.length === 0
        ? { unsent: "There are no tasks to look up." }
        : listBy(["task", "list"], { task_id: ids, status: "all", limit: ids.length, offset: 0 });
    },
    errors: new Set([Number(noTasks.code)]),
    outcome: ({ tasks }, legacy) => unknownTasks(tasks, entriesOf(member(legacy, "tasks", "task"))),
  },
  modern: { codes: [1038] },
  output: unwrapped("study_upload", object({ study_id: renamed("id", integer) })),
  examples: {
    ofTasks: { name: "My suite", main_entity_type: "task", description: "Tasks to try things on.", tasks: [1] },
  },
  exampleAnswer: { study_id: 108 },
});
