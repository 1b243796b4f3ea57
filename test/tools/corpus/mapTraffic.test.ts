import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type MapTraffic, trafficMapper } from "../../../tools/corpus/mapTraffic.ts";
import { exampleRequests, idRequests } from "../../../tools/corpus/madeRequests.ts";
import { isObject } from "../../../src/catalogue/rules/rule.ts";
import { readPairs } from "../../../fixtures/pairs.ts";
import { endpoints } from "../../../transforms/index.ts";
import { KEY, mapper } from "./support.ts";
import { anyText } from "../../support/anyText.ts";

const mapUrl = (mapTraffic: MapTraffic, method: string, url: string, body?: string) =>
  mapTraffic({ method, url, keys: [], ...(body === undefined ? {} : { body }) });

const described = (mapped: ReturnType<typeof mapUrl>) =>
  "request" in mapped ? `${mapped.request.endpoint} ${mapped.request.path}` : mapped.skipped;

describe("a URL of the new interface is kept as it is", () => {
  test.each([
    ["/v1/datasets/61", "getDataset /datasets/61"],
    ["/api/v2/datasets/61", "getDataset /datasets/61"],
    ["https://catalogue.example:443/v1/datasets/61?x=1#y", "getDataset /datasets/61"],
    ["/v1/datasets/ü", "getDataset /datasets/%C3%BC"],
    ["/v1/flows/exists/a/b%2Fc/", "findFlow /flows/exists/a/b%2Fc/"],
    ["/v1/data/list/limit/5/offset", "listDatasets /data/list/limit/5/offset"],
    ["/v1/data/list/LIMIT/1/nosuch/2/", "listDatasets /data/list/LIMIT/1/nosuch/2/"],
    ["/v1/datasets/1/2", "not an endpoint"],
    ["/v1x/datasets/61", "not an endpoint"],
    ["", "not understood"],
    ["/v1/datasets/a b", "not understood"],
    [`/v1/studies/${"a".repeat(20_000)}`, "too long"],
  ])("the URL %.60s of the new interface is mapped to itself or skipped", (url, expected) => {
    expect(described(mapUrl(mapper, "GET", url))).toBe(expected);
  });
});

describe("a legacy URL maps to the request that makes the gateway send it", () => {
  test.each([
    ["/api/v1/xml/data/61/", "getDataset /datasets/61"],
    ["//api/v1/json/data/61", "not an endpoint"],
    ["http://legacy.example/api/v1/json//data/61", "getDataset /datasets/61"],
    ["/api/v1/json/study/some-suite", "getStudy /studies/some-suite"],
    ["/api/v1/json/data/list/data_id/1,2%2C3", "listDatasets /data/list/data_id/1%2C2%2C3"],
    ["/api/v1/json/data/list/data_name/my%20data,%20(v2)", "listDatasets /data/list/data_name/my%20data%2C%20(v2)"],
    // The gateway would send legacy another request for these.
    ["/api/v1/json/data/061", "only for legacy"],
    ["/api/v1/json/data/list/limit/1/limit/2", "not an endpoint"],
    ["/api/v1/json/data/list/limit/20000", "only for legacy"],
    ["/api/v1/json/data/list/number_instances/9..1", "only for legacy"],
    ["/api/v1/json/data/list/limit", "not an endpoint"],
    ["/api/v1/json/flow/exists/a%20b/1", "only for legacy"],
    // Words of legacy's paths are not names.
    ["/api/v1/json/data/qualities/list", "listQualities /datasets/qualities/list"],
    ["/api/v1/json/data/description/list/61", "not an endpoint"],
    ["/api/v1/csv/data/61", "not an endpoint"],
  ])("the legacy URL %s is mapped to its request, or skipped", (url, expected) => {
    expect(described(mapUrl(mapper, "GET", url))).toBe(expected);
  });

  test("URLs below a legacyPath are legacy's, also where a prefix covers them", () => {
    const other = trafficMapper(endpoints, { prefixes: ["/", "/api"], legacyPath: "/old/" });
    expect(described(mapUrl(other, "GET", "/old/xml/data/61"))).toBe("getDataset /datasets/61");
    expect(described(mapUrl(other, "GET", "/datasets/61"))).toBe("getDataset /datasets/61");
    expect(described(mapUrl(other, "GET", "/api/datasets/61"))).toBe("getDataset /datasets/61");
  });
});

