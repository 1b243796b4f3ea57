import { expect, test } from "vitest";
import { Cache } from "../../../src/gateway/cache/cache.ts";
import { monotonic } from "../../../src/operation/limits/monotonic.ts";
import type { Entry } from "../../../src/gateway/cache/entry.ts";
import { lifetimesBy } from "../../../src/gateway/cache/policy.ts";
import { replyWith } from "../../../src/gateway/cache/reply.ts";
import type { SecondTier } from "../../../src/gateway/cache/secondTier.ts";
import { openStore } from "../../../src/gateway/cache/store.ts";
import { tierWith } from "./support.ts";
import { settled, until } from "../../support/waiting.ts";

const MIB = 1024 ** 2;
const lifetimesOf = lifetimesBy({ fresh: "1m", staleWhileRevalidate: "1m", staleIfError: "1m" });

/** A cache whose legacy answers with `bytes` times `fill`, and how clients ask it. */
const openWith = (entryBytes = MIB, tier?: Partial<SecondTier>) => {
  const store = openStore({ bytes: 512 * MIB, entryBytes });
  const cache = new Cache({
    store,
    openTier: tier && (() => tierWith(tier)),
    timeout: 60_000,
    now: monotonic.now,
    isFailing: () => false,
    count: () => undefined,
    onError: (error) => expect.unreachable(String(error)),
  });
  const legacy = { bytes: MIB / 2, fill: "x" };
  /** The coding of the answer, its tag, and how it came about. */
  const ask = async (
    key: string,
    acceptEncoding?: string,
    { ifNoneMatch = undefined as string | undefined, noStore = false, noCache = false } = {},
  ) => {
    const question = { key, endpoint: "getDataset", lifetimesOf, personal: false };
    const answered = await cache.answer(
      {
        cacheKey: question,
        owner: undefined,
        wanted: { ...(noStore ? { noStore } : {}), ...(noCache ? { noCache } : {}) },
      },
      async () => ({ answer: { status: 200, body: Buffer.alloc(legacy.bytes, legacy.fill) }, groups: ["g"] }),
      async () => undefined,
    );
    const request = { method: "GET", acceptEncoding, ifNoneMatch, keyed: false, cors: [] };
    const { status, headers, body } = replyWith(answered, request, performance.now());
    const header = (name: string) => (headers.includes(name) ? headers[headers.indexOf(name) + 1] : undefined);
    return {
      status,
      body,
      coding: header("Content-Encoding"),
      tag: header("ETag") as string,
      stored: answered.how.stored,
    };
  };
  const hasCoding = async (key: string, coding: string) =>
    await expect.poll(async () => (await ask(key, coding)).coding).toBe(coding);
  return { cache, store, legacy, ask, hasCoding };
};

test("no coding is made unless a hit wants it", async () => {
  const { ask, store } = openWith();
  await ask("a", "br, gzip");
  for (let i = 0; i < 3; i++) await ask("a");
  await ask("b", "br, gzip", { noStore: true });
  await settled();
  expect(store.all().map(([key, { coded }]) => [key, coded])).toEqual([["a", {}]]);
});

test("only the preferred coding is made; meanwhile an existing one is used", async () => {
  const { ask, hasCoding, store } = openWith();
  await ask("a");
  await hasCoding("a", "gzip");
  expect((await ask("a", "br, gzip")).coding).toBe("gzip");
  await hasCoding("a", "br");
  expect((await ask("a", "br, gzip")).coding).toBe("br");
  expect(Object.keys(store.get("a")?.coded ?? {})).toEqual(["gzip", "br"]);
});

test("the bytes of a coding are counted when it arrives", async () => {
  const { ask, hasCoding, cache, store } = openWith();
  await ask("a");
  const before = cache.size().bytes;
  await hasCoding("a", "br");
  expect(cache.size().bytes).toBe(before + (store.get("a")?.coded.br?.length ?? 0));
  await cache.invalidate({ all: true });
  expect(cache.size()).toMatchObject({ bytes: 0, entries: 0 });
});

test("a coding with which an entry would be too large is discarded, and not made again", async () => {
  const { ask, store } = openWith(MIB / 2 + 2000);
  await ask("a", "gzip");
  await ask("a", "gzip");
  await until(() => store.get("a")?.codingState?.gzip === "useless");
  await ask("a", "gzip");
  expect(store.get("a")).toMatchObject({ coded: {}, codingState: { gzip: "useless" } });
});

test.each([
  ["invalidated", (cache: ReturnType<typeof openWith>["cache"]) => void cache.invalidate({ groups: ["g"] })],
  ["replaced", () => undefined],
])("the result for an entry that was %s meanwhile is dropped", async (_, change) => {
  const { ask, cache, store, legacy } = openWith();
  await ask("a");
  await ask("a", "br");
  const compressing = store.get("a") as Entry;
  expect(compressing.codingState).toEqual({ br: "pending" });
  change(cache);
  legacy.fill = "y";
  await ask("a", "br", { noCache: true });
  await until(() => compressing.codingState?.br === "useless");
  expect([compressing.coded, store.get("a")?.coded]).toEqual([{}, {}]);
});

test("an entry that is fetched again with the same bytes keeps its codings", async () => {
  const { ask, hasCoding, legacy } = openWith();
  await ask("a");
  await hasCoding("a", "br");
  expect((await ask("a", "br", { noCache: true })).coding).toBe("br");
  legacy.fill = "y";
  expect((await ask("a", "br", { noCache: true })).coding).toBeUndefined();
});

test("304 has the tag of the coding that the client holds, whether it is there or not", async () => {
  const { ask, hasCoding, cache } = openWith();
  await ask("a");
  await hasCoding("a", "br");
  const { tag } = await ask("a", "br, gzip");
  await cache.invalidate({ all: true });
  for (let i = 0; i < 2; i++)
    expect(await ask("a", "br, gzip", { ifNoneMatch: tag })).toMatchObject({ status: 304, tag });
});

test("an answer that has become too large is not stored, and the old entry is gone", async () => {
  const { ask, cache, legacy } = openWith();
  await ask("a");
  expect(cache.size().entries).toBe(1);
  legacy.bytes = 2 * MIB;
  expect((await ask("a", undefined, { noCache: true })).stored).toBe(false);
  expect(cache.size().entries).toBe(0);
});

test("at most 32 MiB are compressed at a time; a hit beyond that tries later", async () => {
  const { ask, hasCoding, legacy, store } = openWith(64 * MIB);
  legacy.bytes = 20 * MIB;
  for (const key of ["a", "b"]) await ask(key);
  await Promise.all(["a", "b"].map((key) => ask(key, "gzip")));
  expect(["a", "b"].map((key) => store.get(key)?.codingState)).toEqual([{ gzip: "pending" }, undefined]);
  await hasCoding("a", "gzip");
  await hasCoding("b", "gzip");
});

test("the second tier gets an entry compressed, and it is there in memory as well", async () => {
  const shared: Entry[] = [];
  const { ask } = openWith(MIB, { set: (_, entry) => void shared.push(entry) });
  await ask("a");
  await until(() => shared.length === 1);
  expect(Object.keys(shared[0]?.coded ?? {})).toEqual(["br"]);
  expect((await ask("a", "br")).coding).toBe("br");
});
