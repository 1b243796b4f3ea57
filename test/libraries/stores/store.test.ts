import { describe, expect, test } from "vitest";
import { z } from "zod";
import { temporaryFolder } from "../../support/temporaryFolder.ts";
import { describeWithRedis, startRedis } from "./redis/redisServer.ts";
import { type Observed, openAt, put, textOf } from "./support.ts";

type Behaviour = { title: string; check: (store: Observed) => Promise<void> };

/** The contract of all stores. */
const behaviours: Behaviour[] = [
  {
    title: "it is empty at first",
    async check(store) {
      expect([store.entries().size, store.get("a"), store.events]).toEqual([0, undefined, []]);
    },
  },
  {
    title: "an update stores a value made from the latest one",
    async check(store) {
      expect(await put(store, "a", "one")).toBe(true);
      expect(await store.update("a", (latest) => ({ name: `${latest?.name} two` }))).toBe(true);
      expect(await put(store, "b", 'größer 漢字 \u{1f600} "quoted"\n')).toBe(true);
      expect([store.get("a"), store.entries().size]).toEqual([{ name: "one two" }, 2]);
    },
  },
  {
    title: "an update without a new value is refused, and changes nothing",
    async check(store) {
      await put(store, "a", "one");
      expect(await store.update("a", () => undefined)).toBe(false);
      expect(textOf(store)).toBe("a=one");
    },
  },
  {
    title: "of many updates at the same moment each sees the one before",
    async check(store) {
      const add = (i: number) => store.update("a", (latest) => ({ name: `${latest?.name ?? ""}${i}` }));
      await Promise.all(Array.from({ length: 8 }, (_, i) => add(i)));
      expect(store.get("a")?.name.split("").toSorted().join("")).toBe("01234567");
      const first = await Promise.all(
        Array.from({ length: 8 }, (_, i) => store.update("b", (latest) => (latest ? undefined : { name: `${i}` }))),
      );
      expect(first.filter(Boolean)).toHaveLength(1);
    },
  },
  {
    title: "a value that could not be read again is refused",
    async check(store) {
      await expect(store.update("a", () => ({ name: 7 }) as never)).rejects.toThrow("expected string");
      expect(store.entries().size).toBe(0);
      expect(await put(store, "a", "one")).toBe(true);
    },
  },
  {
    title: "entries that were handed out stay as they were",
    async check(store) {
      await put(store, "a", "one");
      const before = store.entries();
      expect(store.entries()).toBe(before);
      await put(store, "a", "two");
      await put(store, "b", "one");
      expect([...before]).toEqual([["a", { name: "one" }]]);
    },
  },
  {
    title: "null deletes a value, and the next update creates it again",
    async check(store) {
      await put(store, "a", "one");
      await put(store, "b", "one");
      expect(await store.update("a", () => null)).toBe(true);
      expect([textOf(store), store.get("a")]).toEqual(["b=one", undefined]);
      expect(await store.update("a", (latest) => latest ?? null)).toBe(true);
      expect(await store.update("a", (latest) => ({ name: `${latest?.name}` }))).toBe(true);
      expect([textOf(store), store.changes]).toEqual(["a=undefined b=one", []]);
    },
  },
  {
    title: "the work of one gateway may be done",
    async check({ stores }) {
      const claim = stores.claim("scan");
      expect([await claim(), await claim()]).toEqual([true, true]);
    },
  },
  {
    title: "stores of other features share nothing with it",
    async check(store) {
      await put(store, "a", "one");
      const other = await store.stores.open<string>({ feature: "others", schema: () => z.string() });
      await other.update("a", () => "two");
      expect([textOf(store), [...other.entries()]]).toEqual(["a=one", [["a", "two"]]]);
    },
  },
  {
    title: "a closed store accepts no update, and closes once",
    async check(store) {
      await Promise.all([store.stores.close(), store.stores.close()]);
      await expect(put(store, "a", "one")).rejects.toThrow("the store is closed");
      expect(store.entries().size).toBe(0);
    },
  },
];

/** The values of a store are read by the next store. */
const expectSurvival = async (place: Parameters<typeof openAt>[0]) => {
  const first = await openAt(place);
  await put(first, "a", "one");
  await put(first, "b", "two");
  await first.stores.close();
  const second = await openAt(place);
  expect(textOf(second)).toBe("a=one b=two");
  await second.update("b", () => null);
  await second.stores.close();
  expect(textOf(await openAt(place))).toBe("a=one");
};

describe("a store in memory", () => {
  test.each(behaviours)("$title", async ({ check }) => check(await openAt({})));
});

describe("a store in a directory", () => {
  test.each(behaviours)("$title", async ({ check }) => check(await openAt({ DATA_DIR: temporaryFolder() })));
  test("stored values survive a restart", () => expectSurvival({ DATA_DIR: temporaryFolder() }));
});

describeWithRedis("a store on Redis", () => {
  test.each(behaviours)("$title", async ({ check }) => check(await openAt({ REDIS_URL: (await startRedis()).url })));
  test("stored values survive a restart", async () => expectSurvival({ REDIS_URL: (await startRedis()).url }));
});
