import { describe, expect, test } from "vitest";
import { describeWithRedis, startRedis } from "./redis/redisServer.ts";
import { inDirectory, inMemory, type Observed, onRedis, put, textOf } from "./support.ts";
import { until } from "../support/waiting.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

type Behaviour = { title: string; check: (store: Observed) => Promise<void> };

/** The behaviours of all stores. */
const behaviours: Behaviour[] = [
  {
    title: "it is empty at first",
    async check(store) {
      expect([store.entries().size, store.isUnreadable("a"), store.events]).toEqual([0, false, []]);
    },
  },
  {
    title: "an update stores a value made from the latest one",
    async check(store) {
      expect(await put(store, "a", "one")).toBe(true);
      expect(await store.update("a", (latest) => ({ name: `${latest?.name} two` }))).toBe(true);
      expect(await put(store, "b", 'größer 漢字 \u{1f600} "quoted"\n')).toBe(true);
      expect([store.entries().get("a"), store.entries().size]).toEqual([{ name: "one two" }, 2]);
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
      expect(store.entries().get("a")?.name.split("").toSorted().join("")).toBe("01234567");
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
    title: "background writes are visible at once, and not reported",
    async check(store) {
      store.save(
        new Map([
          ["a", { name: "one" }],
          ["b", { name: "two" }],
        ]),
      );
      store.save(new Map([["a", undefined]]));
      expect(textOf(store)).toBe("b=two");
      expect(await put(store, "b", "three")).toBe(true);
      expect([textOf(store), store.told]).toEqual(["b=three", []]);
    },
  },
  {
    title: "a closed store accepts no update, and closes once",
    async check(store) {
      await Promise.all([store.close(), store.close()]);
      await expect(put(store, "a", "one")).rejects.toThrow("the store is closed");
      expect(store.entries().size).toBe(0);
    },
  },
];

/** The values of one store are what the next one reads. */
const expectSurvival = async (open: () => Promise<Observed>) => {
  const first = await open();
  const updating = put(first, "a", "one");
  first.save(new Map([["b", { name: "two" }]]));
  await first.close();
  expect(await updating).toBe(true);
  const second = await open();
  await until(() => textOf(second) === "a=one b=two");
  second.save(new Map([["b", undefined]]));
  await second.close();
  const third = await open();
  await until(() => textOf(third) === "a=one");
  expect([first, second, third].flatMap(({ events }) => events)).toEqual([]);
};

describe("a store in memory", () => {
  test.each(behaviours)("$title", async ({ check }) => check(await inMemory()));
});

describe("a store in a directory", () => {
  test.each(behaviours)("$title", async ({ check }) => check(await inDirectory(temporaryFolder())));
  test("what was stored survives", async () => {
    const directory = temporaryFolder();
    await expectSurvival(() => inDirectory(directory));
  });
});

describeWithRedis("a store on Redis", () => {
  test.each(behaviours)("$title", async ({ check }) => check(await onRedis((await startRedis()).url)));
  test("what was stored survives", async () => {
    const { url } = await startRedis();
    await expectSurvival(() => onRedis(url));
  });
});
