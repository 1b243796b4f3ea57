import { expect, test } from "vitest";
import { type Entry, entryOf } from "../../../src/gateway/cache/entry.ts";
import { openKeptReplies } from "../../../src/gateway/cache/keptReplies.ts";
import { replyWith } from "../../../src/gateway/cache/reply.ts";

const lifetimes = { fresh: 100, staleWhileRevalidate: 200, staleIfError: 400 };
const entry = (about: Partial<Entry> = {}, body = "x"): Entry =>
  entryOf(
    { status: 200, body },
    {
      endpoint: "e",
      groups: ["g/1", "g"],
      lifetimes,
      storedAt: 0,
      ...about,
    },
  );

test("a hit's reply is written once a second, for each kind of request and coding", () => {
  const [one, other] = [entry(), entry()];
  const kept = openKeptReplies();
  const reply = (of: Entry, kind: string, now: number) =>
    kept(of, kind, now, () => ({ status: 200, headers: [], body: "" }));
  const first = reply(one, "GET", 0);
  expect(reply(one, "GET", 999)).toBe(first);
  expect(reply(one, "HEAD", 999)).not.toBe(first);
  expect(reply(other, "GET", 999)).not.toBe(first);
  const second = reply(one, "GET", 1000);
  expect(second).not.toBe(first);
  one.coded = { br: Buffer.from("b") };
  expect(reply(one, "GET", 1000)).not.toBe(second);
  // Replies to long kinds, and to kinds after many others, are written each time.
  const isKept = (kind: string) => reply(one, kind, 1000) === reply(one, kind, 1000);
  expect([isKept("a".repeat(1024)), isKept("a".repeat(1025))]).toEqual([true, false]);
  for (let i = 0; i < 1000; i++) reply(one, String(i), 1000);
  expect([isKept("GET"), isKept("another")]).toEqual([true, false]);
});

test("an answer that was stored at a fraction of a millisecond has its whole lifetime", () => {
  const stored = entry({ storedAt: 5539.01, lifetimes: { fresh: 60_000, staleWhileRevalidate: 0, staleIfError: 0 } });
  const request = { method: "GET", acceptEncoding: undefined, ifNoneMatch: undefined, keyed: false, cors: [] };
  const { headers } = replyWith({ answer: stored, entry: stored, how: { fwd: "uri-miss" } }, request, 5539.01);
  expect(headers).toContain("public, max-age=60");
  expect(headers).toContain("catalog-gateway; fwd=uri-miss; ttl=60");
});
