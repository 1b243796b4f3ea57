import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { canonicalRequest } from "../../../libraries/compare/canonicalRequest.ts";
import type { Endpoint } from "../../../src/catalogue/endpoint/endpoint.ts";
import type { Json, JsonObject } from "../../../src/catalogue/rules/rule.ts";
import { startSampleLegacy } from "../../../tools/sampleLegacy/startSampleLegacy.ts";
import { endpoints } from "../../../transforms/index.ts";
import { httpUpstream } from "../../gateway/proxy/support.ts";
import { keys } from "../../gateway/answer/support.ts";
import { placesOf } from "../../standIn/faults.ts";
import { gatewayFor } from "../../support/gateway.ts";

const all: Record<string, Endpoint> = endpoints;
const stages = Object.fromEntries(Object.keys(all).map((name) => [name, { stage: "modern", share: 0 }]));
const anything = {
  id: "all",
  endpoint: "*",
  path: "/**",
  kind: "*",
  reason: "r",
  owner: "us",
  until: "2999-01-01",
} as const;

let sample: Awaited<ReturnType<typeof startSampleLegacy>>;
beforeAll(async () => {
  sample = await startSampleLegacy();
});
afterAll(() => sample.close());

/** What modern answers, by the endpoint's name; the example of every other. */
let said: Record<string, Json> = {};
beforeEach(() => void (said = {}));

/**
 * A gateway in stage `modern`, over a new implementation that answers what `said` says, on paths
 * of the endpoints' names.
 */
const open = async (isAllowed: boolean) => {
  const modern = await httpUpstream((request, response) => {
    const name = request.url?.split(/[/?]/)[1] ?? "";
    const body = said[name] ?? all[name]?.exampleAnswer ?? null;
    request.resume().once("end", () => {
      response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    });
  });
  const routes = Object.fromEntries(
    Object.entries(all).map(
      ([
        name,
        {
          routes: [route = ""],
        },
      ]) => [name, route.replace(" /", ` /${name}/`)],
    ),
  );
  const { app, close } = await gatewayFor(
    sample.url,
    { MODERN_URL: modern, STAGES: JSON.stringify(stages), MODERN_ROUTES: JSON.stringify(routes), CACHE_BYTES: "0" },
    { expected: isAllowed ? [anything] : [] },
  );
  onTestFinished(close);
  return async (name: string) => {
    const endpoint = all[name] as Endpoint;
    const [input] = Object.values(endpoint.examples) as [Record<string, Json>];
    const { method, path, body } = canonicalRequest({ ...endpoint, modern: {} }, input);
    const headers = { "X-API-Key": keys.owner, "Content-Type": "application/json" };
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const response = await app.request(`/v1${path}`, init);
    const backend = /backend=(\w+)/.exec(response.headers.get("gateway-decision") ?? "")?.[1];
    return { status: response.status, backend, body: (await response.json()) as Json };
  };
};

const tags = (id: Json, tag?: Json) => ({ data_tag: { id, ...(tag === undefined ? {} : { tag }) } });

describe.each([true, false])("modern's answer to a write, with its forms allowed by the ledger: %s", (isAllowed) => {
  test.each<[title: string, given: Json, ours: Json]>([
    ["an id as text", tags("1", ["a"]), tags(1, ["a"])],
    ["a tag that is no list", tags(1, "a"), tags(1, ["a"])],
    ["no tag", tags("1"), tags(1, [])],
    ["null for no tag", tags(1, null), tags(1, [])],
  ])("the rules read modern's answer to a write: %s", async (_, given, ours) => {
    const ask = await open(isAllowed);
    said["tagDataset"] = given;
    expect(await ask("tagDataset")).toEqual({ status: 200, backend: "modern", body: ours });
  });

  test.each<[title: string, given: Json]>([
    ["an id that is no number", tags("one", ["a"])],
    ["an id of too many digits", tags("99999999999999999999", ["a"])],
    ["a tag that is an object", tags(1, { a: "b" })],
    ["nothing at all", {}],
    ["another kind of document", ["a"]],
  ])("modern's answer to a write that the rules cannot read is 502: %s", async (_, given) => {
    const ask = await open(isAllowed);
    said["tagDataset"] = given;
    expect(await ask("tagDataset")).toMatchObject({ status: 502, backend: "modern" });
  });
});

const study = endpoints.getStudy.exampleAnswer as JsonObject;

test("the rules read modern's answer to a read if the ledger allows, else legacy's", async () => {
  const { run_ids: _, ...without } = study;
  said["getStudy"] = { ...without, id: "99", data_ids: ["61", 187], task_ids: 59 };
  expect(await (await open(true))("getStudy")).toEqual({
    status: 200,
    backend: "modern",
    body: { ...study, data_ids: [61, 187], task_ids: [59] },
  });
  expect(await (await open(false))("getStudy")).toMatchObject({ status: 200, backend: "legacy" });
});

/** What is planted in place of a number, and of a list. */
const insteadOf = (value: Json): (Json | undefined)[] => {
  if (typeof value === "number") return [String(value), "x", ""];
  return Array.isArray(value) ? [undefined, null, "", "x", {}, { a: 1 }, ...value.slice(0, 1)] : [];
};

const planted = (document: Json, at: string, value: Json | undefined): Json => {
  const steps = at.split("/").slice(1);
  const last = steps.pop();
  if (last === undefined) return value ?? null;
  const copy = structuredClone(document);
  const within = steps.reduce<Json>((inner, step) => (inner as JsonObject)[step] as Json, copy) as JsonObject;
  if (value === undefined) delete within[last];
  else within[last] = value;
  return copy;
};

test("no number is served as text and no list as anything else, whatever is allowed", async () => {
  const ask = await open(true);
  const read: string[] = [];
  for (const [name, { output, exampleAnswer = null }] of Object.entries(all))
    for (const { at, value } of placesOf(exampleAnswer))
      for (const other of insteadOf(value)) {
        said[name] = planted(exampleAnswer, at, other);
        const { backend, status, body } = await ask(name);
        if (backend !== "modern" || status !== 200) continue;
        read.push(name);
        const wrong = (output.schema.safeParse(body).error?.issues ?? []).filter(
          (issue) => issue.code === "invalid_type" && ["number", "array", "object"].includes(issue.expected),
        );
        expect({ name, at, other, wrong }).toEqual({ name, at, other, wrong: [] });
      }
  expect([...new Set(read)]).toEqual(Object.keys(all));
});
