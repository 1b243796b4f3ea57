import { onTestFinished } from "vitest";
import type { Fault } from "./program/fault.ts";
import type { Planted } from "./program/planted.ts";
import { startStandIn } from "./program/startStandIn.ts";
import type { TrafficRequest } from "./program/traffic.ts";
import { startSampleLegacy } from "../../src/tools/sampleLegacy/startSampleLegacy.ts";
import type { GivenAnswer } from "../../src/compare/answers.ts";
import { parseAnswer } from "../../src/compare/answers.ts";
import type { Difference } from "../../src/compare/difference.ts";
import { judgeAnswer } from "../../src/compare/judge.ts";
import { openLedger } from "../../src/compare/ledger.ts";
import { endpoints } from "../../transforms/index.ts";
import { gatewayFor } from "../support/gateway.ts";

export type SentRequest = Pick<TrafficRequest, "endpoint" | "method" | "path" | "body" | "key">;

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
export const openSides = async (faults: Fault[] = [], path = "/v1") => {
  const legacy = await startSampleLegacy();
  const gateway = await gatewayFor(legacy.url, { CACHE_BYTES: "0" });
  const standIn = await startStandIn({ legacyUrl: legacy.url, path, faults });
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
    legacy,
    standIn,
    expected,
    given,
    close,
    /** The comparer's findings for one request. */
    judged: async (asked: SentRequest): Promise<Difference[]> => {
      const { endpoint } = asked;
      const output = endpoints[endpoint as keyof typeof endpoints].output;
      return judgeAnswer({ endpoint, output, ledger }, await expected(asked), await given(asked));
    },
  };
};

export type Sides = Awaited<ReturnType<typeof openSides>>;

/** The same, closed when the test is over. */
export const sidesFor = async (faults: Fault[] = [], path?: string): Promise<Sides> => {
  const sides = await openSides(faults, path);
  onTestFinished(sides.close);
  return sides;
};

const identity = ({ method, path, body, key }: SentRequest): string => JSON.stringify([method, path, body, key]);

/** Sends a few requests at a time. */
export const eachOf = async <T>(all: Iterable<T>, run: (one: T) => Promise<void>): Promise<void> => {
  const left = all[Symbol.iterator]();
  const worker = async () => {
    for (let next = left.next(); !next.done; next = left.next()) await run(next.value);
  };
  await Promise.all(Array.from({ length: 16 }, worker));
};

/** What the comparer finds in these answers: each difference with the number of questions that show it. */
export const foundIn = async (sides: Sides, requests: Iterable<SentRequest>): Promise<string[]> => {
  const found = new Map<string, Set<string>>();
  await eachOf(requests, async (asked) => {
    for (const { path, form, kind } of await sides.judged(asked)) {
      const key = `${asked.endpoint} ${path} ${form} ${kind}`;
      found.set(key, (found.get(key) ?? new Set()).add(identity(asked)));
    }
  });
  return [...found].map(([key, questions]) => `${key} ${questions.size}`).toSorted();
};

const kinds = { difference: "unexplained", allowed: "explained", drift: "drift", noDocument: "" };

/** The same of what was planted. */
export const plantedIn = (planted: readonly Planted[]): string[] =>
  planted
    .map((one) =>
      "path" in one ? `${one.endpoint} ${one.path} ${one.form} ${kinds[one.as]} ${one.questions}` : one.faults.join(),
    )
    .toSorted();
