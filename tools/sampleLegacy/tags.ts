import type { SampleError } from "./answers.ts";
import type { Call, SampleHandler } from "./call.ts";
import type { TagRow } from "./catalogueRows.ts";
import { cleanInput } from "./textQuirks.ts";
import { ScriptDied } from "./tree.ts";

/** The kinds of entities that have tags, and the names of their rows. */
export const taggable = { data: "datasets", setup: "setups", flow: "flows", task: "tasks", run: "runs" } as const;
type Taggable = keyof typeof taggable;

/** Tags in the order of the database's key: alphabetical, ignoring case. */
const sortTags = (tags: TagRow[] = []): TagRow[] =>
  tags.toSorted(([a], [b]) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));

/** The texts of tags, in their order. */
export const textsOf = (tags: TagRow[] | undefined): string[] => sortTags(tags).map(([tag]) => tag);

/** `data/tag/list` and the like: every tag in use, in a separate template. */
export const tagList =
  (kind: Taggable): SampleHandler =>
  (call) => {
    const tag = [...new Set(call[taggable[kind]].flatMap(({ tags }) => textsOf(tags)))];
    if (tag.length === 0) return { error: 1002 };
    const root = `${kind}_tag_list`;
    const list = tag.map((name) => `"${name}"`).join();
    return { tree: { [root]: { tag } }, json: `{\n    "${root}": { "tag": [\n        ${list}    ]}\n}` };
  };

/** The rows and the caller of a change; `present` are the tags so far. */
type Change = { caller: Call["caller"]; present: TagRow[]; sent: string; tag: string };

/** Adds a tag after legacy's checks, in their order: the tags, or an error. */
const added = ({ caller, present, sent, tag }: Change): TagRow[] | SampleError => {
  const about = `id=${sent}; tag=${tag}`;
  if (present.some(([known]) => known === tag)) return { error: 473, about };
  if (!/^[\w.-]{1,64}$/.test(tag)) return { error: 477, about };
  // The database's key ignores case; PHP's own check does not.
  if (present.some(([known]) => known.toLowerCase() === tag.toLowerCase())) return { error: 474 };
  return [...present, [tag, caller?.id ?? 0]];
};

/** Removes a tag after legacy's checks, in their order. */
const removed = ({ caller, present, tag }: Change): ReturnType<typeof added> => {
  if (tag.includes('"')) throw new ScriptDied();
  const found = present.find(([known]) => known.toLowerCase() === tag.toLowerCase());
  if (!found) return { error: 475 };
  if (found[1] !== caller?.id && caller?.role !== "administrator") return { error: 476 };
  return present.filter((it) => it !== found);
};

/** `data/tag`, `data/untag` and the like. As in legacy, a caller may tag an entity that is hidden from him. */
export const tagChange =
  (kind: Taggable, action: "tag" | "untag"): SampleHandler =>
  (call) => {
    const sent = cleanInput(call.form.get(`${kind}_id`) ?? "");
    const tag = cleanInput(call.form.get("tag") ?? "");
    if ([sent, tag].some((field) => field === "" || field === "0")) return { error: 471 };
    const row = call[taggable[kind]].find(({ id }) => id === Number.parseInt(sent, 10));
    if (!row) return { error: 472 };
    // MariaDB finds the row of `217abc`, and a later query fails.
    if (!/^\s*\d+\s*$/.test(sent)) throw new ScriptDied();

    const change = { caller: call.caller, present: sortTags(row.tags), sent, tag };
    const after = action === "tag" ? added(change) : removed(change);
    if ("error" in after) return after;
    row.tags = sortTags(after);
    return { tree: { [`${kind}_${action}`]: { id: sent, tag: textsOf(row.tags) } } };
  };
