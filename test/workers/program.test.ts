import { mkdtempSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { completeDataset } from "../../src/tools/sampleLegacy/completeDataset.ts";
import { type Bed, openBed } from "../features/privateDatasets/bed.ts";
import { administrator } from "../features/privateDatasets/people.ts";
import { edited, rows } from "../features/privateDatasets/through.ts";
import { start } from "../serve/support.ts";
import { startStandIn } from "../standIn/program/startStandIn.ts";
import { sleep, until } from "../support/waiting.ts";
import { childrenOf, type Client, holdsPort, isRunning, openClient, startWorkers, type Workers } from "./support.ts";

/** Clients of each worker. */
const EACH = 2;
const CLIENTS = 2 * EACH;
const MAX_CONNECTIONS = 16;

let bed: Bed;
let modern: Awaited<ReturnType<typeof startStandIn>>;
let gateway: Workers;
const config = join(mkdtempSync(join(tmpdir(), "workers-")), "config.json");
beforeAll(async () => {
  bed = await openBed();
  bed.use([...rows, completeDataset({ id: 20, name: "counted" })]);
  modern = await startStandIn({ legacyUrl: bed.url });
  writeFileSync(config, "{}");
  gateway = await startWorkers({
    CONFIG: config,
    LEGACY_URL: bed.url,
    MODERN_URL: modern.url,
    LEGACY_ADMIN_KEY: administrator.key,
    PRIVATE_WALK_RATE: "1000",
    MAX_CLIENT_CONNECTIONS: String(MAX_CONNECTIONS),
  });
});
afterAll(async () => {
  gateway.child.kill("SIGKILL");
  await gateway.ended;
  await modern.close();
  await bed.close();
});

const askAll = async (of: readonly Client[], path: string, about: { key?: string; forwardedFor?: string } = {}) =>
  Promise.all(of.map(({ ask }) => ask(path, about)));

/** As many clients of each worker; a busy one gets fewer connections. */
const clients = async (): Promise<Client[]> => {
  const pids = gateway.pids();
  const kept = new Map<number, Client[]>(pids.map((pid) => [pid, []]));
  while (![...kept.values()].every(({ length }) => length === EACH)) {
    // At once: an idle worker takes all that come one by one.
    const burst = Array.from({ length: 2 * CLIENTS }, () => openClient(gateway.url));
    onTestFinished(() => {
      for (const { close } of burst) close();
    });
    // A worker that has too many connections refuses more.
    const answers = await askAll(burst, "/v1/evaluationmeasures/list");
    const workers = gateway.workersOf(burst);
    for (const [i, client] of burst.entries()) {
      const of = answers[i]?.status === 200 && kept.get(workers[i] ?? 0);
      if (of && of.length < EACH) of.push(client);
      else client.close();
    }
  }
  return Array.from({ length: CLIENTS }, (_, i) => kept.get(pids[i % 2] as number)?.[i >> 1] as Client);
};
const sum = (values: Record<string, number>) => Object.values(values).reduce((total, one) => total + one, 0);
const bothRun = () => until(async () => sum(await gateway.metric("catalog_gateway_workers")) === 2);

describe("what one worker sees holds in all", () => {
  test("a write, by the new interface and by legacy's", async () => {
    const all = await clients();
    const { key } = administrator;
    for (const [i, { ask }] of all.entries()) {
      await askAll(all, "/v1/datasets/20");
      const tag = `written-${i}`;
      const { status } =
        i % 2 === 0
          ? await ask("/v1/datasets/tag", { key, json: { data_id: 20, tag } })
          : await ask(`/api/v1/json/data/tag?api_key=${key}`, { form: { data_id: "20", tag } });
      expect(status).toBe(200);
      for (const { body } of await askAll(all, "/v1/datasets/20")) expect(body).toContain(tag);
    }
    const { entries } = (await gateway.fromAdmin("/cache")) as { entries: number };
    expect(entries).toBeGreaterThanOrEqual(2);
  });

  test("a purge, and the cache's size is that of all", async () => {
    const all = await clients();
    await gateway.toAdmin("/purge", { all: true, hard: true });
    expect(await gateway.fromAdmin("/cache")).toMatchObject({ entries: 0, bytes: 0 });
    const row = bed.datasets.find(({ id }) => id === 9) as { name: string };
    for (let i = 0; i < 4; i++) {
      await askAll(all, "/v1/datasets/9");
      expect(await gateway.fromAdmin("/cache")).toMatchObject({ entries: 2 });
      row.name = `purged-${i}`;
      await gateway.toAdmin("/purge", i % 2 === 0 ? { all: true, hard: true } : { group: "dataset/9", hard: true });
      for (const { body } of await askAll(all, "/v1/datasets/9")) expect(body).toContain(`purged-${i}`);
    }
  });

  test("a move to another stage, with one line in the audit log", async () => {
    const all = await clients();
    for (const stage of ["modern", "legacy", "modern", "legacy"]) {
      expect((await gateway.toAdmin("/stages/getDataset", { stage, by: "me" })).status).toBe(200);
      for (const { headers } of await askAll(all, "/v1/datasets/2"))
        expect(headers["gateway-decision"]).toContain(`backend=${stage}`);
    }
    expect(((await gateway.fromAdmin("/audit")) as { by: string }[]).map(({ by }) => by)).toEqual(Array(4).fill("me"));
    expect(gateway.output.error.match(/"stage_moved"/g)).toHaveLength(4);
  });

  test("a dataset that turns private, and one that was private", async () => {
    const all = await clients();
    const { key } = administrator;
    await until(async () => JSON.stringify(await gateway.fromAdmin("/cache")).includes('"state":"complete"'));
    const path = "/v1/data/list/status/all";
    const idsOf = ({ body }: { body: string }) => (JSON.parse(body) as { did: number }[]).map(({ did }) => did);
    for (const [i, { ask }] of all.entries()) {
      await askAll(all, path, { key });
      const visibility = i % 2 === 0 ? "private" : "public";
      const form = edited(9, `<oml:visibility>${visibility}</oml:visibility>`);
      expect((await ask(`/api/v1/json/data/edit?api_key=${key}`, { form })).status).toBe(200);
      for (const answer of await askAll(all, path, { key })) {
        expect(answer.headers["gateway-decision"]).not.toContain("incomplete");
        expect(idsOf(answer)).toEqual([2, 3, 5, 6, 9, 20]);
      }
    }
  });
});

test("SIGHUP reaches all workers", async () => {
  writeFileSync(config, JSON.stringify({ DEPRECATED: [{ path: "/api/v1/json/data", since: "2026-01-01" }] }));
  gateway.child.kill("SIGHUP");
  const all = await clients();
  await until(async () => {
    const answers = await askAll(all, "/api/v1/json/data/2");
    return answers.every(({ headers }) => headers["deprecation"] !== undefined);
  });
  expect(gateway.output.error).toContain("configuration_reloaded");
});

describe("operators see all workers as one", () => {
  test("requests and clients are counted together", async () => {
    const all = await clients();
    const before = sum(await gateway.metric("catalog_gateway_requests_total"));
    await askAll(all, "/v1/datasets/2");
    await askAll(all, "/api/v1/json/data/2", { key: administrator.key });
    expect(sum(await gateway.metric("catalog_gateway_requests_total"))).toBe(before + CLIENTS);
    // One caller, whichever worker hashed the key.
    const seen = (await gateway.fromAdmin("/clients")) as { path: string; caller: string; count: number }[];
    const reads = seen.filter(({ path, caller }) => path === "/api/v1/json/data" && caller !== "nobody");
    expect(reads.map(({ count }) => count)).toEqual([CLIENTS]);
  });

  test("an untrusted proxy of several workers is logged once", async () => {
    await askAll(await clients(), "/v1/datasets/2", { forwardedFor: "192.0.2.1" });
    await until(async () => {
      const view = (await gateway.metric("catalog_gateway_events_total"))['event="untrusted_proxy",endpoint=""'];
      return (view ?? 0) > 0;
    });
    expect(gateway.output.error.match(/"untrusted_proxy"/g)).toHaveLength(1);
  });

  test("comparisons of both workers make the evidence, the differences and the parity", async () => {
    const before = sum(await gateway.metric("catalog_gateway_comparisons_total"));
    await gateway.toAdmin("/stages/getDataset", { stage: "shadow", share: 100 });
    await gateway.toAdmin("/purge", { all: true, hard: true });
    const ids = [2, 9, 20, 900];
    const all = await clients();
    for (const id of ids) await askAll(all, `/v1/datasets/${id}`);
    const compared = async () => (await gateway.fromAdmin("/stages/getDataset")) as { parity: { compared: number } };
    await until(async () => (await compared()).parity.compared === ids.length * CLIENTS);
    const { parity } = await compared();
    expect(sum(await gateway.metric("catalog_gateway_comparisons_total"))).toBe(before + parity.compared);
    await gateway.toAdmin("/stages/getDataset", { stage: "legacy" });
    expect((await compared()).parity.compared).toBe(0);
  });

  test("MAX_CLIENT_CONNECTIONS bounds the connections to all workers together", async () => {
    const statuses = await Promise.all(
      Array.from(
        { length: MAX_CONNECTIONS + 8 },
        () =>
          new Promise<string>((resolve) => {
            const socket = connect(gateway.port, "127.0.0.1").on("error", () => undefined);
            onTestFinished(() => void socket.destroy());
            socket.once("data", (chunk: Buffer) => resolve(chunk.toString("latin1", 9, 12)));
            socket.write("GET /v1/datasets/2 HTTP/1.1\r\nHost: a\r\n\r\n");
          }),
      ),
    );
    // A worker refuses what is more than its share.
    const served = statuses.filter((status) => status === "200").length;
    expect(served).toBeGreaterThanOrEqual(MAX_CONNECTIONS / 2);
    expect(served).toBeLessThanOrEqual(MAX_CONNECTIONS);
    expect(statuses.filter((status) => status === "503")).toHaveLength(statuses.length - served);
  });
});

describe("a worker that ends", () => {
  /** Asks again and again until it fails or is stopped; counts its answers. */
  const load = (client: ReturnType<typeof openClient>) => {
    const state = { answers: 0, failed: false, isStopped: false };
    const run = async () => {
      while (!state.isStopped && !state.failed) {
        await client.ask("/v1/datasets/2").then(
          ({ status }) => (status === 200 ? state.answers++ : (state.failed = true)),
          () => (state.failed = true),
        );
        // The new worker needs the processor as well.
        await sleep(2);
      }
    };
    const ended = run();
    return { state, stop: () => ((state.isStopped = true), ended) };
  };

  test("is replaced under load; no request of the other is cut, and no counter goes down", async () => {
    await until(async () => sum(await gateway.metric("catalog_gateway_client_connections")) === 0);
    const all = await clients();
    const loads = all.map(load);
    let counted = 0;
    const count = async () => {
      const requests = sum(await gateway.metric("catalog_gateway_requests_total"));
      expect(requests).toBeGreaterThanOrEqual(counted);
      counted = requests;
    };
    await until(() => loads.every(({ state }) => state.answers > 10));
    await count();
    const workers = gateway.workersOf(all);
    const [killed] = workers;
    const isOther = workers.map((worker) => worker !== killed);
    process.kill(killed as number, "SIGKILL");
    await until(async () => {
      await count();
      return gateway.output.error.includes("worker_replaced");
    });
    const left = loads.filter((_, i) => isOther[i]);
    expect(left).toHaveLength(EACH);
    const before = left.map(({ state }) => state.answers);
    await until(() => left.every(({ state }, i) => state.answers > (before[i] as number)));
    await Promise.all(loads.map(({ stop }) => stop()));
    expect(left.filter(({ state }) => state.failed)).toEqual([]);
    await bothRun();
    expect(sum(await gateway.metric("catalog_gateway_worker_ends_total"))).toBe(1);
    // The new worker has what was reloaded.
    for (const { headers } of await askAll(await clients(), "/api/v1/json/data/2"))
      expect(headers["deprecation"]).toBeDefined();
  });

  test("because it does not hear of a write is killed before the write is answered", async () => {
    const all = await clients();
    await askAll(all, "/v1/datasets/20");
    const workers = gateway.workersOf(all);
    const [stopped = 0] = workers;
    const running = all[workers.findIndex((worker) => worker !== stopped)] as Client;
    process.kill(stopped, "SIGSTOP");
    const post = { key: administrator.key, json: { data_id: 20, tag: "while-stopped" } };
    expect((await running.ask("/v1/datasets/tag", post)).status).toBe(200);
    expect(isRunning(stopped)).toBe(false);
    expect(gateway.output.error).toContain("worker_killed");
    await bothRun();
    for (const { body } of await askAll(await clients(), "/v1/datasets/20")) expect(body).toContain("while-stopped");
  });
});

describe("start and stop", () => {
  test("a port that is taken stops the start with one line", async () => {
    const { ended, output } = start({ WORKERS: "2", LEGACY_URL: bed.url, PORT: String(gateway.port) });
    expect(await ended).toBe(2);
    expect(output.error.match(/^PORT, HOST: .* cannot be listened on/gm)).toHaveLength(1);
    expect(output.out).toBe("");
  });

  test("workers end with a killed primary process, which has the sample legacy", async () => {
    const { child, output } = await startWorkers({});
    expect(output.out.match(/the sample legacy, started beside/g)).toHaveLength(1);
    const pids = childrenOf(child);
    expect(pids).toHaveLength(2);
    child.kill("SIGKILL");
    await until(() => !pids.some(isRunning));
  });

  test("a stop leaves the port to the workers, so that the last one closes it", async () => {
    const { child, port, pids, ended } = await startWorkers({ LEGACY_URL: bed.url });
    onTestFinished(() => void child.kill("SIGKILL"));
    const [first = 0, last = 0] = pids();
    expect([child.pid ?? 0, first, last].map((pid) => holdsPort(pid, port))).toEqual([true, true, true]);
    process.kill(last, "SIGSTOP");
    child.kill("SIGTERM");
    await until(() => !isRunning(first));
    expect([child.pid ?? 0, last].map((pid) => holdsPort(pid, port))).toEqual([false, true]);
    process.kill(last, "SIGCONT");
    expect(await ended).toBe(0);
  });

  test("operators see that workers do not reach legacy", async () => {
    const failing = await startWorkers({ LEGACY_URL: "http://127.0.0.1:1" });
    onTestFinished(() => void failing.child.kill("SIGKILL"));
    for (let i = 0; i < 30; i++) await fetch(`${failing.url}/v1/datasets/${i}`, { headers: { Connection: "close" } });
    await until(async () => {
      const { dependencies } = (await failing.fromAdmin("/readyz?verbose")) as { dependencies: object[] };
      return JSON.stringify(dependencies).includes('{"name":"legacy","state":"failed"');
    });
    expect(await (await fetch(failing.admin)).text()).toContain("Legacy fails: its circuit breaker is open");
    const states = Object.entries(await failing.metric("catalog_gateway_breaker_state"));
    expect(states.filter(([, value]) => value === 1)).toEqual([[expect.stringContaining('state="open"'), 1]]);
  });

  test("SIGTERM ends all of them", async () => {
    const pids = gateway.pids();
    gateway.child.kill("SIGTERM");
    expect(await gateway.ended).toBe(0);
    expect(pids.filter(isRunning)).toEqual([]);
  });
});
