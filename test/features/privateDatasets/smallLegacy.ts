import { setImmediate } from "node:timers/promises";
import type { LegacyFailed, LegacyReply } from "../../../src/legacy/client.ts";
import { type AskLegacy, askLegacyBy } from "../../../src/features/privateDatasets/readRow.ts";
import { legacyErrors } from "../../../transforms/legacyErrors.ts";

/**
 * What legacy has under an id. `hidden`: listed to its uploader only, and never shown, as a dataset without a file;
 * `failing`: it is private, and legacy breaks off whenever it is asked for.
 */
export type Entry = { is: "public" | "private" | "hidden" | "failing"; uploader?: number; tag?: string };
export type Who = "nobody" | "administrator" | number;

export const publicOne: Entry = { is: "public" };
export const privateOne: Entry = { is: "private" };

/** The administrator has a private row or two as well. */
const ADMINISTRATOR = 1;

export const error = (code: number): LegacyReply => ({
  status: 412,
  reading: { is: "error", code, message: `code ${code}` },
});
const document = (content: Extract<LegacyReply["reading"], { is: "document" }>["document"]): LegacyReply => ({
  status: 200,
  reading: { is: "document", document: content, form: "json" },
});

export const away: LegacyFailed = { failed: { kind: "broken", message: "It is away." }, why: "it is away" };

/** A legacy of a few lines. A test changes its rows as it likes. */
export const smallLegacy = (entries: Iterable<readonly [number, Entry]> = []) => {
  const rows = new Map<number, Entry>(entries);
  const isOwn = ({ uploader }: Entry, who: Who) =>
    uploader !== undefined && uploader === (who === "administrator" ? ADMINISTRATOR : who);

  const isListed = (id: number, who: Who): boolean => {
    const row = rows.get(id);
    return row !== undefined && (row.is === "public" || isOwn(row, who));
  };
  const list = (ids: readonly number[], who: Who): LegacyReply => {
    const dataset = ids.filter((id) => isListed(id, who)).map((id) => ({ did: `${id}` }));
    return dataset.length === 0 ? error(372) : document({ data: { dataset } });
  };
  const one = (id: number, who: Who): LegacyReply | LegacyFailed => {
    const row = rows.get(id);
    if (row === undefined) return error(111);
    if (row.is === "failing") return away;
    if (row.is !== "public" && !isOwn(row, who) && who !== "administrator") return error(112);
    if (row.is === "hidden") return error(113);
    const { is: visibility, tag = [] } = row;
    return document({ data_set_description: { id: `${id}`, name: `row ${id}`, visibility, tag } });
  };
  const answer = (call: string, who: Who): LegacyReply | LegacyFailed => {
    const [what, text = "", more] = call.split(" ");
    if (what === "one") return one(Number(text), who);
    if (what === "rest") return error(362);
    if (what === "among") return list(text.split(",").map(Number), who);
    const all = [...rows.keys()].toSorted((a, b) => a - b).filter((id) => isListed(id, who));
    return list(all.slice(Number(more), Number(more) + Number(text)), who);
  };

  const legacy = {
    rows,
    /** What it was asked: `list 200 0`, `among 5,6`, `one 5`, `rest 5`. */
    calls: [] as string[],
    /** What it says instead, before it has looked; or what happens meanwhile. */
    before: (
      _call: string,
      _who: Who,
    ): LegacyReply | LegacyFailed | void | Promise<LegacyReply | LegacyFailed | void> => undefined,
    as: (who: Who): AskLegacy =>
      askLegacyBy(async ({ path }) => {
        const call = callOf(path);
        legacy.calls.push(call);
        await setImmediate();
        return (await legacy.before(call, who)) ?? answer(call, who);
      }, legacyErrors),
    /** The ids that only administrators and their owners may see. */
    privateIds: () =>
      [...rows]
        .filter(([, { is }]) => is !== "public")
        .map(([id]) => id)
        .toSorted((a, b) => a - b),
    /** What it was asked since the last time. */
    newCalls: () => legacy.calls.splice(0),
  };
  return legacy;
};

export type SmallLegacy = ReturnType<typeof smallLegacy>;

const callOf = (path: string): string => {
  const patterns: [RegExp, string][] = [
    [/^\/data\/list\/status\/all\/limit\/(\d+)\/offset\/(\d+)$/, "list $1 $2"],
    [/^\/data\/list\/status\/all\/data_id\/([\d,]+)$/, "among $1"],
    [/^\/data\/qualities\/(\d+)$/, "rest $1"],
    [/^\/data\/(\d+)$/, "one $1"],
  ];
  const known = patterns.find(([pattern]) => pattern.test(path));
  if (known === undefined) throw new Error(`nobody asks for ${path}`);
  return path.replace(...known);
};
