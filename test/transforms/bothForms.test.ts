import { afterAll, beforeAll, expect, test } from "vitest";
import { type Endpoint } from "../../src/catalogue/endpoint/endpoint.ts";
import { readableOf, readLegacyAnswer } from "../../src/catalogue/reading/readAnswer.ts";
import { type SampleLegacy, startSampleLegacy } from "../../tools/sampleLegacy/startSampleLegacy.ts";
import { endpoints } from "../../transforms/index.ts";

let legacy: SampleLegacy;
beforeAll(async () => {
  legacy = await startSampleLegacy();
});
afterAll(() => legacy.close());

/** The reads that legacy is asked for in JSON first. */
const reads = Object.entries<Endpoint>(endpoints)
  .filter(([, endpoint]) => endpoint.format !== "xml" && !("writes" in endpoint))
  .flatMap(([name, endpoint]) =>
    Object.entries(endpoint.examples).flatMap(([example, input]) => {
      const request = endpoint.legacy({ ...input, offset: 0 });
      return "method" in request && request.method === "GET"
        ? [{ name, endpoint, example, input, path: request.path }]
        : [];
    }),
  );

test.each(reads)("$name reads the same from JSON and XML: $example", async ({ name, endpoint, input, path }) => {
  const read = async (form: "json" | "xml") => {
    const response = await fetch(`${legacy.url}/api/v1/${form}${path}`);
    const body = Buffer.from(await response.arrayBuffer());
    const task = { endpoint: name, as: "answer" as const, input };
    return readLegacyAnswer(readableOf(name, endpoint), task, body);
  };
  const [json, xml] = [await read("json"), await read("xml")];
  expect(json.is).not.toBe("unreadable");
  expect({ ...xml, form: "" }).toEqual({ ...json, form: "" });
});
