import type { Call, SampleHandler } from "./call.ts";
import type { StudyRow } from "./catalogueRows.ts";
import { ScriptDied, readUpload } from "./tree.ts";

/** The group of a study's members, and the ids that can be members. */
const membersOf = (
  row: StudyRow,
  { studies, tasks, runs }: Call,
): { group: "tasks" | "runs"; known: Set<number | undefined> } =>
  row.main_entity_type === "task"
    ? { group: "tasks", known: new Set(tasks.map(({ id }) => id)) }
    : // Some studies have runs that the sample does not have.
      { group: "runs", known: new Set([...runs.map(({ id }) => id), ...studies.flatMap((study) => study.runs ?? [])]) };

/** `study/{id}/attach` and `study/{id}/detach`: as in legacy, every caller with a key may change every study. */
export const studyMembership =
  (action: "attach" | "detach"): SampleHandler =>
  (call) => {
    const row = call.studies.find(({ id }) => id === Number(call.segments[0]));
    if (!row) return { error: 1041 };
    if (row.legacy) return { error: 1042 };
    const sent = call.form.get("ids") ?? "";
    if (!/^\d+(,\d+)*$/.test(sent)) return { error: 1044 };
    const ids = sent.split(",").map(Number);
    const { group, known } = membersOf(row, call);
    const before = row[group] ?? [];
    // Legacy refuses the whole batch if a single id does not exist or is already attached.
    const isRefused = ids.some((id, i) => !known.has(id) || before.includes(id) || ids.indexOf(id) !== i);
    if (action === "attach" && isRefused) return { error: 1045 };
    const after = action === "attach" ? [...before, ...ids] : before.filter((id) => !ids.includes(id));
    row[group] = after;
    const { id, main_entity_type } = row;
    return { tree: { [`study_${action}`]: { id, main_entity_type, linked_entities: after.length } } };
  };

/** `study/status/update`, for a study's creator and administrators. */
export const studyStatusUpdate: SampleHandler = ({ caller, studies, form }) => {
  const status = form.get("status") ?? "";
  if (status !== "active" && status !== "deactivated") return { error: 1051 };
  const row = studies.find(({ id }) => id === Number(form.get("study_id")));
  if (!row) return { error: 1052 };
  if (caller?.id !== row.creator && caller?.role !== "administrator") return { error: 1053 };
  row.status = status;
  return { tree: { study_status_update: { id: row.id, status } } };
};

/** `POST study`: a new study of the caller, described in a file. */
export const studyUpload: SampleHandler = (call) => {
  const { caller, studies, form } = call;
  const xml = form.get("description");
  if (!xml) throw new ScriptDied();
  const elements = readUpload("study", xml) ?? [];
  const textOf = (wanted: string) => elements.find(({ name }) => name === wanted)?.text;
  const idsIn = (wanted: string) =>
    elements.filter(({ name }) => name === wanted).flatMap(({ children }) => children.map(({ text }) => Number(text)));
  const [name, type, alias] = [textOf("name"), textOf("main_entity_type"), textOf("alias")];
  if (!name || (type !== "task" && type !== "run")) return { error: 1032 };
  const [others, suite] = [idsIn(type === "task" ? "runs" : "tasks"), textOf("benchmark_suite")];
  if (others.length > 0) return { error: 1034 };
  if (suite !== undefined && type !== "run") return { error: 1035 };
  if (suite !== undefined && !studies.some(({ id }) => id === Number(suite))) return { error: 1036 };
  if (alias !== undefined && studies.some((row) => row.alias?.toLowerCase() === alias.toLowerCase()))
    return { error: 1038 };
  const row: StudyRow = {
    id: Math.max(...studies.map(({ id }) => id)) + 1,
    main_entity_type: type,
    name,
    description: textOf("description") ?? "",
    visibility: "public",
    status: "in_preparation",
    creator: caller?.id ?? 0,
    data: [],
    tasks: idsIn("tasks"),
    ...(type === "run" ? { flows: [], setups: [], runs: idsIn("runs") } : {}),
    ...(alias === undefined ? {} : { alias }),
    ...(suite === undefined ? {} : { benchmark_suite: Number(suite) }),
  };
  const { group, known } = membersOf(row, call);
  if (row[group]?.some((id) => !known.has(id))) return { error: 1039 };
  studies.push(row);
  return { tree: { study_upload: { id: row.id } } };
};
