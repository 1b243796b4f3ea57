import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { temporaryFolder } from "../../support/temporaryFolder.ts";
import { describeWithRedis, startRedis } from "./redis/redisServer.ts";
import { KEY, type Observed, openAt, put, textOf } from "./support.ts";

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

/** A place of stores that outlives a gateway. `spoil` replaces the text of key `b`, past the stores. */
type Place = { at: Parameters<typeof openAt>[0]; spoil: (text: string) => unknown };

const inDirectory = (): Place => {
  const DATA_DIR = temporaryFolder();
  return {
    at: { DATA_DIR },
    spoil(text) {
      const database = new DatabaseSync(join(DATA_DIR, "catalog-gateway.sqlite"));
      database.prepare("UPDATE entries SET value = ? WHERE key = 'b'").run(text);
      database.close();
    },
  };
};

const onRedis = async (): Promise<Place> => {
  const { url, talk } = await startRedis();
  return { at: { REDIS_URL: url }, spoil: (text) => talk(`HSET ${KEY} b '${text}'`) };
};

const testDurable = (open: () => Place | Promise<Place>) => {
  test("stored and deleted values survive a restart", async () => {
    const { at } = await open();
    const first = await openAt(at);
    await put(first, "a", "one");
    await put(first, "b", "two");
    await first.stores.close();
    const second = await openAt(at);
    expect(textOf(second)).toBe("a=one b=two");
    await second.update("b", () => null);
    await second.stores.close();
    expect(textOf(await openAt(at))).toBe("a=one");
  });

  test.each([
    ["does not fit", '{"name":7}', "/name: "],
    ["is not JSON", "x", "/: "],
  ])("a value that %s stops the start if it is vital, else it is reported and dropped", async (_, text, why) => {
    const { at, spoil } = await open();
    const first = await openAt(at);
    await put(first, "a", "one");
    await put(first, "b", "two");
    await first.stores.close();
    await spoil(text);
    await expect(openAt(at, { isVital: true })).rejects.toThrow(
      new RegExp(`^${Object.keys(at).join()}: .* cannot be used: .*b: ${why}`),
    );
    const second = await openAt(at);
    expect(textOf(second)).toBe("a=one");
    expect(second.events).toEqual([
      expect.stringMatching(new RegExp(`^store_unreadable {"feature":"things","keys":\\["b"\\].*b: ${why}`)),
    ]);
    expect(await put(second, "b", "mended")).toBe(true);
    await second.stores.close();
    expect((await openAt(at, { isVital: true })).events).toEqual([]);
  });
};

describe("a store in memory", () => {
  test.each(behaviours)("$title", async ({ check }) => check(await openAt({})));
});

describe("a store in a directory", () => {
  test.each(behaviours)("$title", async ({ check }) => check(await openAt(inDirectory().at)));
  testDurable(inDirectory);
});

describeWithRedis("a store on Redis", () => {
  test.each(behaviours)("$title", async ({ check }) => check(await openAt((await onRedis()).at)));
  testDurable(onRedis);
});
