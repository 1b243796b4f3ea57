import { afterAll, beforeAll, expect, test } from "vitest";
import { type GivenAnswer, parseAnswer } from "../../libraries/compare/answers.ts";
import { compareAnswers } from "../../libraries/compare/compareAnswers.ts";
import { openLedger } from "../../libraries/compare/ledger.ts";
import { type SampleLegacy, startSampleLegacy } from "../../tools/sampleLegacy/startSampleLegacy.ts";
import { endpoints } from "../../transforms/index.ts";
import { isLongRun } from "../support/cases.ts";
import { gatewayFor, type TestGateway } from "../support/gateway.ts";
import { answerFaults, documentFaults, type Fault } from "./faults.ts";
import { type Planted, type StandIn, startStandIn } from "./startStandIn.ts";
import { initOf, madeRequests, type TrafficRequest, trafficOf } from "./traffic.ts";

const ledger = openLedger([], "2026-11-21");
const kinds = [...documentFaults, ...answerFaults];
const reading = Object.entries(endpoints).flatMap(([name, one]) => ("writes" in one ? [] : [name]));
const requestsOf = (name: string, most: number) =>
  madeRequests.flatMap((some) => some.filter(({ endpoint }) => endpoint === name)).slice(0, most);

/** A stand-in, and a gateway over the same legacy server, which gives the right answers. */
let legacy: SampleLegacy;
let gateway: TestGateway;
let standIn: StandIn;
beforeAll(async () => {
  legacy = await startSampleLegacy();
  gateway = await gatewayFor(legacy.url, { CACHE_BYTES: "0" });
  standIn = await startStandIn({ legacyUrl: legacy.url });
});
afterAll(async () => {
  await standIn.close();
  await gateway.close();
  await legacy.close();
});

const read = async (response: Response): Promise<GivenAnswer> =>
  parseAnswer(response.status, response.headers.get("content-type") ?? undefined, await response.text());

const known = new Map<string, Promise<GivenAnswer>>();
const expected = (asked: TrafficRequest): Promise<GivenAnswer> => {
  const identity = JSON.stringify(asked);
  const answer =
    known.get(identity) ?? Promise.resolve(gateway.app.request(`/v1${asked.path}`, initOf(asked))).then(read);
  known.set(identity, answer);
  return answer;
};

/** The comparer's findings in these answers: each difference with the number of requests that show it. */
const foundIn = async (requests: Iterable<TrafficRequest>): Promise<string[]> => {
  const found = new Map<string, Set<string>>();
  const left = requests[Symbol.iterator]();
  const worker = async () => {
    for (let next = left.next(); !next.done; next = left.next()) {
      const { endpoint } = next.value;
      const { output } = endpoints[endpoint as keyof typeof endpoints];
      const given = await read(await fetch(standIn.url + next.value.path, initOf(next.value)));
      for (const { path, form, kind } of compareAnswers(
        { endpoint, output, ledger },
        await expected(next.value),
        given,
      )) {
        const key = `${endpoint} ${path} ${form} ${kind}`;
        found.set(key, (found.get(key) ?? new Set()).add(JSON.stringify(next.value)));
      }
    }
  };
  await Promise.all(Array.from({ length: 16 }, worker));
  return [...found].map(([key, questions]) => `${key} ${questions.size}`).toSorted();
};

const seenKinds = { difference: "unexplained", allowed: "explained", drift: "drift" };
const shown = (one: Planted): string =>
  "path" in one ? `${one.endpoint} ${one.path} ${one.form} ${seenKinds[one.as]} ${one.questions}` : one.fault;

/** Expects the comparer to find exactly the planted faults in these answers; returns its findings. */
const expectAllFound = async (faults: Fault[], requests: Iterable<TrafficRequest>): Promise<string[]> => {
  standIn.use(faults);
  const found = await foundIn(requests);
  expect(found).toEqual(standIn.planted().map(shown).toSorted());
  return found;
};

/** Each fault at each endpoint; in a quick run some of them, with each fault and each endpoint. */
const pairs = reading.flatMap((endpoint, i) =>
  kinds.flatMap((fault, j) => (isLongRun || (i + j) % kinds.length === 0 ? [[endpoint, fault] as const] : [])),
);

test.each(pairs)("in %s the fault %s is found wherever it shows, and nothing else", async (endpoint, fault) => {
  const requests = requestsOf(endpoint, isLongRun ? 15 : 8);
  await expectAllFound([{ endpoint, fault }], requests);
});

test("in a day's traffic all planted faults are found, and no others", async () => {
  const faults = reading.flatMap((endpoint) => documentFaults.map((fault) => ({ endpoint, fault, share: 30 })));
  expect((await expectAllFound(faults, trafficOf(1, isLongRun ? 150 : 30))).length).toBeGreaterThan(0);
});
