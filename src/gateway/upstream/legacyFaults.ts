import { type Observer, type Reason, RECENT_MINUTES, requestKinds, type Traffic } from "../../operation/index.ts";

/** The fault in words, and its effect on clients. `isOften`: single records or queries cause a few at any time. */
type FaultWords = { trouble: string; effect: string; isOften?: boolean };

/** Everything that can be wrong with the answers of a legacy that does not fail. */
const faults = {
  ill: { trouble: "Answers that are not from legacy", effect: "what is not cached is wrong, or answered 502 or 503" },
  unreadable: {
    trouble: "Answers of legacy that cannot be read",
    effect: "what is not cached is answered 502",
    isOften: true,
  },
  incomplete: {
    trouble: "Legacy answers lists without any of their rows",
    effect: "the cache answers with the rows that it has stored",
  },
  slow: { trouble: "Slow answers of legacy", effect: "what is not cached takes more than 5 s", isOften: true },
  cut: { trouble: "Answers that legacy broke off", effect: "what is not cached is answered 502, or in part" },
  full: { trouble: "Too many requests for legacy", effect: "those without a connection, or memory, are answered 503" },
  hangs: {
    trouble: "A part of legacy hangs",
    effect: "beyond half of the connections its requests are answered 503",
  },
} satisfies Record<string, FaultWords>;

/** The name of a fault. */
export type LegacyFault = keyof typeof faults;
/** The names of all faults, for the metric. */
export const legacyFaults = Object.keys(faults);

/** A trouble of a legacy that does not fail. `since`, `last`: the times of its first and last event (ISO 8601). */
export type LegacyTrouble = Reason & {
  name: string;
  trouble: string;
  effect: string;
  since?: string;
  last?: string;
};

/** The faults by the events that report them for an endpoint. */
const ofEvent: Readonly<Record<string, LegacyFault>> = {
  legacy_unreadable: "unreadable",
  legacy_cache_unreadable: "unreadable",
  empty_list: "incomplete",
  legacy_part_hangs: "hangs",
};

/** Operators are told from this number of faults on; with `isOften`, only above this share of a part's requests. */
const MIN_FAULTS = 3;
const SHARE = 0.05;
/** Parts that a message names; `MAX_FAULTS`: faults that are remembered. */
const MAX_NAMED = 3;
const MAX_FAULTS = 10_000;

const RECENT_MS = RECENT_MINUTES * 60_000;

/** The names of the parts by kind of request. Writes to both interfaces are a single part. */
const kinds: Readonly<Record<string, string>> = { ...requestKinds, write: "writes of both interfaces" };

type Fault = { fault: LegacyFault; part: string; at: number; last: string };

/** Counts the faults of the last minutes, by endpoint or kind of request. A request without a fault has no cost. */
export const openLegacyFaults = ({ observer, traffic }: { observer: Observer; traffic: Traffic }) => {
  let noted: Fault[] = [];
  /** The time at which each fault began; `at`: the time at which it was last noted. */
  const begun = new Map<LegacyFault, { since: string; at: number }>();
  const note = (fault: LegacyFault, part: string): void => {
    const [at, last] = [performance.now(), new Date().toISOString()];
    noted.push({ fault, part, at, last });
    const known = begun.get(fault);
    begun.set(fault, { since: known !== undefined && at - known.at < RECENT_MS ? known.since : last, at });
    if (noted.length > MAX_FAULTS) noted = noted.slice(MAX_FAULTS / 2);
  };
  observer.onEvent((name, endpoint) => {
    const fault = ofEvent[name];
    if (fault !== undefined && endpoint !== undefined) note(fault, endpoint);
  });
  return {
    note,
    /** Clears all counts when legacy begins to fail or recovers: the faults until now belong to that failure. */
    forget(): void {
      noted = [];
      begun.clear();
    },
    /** The faults that operators are told. */
    troubles(): LegacyTrouble[] {
      const asked = askedByPart(traffic.recent());
      const since = performance.now() - RECENT_MS;
      const recent = Map.groupBy(
        noted.filter(({ at }) => at > since),
        ({ fault }) => fault,
      );
      return [...recent].flatMap(([name, all]) => {
        const { isOften = false, ...words }: FaultWords = faults[name];
        const parts = Object.entries(Object.groupBy(all, ({ part }) => kinds[part] ?? part))
          .map(([part, some = []]) => ({ part, count: some.length }))
          .filter(({ part, count }) => !isOften || count > SHARE * asked(part))
          .toSorted((a, b) => b.count - a.count);
        if (parts.reduce((sum, { count }) => sum + count, 0) < MIN_FAULTS) return [];
        const named = parts.slice(0, MAX_NAMED).map(({ part, count }) => `${part} ${count}`);
        if (parts.length > MAX_NAMED) named.push(`${parts.length - MAX_NAMED} more`);
        const why = `${named.join(", ")} in the last ${RECENT_MINUTES} minutes`;
        return [{ name, ...words, why, since: begun.get(name)?.since, last: all.at(-1)?.last }];
      });
    },
  };
};

/**
 * The number of requests to legacy for a part, at most: proxied reads and writes are not counted by part.
 */
const askedByPart = (rows: ReturnType<Traffic["recent"]>) => {
  const asked = new Map<string, number>();
  let all = 0;
  for (const { name, requests, hits } of rows) {
    const part = name.replace(/^legacy /, "");
    asked.set(part, (asked.get(part) ?? 0) + requests - hits);
    all += requests - hits;
  }
  const ofKind = new Set<string>(Object.values(requestKinds));
  return (part: string): number => {
    if (part === kinds["write"]) return all;
    return (asked.get(part) ?? 0) + (ofKind.has(part) ? 0 : (asked.get(requestKinds.read) ?? 0));
  };
};
