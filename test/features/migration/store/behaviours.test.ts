import { describe, expect, test } from "vitest";
import { memoryStateStore, type StateStore } from "../../../../src/features/migration/store/stateStore.ts";
import { describeWithRedis, startRedis } from "../../../store/redis/redisServer.ts";
import { at, entry, moveOn, moveTo, stage } from "./moves.ts";
import { openFile, openRedis, stagesOf } from "./support.ts";
import { temporaryFolder } from "../../../support/temporaryFolder.ts";

type Behaviour = { title: string; check: (store: StateStore) => Promise<void> };

/** What the state does on any store; what stores do themselves is tested in `test/store`. */
const behaviours: Behaviour[] = [
  {
    title: "nothing is set at first",
    async check(store) {
      expect(store.state()).toEqual({ stages: {}, audit: [], expected: [] });
    },
  },
  {
    title: "a move sets the stage as it is given, and is written down",
    async check(store) {
      const to = {
        ...stage(1, "canary", 0),
        configured: "shadow 5",
        gate: { parity: 0.999, requests: 7, minutes: 0.5, errorRate: 0, p95: 250, hold: 3 },
      };
      const move = moveTo("getThing", to);
      expect(await store.move("getThing", to, move, undefined)).toBe(true);
      expect(store.state()).toEqual({ stages: { getThing: to }, audit: [move], expected: [] });
    },
  },
  {
    title: "the newest move comes first, and other endpoints stay where they are",
    async check(store) {
      for (const [second, endpoint] of ["getThing", "listThings", "getThing"].entries())
        expect(await moveOn(store, endpoint, second)).toBe(true);
      expect(stagesOf(store.state())).toEqual(["getThing shadow 2", "listThings shadow 1"]);
      expect(store.state().audit.map((move) => move.at)).toEqual([at(2), at(1), at(0)]);
    },
  },
  {
    title: "what was moved since it was seen is not moved",
    async check(store) {
      await moveOn(store, "getThing", 1);
      const to = stage(2, "modern");
      for (const [endpoint, seen] of [
        ["getThing", undefined],
        ["getThing", at(0)],
        ["listThings", at(1)],
      ] as const)
        expect(await store.move(endpoint, to, moveTo(endpoint, to), seen)).toBe(false);
      expect(stagesOf(store.state())).toEqual(["getThing shadow 1"]);
      expect(store.state().audit).toHaveLength(1);
    },
  },
  {
    title: "expected differences are added, each id once",
    async check(store) {
      const one = entry("one");
      expect(await Promise.all([store.expect(one), store.expect(one)])).toEqual([true, false]);
      expect(await store.expect({ ...entry("one"), path: "/other" })).toBe(false);
      expect(await store.expect({ ...entry("two"), link: "https://tracker.example/2" })).toBe(true);
      expect(store.state().expected).toContainEqual(one);
      expect(
        store
          .state()
          .expected.map(({ id }) => id)
          .toSorted(),
      ).toEqual(["one", "two"]);
    },
  },
  {
    title: "what could not be read again is refused, and changes nothing",
    async check(store) {
      const good = stage(1);
      for (const [to, move] of [
        [{ ...good, share: 101 }, moveTo("getThing", good)],
        [{ ...good, since: "yesterday" }, moveTo("getThing", good)],
        [good, { ...moveTo("getThing", good), at: "" }],
      ] as const)
        await expect(store.move("getThing", to, move, undefined)).rejects.toThrow(/share|since|at/);
      await expect(store.expect({ ...entry("one"), id: "No Id" })).rejects.toThrow("letters, digits");
      expect(store.state()).toEqual({ stages: {}, audit: [], expected: [] });
      expect(await moveOn(store, "getThing", 1)).toBe(true);
    },
  },
  {
    title: "a state that was handed out stays as it was",
    async check(store) {
      const before = store.state();
      await moveOn(store, "getThing", 1);
      await store.expect(entry("one"));
      expect(before).toEqual({ stages: {}, audit: [], expected: [] });
    },
  },
];

/** What also depends on how a store takes updates one after the other. */
const ofMany: Behaviour[] = [
  {
    title: "of many moves at the same moment from the same stage one is made",
    async check(store) {
      const one = (i: number) => store.move("getThing", stage(i), moveTo("getThing", stage(i)), undefined);
      const all = await Promise.all(Array.from({ length: 8 }, (_, i) => one(i)));
      expect(all.filter(Boolean)).toHaveLength(1);
      expect(store.state().audit).toHaveLength(1);
      expect(store.state().stages["getThing"]?.since).toBe(store.state().audit[0]?.at);
    },
  },
  {
    title: "moves of many endpoints at the same moment are all made",
    async check(store) {
      const names = Array.from({ length: 8 }, (_, i) => `getThing${i}`);
      expect(await Promise.all(names.map((name, i) => moveOn(store, name, i)))).toEqual(names.map(() => true));
      expect(Object.keys(store.state().stages).toSorted()).toEqual(names);
      expect(store.state().audit).toHaveLength(8);
    },
  },
  {
    title: "the audit log keeps the newest thousand",
    async check(store) {
      for (let i = 0; i < 1003; i++) await moveOn(store, "getThing", i);
      expect(store.state().audit).toHaveLength(1000);
      expect([store.state().audit[0]?.at, store.state().audit[999]?.at]).toEqual([at(1002), at(3)]);
    },
  },
];

/** What the next one finds of what the last one did. */
const expectSurvival = async (open: () => Promise<StateStore>) => {
  const first = await open();
  await moveOn(first, "getThing", 1);
  await moveOn(first, "listThings", 2, "modern");
  await first.expect(entry("one"));
  await first.close();
  const second = await open();
  expect(second.state()).toEqual(first.state());
  expect(stagesOf(second.state())).toEqual(["getThing shadow 1", "listThings modern 2"]);
  expect(await second.expect(entry("one"))).toBe(false);
  await expect(moveOn(first, "getThing", 3)).rejects.toThrow("closed");
};

describe("a store in memory", () => {
  test.each([...behaviours, ...ofMany])("$title", async ({ check }) => check(memoryStateStore()));
});

describe("a store on a file", () => {
  test("what was set survives", async () => {
    const directory = temporaryFolder();
    await expectSurvival(() => openFile(directory));
  });
});

describeWithRedis("a store on Redis", () => {
  test.each(ofMany)("$title", async ({ check }) =>
    check(await openRedis((await startRedis()).url, { timeout: 30_000 })),
  );

  test("what was set survives", async () => {
    const { url } = await startRedis();
    await expectSurvival(() => openRedis(url));
  });
});
