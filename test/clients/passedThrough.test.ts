import { expect, onTestFinished, test } from "vitest";
import { startSampleLegacy } from "../../src/tools/sampleLegacy/startSampleLegacy.ts";
import { listeningGateway } from "../http/support.ts";
import { type ClientRequest, sequences } from "./sequences.ts";

/** What a client reads of an answer. Sessions and dates differ in any two answers. */
const read = async (origin: string, { path, form, headers = {} }: ClientRequest) => {
  const response = await fetch(origin + path, {
    headers,
    ...(form === undefined ? {} : { method: "POST", body: new URLSearchParams(form) }),
  });
  const names = ["content-type", "content-length", "access-control-allow-origin", "cache-control", "retry-after"];
  const body = Buffer.from(await response.arrayBuffer()).toString("latin1");
  return [path, response.status, body, ...names.map((name) => response.headers.get(name))];
};

test.each(Object.entries(sequences))("%s gets through the gateway what legacy answers", async (_, requests) => {
  // Two of them, since a client also writes.
  const [direct, behind] = [await startSampleLegacy(), await startSampleLegacy()];
  onTestFinished(async () => {
    await direct.close();
    await behind.close();
  });
  const { url } = await listeningGateway(behind.url, { PREFIXES: "/v1,/api/v2" });
  const statuses = new Set<unknown>();
  for (const request of requests) {
    const expected = await read(direct.url, request);
    expect(await read(url, request)).toEqual(expected);
    statuses.add(expected[1]);
  }
  expect(statuses).toContain(200);
  expect(statuses).toContain(412);
});
