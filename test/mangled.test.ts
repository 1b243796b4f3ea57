import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readPairs } from "../fixtures/pairs.ts";
import type { LegacyRequest } from "../src/endpoint/legacyRequest.ts";
import { fetchAnswer, type Machine } from "../src/gateway/answering.ts";
import { type Prepared, prepare } from "../src/gateway/prepared.ts";
import { legacyAnswer } from "../src/legacy/client.ts";
import { LARGE, openReader } from "../src/reading/reader.ts";
import { openObserver } from "../src/observe.ts";
import { catalogue } from "../transforms/catalogue.ts";

/** How many bodies are tried of each kind at each endpoint; `CASES=10000` for a long run. */
const CASES = Number(process.env["CASES"] ?? 100);

const observer = openObserver("silent");
const prepared = prepare(catalogue.endpoints, {
  versions: {},
  backends: { legacy: "", modern: "" },
  windows: {},
});

const reader = openReader({
  endpoints: new Map(prepared.map((endpoint) => [endpoint.name, endpoint])),
  knowledge: { legacyStudies: new Set() },
  module: undefined,
  large: LARGE,
  queue: { jobs: 1, bytes: 1 },
  threads: 1,
  heap: 1,
  timeout: 1,
  idle: 1,
  onFailed: () => undefined,
});

/** A legacy that answers these bytes to whatever it is asked, in both forms. */
const machineOf = (body: Buffer, status: number): Machine => ({
  client: (_request, _form, _caller, readXml) => Promise.resolve(legacyAnswer(status, body, readXml)),
  reader,
  keys: {
    verify: () => Promise.resolve(undefined),
    accepted: () => undefined,
    refused: () => undefined,
    ownerOf: (key) => key,
    isProven: () => true,
  },
  errors: catalogue.errors,
  knowledge: { legacyStudies: new Set() },
  observer,
  totalTimeout: 1000,
});

const notices = [
  '\n<div style="border:1px"><h4>A PHP Error was encountered</h4></div>',
  "\ufeff",
  "<!-- -->",
  "</oml:x>",
  '"',
  "&ouml;",
  "\f",
  "\0",
];

/** A sound body with something cut out, doubled or put in. */
const damaged = (bodies: string[]) =>
  fc
    .tuple(
      fc.constantFrom(...bodies),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.nat(40),
      fc.oneof(fc.constantFrom(...notices), fc.string({ maxLength: 8 })),
    )
    .map(([body, place, cut, put]) => {
      const at = Math.floor(place * body.length);
      return Buffer.from(body.slice(0, at) + put + body.slice(at + cut));
    });

/** A sound document with one member, anywhere, replaced by any JSON. */
const replaced = (bodies: string[]) =>
  fc.tuple(fc.constantFrom(...bodies), fc.nat(10_000), fc.jsonValue({ maxDepth: 4 })).map(([body, place, value]) => {
    let left = place % 200;
    const walk = (node: unknown): unknown => {
      if (left-- === 0) return value;
      if (Array.isArray(node)) return node.map(walk);
      return typeof node === "object" && node !== null
        ? Object.fromEntries(Object.entries(node).map(([key, member]) => [key, walk(member)]))
        : node;
    };
    return Buffer.from(JSON.stringify(walk(JSON.parse(body))));
  });

const anything = fc.oneof(
  fc.json({ maxDepth: 6 }).map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc.string({ unit: "binary", maxLength: 200 }).map((text) => Buffer.from(`<oml:data>${text}</oml:data>`)),
);

const check = async (endpoint: Prepared, body: Buffer, status: number): Promise<void> => {
  const request: LegacyRequest = { method: endpoint.writes ? "POST" : "GET", path: "/x" };
  const input = { data_id: endpoint.rows === undefined ? 1 : undefined, setup_id: 1, tag: "a" };
  const conclusion = await fetchAnswer(
    machineOf(body, status),
    endpoint,
    request,
    { headers: [], deadline: Date.now() + 1000 },
    input,
  );
  if ("outcome" in conclusion) {
    expect(conclusion.outcome.message).toBeTypeOf("string");
    return;
  }
  // What leaves is JSON, and is what the endpoint promises.
  const told = JSON.parse(conclusion.written.body.toString()) as unknown;
  expect(endpoint.output.schema.safeParse(told).success).toBe(true);
};

const isJson = (body: string): boolean => {
  try {
    return typeof JSON.parse(body) === "object";
  } catch {
    return false;
  }
};

describe.each(prepared.map((endpoint) => [endpoint.name, endpoint] as const))(
  "%s: no legacy body, however mangled, makes it throw or answer what it does not promise",
  (name, endpoint) => {
    const bodies = readPairs(name).flatMap(({ legacy }) => legacy.map(({ response }) => response.body));
    const status = fc.constantFrom(200, 200, 200, 412, 500, 404);
    const kinds = { damaged: damaged(bodies), replaced: replaced(bodies.filter(isJson)), anything };

    test.each(Object.entries(kinds))("%s", { timeout: 3_600_000 }, async (_, bodiesOfKind) => {
      await fc.assert(
        fc.asyncProperty(bodiesOfKind, status, (body, code) => check(endpoint, body, code)),
        { numRuns: CASES },
      );
    });
  },
);

test.each([
  ["arrays", "[".repeat(1_000_000)],
  ["an object of arrays", `{"data":${"[".repeat(200_000)}${"]".repeat(200_000)}}`],
  ["elements", `<oml:a>${"<oml:b>".repeat(100_000)}`],
  ["ampersands", `<oml:a>${"&amp;".repeat(200_000)}</oml:a>`],
  ["open brackets", `<oml:a>${"<".repeat(500_000)}`],
  ["blanks", `<oml:data>${" ".repeat(1_000_000)}</oml:data>`],
  [
    "quotes around an entry",
    JSON.stringify({ data_set_description: { id: "1", creator: `x${"'".repeat(1_000_000)}x` } }),
  ],
  [
    "commas",
    JSON.stringify({ data_set_description: { id: "1", original_data_url: `http://x${", a".repeat(300_000)}` } }),
  ],
  [
    "blanks for a number",
    JSON.stringify({ data: { dataset: { did: "1", quality: { name: "a", value: `${" ".repeat(1_000_000)}x` } } } }),
  ],
  ["digits", JSON.stringify({ data_set_description: { id: "9".repeat(1_000_000) } })],
])(
  "a megabyte of %s is read in seconds, not in the minutes of quadratic time",
  { timeout: 90_000 },
  async (_, body) => {
    for (const endpoint of prepared) await check(endpoint, Buffer.from(body), 200);
  },
);
