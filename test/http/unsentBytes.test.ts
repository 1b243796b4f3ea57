import type { ServerResponse } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import { sendWhole } from "../../src/http/httpServer.ts";
import { exchange, expectDetail } from "../serve/support.ts";
import { get, httpUpstream } from "../proxy/support.ts";
import { listeningGateway } from "./support.ts";
import { LARGE, large, open, staying, unreader, UNSEEN } from "./unreaders.ts";
import { sleep, until } from "../support/waiting.ts";

describe("bytes that wait for clients", () => {
  test("have a bound: then a request is 503, until they are taken or cut off", async () => {
    const { port, unsent } = await open({ sendTimeout: UNSEEN, maxSendBytes: LARGE });
    const socket = unreader(port, staying("/large"));
    await until(() => unsent.total >= LARGE);
    const refused = await exchange(port, get("/"));
    expectDetail(refused, 503);
    expect(refused.headers.get("retry-after")).toBe("5");
    socket.resume();
    await until(() => unsent.total === 0);
    expect((await exchange(port, get("/"))).body).toBe("ok");
  });

  test.each([
    ["written", (response: ServerResponse) => response.end(large)],
    [
      "sent whole",
      (response: ServerResponse) =>
        sendWhole(response, { status: 200, headers: ["Content-Length", String(LARGE)], body: large }),
    ],
  ])("give way to an answer that is %s, where their clients take nothing", async (_, answer) => {
    const limits = { sendTimeout: 8000, maxSendBytes: 4.5 * LARGE };
    const { port, unsent, connections } = await open(limits, (request, response) => {
      if (request.url === "/large") answer(response);
      else response.end("ok");
    });
    for (let i = 0; i < 4; i++) unreader(port, staying("/large"));
    await until(() => unsent.total > 4 * LARGE - 1);
    await sleep(1000);
    const { status, body } = await exchange(port, get("/large"));
    expect([status, body.length]).toEqual([200, LARGE]);
    expect([unsent.refused, unsent.timedOut]).toEqual([0, 0]);
    expect(unsent.crowdedOut).toBeGreaterThan(0);
    expect(connections().open).toBeGreaterThan(0);
  });

  test("give way to any request, where their clients take nothing", async () => {
    const { port, unsent } = await open({ sendTimeout: 8000, maxSendBytes: LARGE });
    unreader(port, staying("/large"));
    await until(() => unsent.total >= LARGE);
    await sleep(1000);
    expect((await exchange(port, get("/"))).body).toBe("ok");
    expect([unsent.total, unsent.refused, unsent.crowdedOut]).toEqual([0, 0, 1]);
  });

  test("give way where one address holds most of them", async () => {
    const { port, unsent } = await open({ sendTimeout: 8000, maxSendBytes: 8.5 * LARGE });
    const gone: number[] = [];
    for (const host of [1, 2, 3, 2, 4, 5, 2, 6]) {
      const socket = unreader(port, staying("/large"), `127.0.0.${host}`);
      socket.once("close", () => gone.push(host));
      const writing = setInterval(() => socket.write(staying("/")), 200);
      onTestFinished(() => clearInterval(writing));
    }
    await until(() => unsent.total > 8 * LARGE - 1);
    await sleep(1000);
    expect((await exchange(port, get("/large"))).body.length).toBe(LARGE);
    // Two, so that the next answer finds room.
    await until(() => gone.length === 2);
    expect([gone, unsent.crowdedOut]).toEqual([[2, 2], 2]);
  });

  test("have it too where answers are on their way already: the newest is cut off", async () => {
    const held: (() => void)[] = [];
    const { port, unsent, connections } = await open(
      { sendTimeout: UNSEEN, maxSendBytes: 1.5 * LARGE },
      (_, response) => {
        held.push(() => response.end(large));
      },
    );
    for (let i = 0; i < 5; i++) unreader(port, staying("/large"));
    await until(() => held.length === 5);
    for (const answer of held) answer();
    expect(unsent.total).toBeLessThan(1.5 * LARGE);
    expect(unsent.crowdedOut).toBe(4);
    await until(() => connections().open === 1);
  });

  test("leave no room for an answer that does not fit beside them: it is 503", async () => {
    const { port, unsent, connections } = await open(
      { sendTimeout: UNSEEN, maxSendBytes: 1.5 * LARGE },
      (_, response) => {
        sendWhole(response, { status: 200, headers: ["Content-Length", String(LARGE)], body: large });
      },
    );
    unreader(port, staying("/large"));
    await until(() => unsent.total > 0);
    const refused = await exchange(port, get("/large"));
    expectDetail(refused, 503);
    expect(refused.headers.get("retry-after")).toBe("5");
    expect([unsent.refused, unsent.crowdedOut, connections().open]).toEqual([1, 0, 1]);
  });

  test("have no room for one more answer of the new interface, from the cache or not", async () => {
    const dataset = JSON.stringify({ data_set_description: { id: "1", description: "x".repeat(LARGE) } });
    const url = await httpUpstream((_request, response) => response.end(dataset));
    const cached = { CACHE_BYTES: String(24 * LARGE) };
    const gateway = await listeningGateway(url, {
      MAX_SEND_BYTES: String(1.5 * LARGE),
      SEND_TIMEOUT_MS: String(UNSEEN),
      ...cached,
    });
    const read = async (path: string) => {
      const { status, head, body } = await exchange(gateway.port, get(path));
      return [status, body.length > LARGE, /\r\ncache-status: [^\r]*hit/i.test(head)];
    };
    expect(await read("/v1/datasets/1")).toEqual([200, true, false]);
    expect(await read("/v1/datasets/1")).toEqual([200, true, true]);
    const socket = unreader(gateway.port, staying("/v1/datasets/2"));
    const waits = async () => {
      const [{ value } = { value: 0 }] =
        (await gateway.services.meter.registry.getSingleMetric("catalog_gateway_unsent_bytes")?.get())?.values ?? [];
      return value > 0;
    };
    while (!(await waits())) await sleep(20);
    expect(await read("/v1/datasets/1")).toEqual([503, false, false]);
    expect(await read("/v1/datasets/3")).toEqual([503, false, false]);
    socket.destroy();
    while (await waits()) await sleep(20);
    expect(await read("/v1/datasets/1")).toEqual([200, true, true]);
  });
});
