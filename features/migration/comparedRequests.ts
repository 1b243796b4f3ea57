import { hash } from "node:crypto";
import { z } from "zod";
import {
  type DifferenceResult,
  differenceResults,
  type ResultCounts,
  zeroCounts,
} from "../../libraries/compare/difference.ts";

/** The latest distinct requests of an endpoint are its evidence: this many can show a parity of 0.999. */
export const MAX_COMPARED = 5000;
/**
 * Characters of a request's hash; of one request as text: its hash, the place of its result, and the time in base 36.
 */
const ID = 8;
const ENTRY = 17;

/** Compared requests as text, the oldest first. */
export const comparedSchema = z
  .string()
  .max(MAX_COMPARED * ENTRY)
  .regex(/^(?:[\w-]{8}[0-4][0-9a-z]{8})*$/);

/**
 * A request's latest result that is no drift, and its time in milliseconds since the epoch. `since`: the time of the
 * first such result in a row. `isOwn`: this process has compared it.
 */
type LatestResult = { result: DifferenceResult; at: number; since: number; isOwn?: true };

/**
 * The distinct requests of an endpoint that were compared. A request that is compared often counts once.
 */
export type ComparedRequests = ReturnType<typeof openComparedRequests>;

/** Opens them without any. `now` gives milliseconds since the epoch. */
export const openComparedRequests = (now: () => number = Date.now) => {
  /** The results by time, the oldest first. */
  let requests = new Map<string, LatestResult>();
  let counted = new Map<number, ResultCounts>();
  let version = 0;

  const changed = (): void => {
    version++;
    counted = new Map();
  };
  return {
    /** Drift is a change between two requests: it says nothing new about a request that was compared before. */
    add(request: string, result: DifferenceResult): void {
      const id = hash("sha256", request, "base64url").slice(0, ID);
      const known = requests.get(id);
      if (known !== undefined && result === "drift") return;
      // Later than the result that it replaces, also if the clock was set back.
      requests.delete(id);
      const at = Math.max(now(), (known?.at ?? 0) + 1);
      requests.set(id, { result, at, since: known?.result === result ? known.since : at, isOwn: true });
      if (requests.size > MAX_COMPARED) requests.delete(requests.keys().next().value ?? "");
      changed();
    },
    /** The ledger allows all differences that this process has seen. */
    allow(): void {
      for (const latest of requests.values()) {
        if (!latest.isOwn || latest.result !== "unexplained") continue;
        Object.assign(latest, { result: "expected", at: latest.at + 1 });
        changed();
      }
    },
    /** The requests by result: all of them, or those that were compared since this time. */
    counts(since = 0): ResultCounts {
      const known = counted.get(since);
      if (known !== undefined) return known;
      const counts = zeroCounts();
      for (const { result, at } of requests.values()) {
        if (at < since) continue;
        counts.compared++;
        counts[result]++;
      }
      counted.set(since, counts);
      return counts;
    },
    /** Since when a request differs without a reason, in milliseconds since the epoch; `Infinity` if none does. */
    differsSince(): number {
      let first = Infinity;
      for (const { result, since } of requests.values()) if (result === "unexplained" && since < first) first = since;
      return first;
    },
    /** Changes with each result of this process. */
    version: () => version,
    toText: (): string =>
      [...requests]
        .map(([id, { result, at }]) => `${id}${differenceResults.indexOf(result)}${at.toString(36).padStart(8, "0")}`)
        .join(""),
    /** Takes over the later results of other gateways. */
    merge(text: string): void {
      for (let i = 0; i < text.length; i += ENTRY) {
        const id = text.slice(i, i + ID);
        const result = differenceResults[Number(text[i + ID])] ?? "drift";
        const at = Number.parseInt(text.slice(i + ID + 1, i + ENTRY), 36);
        const known = requests.get(id);
        const isNews = known === undefined || (result !== "drift" && (known.result === "drift" || known.at < at));
        if (isNews) requests.set(id, { result, at, since: known?.result === result ? known.since : at });
      }
      requests = new Map([...requests].toSorted(([, a], [, b]) => a.at - b.at).slice(-MAX_COMPARED));
      counted = new Map();
    },
  };
};
