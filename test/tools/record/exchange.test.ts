import { globSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Exchange, exchangeFrom, type StoredCase } from "../../../fixtures/exchange.ts";
import { storedExchange } from "../../../tools/record/exchange.ts";
import { fixtureText } from "../../../tools/record/saveCase.ts";

const exchange = (body: string): Exchange => ({
  request: { method: "GET", path: "/json/data/61" },
  response: { status: 200, type: "json", body },
});
const stored = (body: string) => storedExchange(exchange(body)).response;

test("a recorded JSON body is stored as JSON, whatever its spacing and escapes", () => {
  const text = String.raw`{ "data": [ 1, -0.5, {"url":"http:\/\/a", "caf\u00e9": null} ],` + '\n"0a":true }\n';
  expect(stored(text)).toEqual({
    status: 200,
    type: "json",
    body: { data: [1, -0.5, { url: "http://a", café: null }], "0a": true },
  });
});

test.each([
  ["is cut off", '{"data":[1,2'],
  ["is XML", "<oml:id>1</oml:id>"],
  ["has a notice before it", 'Notice: {"id":1}'],
  ["has a name twice", '{"id":1,"id":1}'],
  ["has an integer beyond 2^53", '{"value":9007199254740993}'],
  ["has names that are integers, out of order", '{"2":1,"1":1}'],
])("a recorded body that %s is stored as text, character by character", (_, text) => {
  expect(stored(text)).toEqual({ status: 200, type: "json", text });
  expect(exchangeFrom(storedExchange(exchange(text)))).toEqual(exchange(text));
});

test("a stored body is read again with the same meaning", () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string()), fc.boolean(), (text, isIndented) => {
      const written = JSON.stringify(storedExchange(exchange(text)), undefined, isIndented ? 2 : 0);
      const { body } = exchangeFrom(JSON.parse(written)).response;
      expect(body === text ? text : JSON.stringify(JSON.parse(body))).toBe(
        body === text ? text : JSON.stringify(JSON.parse(text)),
      );
    }),
  );
});

test("every fixture is stored as the recorder stores it, with no name twice", async () => {
  for (const file of globSync("fixtures/*.json")) {
    const text = readFileSync(file, "utf8");
    const cases = JSON.parse(text) as Record<string, StoredCase>;
    expect(text).toBe(await fixtureText(cases));
    if (file.endsWith("faults.json")) continue;
    for (const { legacy } of Object.values(cases))
      expect(legacy).toEqual(legacy.map((recorded) => storedExchange(exchangeFrom(recorded))));
  }
});
