import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import type { AddedSteps, Additions } from "../../../src/gateway/answer/additions.ts";
import type { Core } from "../../../src/gateway/answer/core.ts";
import type { GatewayParts } from "../../support/gateway.ts";
import type { Step } from "../../../src/gateway/http/step.ts";
import type { SecondTier } from "../../../src/gateway/cache/secondTier.ts";
import { listeningGateway } from "../http/support.ts";
import { get, httpUpstream, rawUpstream, request } from "../proxy/support.ts";
import { valueOf } from "../../support/metrics.ts";
import { startProgram } from "../../support/program.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";
import { until } from "../../support/waiting.ts";
import { exchange, measures } from "./support.ts";

const planted = (): never => {
  throw new TypeError("planted");
};

const later = async (run: () => void): Promise<void> => {
  await Promise.resolve();
  run();
};

/** A header's name that throws when it is looked at. */
const badName = { toLowerCase: planted } as unknown as string;

const procedures = '{"estimationprocedures":{"estimationprocedure":{"id":"1","ttid":"1","name":"n","type":"x"}}}';

/** Legacy, whose answer to `/large` has 100 kB. */
const openUpstream = () =>
  httpUpstream((incoming, response) => {
    response.setHeader("Content-Type", "application/json");
    if (incoming.url === "/hang") return;
    if (incoming.url === "/large") response.end("x".repeat(100_000));
    else response.end(incoming.url?.includes("procedure") ? procedures : measures);
  });

const tier = (faulty: Partial<SecondTier>): GatewayParts => ({
  openTier: () => () => ({
    trusted: () => true,
    mark: () => "1",
    get: async () => undefined,
    set: () => undefined,
    invalidate: async () => true,
    close: async () => undefined,
    ...faulty,
  }),
});

const open = (adding: (core: Core) => Partial<Additions>): GatewayParts => ({ adding });
const before = (place: keyof AddedSteps, answer: Step): Partial<Additions> => ({
  steps: () => ({ hitPath: [], router: [], passThrough: [], [place]: [answer] }),
});
const LIST = "/v1/evaluationmeasures/list";
const isPlanted = ({ headers }: { headers: Record<string, unknown> }) => headers["x-planted"] !== undefined;

/**
 * A place that throws, the module that plants it, the request that meets it, and the status that its client gets;
 * 0: its connection closes.
 */
const places: [place: string, module: GatewayParts, path: string, status: number][] = [
  ["a step", open(() => before("hitPath", (req, _, next) => (isPlanted(req) ? planted() : next()))), LIST, 500],
  [
    "what a step does later",
    open(({ guard }) =>
      before(
        "hitPath",
        (req, res, next) =>
          void later(() => (isPlanted(req) ? planted() : next())).catch((error: unknown) => guard.fail(res, error)),
      ),
    ),
    LIST,
    500,
  ],
  [
    "the hit path",
    open(() => ({ mayHit: [(_endpoint, _isKeyed, headers) => headers["x-planted"] === undefined || planted()] })),
    LIST,
    500,
  ],
  [
    "a layer",
    open(() => ({ layers: [(next) => async (about) => (about.header("x-planted") ? planted() : next(about))] })),
    "/v1/estimationprocedure/list",
    500,
  ],
  [
    "the router, and its answer to that",
    open(() => ({ documents: [{ paths: [], linksOf: planted }] })),
    "/v1/unknown",
    500,
  ],
  ["the cache", tier({ mark: planted }), "/v1/estimationprocedure/list", 500],
  [
    "the storing of an entry",
    open(({ catalogue }) => {
      const groups = Object.defineProperty([], Symbol.iterator, { value: planted });
      const { cache } = catalogue.endpoints["listEstimationProcedures"] ?? {};
      if (cache) vi.spyOn(cache, "groups").mockReturnValueOnce(groups);
      return {};
    }),
    "/v1/estimationprocedure/list",
    500,
  ],
  ["the second tier", tier({ set: planted }), LIST, 200],
  [
    "what answers in legacy's place",
    open(() => before("passThrough", (req, _, next) => (isPlanted(req) ? planted() : next()))),
    "/website",
    500,
  ],
  [
    "the head of a proxied answer",
    open(() => ({ legacyHeaders: [({ url }) => (url === "/head" ? [badName, ""] : [])] })),
    "/head",
    500,
  ],
  [
    "what comes behind the head of a proxied answer",
    open(() =>
      before("passThrough", (req, res, next) => {
        if (!isPlanted(req)) return next();
        const writeHead = res.writeHead.bind(res) as (...about: unknown[]) => unknown;
        vi.spyOn(res, "writeHead").mockImplementationOnce((...about: unknown[]) => {
          writeHead(...about);
          return planted();
        });
        next();
      }),
    ),
    "/large",
    0,
  ],
  [
    "the body of a proxied answer",
    open(() =>
      before("hitPath", (req, res, next) => {
        if (isPlanted(req)) vi.spyOn(res, "write").mockImplementationOnce(planted);
        next();
      }),
    ),
    "/large",
    0,
  ],
];

const closed = "http://127.0.0.1:9";
const write = [
  request("POST /api/v1/json/data", `Content-Length: 11`, "Content-Type: application/x-www-form-urlencoded"),
  "api_key=abc",
];

