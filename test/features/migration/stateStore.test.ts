import { expect, test } from "vitest";
import { type MigrationState, openStateStore, type StateStore } from "../../../src/features/migration/stateStore.ts";
import { memoryStores } from "../../../src/store/localStores.ts";
import { openStores } from "../../../src/store/openStores.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";
import { at, moveOn, moveTo, stage } from "./moves.ts";

/** `getThing shadow 7`: an endpoint, its stage and the second it is from. */
const stagesOf = ({ stages }: MigrationState): string[] =>
  Object.entries(stages)
    .map(([endpoint, { stage: name, since }]) => `${endpoint} ${name} ${new Date(since).getUTCSeconds()}`)
    .toSorted();

type Behaviour = { title: string; check: (store: StateStore) => Promise<void> };

/** What the state does on any store; what stores do themselves is tested in `test/store`. */
const behaviours: Behaviour[] = [
  {
    title: "nothing is set at first",
    async check(store) {
      expect(store.state()).toEqual({ stages: {}, audit: [] });
    },
  },
  {
    title: "a move sets the stage as it is given, and is written down",
    async check(store) {
      const to = {
        ...stage(1, "canary", 0),
        configured: "shadow 5",
      };
      const move = moveTo("getThing", to);
      expect(await store.move("getThing", to, move, undefined)).toBe(true);
      expect(store.state()).toEqual({ stages: { getThing: to }, audit: [move] });
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
    title: "what could not be read again is refused, and changes nothing",
    async check(store) {
      const good = stage(1);
      for (const [to, move] of [
        [{ ...good, share: 101 }, moveTo("getThing", good)],
        [{ ...good, since: "yesterday" }, moveTo("getThing", good)],
        [good, { ...moveTo("getThing", good), at: "" }],
      ] as const)
        await expect(store.move("getThing", to, move, undefined)).rejects.toThrow(/share|since|at/);
      expect(store.state()).toEqual({ stages: {}, audit: [] });
      expect(await moveOn(store, "getThing", 1)).toBe(true);
    },
  },
  {
    title: "a state that was handed out stays as it was",
    async check(store) {
      const before = store.state();
      await moveOn(store, "getThing", 1);
      expect(before).toEqual({ stages: {}, audit: [] });
    },
  },
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

test.each(behaviours)("$title", async ({ check }) => check(await openStateStore(memoryStores())));

test("what was set survives in a directory", async () => {
  const DATA_DIR = temporaryFolder();
  const open = async () => {
    const onEvent = (event: string) => expect.unreachable(event);
    const stores = await openStores({ REDIS_URL: undefined, DATA_DIR, onEvent });
    return { ...(await openStateStore(stores)), close: () => stores.close() };
  };
  const first = await open();
  await moveOn(first, "getThing", 1);
  await moveOn(first, "listThings", 2, "modern");
  await first.close();
  const second = await open();
  expect(second.state()).toEqual(first.state());
  expect(stagesOf(second.state())).toEqual(["getThing shadow 1", "listThings modern 2"]);
  await second.close();
});
