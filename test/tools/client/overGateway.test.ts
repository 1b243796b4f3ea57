import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from "vitest";
import { operationTable } from "../../../src/tools/client/clientSource.ts";
import { openClientOf } from "../../../src/tools/client/runtime/client.ts";
import { CatalogError } from "../../../src/tools/client/runtime/index.ts";
import type { ClientSettings } from "../../../src/tools/client/runtime/send.ts";
import { problemTypes } from "../../../src/http/problemDetails.ts";
import { startServer } from "../../../src/serve/server.ts";
import { type SampleLegacy, startSampleLegacy } from "../../../src/tools/sampleLegacy/startSampleLegacy.ts";
import { endpoints } from "../../../transforms/index.ts";
import { keys } from "../../serve/support.ts";
import { gatewayFor, type TestGateway } from "../../support/gateway.ts";

type Dataset = { did: number; name: string | null };
type Operations = {
  getDataset: { input: { dataset_id: number }; answer: { id: number; name: string | null }; row: never };
  listDatasets: {
    input: { limit?: number; offset?: number; data_id?: number[]; tag?: string };
    answer: Dataset[];
    row: Dataset;
  };
  tagDataset: { input: { data_id: number; tag: string }; answer: { data_tag: { tag: string[] } }; row: never };
  untagDataset: { input: { data_id: number; tag: string }; answer: { data_untag: { tag: string[] } }; row: never };
  getStudy: { input: { id_or_alias: number | string }; answer: { id: number }; row: never };
  listEvaluationMeasures: { input: Record<string, never>; answer: string[]; row: never };
};
const kinds = Object.fromEntries(Object.entries(problemTypes).map(([status, { slug }]) => [status, slug]));

let legacy: SampleLegacy;
let gateway: TestGateway;
let server: Awaited<ReturnType<typeof startServer>>;
const asked: { line: string; status: number }[] = [];
beforeAll(async () => {
  legacy = await startSampleLegacy();
  gateway = await gatewayFor(legacy.url);
  server = await startServer(gateway, { host: "127.0.0.1", port: 0, prefixes: ["/v1"] });
});
afterAll(async () => {
  await server.stop(1000);
  await gateway.close();
  await legacy.close();
});

/** A client of the gateway that lists what it asks in `asked`. */
const opened = (settings: Partial<ClientSettings> = {}) => {
  asked.length = 0;
  return openClientOf<Operations>(operationTable(endpoints) as never, kinds, {
    baseUrl: `http://127.0.0.1:${server.port}/v1/`,
    fetch: async (...args) => {
      const response = await fetch(...args);
      asked.push({ line: `${args[1]?.method} ${new URL(args[0] as string).pathname}`, status: response.status });
      return response;
    },
    ...settings,
  });
};
const failed = async (call: Promise<unknown>) => {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof CatalogError ? error.failure : error;
};

describe("over the gateway, the client", () => {
  test("reads, and is not sent again what it has", async () => {
    const client = opened();
    const first = await client.getDataset({ dataset_id: 61 });
    expect(first).toMatchObject({ id: 61, name: "iris" });
    const again = await client.getDataset({ dataset_id: 61 });
    expect(again).toEqual(first);
    expect(again).not.toBe(first);
    expect(asked.map(({ status }) => status)).toEqual([200, 304]);
    expect(await client.listEvaluationMeasures()).toContain("kappa");
    expectTypeOf(first.name).toEqualTypeOf<string | null>();
  });

  test("goes through a list page by page, and an empty one is no error", async () => {
    const client = opened();
    const rows: number[] = [];
    for await (const { did } of client.listDatasets.each({ limit: 2 })) rows.push(did);
    const whole = (await client.listDatasets({ limit: 10_000 })).map(({ did }) => did);
    expect(whole.length).toBeGreaterThan(3);
    expect(rows).toEqual(whole);
    expect(asked.length).toBe(1 + Math.floor(whole.length / 2) + 1);
    for await (const row of client.listDatasets.each({ tag: "no_such_tag" })) expect(row).toBe("none");
    expect("each" in client.getDataset).toBe(false);
  });

  test("a list at a wrong base URL is an error, not an empty one", async () => {
    const client = opened({ baseUrl: `http://127.0.0.1:${server.port}/v1/wrong` });
    expect(await failed(client.listDatasets.each({ limit: 2 }).next())).toMatchObject({ status: 404 });
  });

  test.each([".", ".."])("refuses the path parameter %s before it sends anything", async (alias) => {
    expect(await failed(opened().getStudy({ id_or_alias: alias }))).toMatchObject({
      kind: "invalid-input",
      errors: [{ loc: ["path", "id_or_alias"], msg: `"${alias}" cannot be part of a path` }],
    });
    expect(asked).toEqual([]);
  });

  test("ends a list where its caller does", async () => {
    const client = opened();
    for await (const _ of client.listDatasets.each({ limit: 1 })) break;
    expect(asked).toHaveLength(1);
  });

  test("writes with a key, and tells failures apart", async () => {
    const client = opened({ key: keys.user });
    expect(await client.tagDataset({ data_id: 4, tag: "by-client" })).toEqual({
      data_tag: { id: 4, tag: expect.arrayContaining(["by-client"]) },
    });
    expect(await failed(client.tagDataset({ data_id: 4, tag: "by-client" }))).toMatchObject({
      kind: "conflict",
      status: 409,
      code: "473",
      requestId: expect.any(String),
    });
    await client.untagDataset({ data_id: 4, tag: "by-client" });
    expect(await failed(client.getDataset({ dataset_id: 999_999 }))).toMatchObject({
      kind: "not-found",
      code: "111",
      message: "Unknown dataset",
    });
    expect(await failed(client.listDatasets({ limit: 0 }))).toMatchObject({
      kind: "invalid-input",
      message: expect.stringMatching(/^body\.limit: /),
      errors: [{ loc: ["body", "limit"] }],
    });
    expect(await failed(opened({ key: "wrong" }).getDataset({ dataset_id: 61 }))).toMatchObject({
      kind: "unauthenticated",
      status: 401,
    });
  });

  test("is aborted with the reason of its signal", async () => {
    const reason = new Error("enough");
    expect(await failed(opened().getDataset({ dataset_id: 61 }, { signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(asked).toEqual([]);
  });
});

test("a server that is not there is a failure, after the retries", async () => {
  let tries = 0;
  const client = opened({
    baseUrl: "http://127.0.0.1:9",
    retries: 1,
    maxWait: 0,
    fetch: (...args) => {
      tries++;
      return fetch(...args);
    },
  });
  const error: unknown = await client.getDataset({ dataset_id: 61 }).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(CatalogError);
  expect((error as CatalogError).failure).toMatchObject({ kind: "unreachable", status: 0 });
  expect((error as CatalogError).cause).toBeDefined();
  expect(tries).toBe(2);
  expect(await failed(client.tagDataset({ data_id: 1, tag: "a" }))).toMatchObject({ kind: "unreachable" });
  expect(tries).toBe(3);
});
