import { describe, expect, test } from "vitest";
import { openEtagStore } from "../../../src/tools/client/runtime/etagStore.ts";
import { readFailure, retryAfterOf } from "../../../src/tools/client/runtime/failure.ts";
import { openSender } from "../../../src/tools/client/runtime/send.ts";

const kinds = { 404: "not-found", 422: "invalid-input", 503: "unavailable" };
const answer = (status: number, headers: Record<string, string> = {}, body: unknown = { detail: "no" }) =>
  new Response(status === 304 ? null : JSON.stringify(body), { status, headers });

/** A sender whose requests get these answers in turn; `sent` are the headers of its requests. */
const sender = (
  answers: (() => Response)[],
  settings: { retries?: number; maxWait?: number; cacheSize?: number } = {},
) => {
  const sent: Record<string, string>[] = [];
  const send = openSender(
    {
      baseUrl: "http://catalogue.example/v1",
      key: "secret",
      maxWait: 0.01,
      ...settings,
      fetch: async (url, init) => {
        expect(url as string).not.toContain("secret");
        sent.push(init?.headers as Record<string, string>);
        return (answers[sent.length - 1] ?? answers.at(-1))?.() ?? answer(500);
      },
    },
    kinds,
  );
  return { send, sent };
};
const read = { method: "GET", path: "/datasets/61", isRead: true } as const;
const write = { method: "POST", path: "/datasets/tag", body: "{}", isRead: false } as const;

describe("a request is sent", () => {
  test.each<{ status: number; headers: Record<string, string>; reads: number; writes: number }>([
    { status: 503, headers: { "Retry-After": "0" }, reads: 4, writes: 4 },
    { status: 429, headers: { "Retry-After": "0" }, reads: 4, writes: 4 },
    { status: 503, headers: {}, reads: 1, writes: 1 },
    { status: 503, headers: { "Retry-After": "60" }, reads: 1, writes: 1 },
    { status: 502, headers: {}, reads: 4, writes: 1 },
    { status: 504, headers: {}, reads: 4, writes: 1 },
    { status: 500, headers: {}, reads: 1, writes: 1 },
    { status: 404, headers: {}, reads: 1, writes: 1 },
  ])(
    "$reads times as a read, $writes as a write, after $status $headers",
    async ({ status, headers, reads, writes }) => {
      for (const [call, times] of [
        [read, reads],
        [write, writes],
      ] as const) {
        const { send, sent } = sender([() => answer(status, headers)]);
        await expect(send(call)).rejects.toMatchObject({ failure: { status } });
        expect(sent).toHaveLength(times);
      }
    },
  );

  test("once where retries are off, and until it is answered", async () => {
    const off = sender([() => answer(502)], { retries: 0 });
    await expect(off.send(read)).rejects.toMatchObject({ failure: { status: 502 } });
    expect(off.sent).toHaveLength(1);
    const { send, sent } = sender([() => answer(502), () => answer(200, {}, [1])]);
    expect((await send(read)).document).toEqual([1]);
    expect(sent).toHaveLength(2);
  });

  test("no more after its signal aborts a wait", async () => {
    const { send, sent } = sender([() => answer(503, { "Retry-After": "5" })], { maxWait: 30 });
    const reason = new Error("enough");
    const control = new AbortController();
    setTimeout(() => control.abort(reason), 20);
    await expect(send(read, { signal: control.signal })).rejects.toBe(reason);
    expect(sent).toHaveLength(1);
  });
});

test("an error of the client itself is neither retried nor taken for a lost connection", async () => {
  const { send, sent } = sender([() => answer(404, {}, { detail: null })]);
  await expect(send(read)).rejects.toMatchObject({ failure: { kind: "not-found", status: 404 } });
  expect(sent).toHaveLength(1);
  const wrong = new Error("not the connection's");
  const broken = sender([
    () =>
      Object.defineProperty(answer(200), "headers", {
        get() {
          throw wrong;
        },
      }),
  ]);
  await expect(broken.send(read)).rejects.toBe(wrong);
  expect(broken.sent).toHaveLength(1);
});

