import type { ServerResponse } from "node:http";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { openByteBudget } from "../../../src/operation/limits/byteBudget.ts";
import { type AskOptions, ask } from "../../../src/gateway/upstream/ask.ts";
import { UpstreamFailure } from "../../../src/gateway/upstream/failure.ts";
import { openUpstream, type UpstreamSettings } from "../../../src/gateway/upstream/upstream.ts";
import { httpUpstream } from "../proxy/support.ts";
import { until } from "../../support/waiting.ts";

const KIB = 1024;

/** An upstream whose answers wait to be written, and a budget for them. */
const open = async (budget: number, settings: Partial<UpstreamSettings> = {}) => {
  const held: ServerResponse[] = [];
  const bodies: Buffer[] = [];
  const origin = await httpUpstream((_, response) => void held.push(response));
  const memory = openByteBudget(budget);
  const times = { connectTimeout: 2000, headersTimeout: 8000, bodyTimeout: 8000 };
  const upstream = openUpstream({ origin, connections: 8, waiting: 10, ...times, memory, ...settings });
  onTestFinished(() => upstream.pool.destroy());
  const get = (options: Partial<AskOptions> = {}) =>
    ask(upstream, { method: "GET", path: "/", headers: {}, maxBytes: 2 ** 24, totalTimeout: 8000, ...options }).then(
      ({ body }) => {
        bodies.push(body);
        return body.length;
      },
      (error: unknown) => (error instanceof UpstreamFailure ? error : Promise.reject(error as Error)),
    );
  const asked = async (count: number) => until(() => held.length === count);
  return { held, bodies, memory, upstream, get, asked };
};
const crowded = expect.objectContaining({ kind: "crowded", isUnsent: false });
const bytes = (size: number) => Buffer.alloc(size, "x");

test("a large answer's bytes count from its Content-Length on, until it is whole", async () => {
  const { held, memory, get, asked } = await open(200 * KIB);
  const first = get();
  await asked(1);
  held[0]?.writeHead(200, { "Content-Length": 264 * KIB }).write(bytes(1));
  await until(() => memory.held === 200 * KIB);
  const second = get();
  await asked(2);
  held[1]?.end(bytes(65 * KIB));
  expect(await second).toEqual(crowded);
  const small = get();
  await asked(3);
  held[2]?.end(bytes(64 * KIB));
  expect(await small).toBe(64 * KIB);
  held[0]?.end(bytes(264 * KIB - 1));
  expect([await first, memory.held, memory.refused]).toEqual([264 * KIB, 0, 1]);
});

test("without a length bytes count as they come; a reply that does not fit is dropped", async () => {
  const { held, memory, get, asked } = await open(300 * KIB);
  const [first, second] = [get(), get()];
  await asked(2);
  for (const response of held) response.write(bytes(200 * KIB));
  await until(() => memory.held === 2 * 136 * KIB);
  held[1]?.write(bytes(100 * KIB));
  expect(await Promise.race([first, second])).toEqual(crowded);
  expect(memory.held).toBe(136 * KIB);
  held[0]?.end(bytes(100 * KIB));
  held[1]?.end();
  expect(await Promise.all([first, second])).toEqual(expect.arrayContaining([300 * KIB, crowded]));
  expect(memory.held).toBe(0);
});

test.each([
  ["breaks off", {}, "broken"],
  ["takes too long", { totalTimeout: 300 }, "timeout"],
  ["becomes too large", { maxBytes: 150 * KIB }, "tooLarge"],
])("an answer that %s gives its bytes back", async (_, options, kind) => {
  const { held, memory, get, asked } = await open(1000 * KIB);
  const answer = get(options);
  await asked(1);
  held[0]?.write(bytes(140 * KIB));
  await until(() => memory.held > 0);
  if (kind === "broken") held[0]?.destroy();
  if (kind === "tooLarge") held[0]?.write(bytes(20 * KIB));
  expect(await answer).toMatchObject({ kind });
  expect(memory.held).toBe(0);
});

