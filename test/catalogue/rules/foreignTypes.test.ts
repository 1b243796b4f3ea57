import { describe, expect, test } from "vitest";
import { readPairs } from "../../../fixtures/pairs.ts";
import type { Endpoint } from "../../../src/catalogue/endpoint/endpoint.ts";
import { transform } from "../../../src/catalogue/endpoint/transform.ts";
import { fitOfOurs } from "../../../src/catalogue/reading/fits.ts";
import { servingNote } from "../../../src/catalogue/rules/notes.ts";
import type { Json, JsonObject } from "../../../src/catalogue/rules/rule.ts";
import { endpoints } from "../../../transforms/index.ts";

const note = servingNote(() => undefined);
const foreign = { foreign: "type" };

/** Every document that differs from this one by one scalar that has become an object, with the name of the field. */
const foreignersIn = (document: Json, name = ""): { name: string; document: Json }[] => {
  if (typeof document !== "object" || document === null) return [{ name, document: foreign }];
  const members = Object.entries(document as JsonObject);
  return members.flatMap(([key, member]) =>
    foreignersIn(member, Array.isArray(document) ? name : key).map((inner) => ({
      name: inner.name,
      document: Array.isArray(document)
        ? document.with(Number(key), inner.document)
        : { ...document, [key]: inner.document },
    })),
  );
};

const documentsOf = (endpoint: string): JsonObject[] =>
  readPairs(endpoint)
    // A write counts by its own answer, not by that of the read before it.
    .map(({ legacy, answer }) => {
      const posted = legacy.filter(({ request }) => request.method === "POST");
      const [one] = posted.length === 0 ? legacy : posted;
      return { one, isAlone: legacy.length === 1 || (posted.length === 1 && legacy.at(-1) === one), answer };
    })
    .filter(({ one, isAlone, answer }) => answer.status === 200 && isAlone && one?.response.type === "json")
    .map(({ one }) => one?.response.body ?? "")
    .filter((body) => body.startsWith("{") && body.length < 20_000)
    .map((body) => JSON.parse(body) as JsonObject);

/** Fields that legacy may add: the gateway passes unknown fields on unchanged. */
const unknown = new Set(["minio_url", "place", "of"]);

/** An evaluation without an array has `null`: an empty array says the same. */
const withoutEmptyArrays = (answer: Json): Json =>
  JSON.parse(JSON.stringify(answer), (key, value: Json) =>
    key === "array_data" && Array.isArray(value) && value.length === 0 ? null : value,
  ) as Json;

const notFound = { detail: "Not Found" };

describe.each(Object.entries(endpoints as Record<string, Endpoint>))("%s", (name, endpoint) => {
  const { output, format } = endpoint;
  test(`${name} reads an answer in our own form as it is`, () => {
    const answers = readPairs(name).filter(({ answer }) => answer.status === 200);
    expect(answers.length).toBeGreaterThan(0);
    for (const { example, answer } of answers) {
      const body = withoutEmptyArrays(answer.body as Json);
      expect([example, fitOfOurs(endpoint, {}, body)]).toEqual([example, { ok: true, ours: body }]);
    }
  });

  test.each<[Json]>([[null], ["a"], [0], [{}], [[{}]], [notFound], [[notFound]], [{ error: { code: "1" } }]])(
    `${name} takes no document for one in our own form that is another: %j`,
    (document) => {
      const fit = fitOfOurs(endpoint, {}, document);
      expect("ok" in fit && fit.ok).toBe(false);
    },
  );

  test(`${name} passes on no value of another type than its field's`, () => {
    const passed = new Set<string>();
    let tried = 0;
    for (const legacy of documentsOf(name))
      for (const { name: field, document } of foreignersIn(legacy)) {
        tried++;
        const transformed = transform(output, document as JsonObject, note);
        if (transformed.ok && JSON.stringify(transformed.ours).includes('"foreign":"type"')) passed.add(field);
      }
    // An endpoint that asks for legacy's XML has no JSON of legacy's.
    expect(tried).toBeGreaterThan(format === "xml" ? -1 : 0);
    expect([...passed].filter((field) => !unknown.has(field))).toEqual([]);
  });
});