test.each<[place: string, added: Partial<Additions>, sent: string[], status: number]>([
  ["what observes a write", { onLegacyBody: [planted] }, write, 502],
  ["a header of a failure", { legacyHeaders: [() => ["X-A", "a\u20acb"]] }, [get("/x")], 500],
])("an error in %s, while legacy cannot be reached, leaks nothing", async (_, feature, sent, status) => {
  const gateway = await listeningGateway(
    closed,
    {},
    open(() => feature),
  );
  const { core, port, observer } = gateway;
  expect((await exchange(port, ...sent)).status).toBe(status);
  expect(observer.counts()["internal_error"]).toBeGreaterThan(0);
  await until(() => core.load() === 0);
});

test("an error at an exchange's end keeps no place, no memory and no other listener", async () => {
  const module = open(() => ({ onExchange: [({ isRefused }) => void (isRefused || planted())] }));
  const { core, port, observer } = await listeningGateway(await openUpstream(), {}, module);
  expect((await exchange(port, get("/large"))).body).toHaveLength(100_000);
  const leaving = new AbortController();
  const left = fetch(`http://127.0.0.1:${port}/hang`, { signal: leaving.signal }).catch((error: Error) => error.name);
  await until(() => core.load() > 0);
  leaving.abort();
  expect(await left).toBe("AbortError");
  await until(() => core.load() === 0);
  expect(core.memory.held).toBe(0);
  expect(observer.counts()["internal_error"]).toBeGreaterThan(1);
});

test.each([
  ["101 Switching Protocols", "Connection: Upgrade\r\nUpgrade: x\r\n"],
  ["099 Odd", ""],
  ["099 Odd", "Content-Length: 2\r\n"],
])("legacy's status %s (%j) is a broken answer: 502, or the stored answer", async (line, more) => {
  const sound = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${measures.length}\r\n\r\n${measures}`;
  let isOdd = false;
  const { origin } = await rawUpstream((socket) => socket.write(isOdd ? `HTTP/1.1 ${line}\r\n${more}\r\n{}` : sound));
  const lifetimes = { listEvaluationMeasures: { fresh: "0s", staleWhileRevalidate: "0s", staleIfError: "1h" } };
  const { port, observer } = await listeningGateway(origin, { CACHE_LIFETIMES: JSON.stringify(lifetimes) });
  await exchange(port, get(LIST));
  isOdd = true;
  const stored = await exchange(port, get(LIST));
  expect([stored.status, stored.headers.get("cache-status")]).toEqual([200, expect.stringContaining("stale-if-error")]);
  for (const path of ["/v1/estimationprocedure/list", "/x"]) expect((await exchange(port, get(path))).status).toBe(502);
  expect(observer.counts()["internal_error"]).toBeUndefined();
});

test.each(["ECONNREFUSED", "UND_ERR_SOCKET"])(
  "an error that the gateway throws is not legacy's fault, by the code %s",
  async (code) => {
    const onBody = () => {
      throw Object.assign(new Error("planted"), { code });
    };
    const module = open(() => ({ onLegacyBody: [onBody] }));
    const { port, core, observer } = await listeningGateway(await openUpstream(), {}, module);
    expect((await exchange(port, ...write)).status).toBe(500);
    expect(observer.counts()).toMatchObject({ internal_error: 1 });
    expect(observer.counts()["pass_through_failed"]).toBeUndefined();
    await until(() => core.load() === 0);
  },
);

test.each(places)("an error in %s costs one request", async (_, module, path, status) => {
  const gateway = await listeningGateway(await openUpstream(), {}, module);
  const { core, port, observer } = gateway;
  await exchange(port, get(LIST));
  const { text } = await exchange(port, get(path, "X-Planted: 1"));
  expect(text.slice(0, 13)).toBe(status === 0 ? "" : `HTTP/1.1 ${status} `);
  expect(text.endsWith('\r\n\r\n{"detail":"Internal Server Error"}')).toBe(status === 500);
  await until(() => observer.counts()["internal_error"] !== undefined);

  expect((await exchange(port, get("/healthy"))).status).toBe(200);
  expect((await exchange(port, get("/large"))).body).toHaveLength(100_000);
  expect(core.memory.held).toBe(0);
  await until(async () => core.load() === 0 && (await valueOf(core.meter, "requests_in_flight")) === 0);
  await until(async () => (await valueOf(core.meter, "client_connections")) === 0);
});

test("an uncaught error is logged and counted, and the process goes on", async () => {
  const plant = join(temporaryFolder(), "plant.mjs");
  writeFileSync(
    plant,
    `process.on("SIGUSR2", () => {
      for (let i = 0; i < 50; i++) setTimeout(() => { throw new Error("planted in a timer"); });
      Promise.reject(new Error("planted in a promise"));
    });`,
  );
  const program = await startProgram({
    LEGACY_URL: await openUpstream(),
    NODE_OPTIONS: `--import=${plant}`,
  });
  const metrics = async () => (await fetch(`http://127.0.0.1:${program.adminPort}/metrics`)).text();
  await metrics();
  program.child.kill("SIGUSR2");
  await until(async () => /\{event="internal_error",endpoint=""\} 51$/m.test(await metrics()));
  expect((await exchange(program.port, get(LIST))).status).toBe(200);
  const lines = program.output.error.split("\n").filter((line) => line.includes('"event":"internal_error"'));
  // One line for each place; the others are counted, and said a second later.
  expect(lines.filter((line) => line.includes("planted in a timer"))).toHaveLength(1);
  expect(lines.filter((line) => line.includes("planted in a promise"))).toHaveLength(1);
  program.child.kill("SIGTERM");
  expect(await program.ended).toBe(0);
});