test("a body of very many small chunks is collected whole", async () => {
  const { held, get, asked } = await open(KIB);
  const answer = get();
  await asked(1);
  for (let i = 0; i < 5000; i++) held[0]?.write("abc");
  held[0]?.end();
  expect(await answer).toBe(15_000);
});

test("a large body with a Content-Length has the same bytes; a cut body is an error", async () => {
  const { held, bodies, memory, get, asked } = await open(1000 * KIB);
  const [whole, cut] = [get(), get()];
  await asked(2);
  const sent = Buffer.from(Array.from({ length: 300 * KIB }, (_, i) => (i * i) % 251));
  held[0]?.writeHead(200, { "Content-Length": sent.length });
  for (let i = 0; i < sent.length; i += 7777) held[0]?.write(sent.subarray(i, i + 7777));
  held[0]?.end();
  held[1]?.writeHead(200, { "Content-Length": sent.length }).write(sent.subarray(0, -1));
  setTimeout(() => held[1]?.destroy(), 100);
  expect([await whole, await cut]).toEqual(
    expect.arrayContaining([sent.length, expect.objectContaining({ kind: "broken" })]),
  );
  expect(memory.held).toBe(0);
  expect(bodies.map((body) => body.equals(sent))).toEqual([true]);
});

test.each<[name: string, values: string[], expected: string]>([
  ["Content-Type", ["application/json", "text/html"], "application/json"],
  ["Content-Encoding", ["identity", "IDENTITY"], "text/plain"],
  ["Content-Encoding", ["gzip", "br"], "broken"],
])("an answer with the %s %j is one of the type %s", async (name, values, expected) => {
  const { held, upstream, asked } = await open(200 * KIB);
  const reply = ask(upstream, { method: "GET", path: "/", headers: {}, maxBytes: 100, totalTimeout: 60_000 }).then(
    ({ contentType }) => contentType,
    (error: unknown) => (error instanceof UpstreamFailure ? error.kind : error),
  );
  await asked(1);
  const lines = values.flatMap((value) => [name, value]);
  const type = name === "Content-Type" ? [] : ["Content-Type", "text/plain"];
  held[0]?.writeHead(200, [...type, ...lines]).end("x");
  expect(await reply).toBe(expected);
});

describe("an error in code of the gateway", () => {
  const planted = (): never => {
    throw new TypeError("planted");
  };
  const noHealth = { answered: () => {}, failed: () => {}, certified: () => {}, certificateExpiry: () => undefined };
  /** A signal that does not let go of its listener. */
  const clinging = () =>
    Object.assign(new AbortController().signal, {
      removeEventListener: vi.fn<() => void>().mockImplementationOnce(planted),
    });

  test.each<[what: string, settings: Partial<UpstreamSettings>, options: Partial<AskOptions>, told: object]>([
    ["the listener of failures", { health: { ...noHealth, failed: planted } }, {}, new TypeError("planted")],
    ["the listener of ended requests", { health: { ...noHealth, begun: planted } }, {}, new TypeError("planted")],
    ["the release of a request", {}, { signal: clinging() }, expect.objectContaining({ kind: "broken" }) as object],
  ])("in %s is reported to the caller if the answer breaks off", async (_, settings, options, told) => {
    const { held, upstream, get, asked } = await open(KIB, settings);
    const reply = get({ method: "POST", ...options }).catch((error: unknown) => error);
    await asked(1);
    held[0]?.destroy();
    expect(await reply).toEqual(told);
    await until(() => upstream.semaphore.running === 0);
  });

  test("behind a whole answer does not fail the call, and is reported", async () => {
    const onFault = vi.fn<(error: unknown) => void>();
    const { held, get, asked } = await open(KIB, { onFault });
    const reply = get({ signal: clinging() });
    await asked(1);
    held[0]?.end("abc");
    expect(await reply).toBe(3);
    expect(onFault).toHaveBeenCalledOnce();
  });
});