describe("methods", () => {
  test.each([
    ["HEAD", "/v1/datasets/61", undefined, "getDataset /datasets/61"],
    ["POST", "/v1/datasets/61", "", "not an endpoint"],
    ["POST", "/v1/datasets/tag", "{}", "a write"],
    ["POST", "/api/v1/json/data/tag", "data_id=1&tag=a", "a POST to legacy"],
    ["POST", "/v1/datasets/list", undefined, "a POST without its body"],
    ["POST", "/v1/datasets/list", '{"limit":5}', "listDatasets /datasets/list"],
    ["POST", "/v1/datasets/list", '{"limit":', "not understood"],
    ["POST", "/v1/datasets/list", `{"tag":"${"a".repeat(70_000)}"}`, "too long"],
    ["POST", "/v1/datasets/list", `{"api_key":"x"}`, "a key where none belongs"],
  ])("%s %s with the body %.30s is mapped or skipped", (method, url, body, expected) => {
    expect(described(mapUrl(mapper, method, url, body))).toBe(expected);
  });

  test("a mapped body stays as it was, with its objects' members in its shape", () => {
    const body = { tag: "a", pagination: { limit: 5, more: 1 }, data_id: null };
    expect(mapUrl(mapper, "POST", "/v1/datasets/list", JSON.stringify(body))).toEqual({
      request: {
        endpoint: "listDatasets",
        method: "POST",
        path: "/datasets/list",
        body,
        keyed: false,
        shape: "body: data_id=word limit=number other tag=word",
      },
    });
  });
});

describe("a round trip", () => {
  const requests = [...exampleRequests(endpoints), ...idRequests(endpoints, [0, 1, 2 ** 31])];
  test.each(requests)("a made request is mapped to itself: $endpoint $path", (ask) => {
    const body = ask.body && JSON.stringify(ask.body);
    expect(mapUrl(mapper, ask.method, `https://catalogue.example/v1${ask.path}`, body)).toEqual({ request: ask });
  });
});

describe("the fixtures", () => {
  const pairs = readPairs();
  test.each(pairs.filter(({ ask }) => ask.method === "GET"))(
    "a fixture's request is mapped to its endpoint: $endpoint, $example",
    ({ endpoint, ask, answer }) => {
      const mapped = mapUrl(mapper, "GET", `/v1${ask.path}`);
      const isUnrouted = answer.status === 404 && JSON.stringify(answer.body) === '{"detail":"Not Found"}';
      expect(described(mapped)).toBe(isUnrouted ? "not an endpoint" : `${endpoint} ${ask.path}`);
    },
  );

  const exchanges = pairs.flatMap(({ endpoint, example, legacy }) =>
    legacy.flatMap(({ request }) =>
      // A row that no list shows readably is read by its own request.
      request.method === "GET" &&
      !("writes" in endpoints[endpoint as keyof typeof endpoints]) &&
      !(endpoint === "listDatasets" && !request.path.includes("/data/list")) &&
      // Legacy says the same of a private and an unknown dataset; the dataset's document is looked up.
      !(endpoint === "getDatasetQualities" && !request.path.includes("/qualities"))
        ? [{ endpoint, example, path: request.path }]
        : [],
    ),
  );
  test.each(exchanges)("a fixture's request to legacy is mapped back: $endpoint, $path", ({ endpoint, path }) => {
    const mapped = mapUrl(mapper, "GET", `/api/v1${path}`);
    expect("request" in mapped && mapped.request.endpoint).toBe(endpoint);
  });
});

