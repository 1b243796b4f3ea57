import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { clock } from "../cache/support.ts";
import { httpUpstream } from "../proxy/support.ts";
import { settled } from "../../support/waiting.ts";
import { cachingOver, documents, json, minute } from "./support.ts";

type Given = { status?: number; body: string | Buffer; headers?: Record<string, string> };

const sound = { body: documents["json"] as string };
const day = 24 * 60 * minute;

/** A clock that passes. What the gateway remembers reads it once in a millisecond, so it waits for that. */
const readClock = () => {
  const { pass } = clock();
  return (ms: number): Promise<void> => {
    pass(ms);
    return settled();
  };
};

/** A gateway over a legacy that answers the gateway's own requests (`own`) otherwise than those of clients. */
const treating = async (state: { own: Given; clients?: Given }, environment: Record<string, string> = {}) => {
  /** The senders of legacy's requests for the path. */
  const askers: ("own" | "client")[] = [];
  const url = await httpUpstream((request, response) => {
    const asker = request.headers["user-agent"] === "catalog-gateway" ? "own" : "client";
    if (request.url === json) askers.push(asker);
    const { status = 200, body, headers } = (asker === "client" ? state.clients : undefined) ?? state.own;
    response.writeHead(status, { "Content-Type": "application/json", "Content-Length": body.length, ...headers });
    response.end(body);
  });
  const gateway = await cachingOver({ url }, environment);
  /** The number of reports of the event whose name begins so. */
  const counted = (event: string): number =>
    Object.entries(gateway.core.observer.counts()).find(([name]) => name.startsWith(event))?.[1] ?? 0;
  return { ...gateway, askers, counted };
};

/** A record of `bytes` bytes. */
const recordOf = (bytes: number): Given => {
  const document = (text: string) => `{"data_set_description":{"id":"61","name":"iris","description":"${text}"}}`;
  return { body: document("x".repeat(bytes - document("").length)) };
};

describe("an answer that is too large", () => {
  const entryBytes = 128 * 1024;
  const small = { CACHE_BYTES: String(8 * entryBytes) };

  test("passes without being collected where it cannot be stored, at once the next time", async () => {
    const { ask, askers } = await treating({ own: recordOf(entryBytes + 1) }, small);
    for (let i = 0; i < 3; i++) {
      const { how, body } = await ask(json);
      expect([how, body.length]).toEqual(["passed", entryBytes + 1]);
    }
    expect(askers).toEqual(["own", "client", "client", "client"]);
  });

  test("is collected once where only its entry is too large", async () => {
    const { ask, askers } = await treating({ own: recordOf(entryBytes - 100) }, small);
    for (let i = 0; i < 3; i++) expect((await ask(json)).body).toHaveLength(entryBytes - 100);
    expect(askers).toEqual(["own", "client", "client"]);
  });

  test("is remembered for an hour", async () => {
    const pass = readClock();
    const state = { own: recordOf(entryBytes + 1) };
    const { ask } = await treating(state, small);
    await ask(json);
    state.own = sound;
    await pass(59 * minute);
    expect((await ask(json)).how).toBe("passed");
    await pass(2 * minute);
    expect((await ask(json)).how).toMatch(/stored/);
  });

  test("passes where the memory for answers is full, and is stored when there is room", async () => {
    const { ask, core } = await treating({ own: recordOf(entryBytes / 2 + 20_000) }, small);
    const { MEMORY_BYTES: all } = core.settings;
    expect(core.memory.take(all)).toBe(true);
    for (let i = 0; i < 2; i++) expect(await ask(json)).toMatchObject({ status: 200, how: "passed" });
    core.memory.release(all);
    expect((await ask(json)).how).toMatch(/stored/);
  });
});

const page = "<html>Elsewhere</html>";
const html = { "Content-Type": "text/html" };

