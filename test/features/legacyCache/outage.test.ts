import { describe, expect, test } from "vitest";
import { clock } from "../../gateway/cache/support.ts";
import { caching, json, minute } from "./support.ts";

const behindProxy = { TRUSTED_PROXIES: "127.0.0.1" };
const from = (client: number) => ({ "X-Forwarded-For": `192.0.2.${client}` });
const other = (id: number) => `/api/v1/json/data/${id}`;
const probe = "GET /api/v1/json/evaluationmeasure/list";

describe("legacy's circuit", () => {
  /** A gateway whose legacy breaks off the answers to five old reads by so many clients. */
  const broken = async (clients: number) => {
    const { pass } = clock();
    const gateway = await caching(behindProxy);
    const { legacy, ask, core } = gateway;
    await ask(json);
    pass(24 * 60 * minute);
    legacy.mode = "down";
    for (let i = 0; i < 5; i++) expect((await ask(other(i), from(i % clients))).status).toBe(502);
    legacy.mode = "healthy";
    legacy.asked.length = 0;
    return { ...gateway, pass, circuits: () => core.meter.openCircuits() };
  };

  test("it opens by old reads that fail, as of the clients who began them", async () => {
    expect((await broken(1)).circuits()).toEqual([]);
    expect((await broken(3)).circuits()).toEqual(["legacy"]);
  });

  test("timeouts of old reads do not count", async () => {
    const { legacy, ask, core } = await caching({ ...behindProxy, HEADERS_TIMEOUT_MS: "50" });
    legacy.mode = "silent";
    const answers = Array.from({ length: 10 }, (_, i) => ask(other(i), from(i)));
    for (const { status } of await Promise.all(answers)) expect(status).toBe(504);
    expect(core.meter.openCircuits()).toEqual([]);
  });

  test("while it is open, a stale answer is served, and what has none passes", async () => {
    const { legacy, ask } = await broken(3);
    expect((await ask(json)).how).toContain("stale-if-error");
    expect(legacy.asked).toEqual([]);
    const { status, how } = await ask(other(7), { "User-Agent": "the client's" });
    expect([status, how, legacy.seen.at(-1)?.headers["user-agent"]]).toEqual([200, "passed", "the client's"]);
  });

  test("an old read never probes, but has a small request do so", async () => {
    const { legacy, ask, pass, circuits } = await broken(3);
    pass(6000);
    expect((await ask(json)).how).toContain("stale-if-error");
    await expect.poll(circuits).toEqual([]);
    expect(legacy.asked).toEqual([probe]);
    pass(minute);
    expect((await ask(json)).how).toMatch(/^fwd=stale; stored/);
  });
});