describe("a key", () => {
  test.each([
    [`/v1/datasets/61?api_key=${KEY}`, true],
    [`/v1/datasets/61?api%5Fkey=${KEY}`, true],
    ["/v1/datasets/61?api_key=***", true],
    [`/v1/datasets/61#?api_key=${KEY}`, false],
    [`https://user:${KEY}@catalogue.example/v1/datasets/61`, false],
  ])("a key in %s is noticed and removed", (url, keyed) => {
    const mapped = mapUrl(mapper, "GET", url);
    expect("request" in mapped && mapped.request).toMatchObject({ path: "/datasets/61", keyed });
  });

  const textOf = (characters: string, minLength: number, maxLength: number) =>
    fc.string({ unit: fc.constantFrom(...Array.from(characters)), minLength, maxLength });
  const anyKey = fc.oneof(textOf("0123456789abcdefABCDEF", 32, 32), textOf("ABCDEFGHIJKLMNOPxyz0123456789", 12, 64));
  const written = (key: string) =>
    fc.constantFrom(
      key,
      key.toLowerCase(),
      key.replaceAll(/./g, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
      key.replace(/^./, (letter) => `%25${letter.charCodeAt(0).toString(16)}`),
    );
  const place = fc.constantFrom(
    (key: string) => `/v1/studies/${key}`,
    (key: string) => `/v1/flow/exists/a.${key}/${key}`,
    (key: string) => `/v1/data/list/tag/${key}`,
    (key: string) => `/v1/data/list/${key}/1`,
    (key: string) => `/v1/datasets/1%3Fapi_key=${key}`,
    (key: string) => `/api/v1/json/study/${key}`,
    () => "/v1/datasets/61",
    () => "/v1/datasets/list",
  );
  const query = fc.constantFrom("api_key", "API_KEY", "Api_Key");

  test("a mapped request holds no key, wherever the key stood", () => {
    fc.assert(
      fc.property(
        anyKey.chain((key) => fc.tuple(fc.constant(key), written(key))),
        place,
        query,
        fc.boolean(),
        fc.constantFrom("GET", "POST"),
        ([key, form], at, name, inHeader, method) => {
          const url = inHeader ? at(form) : `${at(form)}?${name}=${key}`;
          const body = JSON.stringify({ tag: form, [form]: 1, limit: 5 });
          const mapped = mapper({ method, url, body, keys: inHeader ? [`${key}, other`] : [] });
          const kept = decodeURIComponent(decodeURIComponent(JSON.stringify(mapped))).toLowerCase();
          expect(kept).not.toContain(key.toLowerCase());
          expect("skipped" in mapped || mapped.request.keyed).toBe(true);
        },
      ),
    );
  });
});

test("mapTraffic never throws, and what it maps can be sent", () => {
  const part = fc.oneof(
    anyText(),
    fc.constantFrom(..."v1 api json xml data list limit 5 flow exists .. % %ff __proto__ constructor".split(" ")),
  );
  const url = fc
    .tuple(fc.constantFrom("", "/v1", "/api/v1/json", "/api/v2", "http://a"), fc.array(part))
    .map(([start, parts]) => [start, ...parts].join("/"));
  const body = fc.option(fc.oneof(fc.json(), anyText()), { nil: undefined });
  fc.assert(
    fc.property(fc.oneof(fc.constantFrom("GET", "POST", "HEAD"), fc.string()), url, body, (method, target, text) => {
      const mapped = mapUrl(mapper, method, target, text);
      if ("skipped" in mapped) return;
      expect(mapped.request.path).toMatch(/^\/[!-~]*$/);
      expect(mapped.request.body === undefined || isObject(mapped.request.body)).toBe(true);
      expect(mapped.request.shape.length).toBeLessThan(400);
    }),
    { numRuns: 2000 },
  );
});
