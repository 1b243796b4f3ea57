import { type Pair, readPairs } from "../../fixtures/pairs.ts";
import type { GivenAnswer, AnsweredExchange } from "../../libraries/compare/answers.ts";
import { type Difference, differenceKey } from "../../libraries/compare/difference.ts";
import { explainAnswer } from "../../libraries/compare/explainAnswer.ts";
import { compareAnswers } from "../../libraries/compare/compareAnswers.ts";
import { openLedger } from "../../libraries/compare/ledger.ts";
import type { Endpoint } from "../../src/catalogue/endpoint/endpoint.ts";
import { readLegacy } from "../../src/catalogue/legacy/reading.ts";
import { xmlReaderFor } from "../../src/catalogue/legacy/xml.ts";
import { fitOf } from "../../src/catalogue/endpoint/transform.ts";
import { unnoted } from "../../src/catalogue/rules/notes.ts";
import type { Json, JsonObject } from "../../src/catalogue/rules/rule.ts";
import { catalogue } from "../../transforms/catalogue.ts";

const ledger = openLedger([], "2000-01-01");

/** The comparer's findings over an endpoint's fixtures, as texts; equal for equal trees. */
export const findingsOf = (name: string, endpoint: Endpoint): string[] => {
  const readXml = xmlReaderFor(endpoint);
  return readPairs(name).flatMap((pair) => {
    const { exchange, document } = documentOf(pair, readXml);
    if (!exchange || !document) return [];
    const ours = answerOf(endpoint, document);
    const given = { status: pair.answer.status, body: pair.answer.body as Json };
    const explained = explainAnswer({ errors: catalogue.errors, endpoint }, exchange, ours);
    const tree = { endpoint: name, output: endpoint.output, ledger };
    return [
      ...unexplained("explained", explained),
      ...unexplained("expected", compareAnswers(tree, ours, given)),
      // The comparison's notion of equality is part of the tree too.
      ...unexplained("reversed", compareAnswers(tree, ours, { ...given, body: reversed(given.body) })),
    ].map((found) => `${pair.example}: ${found}`);
  });
};

const unexplained = (how: string, differences: Difference[]): string[] =>
  differences.filter(({ kind }) => kind === "unexplained").map((difference) => `${how} ${differenceKey(difference)}`);

const documentOf = (
  pair: Pair,
  readXml: ReturnType<typeof xmlReaderFor>,
): { exchange?: AnsweredExchange; document?: JsonObject } => {
  const last = pair.legacy.at(-1);
  // Where the first answer was an error, the last answer is about something else.
  const first = pair.legacy[0] && readLegacy(Buffer.from(pair.legacy[0].response.body), readXml);
  if (last === undefined || first?.is === "error") return {};
  const reading = readLegacy(Buffer.from(last.response.body), readXml);
  const format = last.request.path.startsWith("/xml") ? "xml" : "json";
  const request = { method: last.request.method, path: last.request.path };
  return reading.is === "document"
    ? { exchange: { request, format, status: last.response.status, reading }, document: reading.document }
    : {};
};

const answerOf = (endpoint: Endpoint, document: JsonObject): GivenAnswer => {
  const fit = fitOf(endpoint, {}, endpoint.output.read(document, unnoted, document));
  if ("outcome" in fit) return { status: 410, body: undefined };
  return fit.ok ? { status: 200, body: fit.ours } : { status: 502, body: undefined };
};

const reversed = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(reversed).toReversed();
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, reversed(member)]));
};