test("a 304 is answered with the entry whose ETag was sent, though evicted since", async () => {
  const first = () => answer(200, { ETag: '"a"' }, ["first"]);
  const other = () => answer(200, { ETag: '"b"' }, ["x".repeat(60)]);
  const { promise, resolve } = Promise.withResolvers<Response>();
  const others = Array.from({ length: 8 }, (_, i) => `/${i}`);
  const queue = [first(), promise, ...others.map(other)];
  const send = openSender(
    { baseUrl: "http://catalogue.example/v1", cacheSize: 400, fetch: async () => queue.shift() as Response },
    kinds,
  );
  await send(read);
  const again = send(read);
  for (const path of others) await send({ ...read, path });
  resolve(answer(304));
  expect((await again).document).toEqual(["first"]);
});

test("an answer that is no JSON is a failure", async () => {
  const { send } = sender([() => new Response("<html>")]);
  await expect(send(read)).rejects.toMatchObject({ failure: { kind: "unexpected", status: 200 } });
});

test("a validator is sent with reads only, and an answer that is too large is not kept", async () => {
  const tagged = () => answer(200, { ETag: '"a"' }, ["x"]);
  const { send, sent } = sender([tagged, () => answer(304), tagged, tagged]);
  expect((await send(read)).document).toEqual(["x"]);
  expect((await send(read)).document).toEqual(["x"]);
  await send(write);
  await send(write);
  expect(sent.map((headers) => headers["If-None-Match"])).toEqual([undefined, '"a"', undefined, undefined]);
  const small = sender([tagged], { cacheSize: 10 });
  await small.send(read);
  await small.send(read);
  expect(small.sent.map((headers) => headers["If-None-Match"])).toEqual([undefined, undefined]);
});

test("the store of validators stays below its bound, and keeps what is used", () => {
  const store = openEtagStore(1000);
  for (let i = 0; i < 100; i++) {
    store.set(`/${i}`, { etag: "e", text: "x".repeat(100) });
    store.get("/0");
    expect(store.size()).toBeLessThanOrEqual(1000);
  }
  expect([store.get("/0"), store.get("/99"), store.get("/50")].map(Boolean)).toEqual([true, true, false]);
  store.set("/0", { etag: "f", text: "" });
  expect(store.get("/0")).toEqual({ etag: "f", text: "" });
  store.set("/large", { etag: "e", text: "x".repeat(300) });
  expect(store.get("/large")).toBeUndefined();
});

test.each([
  ['{"detail":"Flow not found."}', { kind: "not-found", status: 404, message: "Flow not found." }],
  [
    '{"detail":{"code":"111","message":"Unknown","additional_information":"more"}}',
    { kind: "not-found", status: 404, message: "Unknown", code: "111", additionalInformation: "more" },
  ],
  [
    '{"type":"/v1/problems/not-found","title":"t","status":404,"detail":"Unknown","code":"111"}',
    { kind: "not-found", status: 404, message: "Unknown", code: "111" },
  ],
  ["<html>", { kind: "not-found", status: 404, message: "The server answered 404." }],
  ['{"detail":null}', { kind: "not-found", status: 404, message: "The server answered 404." }],
  ["null", { kind: "not-found", status: 404, message: "The server answered 404." }],
])("the error %s is read", (text, expected) => {
  expect(readFailure(answer(404), text, kinds)).toEqual(expected);
});

test("entries of a 422 are read from both dialects; an unknown status is unexpected", () => {
  const errors = [{ loc: ["body", "limit"], msg: "too small", type: "t" }];
  for (const body of [{ detail: errors }, { detail: "Not valid.", errors }])
    expect(readFailure(answer(422), JSON.stringify(body), kinds)).toEqual({
      kind: "invalid-input",
      status: 422,
      message: "body.limit: too small",
      errors,
    });
  expect(readFailure(answer(418), "{}", kinds)).toMatchObject({ kind: "unexpected", status: 418 });
});

test("Retry-After is read as seconds or as a date", () => {
  const waitOf = (value?: string) => retryAfterOf(new Headers(value === undefined ? {} : { "Retry-After": value }));
  expect([waitOf(), waitOf("7"), waitOf("soon"), waitOf(new Date(0).toUTCString())]).toEqual([
    undefined,
    7,
    undefined,
    0,
  ]);
  expect(waitOf(new Date(Date.now() + 60_000).toUTCString())).toBeGreaterThan(50);
});
