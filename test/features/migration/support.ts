import { afterAll, vi } from "vitest";
import { startSampleLegacy } from "../../../tools/sampleLegacy/startSampleLegacy.ts";
import type { LedgerEntry } from "../../../libraries/compare/ledger.ts";
import type { Fault } from "../../standIn/faults.ts";
import { startStandIn } from "../../standIn/startStandIn.ts";
import { consoleFor } from "../console/consoleFor.ts";
import { startServer } from "../../../src/gateway/server.ts";
import type { MigrationParts } from "../../../features/migration/feature.ts";
import type { Migration } from "../../../features/migration/migration.ts";
import type { ConfiguredStage } from "../../../features/migration/stage.ts";
import { type GatewayParts, gatewayFor, type TestGateway } from "../../support/gateway.ts";
import { until } from "../../support/waiting.ts";

/** Allows a fault that is planted often. */
export const known: LedgerEntry = {
  id: "known",
  endpoint: "getDataset",
  path: "/version",
  kind: "type",
  reason: "known",
  owner: "me",
  until: "2999-01-01",
};

const closing: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});

/** A fault that modern's answers to `getDataset` have often. */
export const wrongType = { endpoint: "getDataset", fault: "wrongType", path: "/version" } as const;

/** The reason that is given for moves of what a test does not compare. */
export const despite = "a test compares nothing";

/** The migration that a gateway has opened. */
export const migrationOf = ({ features }: TestGateway): Migration => features.migration.migration;

export type Answer = { status: number; body: unknown; decision: string; cache: string };

export type Staged = Awaited<ReturnType<typeof staged>>;

/** The sample legacy, a stand-in for modern, and a gateway between them that listens. */
export const staged = async (
  stages: Record<string, Partial<ConfiguredStage>>,
  {
    faults = [],
    reference = false,
    environment = {},
    parts = {},
    inFront = (url) => url,
  }: {
    faults?: Fault[];
    reference?: boolean;
    environment?: Record<string, string>;
    parts?: GatewayParts & MigrationParts;
    /** Puts a server in front of the sample legacy, and gives its URL. */
    inFront?: (url: string) => string | Promise<string>;
  } = {},
) => {
  const legacy = await startSampleLegacy();
  const modern = await startStandIn({ legacyUrl: legacy.url, faults, reference });
  const gateway = await gatewayFor(
    await inFront(legacy.url),
    { MODERN_URL: modern.url, STAGES: JSON.stringify(stages), ...environment },
    { expected: [], times: { recheck: 20, look: 20 }, ...parts },
  );
  const { settings } = gateway.core;
  const { observer } = gateway;
  const server = await startServer(gateway, { host: "127.0.0.1", port: 0, prefixes: settings.PREFIXES });
  let isClosed = false;
  /** Ends the gateway, before the last test does. */
  const close = async () => {
    if (isClosed) return;
    isClosed = true;
    await server.stop(0);
    await gateway.close();
  };
  closing.push(
    () => legacy.close(),
    () => modern.close(),
    close,
  );
  const admin = consoleFor(gateway, { address: `http://127.0.0.1:${server.port}/v1` });
  const ask = async (path: string, headers: Record<string, string> = {}, init: RequestInit = {}): Promise<Answer> => {
    const response = await fetch(`http://127.0.0.1:${server.port}/v1${path}`, { headers, ...init });
    return {
      status: response.status,
      body: await response.json(),
      decision: response.headers.get("gateway-decision") ?? "",
      cache: response.headers.get("cache-status") ?? "",
    };
  };
  const operate = async (
    method: "GET" | "POST",
    path: string,
    json?: unknown,
  ): Promise<{ status: number; body: unknown }> => {
    const response = await admin.request(`http://127.0.0.1${path}`, {
      method,
      headers: { host: "127.0.0.1", "content-type": "application/json" },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    return { status: response.status, body: await response.json() };
  };
  /** Moves an endpoint as operators do. */
  const move = (endpoint: string, to: object) =>
    operate("POST", `/stages/${endpoint}`, { by: "Ada", why: "a test", ...to });
  const migration = migrationOf(gateway);
  const comparisons = vi.spyOn(migration, "compared");
  /** The line of the start about the stages. */
  const startLine = async () => (await gateway.features.migration.start()).line;
  /** Waits until an endpoint has been compared `count` times. */
  const compared = async (endpoint: string, count: number) =>
    until(() => comparisons.mock.calls.filter(([answer]) => answer.endpoint === endpoint).length >= count);
  return {
    port: server.port,
    close,
    startLine,
    legacy,
    modern,
    gateway,
    migration,
    ask,
    operate,
    move,
    compared,
    observer,
  };
};
