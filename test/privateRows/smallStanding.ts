import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished, vi } from "vitest";
import { openIndex } from "../../src/privateRows/index.ts";
import { openStandings, type Standing } from "../../src/privateRows/standing.ts";
import { legacyErrors } from "../../transforms/legacyErrors.ts";
import { privateDatasets } from "../../transforms/privateDatasets.ts";
import { type Entry, smallLegacy, type Who } from "./smallLegacy.ts";

/** Whom legacy shows what, over an index that knows its private rows as they are now. */
export const standingOver = (entries: Iterable<readonly [number, Entry]>) => {
  const legacy = smallLegacy(entries);
  const index = openIndex({ onFound: () => undefined, onRows: () => undefined });
  const learn = (id: number) => index.put(legacy.rows.get(id)?.is === "hidden" ? { id } : { id, shown: {} });
  for (const id of legacy.privateIds()) learn(id);
  const questions: number[] = [];
  const standings = openStandings({
    knowledge: privateDatasets,
    index,
    errors: legacyErrors,
    question: (id) => void questions.push(id),
  });
  return {
    legacy,
    index,
    learn,
    questions,
    standings,
    /** What somebody is, as far as the gateway can tell within so many milliseconds. */
    standingOf: async (who: Who, ms = 10_000): Promise<Standing | { shown: number[] } | { owns: number[] }> => {
      const standing = await standings.of({ owner: `owner ${who}`, ask: legacy.as(who) }, ms);
      if (typeof standing === "string") return standing;
      const shown = [...standing.shown].toSorted((a, b) => a - b);
      return standing.isAdministrator ? { shown } : { owns: shown };
    },
  };
};

/** Time as what is remembered sees it: it stands still but for `pass`. */
export const stoppedClock = () => {
  vi.useFakeTimers({ toFake: ["Date", "performance"], now: new Date("2026-11-21T12:00:00Z") });
  onTestFinished(() => void vi.useRealTimers());
  // lru-cache takes a time of 0 for none.
  vi.advanceTimersByTime(1000);
  return {
    async pass(ms: number) {
      vi.advanceTimersByTime(ms);
      // lru-cache looks at the clock once a millisecond of real time.
      await sleep(5);
    },
  };
};
