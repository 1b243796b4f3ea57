import { hash } from "node:crypto";
import type { CorpusRequest } from "./corpusRequest.ts";

/**
 * Requests with the same endpoint, status, shape and use of a key. `held`: those whose hash is below `bound`, by hash.
 */
type Stratum = { kind: string; seen: number; held: Map<string, CorpusRequest>; bound: string };

/** The most strata. A scanner may invent shapes: beyond the bound, all requests of an endpoint share a stratum. */
const MAX_STRATA = 10_000;

/** Sorts after all hashes, which are hexadecimal digits. */
const AFTER_EVERY_HASH = "~";

/**
 * At most `limit` distinct requests: first a request from each stratum, the rarest stratum first, then a second request
 * from each, and so on. Within a stratum they are chosen by their hash: the same requests give the same sample, and
 * late requests are as likely as early requests. Holds at most four times the limit, or two requests of each stratum.
 */
export const sampleRequests = async (
  requests: AsyncIterable<CorpusRequest>,
  limit: number,
): Promise<CorpusRequest[]> => {
  const strata = new Map<string, Stratum>();
  /** The requests that a stratum may hold after the next `shrink`. */
  let most = limit;
  let total = 0;
  let room = 4 * limit;

  const stratumOf = ({ endpoint, status, keyed, shape }: CorpusRequest): Stratum => {
    const kind = JSON.stringify([endpoint, status, keyed]);
    const name = `${kind} ${shape}`;
    const key = strata.has(name) || strata.size < MAX_STRATA ? name : endpoint;
    const stratum = strata.get(key) ?? { kind, seen: 0, held: new Map(), bound: AFTER_EVERY_HASH };
    strata.set(key, stratum);
    return stratum;
  };
  const shrink = () => {
    total = 0;
    for (const stratum of strata.values()) {
      const sorted = inOrder(stratum);
      stratum.bound = sorted[most]?.[0] ?? stratum.bound;
      stratum.held = new Map(sorted.slice(0, most));
      total += stratum.held.size;
    }
  };

  for await (const request of requests) {
    const stratum = stratumOf(request);
    stratum.seen++;
    const { endpoint, method, path, keyed, body } = request;
    const place = hash("sha1", JSON.stringify([endpoint, method, path, keyed, body]));
    if (place >= stratum.bound || stratum.held.has(place)) continue;
    // A copy: a text cut out of a line would hold the whole line in memory.
    stratum.held.set(place, structuredClone(request));
    if (++total <= room) continue;
    shrink();
    // If each stratum holds half as many, at least half of all requests stay, which is the limit.
    if (total > 2 * limit) {
      most = Math.ceil(most / 2);
      shrink();
    }
    room = Math.max(4 * limit, 2 * total);
  }

  const picked = new Map<string, CorpusRequest>();
  const queues = rarestFirst([...strata.values()]).map(inOrder);
  for (let i = 0; i < most; i++)
    for (const queue of queues) {
      const [place, request] = queue[i] ?? [];
      // The same request may be in two strata, with two statuses.
      if (place !== undefined && request !== undefined && picked.size < limit) picked.set(place, request);
    }
  return [...picked.values()];
};

const inOrder = ({ held }: Stratum): [place: string, request: CorpusRequest][] =>
  [...held].toSorted(([a], [b]) => (a < b ? -1 : 1));

/**
 * First a stratum of each kind, then a second stratum of each, so that a kind with many shapes leaves room for the
 * others.
 */
const rarestFirst = (strata: readonly Stratum[]): Stratum[] => {
  const bySeen = strata.toSorted((a, b) => a.seen - b.seen);
  const byKind = [...Map.groupBy(bySeen, ({ kind }) => kind).values()];
  const most = Math.max(0, ...byKind.map((alike) => alike.length));
  return Array.from({ length: most }, (_, i) =>
    byKind.flatMap((alike) => alike[i] ?? []).toSorted((a, b) => a.seen - b.seen),
  ).flat();
};
