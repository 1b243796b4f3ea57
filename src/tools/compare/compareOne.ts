import type { CorpusRequest } from "../corpus/ask.ts";
import type { Catalogue } from "../../serve/gateway.ts";
import { formatRequest } from "../../endpoint/canonicalRequest.ts";
import type { Endpoint } from "../../endpoint/endpoint.ts";
import { collectChanges } from "../../rules/notes.ts";
import type { Json, JsonObject } from "../../rules/rule.ts";
import type { GivenAnswer, LegacyExchange } from "../../compare/answers.ts";
import { changesByPlace, lookUp } from "../../compare/explain.ts";
import { explainAnswer } from "../../compare/explainAnswer.ts";
import { judgeAnswer, type Origin } from "../../compare/judge.ts";
import type { Ledger } from "../../compare/ledger.ts";
import { pointerSteps } from "../../compare/place.ts";
import { explainedRows, judgedRows, plainRows } from "../../compare/sideBySide.ts";
import type { ComparisonOutcome } from "../../compare/tally.ts";
import { whyUnserved } from "../../modern/whyUnserved.ts";
import type { RouteAsModern } from "./asModern.ts";
import type { CandidateSide } from "./candidateSide.ts";
import { type Addresses, curlsOf } from "../../compare/curls.ts";
import type { LegacySide } from "./legacySide.ts";

export type ComparedSides = {
  catalogue: Catalogue;
  legacy: LegacySide;
  candidate?: CandidateSide;
  /** How the candidate is asked, where not as it was. */
  asModern?: RouteAsModern;
  ledger: Ledger;
  addresses: Addresses;
  key: string | undefined;
};

/** What came of asking once, and the legacy document where there was one. */
export type ComparedRequest = { outcome: ComparisonOutcome; document?: JsonObject };

/** Asks both sides the same once, and says how they differ. `again`: past every cache. */
export const compareOne = async (sides: ComparedSides, ask: CorpusRequest, again = false): Promise<ComparedRequest> => {
  const { catalogue, legacy, candidate, addresses } = sides;
  const request = sides.asModern?.(ask) ?? ask;
  const key = ask.keyed ? sides.key : undefined;
  const endpoint = catalogue.endpoints[ask.endpoint] as Endpoint;
  const [{ ours, exchanges }, given] = await Promise.all([legacy.ask(ask, key), candidate?.ask(request, key, again)]);
  const last = exchanges.at(-1);
  const about = { endpoint: ask.endpoint, curl: curlsOf(addresses, request, key !== undefined, last) };
  const isAway = given !== undefined && "failed" in given && !given.isThere;
  const failed = last && "failed" in last ? `legacy: ${last.failed}` : isAway ? given.failed : undefined;
  if (failed !== undefined) return { outcome: { ...about, failed } };

  const document = documentOf(last);
  const withDocument = document ? { document } : {};
  const question = formatRequest(ask);
  if (given !== undefined && "failed" in given)
    return ours.status >= 500
      ? { outcome: { ...about, failed: unanswered(ours) } }
      : { outcome: { ...about, ...noAnswer(ours, given.failed, question) }, ...withDocument };
  if (given === undefined) {
    const explained = explainAnswer(
      { endpoint, errors: catalogue.errors, knowledge: legacy.knowledge },
      exchanges,
      ours,
    );
    if ("failed" in explained) return { outcome: { ...about, ...explained } };
    // What no rule explains may still be meant to be.
    const differences = explained.differences.map((one) => {
      const entry = one.kind === "unexplained" ? sides.ledger.allowing(ask.endpoint, one) : undefined;
      return entry ? { ...one, kind: "expected" as const, entry: entry.id } : one;
    });
    const example = () => ({
      question,
      left: { title: "legacy", ...(last && "status" in last ? { status: last.status } : {}) },
      right: { title: "the new interface", status: ours.status },
      rows:
        document && ours.status === 200
          ? explainedRows(endpoint.output, document, ours.body)
          : plainRows(rawOf(last), ours.body, differences),
    });
    return { outcome: { ...about, differences, example }, ...withDocument };
  }
  const output = endpoint.output;
  const origin = document && originIn(output, document);
  const { ledger } = sides;
  const judging = {
    endpoint: ask.endpoint,
    output,
    ledger,
    ...(origin ? { origin } : {}),
    // Another gateway's own errors would be served, too.
    whyUnserved: (one: GivenAnswer) =>
      whyUnserved({ ...endpoint, name: ask.endpoint }, { errors: catalogue.errors, ledger }, one),
  };
  const differences = judgeAnswer(judging, ours, given);
  if (ours.status >= 500 && differences.length > 0) return { outcome: { ...about, failed: unanswered(ours) } };
  const example = () => ({
    question,
    left: { title: "expected", status: ours.status },
    right: { title: "the candidate", status: given.status },
    rows: judgedRows(ours.status === 200 ? output : undefined, ours.body, given.body ?? given.text, differences),
  });
  return { outcome: { ...about, differences, example }, ...withDocument };
};

const unanswered = ({ status, body }: GivenAnswer): string =>
  `legacy gave no answer to expect anything by (${status} ${JSON.stringify(body)})`;

/** A candidate that is there and gives no answer lacks all of it. */
const noAnswer = (ours: GivenAnswer, why: string, question: string) => ({
  differences: [
    {
      path: "",
      at: "",
      form: "missing" as const,
      kind: "unexplained" as const,
      cause: "the candidate gives no answer",
      expected: `${ours.status}`,
      candidate: why,
      count: 1,
    },
  ],
  example: () => ({
    question,
    left: { title: "expected", status: ours.status },
    right: { title: "the candidate" },
    rows: plainRows(ours.body, why, []),
  }),
});

const documentOf = (exchange: LegacyExchange | undefined): JsonObject | undefined =>
  exchange && "reading" in exchange && exchange.reading.is === "document" ? exchange.reading.document : undefined;

const rawOf = (exchange: LegacyExchange | undefined): Json | undefined => {
  if (exchange === undefined || !("reading" in exchange)) return undefined;
  const { reading } = exchange;
  if (reading.is === "document") return reading.document;
  return reading.is === "error" ? { code: reading.code, message: reading.message } : reading.why;
};

/** Read only where something differs. */
const originIn = (output: Endpoint["output"], document: JsonObject): Origin => {
  let places: ReturnType<typeof changesByPlace> | undefined;
  return (at) => {
    if (places === undefined) {
      const { note, changes } = collectChanges();
      output.read(document, note, document);
      places = changesByPlace(changes);
    }
    return lookUp(output, document, places, pointerSteps(at));
  };
};
