import { type Observer, type Reason, RECENT_MINUTES, requestKinds, type Traffic } from "../../operation/index.ts";

/** What operators are told, and what it means for clients. `isOften`: a few are due to single records or queries. */
type FaultWords = { trouble: string; effect: string; isOften?: boolean };

/** What can be wrong with the answers of a legacy that does not fail. */
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

/** The name of something that can be wrong. */
export type LegacyFault = keyof typeof faults;
/** Their names, for the metric. */
export const legacyFaults = Object.keys(faults);

/** A trouble with a legacy that does not fail. `since`, `last`: when it happened first and last (ISO 8601). */
export type LegacyTrouble = Reason & {
  name: string;
  trouble: string;
  effect: string;
  since?: string;
  last?: string;
};

/** Events that tell of a fault of an endpoint. */
const ofEvent: Readonly<Record<string, LegacyFault>> = {
  legacy_unreadable: "unreadable",
  legacy_cache_unreadable: "unreadable",
  empty_list: "incomplete",
  legacy_part_hangs: "hangs",
};

/** So many of a kind are a trouble, and of those that may be single so large a share of what a part was asked. */
const MIN_FAULTS = 3;
const SHARE = 0.05;
/** Endpoints that are named, and faults that are remembered. */
const MAX_NAMED = 3;
const MAX_FAULTS = 10_000;

const RECENT_MS = RECENT_MINUTES * 60_000;

/** Writes of both interfaces are one part. */
const kinds: Readonly<Record<string, string>> = { ...requestKinds, write: "writes of both interfaces" };

type Telemetry = { observer: Pick<Observer, "onEvent">; traffic: Pick<Traffic, "recent"> };
type Fault = { fault: LegacyFault; part: string; at: number; last: string };

/** Counts the faults of the last minutes, by endpoint or kind of request. A request without a fault costs nothing. */
export const openLegacyFaults = ({ observer, traffic }: Telemetry) => {
  let noted: Fault[] = [];
  /** When each began, and was last noted. */
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
    /** Legacy has begun to fail, or has ended that: what was counted until now belongs to it. */
    forget(): void {
      noted = [];
      begun.clear();
    },
    /** Those that operators are told of. */
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
 * How often legacy was asked for a part, at most: reads that only pass are not counted by endpoint, nor writes as one.
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
