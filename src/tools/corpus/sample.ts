import { hash } from "node:crypto";
import type { CorpusRequest } from "./corpusRequest.ts";

/**
 * At most `limit` distinct requests of as many kinds as possible (endpoint, status, shape, with or without a key), the rarest first. The
 * same requests give the same sample. Without a limit: all requests, as they come.
 */
export const sampleRequests = async function* (
  requests: AsyncIterable<CorpusRequest> | Iterable<CorpusRequest>,
  limit?: number,
): AsyncGenerator<CorpusRequest> {
  if (limit === undefined) {
    yield* requests;
    return;
  }
  const strata = openStrata(limit);
  for await (const request of requests) strata.add(request);
  yield* strata.picked();
};

/** Requests of one endpoint, status and shape, with or without a key. `order`: its place among all strata. Requests from `bound` on are refused. */
type Stratum = { kind: string; order: string; seen: number; held: Map<string, CorpusRequest>; bound: string };

type Strata = {
  add(request: CorpusRequest): void;
  /** At most `limit` distinct requests: one of each stratum, those seen least first, then a second one of each, and so on. */
  picked(): Generator<CorpusRequest>;
  /** The strata and requests that are held now. */
  held(): { strata: number; requests: number };
};

/** The number of strata that are always held; they take little memory. */
const MIN_STRATA = 1000;

/** Sorts after all hashes, which are hexadecimal digits. */
const AFTER_EVERY_HASH = "~";

/**
 * Stratified sampling in memory that the limit bounds, not the number of requests.
 *
 * A request's hash is its place. A stratum holds the lowest places: distinct requests, late ones as likely as early ones. It holds twice
 * as many as it could give if the limit were dealt out now, since two strata may share requests. More strata make that number smaller,
 * so no request is missed. With more than twice as many strata as the limit (at least 1000), those of the commonest endpoint, status
 * and key are evicted first.
 */
export const openStrata = (limit: number): Strata => {
  const strata = new Map<string, Stratum>();
  /** By endpoint, status and key: the place from which strata are refused. */
  const kinds = new Map<string, string>();
  let total = 0;
  const maxStrata = () => Math.max(limit, MIN_STRATA, kinds.size);

  const stratumOf = (request: CorpusRequest): Stratum | undefined => {
    const kind = JSON.stringify([request.endpoint, request.status, request.keyed]);
    const name = `${kind} ${request.shape}`;
    const known = strata.get(name);
    if (known) return known;
    const order = placeOf(name);
    const bound = kinds.get(kind) ?? AFTER_EVERY_HASH;
    if (order >= bound) return undefined;
    kinds.set(kind, bound);
    strata.set(name, { kind, order, seen: 0, held: new Map(), bound: AFTER_EVERY_HASH });
    if (strata.size > 2 * maxStrata()) evictStrata();
    return strata.get(name);
  };

  const evictStrata = () => {
    const byKind = Map.groupBy(strata, ([, { kind }]) => kind);
    const level = levelOf(
      [...byKind.values()].map((all) => all.length),
      maxStrata(),
    );
    for (const [kind, all] of byKind) {
      const gone = all.toSorted(([, a], [, b]) => compareTexts(a.order, b.order)).slice(level);
      for (const [name, { held }] of gone) {
        strata.delete(name);
        total -= held.size;
      }
      if (gone[0]) kinds.set(kind, gone[0][1].order);
    }
  };

  const evictRequests = () => {
    const level = levelOf(
      [...strata.values()].map(({ held }) => held.size),
      limit,
    );
    const maxHeld = 2 * (level + 1);
    for (const stratum of strata.values()) {
      const gone = [...stratum.held.keys()].toSorted(compareTexts).slice(maxHeld);
      for (const place of gone) stratum.held.delete(place);
      stratum.bound = gone[0] ?? stratum.bound;
      total -= gone.length;
    }
  };

  return {
    add(request) {
      const stratum = stratumOf(request);
      if (!stratum) return;
      stratum.seen++;
      const place = placeOf(
        JSON.stringify([request.endpoint, request.method, request.path, request.keyed, request.body]),
      );
      if (place >= stratum.bound || stratum.held.has(place)) return;
      // A copy: a text cut out of a line would hold the whole line in memory.
      stratum.held.set(place, JSON.parse(JSON.stringify(request)) as CorpusRequest);
      total++;
      if (total > 8 * maxStrata()) evictRequests();
    },
    *picked() {
      const queues = [...strata.values()]
        .toSorted((a, b) => a.seen - b.seen || compareTexts(a.order, b.order))
        .map(({ held }) => [...held].toSorted(([a], [b]) => compareTexts(a, b))[Symbol.iterator]());
      yield* takeTurns(queues, limit);
    },
    held: () => ({ strata: strata.size, requests: total }),
  };
};

/** One request of each queue, then a second one of each, and so on, up to `limit` distinct places. */
const takeTurns = function* (queues: readonly ArrayIterator<[place: string, request: CorpusRequest]>[], limit: number) {
  const taken = new Set<string>();
  for (let before = -1; taken.size > before && taken.size < limit;) {
    before = taken.size;
    for (const queue of queues)
      for (const [place, request] of queue) {
        // The same request may be in two strata, with two statuses.
        if (taken.has(place)) continue;
        taken.add(place);
        yield request;
        if (taken.size >= limit) return;
        break;
      }
  }
};

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The same in every run, and otherwise as if it were random. */
const placeOf = (text: string): string => hash("sha1", text, "hex").slice(0, 20);

/** The most that each size may give so that all together give at most `limit`; `Infinity` where all may give everything. */
export const levelOf = (sizes: readonly number[], limit: number): number => {
  const ascending = sizes.toSorted((a, b) => a - b);
  let left = limit;
  for (const [i, size] of ascending.entries()) {
    const share = Math.floor(left / (ascending.length - i));
    if (size > share) return share;
    left -= size;
  }
  return Infinity;
};