/** Answers that the gateway's own request alone gets, and the event that says so. */
const otherwise: [string, Given, string][] = [
  [
    "a coded answer that it did not ask for",
    { body: gzipSync(sound.body), headers: { "Content-Encoding": "gzip" } },
    "legacy_cache_unreadable",
  ],
  ["a charset in Content-Encoding", { ...sound, headers: { "Content-Encoding": "UTF-8" } }, "legacy_cache_unreadable"],
  ["a 403 page", { status: 403, body: page, headers: html }, "legacy_ill"],
  ["a 401", { status: 401, body: page, headers: { ...html, "WWW-Authenticate": "Basic" } }, "legacy_ill"],
  ["a redirection", { status: 302, body: page, headers: { ...html, Location: "/elsewhere" } }, "legacy_ill"],
];

describe("where the gateway's own request gets another answer than the client's", () => {
  test.each(otherwise)("%s: the path passes for a minute, with one event", async (_, own, event) => {
    const pass = readClock();
    const state: { own: Given; clients: Given } = { own, clients: sound };
    const { ask, askers, counted, core } = await treating(state);
    for (let i = 0; i < 3; i++) expect(await ask(json)).toMatchObject({ status: 200, body: sound.body, how: "passed" });
    expect([askers, counted(event)]).toEqual([["own", "client", "client", "client"], 1]);
    expect(core.outage.isInDoubt() || core.outage.isOn()).toBe(false);
    state.own = sound;
    await pass(minute - 1000);
    expect((await ask(json)).how).toBe("passed");
    await pass(2000);
    expect((await ask(json)).how).toMatch(/stored/);
  });

  test.each(otherwise)("%s: what is stored is served, with an event each time", async (_, own, event) => {
    const pass = readClock();
    const state: { own: Given; clients: Given } = { own: sound, clients: { body: "not asked" } };
    const { ask, askers, counted } = await treating(state);
    await ask(json);
    state.own = own;
    await pass(day);
    for (let i = 1; i <= 2; i++) {
      const { body, how } = await ask(json);
      expect([body, how, counted(event)]).toEqual([sound.body, expect.stringContaining("stale-if-error"), i]);
      // The pause after a failed fetch is over.
      await pass(minute);
    }
    expect(askers).toEqual(["own", "own", "own"]);
  });

  test("a client that bypasses the cache does not make others bypass stored answers", async () => {
    const pass = readClock();
    const state: { own: Given; clients: Given } = { own: sound, clients: sound };
    const { ask } = await treating(state);
    await ask(json);
    await pass(day);
    state.own = { status: 403, body: page, headers: html };
    expect((await ask(json, { "Cache-Control": "no-cache" })).how).toBe("passed");
    expect((await ask(json)).how).toContain("stale-if-error");
  });

  test.each<[string, string | Buffer, Record<string, string>]>([
    ["plain", page, {}],
    ["zipped", gzipSync(page), { "Content-Encoding": "gzip" }],
    ["in an unknown coding", page, { "Content-Encoding": "x-none" }],
  ])("a 429 is handed on, never followed by another request: %s", async (_, body, coding) => {
    const own = { status: 429, body, headers: { ...html, ...coding, "Retry-After": "7" } };
    const { ask, askers } = await treating({ own, clients: sound });
    const shown = await ask(json);
    expect([shown.status, shown.body, shown.headers.get("retry-after"), askers]).toEqual([429, page, "7", ["own"]]);
    expect(shown.headers.get("content-encoding")).toBe(coding["Content-Encoding"] ?? null);
  });
});

test("advice such as Retry-After goes out with a new answer, not with a stored one", async () => {
  const advice = { "Retry-After": "120", "WWW-Authenticate": 'Basic realm="a"', Allow: "POST" };
  const state: { own: Given } = { own: { status: 405, body: page, headers: { ...html, ...advice } } };
  const { ask } = await treating(state);
  const shown = await ask(json);
  expect(shown.status).toBe(405);
  for (const [name, value] of Object.entries(advice)) expect(shown.headers.get(name)).toBe(value);
  state.own = { ...sound, headers: advice };
  for (const how of [/stored/, /^hit/]) {
    const stored = await ask(json);
    expect(stored.how).toMatch(how);
    for (const name of Object.keys(advice)) expect(stored.headers.get(name)).toBeNull();
  }
});
