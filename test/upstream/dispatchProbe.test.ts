import { Pool } from "undici";
import { describe, expect, onTestFinished, test } from "vitest";
import { openDispatchProbe } from "../../src/upstream/dispatchProbe.ts";
import { openUpstream } from "../../src/upstream/upstream.ts";
import { healthy, rawUpstream } from "../proxy/support.ts";
import { until } from "../support/waiting.ts";

/** A pool of the gateway, and a plain one of undici, which a refused request uses up. */
const open = (origin: string, connections: number) => {
  const settings = { connections, waiting: 10, connectTimeout: 5000, headersTimeout: 5000, bodyTimeout: 5000 };
  const upstream = openUpstream({ origin, ...settings });
  const plain = new Pool(origin, { connections, pipelining: 1 });
  onTestFinished(() => Promise.all([upstream.pool.destroy(), plain.destroy()]).then(() => undefined));
  return { upstream, plain };
};
const refuse = (pool: Pool) => pool.dispatch({ method: "GET", path: "*" }, { onResponseError: () => undefined });

describe("a pool brings requests to connections", () => {
  test("where they are free, and the upstream is sent nothing", async () => {
    const { origin, requests, connections } = await rawUpstream((socket) => void socket.write(healthy));
    const { upstream } = open(origin, 2);
    refuse(upstream.pool);
    refuse(upstream.pool);
    expect(await upstream.dispatches()).toBe(true);
    const answer = await upstream.pool.request({ method: "GET", path: "/" });
    expect(await answer.body.text()).toBe("healthy");
    expect([requests.length, connections()]).toEqual([1, 1]);
  });

  test("where all of them are busy", async () => {
    const { origin, requests } = await rawUpstream(() => undefined);
    const { upstream } = open(origin, 2);
    const busy = [1, 2, 3].map(() => upstream.pool.request({ method: "GET", path: "/" }).catch(() => undefined));
    await until(() => requests.length === 2);
    expect(await upstream.dispatches()).toBe(true);
    await upstream.pool.destroy();
    await Promise.all(busy);
  });

  test("where the upstream is down", async () => {
    expect(await open("http://127.0.0.1:1", 2).upstream.dispatches()).toBe(true);
  });

  test("where the upstream takes a connection and does not speak TLS", async () => {
    const { origin } = await rawUpstream(() => undefined);
    const { upstream } = open(origin.replace("http:", "https:"), 2);
    const waiting = [1, 2].map(() => upstream.pool.request({ method: "GET", path: "/" }).catch(() => undefined));
    expect(await upstream.dispatches()).toBe(true);
    await upstream.pool.destroy();
    await Promise.all(waiting);
  });
});

describe("a pool whose connections are used up", () => {
  const stuck = async (connections: number) => {
    const { origin, requests } = await rawUpstream((socket) => void socket.write(healthy));
    const { plain } = open(origin, connections);
    for (let i = 0; i < connections; i++) refuse(plain);
    return { plain, requests, dispatches: openDispatchProbe(plain, connections) };
  };

  test("does not, and is asked once at a time, at most once a second", async () => {
    const { plain, dispatches } = await stuck(2);
    expect(await Promise.all([dispatches(), dispatches(), dispatches()])).toEqual([false, false, false]);
    expect(await dispatches()).toBe(false);
    expect(plain.stats.queued).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 1100));
    // The first probe still waits: no other one joins it.
    expect(await dispatches()).toBe(false);
    expect(plain.stats.queued).toBe(1);
  });

  test("does again once they are back", async () => {
    const { plain, dispatches, requests } = await stuck(1);
    expect(await dispatches()).toBe(false);
    await plain.destroy();
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect(await dispatches()).toBe(true);
    expect(requests).toEqual([]);
  });
});
