import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { answerFaults, documentFaults, type Fault } from "./program/fault.ts";
import { documentChanges } from "./program/documentChanges.ts";
import { placesOf } from "./program/places.ts";
import { trafficOf } from "./program/traffic.ts";
import { endpoints } from "../../transforms/index.ts";
import { type SentRequest, foundIn, openSides, plantedIn, type Sides } from "./support.ts";

const reading = Object.entries(endpoints).flatMap(([name, one]) => ("writes" in one ? [] : [name]));
const kinds = [...documentFaults, ...answerFaults];

let sides: Sides;
beforeAll(async () => (sides = await openSides()));
afterAll(() => sides.close());

const traffic = [...trafficOf(5, 3000)];
const requestsOf = (endpoint: string, most: number): SentRequest[] =>
  traffic.filter((request) => request.endpoint === endpoint).slice(0, most);

/** Whether a fault shows in one of the right answers. Not every endpoint has a place for every fault. */
const hasPlace = async (fault: (typeof kinds)[number], requests: SentRequest[]): Promise<boolean> => {
  const answers = await Promise.all(requests.map((asked) => sides.expected(asked)));
  if (fault === "otherStatus") return true;
  if (fault === "problemJson") return answers.some(({ status }) => status >= 400);
  const kind = documentChanges[fault];
  const places = answers.flatMap(({ status, body = null }) => (status === 200 ? placesOf(body) : []));
  return places.some((place) => kind.picks(place) && kind.change(place) !== undefined);
};

describe.each(reading)("%s", (endpoint) => {
  test.each(kinds)("%s: all found, none false", async (fault) => {
    const requests = requestsOf(endpoint, 15);
    sides.standIn.use([{ endpoint, fault }]);
    const found = await foundIn(sides, requests);
    expect(found).toEqual(plantedIn(sides.standIn.planted()));
    expect(found.length > 0).toBe(await hasPlace(fault, requests));
  });
});

/** Every path of what an endpoint answers, and some that nothing has. */
const pathsOf = async (requests: SentRequest[]): Promise<string[]> => {
  const paths = new Set(["/nothing", "/*/nothing/*", "/detail/extra"]);
  for (const asked of requests) {
    const { body = null } = await sides.expected(asked);
    for (const { path, at } of placesOf(body)) paths.add(path).add(at);
  }
  return [...paths];
};

test("several faults at once, anywhere, are found as what they are, and nothing else", async () => {
  const faultOf = (endpoint: string, paths: string[]): fc.Arbitrary<Fault> =>
    fc.record(
      {
        endpoint: fc.constantFrom(endpoint, endpoint, "*"),
        fault: fc.constantFrom(...documentFaults, ...kinds),
        path: fc.constantFrom(...paths),
        share: fc.integer({ min: 20, max: 100 }),
      },
      { requiredKeys: ["endpoint", "fault"] },
    );
  const requests = Object.fromEntries(reading.map((name) => [name, requestsOf(name, 10)]));
  const paths = Object.fromEntries(
    await Promise.all(reading.map(async (name) => [name, await pathsOf(requests[name] as SentRequest[])] as const)),
  ) as Record<string, string[]>;
  const played = fc.constantFrom(...reading).chain((name) =>
    fc.record({
      name: fc.constant(name),
      faults: fc.array(faultOf(name, paths[name] as string[]), { minLength: 1, maxLength: 6 }),
    }),
  );
  let planted = 0;
  await fc.assert(
    fc.asyncProperty(played, async ({ name, faults }) => {
      sides.standIn.use(faults);
      const found = await foundIn(sides, requests[name] as SentRequest[]);
      expect(found).toEqual(plantedIn(sides.standIn.planted()));
      planted += found.length;
    }),
    { numRuns: Number(process.env["CASES"] ?? 40) },
  );
  expect(planted).toBeGreaterThan(25);
});

test("in a day's traffic: all of them, and none beside", async () => {
  const share = 30;
  sides.standIn.use(reading.flatMap((endpoint) => documentFaults.map((fault) => ({ endpoint, fault, share }))));
  const found = await foundIn(sides, trafficOf(1, 150));
  expect(found).toEqual(plantedIn(sides.standIn.planted()));
  expect(found.length).toBeGreaterThan(25);
});
