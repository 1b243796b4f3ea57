import { hash } from "node:crypto";
import type { CorpusRequest } from "./corpusRequest.ts";

/**
 * At most `limit` distinct asks that show as much as they can: of every endpoint, status, shape and with a key or none, the rarest first.
 * The same asks give the same sample. Without a limit all of them, as they come.
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
  for await (const ask of requests) strata.add(ask);
  yield* strata.picked();
};

/** Asks of one endpoint, status and shape, with a key or without; `order` is its place among all, asks from `bound` on are refused. */
type Stratum = { kind: string; order: string; seen: number; held: Map<string, CorpusRequest>; bound: string };

type Strata = {
  add(ask: CorpusRequest): void;
  /** At most `limit` distinct requests: one of each stratum, those seen least first, then a second one of each, and so on. */
  picked(): Generator<CorpusRequest>;
  /** As many strata and asks as are held now. */
  held(): { strata: number; requests: number };
};

/** With fewer than so many strata there is nothing to gain from forgetting any. */
const MIN_STRATA = 1000;

/** After every hash in hexadecimal digits. */
const AFTER_EVERY_HASH = "~";

/**
 * Asks by stratum, in memory bounded by the limit, whatever their number. Each has a fixed place by its hash, so that a stratum keeps
 * those of the lowest places: distinct ones, the last of the traffic as likely as the first. Of each stratum only as many are held as it could still
 * give were the limit dealt out now (twice that, for what two strata share); more strata only make that less, so that nothing is missed.
 * Where there are more than twice as many strata as the limit (at least 1000), those of the commonest endpoint, status and key go first.
 */
export const openStrata = (limit: number): Strata => {
  const strata = new Map<string, Stratum>();
  /** Of each endpoint, status and key: from which place on strata are refused. */
  const kinds = new Map<string, string>();
  let total = 0;
  const maxStrata = () => Math.max(limit, MIN_STRATA, kinds.size);

  const stratumOf = (ask: CorpusRequest): Stratum | undefined => {
    const kind = JSON.stringify([ask.endpoint, ask.status, ask.keyed]);
    const name = `${kind} ${ask.shape}`;
    const known = strata.get(name);
    if (known) return known;
    const order = placeOf(name);
    const bound = kinds.get(kind) ?? AFTER_EVERY_HASH;
    if (order >= bound) return undefined;
    kinds.set(kind, bound);
    strata.set(name, { kind, order, seen: 0, held: new Map(), bound: AFTER_EVERY_HASH });
    if (strata.size > 2 * maxStrata()) forgetStrata();
    return strata.get(name);
  };

  const forgetStrata = () => {
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

  const forgetAsks = () => {
    const level = levelOf(
      [...strata.values()].map(({ held }) => held.size),
      limit,
    );
    const kept = 2 * (level + 1);
    for (const stratum of strata.values()) {
      const gone = [...stratum.held.keys()].toSorted(compareTexts).slice(kept);
      for (const place of gone) stratum.held.delete(place);
      stratum.bound = gone[0] ?? stratum.bound;
      total -= gone.length;
    }
  };

  return {
    add(ask) {
      const stratum = stratumOf(ask);
      if (!stratum) return;
      stratum.seen++;
      const place = placeOf(JSON.stringify([ask.endpoint, ask.method, ask.path, ask.keyed, ask.body]));
      if (place >= stratum.bound || stratum.held.has(place)) return;
      // What is cut out of a line keeps the whole line in memory.
      stratum.held.set(place, JSON.parse(JSON.stringify(ask)) as CorpusRequest);
      total++;
      if (total > 8 * maxStrata()) forgetAsks();
    },
    *picked() {
      if (limit <= 0) return;
      const queues = [...strata.values()]
        .toSorted((a, b) => a.seen - b.seen || compareTexts(a.order, b.order))
        .map(({ held }) => [...held].toSorted(([a], [b]) => compareTexts(a, b))[Symbol.iterator]());
      const given = new Set<string>();
      for (let before = -1; given.size > before;) {
        before = given.size;
        for (const queue of queues)
          for (const [place, ask] of queue) {
            // The same may have been answered in two ways.
            if (given.has(place)) continue;
            given.add(place);
            yield ask;
            if (given.size >= limit) return;
            break;
          }
      }
    },
    held: () => ({ strata: strata.size, requests: total }),
  };
};

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The same at every run, and as good as drawn by lot. */
const placeOf = (text: string): string => hash("sha1", text, "hex").slice(0, 20);

/** How many each may give at most, so that all together give no more than `limit`; more than any has where that is no bound. */
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
