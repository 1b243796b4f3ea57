import { onTestFinished, vi } from "vitest";
import type { SecondTier } from "../../../src/gateway/cache/secondTier.ts";
import { asking, listeningGateway } from "../http/support.ts";
import { fakeLegacy, type FakeLegacy, keys } from "../../support/fakeLegacy.ts";
import type { GatewayParts } from "../../support/gateway.ts";
import { valueOf } from "../../support/metrics.ts";

export { markOf } from "../../support/fakeLegacy.ts";
export const { alice, bob } = keys;

/** A path of each endpoint whose answers are cached. */
export const kept = {
  getDataset: "/v1/datasets/61",
  listDatasets: "/v1/data/list/limit/5",
  getSetup: "/v1/setup/3",
  getStudy: "/v1/studies/99",
  findFlow: "/v1/flow/exists/sample.ZeroRule/Sample_1.0/",
  listEstimationProcedures: "/v1/estimationprocedure/list",
  listEvaluationMeasures: "/v1/evaluationmeasures/list",
};

/**
 * The cache's clock, which only `pass` advances. Sockets and their timers run as always, except
 * `timers`, which it advances too.
 */
export const clock = (timers: ("setTimeout" | "clearTimeout" | "setInterval")[] = []) => {
  vi.useFakeTimers({ toFake: ["Date", "performance", ...timers], now: new Date("2026-11-21T12:00:00Z") });
  onTestFinished(() => void vi.useRealTimers());
  // lru-cache reads a time of 0 as unset.
  vi.advanceTimersByTime(1000);
  return { pass: (ms: number) => void vi.advanceTimersByTime(ms) };
};

/** A gateway over the fake of legacy, and how to ask it over a socket. */
export const cachedGateway = async (
  environment: Record<string, string> = {},
  given?: FakeLegacy,
  parts: GatewayParts = {},
) => {
  const legacy = given ?? (await fakeLegacy());
  const gateway = await listeningGateway(legacy.url, environment, parts);
  const ask = asking(gateway.url, { Connection: "close" });
  const as = (key: string) => ({ "X-API-Key": key });
  const post = (path: string, json: unknown, headers: Record<string, string> = {}) =>
    ask(path, { "Content-Type": "application/json", ...headers }, { method: "POST", body: JSON.stringify(json) });
  /** The number of clients that are connected. */
  const clients = () => valueOf(gateway.core.meter, "client_connections");
  return { ...gateway, legacy, ask, as, post, clients };
};

const paths = { ...kept, otherDataset: "/v1/datasets/62", otherSetup: "/v1/setup/4" };
/** The names of the answers that a filled gateway has cached. */
export type CachedName = keyof typeof paths;

/** A gateway that has cached an answer of each path. `invalidated` names those that it would not serve as they are. */
export const filledGateway = async (...about: Parameters<typeof cachedGateway>) => {
  const gateway = await cachedGateway(...about);
  const entries = Object.entries(paths) as [CachedName, string][];
  for (const [, path] of entries) await gateway.ask(path);
  const invalidated = async (): Promise<CachedName[]> => {
    const answers = entries.map(([, path]) => gateway.ask(path, { "Cache-Control": "only-if-cached" }));
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    return entries.flatMap(([name], i) => (statuses[i] === 504 ? [name] : [])).toSorted();
  };
  return { ...gateway, invalidated };
};

/** An empty second tier, except for the members that the test gives. */
export const tierWith = (tier: Partial<SecondTier>): SecondTier => ({
  coding: "br",
  trusted: () => true,
  mark: () => "a",
  get: async () => undefined,
  set: () => undefined,
  invalidate: async () => true,
  close: async () => undefined,
  ...tier,
});

/** The number of requests that have waited for the fetch of another request. */
export const coalesced = async ({ meter }: Awaited<ReturnType<typeof cachedGateway>>["core"]) => {
  const events = (await meter.read()).find(({ name }) => name === "catalog_gateway_cache_events_total");
  const values = events?.values.filter(({ labels }) => labels["event"] === "coalesced") ?? [];
  return values.reduce((sum, { value }) => sum + value, 0);
};
