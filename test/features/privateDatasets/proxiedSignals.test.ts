import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { Beginning } from "../../../src/proxy/heldAnswer.ts";
import { answer, error, jsonError, openedSignals, proxied, zipped } from "./smallSignals.ts";

const PRIVATE_JSON = '{"data_set_description":{"id":"3","visibility":"private"}}';
const PUBLIC_JSON = '{"data_set_description":{"id":"3", "visibility": "public"}}';
const PRIVATE_XML =
  "<oml:data_set_description><oml:id>3</oml:id><oml:visibility>private</oml:visibility></oml:data_set_description>";

describe("a dataset that passes through", () => {
  test.each<[string, number, Beginning, boolean]>([
    ["private, as is known", 3, answer(PRIVATE_JSON), false],
    ["private, which is new", 4, answer(PRIVATE_JSON), true],
    ["private in XML, which is new", 4, answer(PRIVATE_XML), true],
    ["private, with blanks", 4, answer(PRIVATE_JSON.replaceAll(":", ":\n ")), true],
    ["public, as is known", 4, answer(PUBLIC_JSON), false],
    ["public, which is new", 3, answer(PUBLIC_JSON), true],
    ["public in XML, which is new", 3, answer(PRIVATE_XML.replace("private", "public")), true],
    ["that says nothing of it", 3, answer('{"data_set_description":{"id":"3"}}'), false],
    [
      "that talks of it in its description",
      4,
      answer(JSON.stringify({ data_set_description: { description: '"visibility":"private" <oml:visibility' } })),
      false,
    ],
    ["for nobody to see, as is known", 3, error(112), false],
    ["for nobody to see, which is new", 4, error(112), true],
    ["for nobody to see in JSON, which is new", 4, jsonError(112), true],
    ["that is none, as is known", 4, error(111), false],
    ["that is none, which is new", 3, error(111), true],
    ["that is none in JSON, which is new", 5, jsonError(111), true],
    ["to which the key is wrong", 3, error(103), false],
    ["without a file", 4, error(113), false],
    ["with a code that nobody has heard of", 3, error(99_999), false],
    ["that is no answer", 3, answer("<html>gone</html>", 502), false],
    ["that is empty", 3, answer("", 500), false],
    ["private, and zipped", 4, zipped(answer(PRIVATE_JSON)), true],
    ["private, zipped and cut off", 4, zipped(answer(PRIVATE_JSON + "x".repeat(5000)), 80), true],
    ["private, zipped and cut off before that is said", 4, zipped(answer(PRIVATE_JSON), 15), false],
    ["private, zipped to next to nothing", 4, zipped(answer(" ".repeat(2e6) + PRIVATE_JSON)), false],
    ["for nobody to see, and zipped", 4, zipped(error(112)), true],
    ["private, zipped in secret", 4, answer(gzipSync(PRIVATE_JSON)), false],
    ["private, said to be zipped", 4, { ...zipped(error(112)), body: Buffer.from(PRIVATE_JSON) }, false],
    ["for nobody to see, but cut off", 4, answer(error(112).body.subarray(0, 70), 412), false],
    ["private, but cut off before that is said", 4, answer(PRIVATE_JSON.slice(0, 50)), false],
    ["private, but cut off after that", 4, answer(PRIVATE_JSON.slice(0, -1)), true],
    ["that is no UTF-8", 3, answer(Buffer.from([0xff, 0xfe, 0x80]), 412), false],
    ["that redirects", 3, answer(PUBLIC_JSON, 302), false],
  ])("%s: %i", (_, id, passing, isAsked) => {
    const { observe, asked } = openedSignals();
    observe(proxied("GET", `/api/v1/json/data/${id}`))?.(passing);
    expect(asked).toEqual(isAsked ? [id] : []);
  });

  test.each([
    ["GET", "/api/v1/json/data/61", 61],
    ["GET", "/data/61/", 61],
    ["POST", "/api/v1/json/data/61", undefined],
    ["GET", "/api/v1/json/data/features/61", undefined],
    ["GET", "/api/v1/json/task/61", undefined],
    ["GET", "/api/v1/json/data/list", undefined],
  ])("is read by %s %s: %j", (method, path, id) => {
    const { observe, asked } = openedSignals();
    observe(proxied(method, path))?.(answer(PRIVATE_JSON));
    expect(asked).toEqual(id === undefined ? [] : [id]);
  });
});
