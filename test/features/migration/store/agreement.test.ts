import fc from "fast-check";
import { expect, test } from "vitest";
import { migrationScripts } from "../../../../src/features/migration/store/redisScripts.ts";
import { openRedisState, type RedisState } from "../../../../src/features/migration/store/redisState.ts";
import { expectIn, moveIn } from "../../../../src/features/migration/store/sharedChange.ts";
import { entry, moveTo, stage } from "./moves.ts";

type Kept = { version: string; stages: Record<string, string>; audit: string[]; expected: Record<string, string> };

const fingerprintOf = ({ version, stages, audit, expected }: Kept): string =>
  [version, Object.keys(stages).length, audit.length, Object.keys(expected).length].join(" ");

const pairsOf = (texts: string[]) =>
  Array.from({ length: texts.length / 2 }, (_, i) => [texts[2 * i], texts[2 * i + 1]] as const);

/** Does what the two scripts do, and can be set back to any moment. */
const fakeRedis = () => {
  let kept: Kept = { version: "", stages: {}, audit: [], expected: {} };
  const history: Kept[] = [kept];
  return {
    history,
    forgetSince: (moment: number) => (kept = history[moment % history.length] as Kept),
    async run(script: object, _: readonly string[], args: readonly string[]): Promise<unknown> {
      const now = fingerprintOf(kept);
      if (script === migrationScripts.read)
        return now === args[0]
          ? null
          : [now, Object.entries(kept.stages).flat(), kept.audit, Object.entries(kept.expected).flat()];
      const [from, version = "", , how, stages, expected, ...rest] = args;
      if (now !== from) return null;
      const [s, e] = [2 * Number(stages), 2 * Number(expected)];
      kept = {
        version,
        stages: { ...kept.stages, ...Object.fromEntries(pairsOf(rest.slice(0, s))) },
        expected: { ...kept.expected, ...Object.fromEntries(pairsOf(rest.slice(s, s + e))) },
        audit: [...rest.slice(s + e).toReversed(), ...(how === "anew" ? [] : kept.audit)],
      };
      history.push(kept);
      return Buffer.from(fingerprintOf(kept));
    },
  };
};

const step = fc.oneof(
  fc.record({ move: fc.integer({ min: 0, max: 2 }), by: fc.nat(2), second: fc.nat(20) }),
  fc.record({ expect: fc.nat(3), by: fc.nat(2) }),
  fc.record({ sync: fc.nat(2) }),
  fc.record({ forgetSince: fc.nat(30) }),
);

test("whatever Redis loses and whenever, instances agree in the end, and no move that was made is missing from the log", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const redis = fakeRedis();
      let events = 0;
      const instances = Array.from({ length: 3 }, () =>
        openRedisState({ run: (...about) => redis.run(...about), onEvent: () => events++, onChange: () => undefined }),
      );
      const by = (i: number) => instances[i] as RedisState;
      const made: string[] = [];
      for (const [i, one] of steps.entries()) {
        if ("move" in one) {
          // Clocks that go wrong, and each move another one.
          const to = { ...stage(one.second), why: `step ${i}` };
          const endpoint = `getThing${one.move}`;
          const done = await by(one.by).change(
            (state) => {
              const seen = state.stages[endpoint]?.stage.since;
              return moveIn(state, endpoint, to, moveTo(endpoint, to), seen);
            },
            () => false,
          );
          if (done) made.push(to.why);
        } else if ("expect" in one)
          await by(one.by).change(
            (state) => expectIn(state, entry(`e${one.expect}`)),
            () => false,
          );
        else if ("sync" in one) await by(one.sync).sync();
        else redis.forgetSince(one.forgetSince);
      }
      expect(made).toHaveLength(steps.filter((one) => "move" in one).length);
      const syncAll = async () => {
        for (const instance of instances) await instance.sync();
      };
      await syncAll();
      await syncAll();
      const [told, writes] = [events, redis.history.length];
      await syncAll();
      expect([events, redis.history.length]).toEqual([told, writes]);
      const sorted = ({ stages, audit, expected }: ReturnType<RedisState["known"]>) => ({
        stages,
        audit,
        expected: expected.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
      });
      for (const instance of instances) expect(sorted(instance.known())).toEqual(sorted(by(0).known()));
      expect(
        by(0)
          .known()
          .audit.map(({ why }) => why)
          .toSorted(),
      ).toEqual(made.toSorted());
    }),
    { numRuns: 300 },
  );
});
