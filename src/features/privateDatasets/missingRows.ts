import { withTimeout } from "../../concurrency/withTimeout.ts";
import type { Endpoint } from "../../endpoint/endpoint.ts";
import { transform } from "../../endpoint/transform.ts";
import { servingNote } from "../../rules/notes.ts";
import type { Json } from "../../rules/rule.ts";
import type { AdminStatuses, KeyedCaller } from "./adminStatus.ts";
import type { PrivateIndex } from "./index.ts";
import { rowMatcher } from "./matching.ts";
import type { RecheckQueue } from "./recheckQueue.ts";
import type { PrivateRow } from "./rows.ts";

type Input = Record<string, unknown>;

/** The private rows that an administrator's list lacks, by id, as of a version of the index. `isIncomplete`: there may be more. */
export type MissingRows = { added: ReadonlyMap<number, Json>; isIncomplete: boolean; version: number };

/**
 * What legacy's list lacks for a caller. `own`: the caller is no administrator, the list is complete. `nothing`: the list is complete for
 * every caller. `incomplete`: unknown. `refused`: legacy does not know the key.
 */
type Missing = MissingRows | "own" | "nothing" | "incomplete" | "refused";

/** The wait of a list for its missing rows: milliseconds at most, and the share of the time that is left. */
const MAX_WAIT = 2000;
const MAX_SHARE = 1 / 4;

type MissingRowsSettings = {
  index: PrivateIndex;
  queue: Pick<RecheckQueue, "has" | "ids" | "settled">;
  adminStatuses: Pick<AdminStatuses, "known" | "of">;
  /** Whether rows have turned public lately: only legacy's whole list shows whether they still are public. */
  hasFormerlyPrivate: () => boolean;
  /** Whether the index has all rows, and whether an id was read lately. */
  isComplete: () => boolean;
  isCurrent: () => boolean;
  /** A row as the endpoint lists it; `undefined` if that is unknown. */
  listedRow: (row: PrivateRow) => Json | undefined;
};

/** Finds the rows that lists lack. */
export type MissingRowsFinder = ReturnType<typeof openMissingRows>;

/** Makes a finder. */
export const openMissingRows = (settings: MissingRowsSettings) => {
  const { index, queue, adminStatuses, hasFormerlyPrivate, isComplete, isCurrent, listedRow } = settings;

  /** Whether a row that may match is being read again, so that the index may be wrong about it. */
  const isChecking = (input: Input): boolean => {
    const matches = rowMatcher(input);
    return queue.ids().some((id) => matches({ id, uploader: index.get(id)?.uploader }) !== false);
  };

  const mayLackRows = (input: Input): boolean => {
    const matches = rowMatcher(input);
    return (
      !isComplete() || hasFormerlyPrivate() || isChecking(input) || index.rows().some((row) => matches(row) !== false)
    );
  };

  /** Leaves out only rows that are hidden, that do not fit, or of which it is unknown whether they match. */
  const collect = (input: Input): MissingRows => {
    const matches = rowMatcher(input);
    const added = new Map<number, Json>();
    let isIncomplete = !isComplete() || isChecking(input);
    for (const row of index.rows()) {
      const isMatch = queue.has(row.id) ? false : matches(row);
      const listed = isMatch ? listedRow(row) : undefined;
      if (listed !== undefined) added.set(row.id, listed);
      else if (isMatch !== false) isIncomplete = true;
    }
    return { added, isIncomplete, version: index.version() };
  };

  return {
    /** `deadline`: until when the client waits, in milliseconds since the epoch. */
    async find(input: Input, caller: KeyedCaller & { deadline: number }): Promise<Missing> {
      if (adminStatuses.known(caller.owner) === "other") return "own";
      if (!mayLackRows(input)) return "nothing";
      const wait = Math.min(MAX_WAIT, Math.max(1, MAX_SHARE * (caller.deadline - Date.now())));
      const until = performance.now() + wait;
      const status = await adminStatuses.of(caller, wait);
      if (status === "other") return "own";
      if (status === "refused") return "refused";
      if (status === "unknown" || !isCurrent()) return "incomplete";
      if (isChecking(input)) await withTimeout(queue.settled(), Math.max(1, until - performance.now()));
      const missing = collect(input);
      if (missing.added.size > 0 || hasFormerlyPrivate()) return missing;
      return missing.isIncomplete ? "incomplete" : "nothing";
    },
    /** Whether the list may lack other rows by now. */
    isOutdated(input: Input, missing: Missing): boolean {
      if (missing === "nothing") return mayLackRows(input);
      // An index that is being built changes all the time, and the list says so.
      if (typeof missing === "string" || (missing.isIncomplete && !isComplete())) return false;
      return missing.version !== index.version() || (!missing.isIncomplete && isChecking(input));
    },
  };
};

const note = servingNote(() => undefined);

/** Applies the endpoint's rules to rows, once to each. `onUnfit` is called with the places of a row that do not fit. */
export const openListedRows = (
  { output, rows }: Pick<Endpoint, "output" | "rows">,
  onUnfit: (id: number, places: string[]) => void,
): ((row: PrivateRow) => Json | undefined) => {
  const known = new WeakMap<PrivateRow, { ours: Json | undefined }>();
  const read = ({ id, shown }: PrivateRow): Json | undefined => {
    if (shown === undefined || rows?.apart === undefined) return undefined;
    const transformed = transform(output, rows.apart.document([shown]), note);
    if (transformed.ok) return (transformed.ours as Json[])[0];
    onUnfit(id, transformed.mismatch);
    return undefined;
  };
  return (row) => {
    const listed = known.get(row) ?? { ours: read(row) };
    known.set(row, listed);
    return listed.ours;
  };
};
