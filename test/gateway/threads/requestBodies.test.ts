import { request as httpRequest } from "node:http";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { readBodyInput } from "../../../src/catalogue/endpoint/input.ts";
import type { ReaderSettings } from "../../../src/gateway/threads/reader.ts";
import { catalogue } from "../../../transforms/catalogue.ts";
import { listeningGateway } from "../http/support.ts";
import { gatewayFor } from "../../support/gateway.ts";
import { prepare } from "../../../src/gateway/answer/prepared.ts";
import { until } from "../../support/waiting.ts";

const noSuchModule = new URL("./noSuchModule.ts", import.meta.url).href;
const roomy = { large: { json: 128 * 1024, xml: 32 * 1024 } };

const unknownFields = (bytes: number): string => {
  let body = "{";
  for (let i = 0; body.length < bytes - 40; i++) body += `"${i.toString(36)}":1,`;
  return `${body}"z":1}`.padEnd(bytes);
};

const post = async (body: string | Uint8Array<ArrayBuffer>, reading: Partial<ReaderSettings>) => {
  const gateway = await gatewayFor("http://127.0.0.1:1", {}, { reading: { ...roomy, ...reading } });
  onTestFinished(() => gateway.close());
  const headers = { "Content-Type": "application/json" };
  const response = await gateway.app.request("/v1/datasets/list", { method: "POST", headers, body });
  const { detail } = (await response.json()) as { detail: unknown };
  return { status: response.status, retryAfter: response.headers.get("retry-after"), detail, gateway };
};

test("a body of 64 KiB is read in another thread, a smaller one here", async () => {
  const small = await post(unknownFields(64 * 1024 - 1), { module: noSuchModule });
  expect([small.status, small.gateway.core.reader.size().threads]).toEqual([422, 0]);
  const large = await post(unknownFields(64 * 1024), {});
  expect([large.status, large.gateway.core.reader.size().threads]).toEqual([422, 1]);
  expect(large.detail).toHaveLength(101);
});

test("a body that no thread can read is 503, and so is one for which there is no room", async () => {
  const body = unknownFields(64 * 1024);
  expect((await post(body, { module: noSuchModule })).status).toBe(503);
  const full = await post(body, { jobs: 0 });
  expect([full.status, full.retryAfter]).toEqual([503, "5"]);
});

test("a large body that is no UTF-8 or no JSON is 422", async () => {
  for (const body of [new Uint8Array(70_000).fill(0xff), "[".repeat(70_000), `${" ".repeat(70_000)}[]`])
    expect((await post(body, {})).status).toBe(422);
});

test("every body is read the same in this thread and in another one", async () => {
  const prepared = prepare(catalogue.endpoints, { legacy: "", lifetimes: {} });
  const gateway = await gatewayFor("http://127.0.0.1:1", {}, { reading: { large: { json: 0, xml: 0 } } });
  onTestFinished(() => gateway.close());
  const { reader } = gateway.core;
  const given = fc.record(
    {
      pagination: fc.oneof(fc.json(), fc.record({ limit: fc.integer(), offset: fc.nat(), x: fc.jsonValue() })),
      data_id: fc.array(fc.integer({ min: -1, max: 2 ** 31 }), { maxLength: 5 }),
      tag: fc.oneof(fc.string(), fc.constant(null)),
      name: fc.constantFrom("a", "-0", ""),
      number_instances: fc.string(),
      other: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  const bodies = fc.oneof(
    given.map((one) => Buffer.from(JSON.stringify(one))),
    fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    fc.json().map((text) => Buffer.from(text)),
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...prepared), bodies, async (endpoint, body) => {
      const here = readBodyInput(endpoint, Buffer.from(body));
      const there = await reader.readInput({ endpoint: endpoint.name }, body, performance.now() + 300_000);
      expect(there).toEqual(here);
    }),
    { numRuns: 100 },
  );
});

test("a client that leaves gives the place of its body back", async () => {
  const gateway = await listeningGateway("http://127.0.0.1:1", {}, { reading: roomy });
  const { reader } = gateway.core;
  const body = unknownFields(1024 ** 2);
  const requests = Array.from({ length: 12 }, () => {
    const request = httpRequest({ host: "127.0.0.1", port: gateway.port, path: "/v1/datasets/list", method: "POST" });
    request.on("error", () => undefined).end(body);
    return request;
  });
  await until(() => reader.size().waiting > 5);
  for (const request of requests) request.destroy();
  await until(() => reader.size().bytes === 0);
  expect(reader.size().waiting).toBe(0);
});
