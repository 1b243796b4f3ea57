import type { Call, Handler, HandlerResult } from "./call.ts";
import { sampleCatalogue } from "./catalogue.ts";
import type { DatasetRow, TagRow } from "./catalogueRows.ts";
import { searchIndexDown } from "./errors.ts";
import { element } from "./renderXml.ts";
import { cleanInput } from "./textQuirks.ts";

/** The kinds of entities that have tags. */
type Taggable = "data" | "setup" | "flow" | "task" | "run";

/** The tags of one kind of entity, by id; `undefined` for an unknown id. */
type TagTable = {
  get: (id: number) => TagRow[] | undefined;
  set: (id: number, tags: TagRow[]) => void;
  all: () => TagRow[];
};

/** The tags of one state server. */
export type TagTables = Record<Taggable, TagTable>;

/** Tags in the order of the database's key: alphabetical, ignoring case. */
export const sortTags = (tags: TagRow[] = []): TagRow[] =>
  tags.toSorted(([a], [b]) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));

/** The tags are stored in the rows, so that rows that are added later count too. */
const open = (rows: { id: number; tags?: TagRow[] }[]): TagTable => {
  const find = (wanted: number) => rows.find(({ id }) => id === wanted);
  return {
    get: (id) => {
      const row = find(id);
      return row && sortTags(row.tags);
    },
    set: (id, tags) => {
      const row = find(id);
      if (row) row.tags = tags;
    },
    all: () => rows.flatMap(({ tags }) => sortTags(tags)),
  };
};

/** The tags of these datasets and of the catalogue's other entities, for one server to change. */
export const openTagTables = (datasets: DatasetRow[]): TagTables => ({
  data: open(datasets),
  setup: open(sampleCatalogue.setups.map((row) => ({ ...row }))),
  flow: open(sampleCatalogue.flows.map((row) => ({ ...row }))),
  task: open(sampleCatalogue.tasks.map((row) => ({ ...row }))),
  run: open(sampleCatalogue.runs.map((row) => ({ ...row }))),
});

/** `data/tag/list` and the like: every tag in use, in a template of its own. */
export const tagList =
  (kind: Taggable): Handler =>
  ({ tags }) => {
    const names = [...new Set(tags[kind].all().map(([tag]) => tag))];
    if (names.length === 0) return { error: 1002 };
    const root = element(
      `${kind}_tag_list`,
      names.map((name) => element("tag", name)),
    );
    const list = names.map((name) => `"${name}"`).join();
    return { root, json: `{\n    "${root.name}": { "tag": [\n        ${list}    ]}\n}` };
  };

/** The checks of adding a tag, in legacy's order; undefined once it is stored. */
const add = ({ tags, caller }: Call, kind: Taggable, sent: string, tag: string): HandlerResult | undefined => {
  const present = tags[kind].get(Number(sent)) ?? [];
  const about = `id=${sent}; tag=${tag}`;
  if (present.some(([known]) => known === tag)) return { error: 473, about };
  if (!/^[\w.-]{1,64}$/.test(tag)) return { error: 477, about };
  // The database's key ignores case, PHP's own check did not.
  if (present.some(([known]) => known.toLowerCase() === tag.toLowerCase())) return { error: 474 };
  tags[kind].set(Number(sent), sortTags([...present, [tag, caller?.id ?? 0]]));
  return undefined;
};

const remove = ({ tags, caller }: Call, kind: Taggable, sent: string, tag: string): HandlerResult | undefined => {
  if (tag.includes('"')) return "crash";
  const present = tags[kind].get(Number(sent)) ?? [];
  const found = present.find(([known]) => known.toLowerCase() === tag.toLowerCase());
  if (!found) return { error: 475 };
  if (found[1] !== caller?.id && caller?.role !== "administrator") return { error: 476 };
  tags[kind].set(
    Number(sent),
    present.filter((it) => it !== found),
  );
  return undefined;
};

/** Entities are indexed with their tags; of setups, only those in a study are. */
const isIndexed = (kind: Taggable, tag: string): boolean =>
  kind !== "setup" || sampleCatalogue.studies.some(({ legacy }) => legacy?.some(({ name }) => name === tag));

/** `data/tag`, `data/untag` and the like. As in legacy, a caller may tag an entity that is hidden from it. */
export const tagChange =
  (kind: Taggable, action: "tag" | "untag"): Handler =>
  (call) => {
    const sent = cleanInput(call.form.get(`${kind}_id`) ?? "");
    const tag = cleanInput(call.form.get("tag") ?? "");
    if ([sent, tag].some((field) => field === "" || field === "0")) return { error: 471 };
    // MariaDB finds the row of `217abc`, a later query dies of it.
    if (!call.tags[kind].get(Number.parseInt(sent, 10))) return { error: 472 };
    if (!/^\s*\d+\s*$/.test(sent)) return "crash";

    const refused = (action === "tag" ? add : remove)(call, kind, sent, tag);
    if (refused) return refused;
    if (call.faults.searchIndexDown && isIndexed(kind, tag)) return searchIndexDown;
    const left = call.tags[kind].get(Number(sent)) ?? [];
    return { root: element(`${kind}_${action}`, [element("id", sent), ...left.map(([it]) => element("tag", it))]) };
  };
