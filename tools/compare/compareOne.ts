import { formatRequest } from "../../libraries/compare/canonicalRequest.ts";
import { type AnsweredExchange, type GivenAnswer, parseAnswer } from "../../libraries/compare/answers.ts";
import { type Addresses, type CurlPair, curlsOf } from "../../libraries/compare/curls.ts";
import { originIn } from "../../libraries/compare/explain.ts";
import { explainAnswer, legacyBody } from "../../libraries/compare/explainAnswer.ts";
import { type Difference, UNREADABLE } from "../../libraries/compare/difference.ts";
import type { Ledger } from "../../libraries/compare/ledger.ts";
import type { NotCompared } from "../../libraries/compare/results.ts";
import type { ExampleAnswer, Row } from "./report/report.ts";
import { explainedRows, comparedRows, plainRows } from "./sideBySide.ts";
import {
  type Endpoint,
  type JsonObject,
  type LegacyReading,
  readLegacy,
  xmlReaderFor,
} from "../../src/catalogue/index.ts";
import { compareSides } from "../../libraries/modern/compareSides.ts";
import type { Catalogue, UpstreamReply } from "../../src/gateway/index.ts";
import type { CorpusRequest } from "../corpus/corpusRequest.ts";
import type { CapturedExchange, QuietGateway } from "../quietGateway.ts";
import type { CandidateSide, InputOfRequest, modernRouter } from "./candidateSide.ts";

/** Both sides, and the rules by which their answers are compared. */
type ComparedSides = {
  catalogue: Catalogue;
  legacy: QuietGateway;
  candidate?: CandidateSide;
  /** Maps a request for the candidate; without it the candidate gets the request unchanged. */
  asModern?: ReturnType<typeof modernRouter>;
  inputOf: InputOfRequest;
  ledger: Ledger;
  addresses: Addresses;
  key: string | undefined;
};

/** The answers of both sides. `statuses`: those of a `StatusPair`; `ms`: the time of each side that got a request. */
type SideAnswers = {
  statuses: readonly [from: number, to: number];
  ms: { legacy?: number; candidate?: number };
};

/** `example`: both answers side by side, made when it is shown. */
type Differing = { differences: Difference[]; example: () => Omit<ExampleAnswer, "endpoint" | "curl" | "result"> };
type Uncompared = { notCompared: NotCompared; why: string; differences?: undefined };
type Compared<Outcome> = Outcome & { endpoint: string; curl: CurlPair };

/** The differences of two answers, and their rows. `document`: legacy's, if it sent one. */
export type ComparedOutcome = Compared<Differing> & { answers?: SideAnswers; document?: JsonObject };
/** The reason why the answers to a request could not be compared. */
export type UncomparedOutcome = Compared<Uncompared>;
/** The outcome of a compared request. */
export type ComparisonOutcome = ComparedOutcome | UncomparedOutcome;

const failed = (why: string): Uncompared => ({ notCompared: "failed", why });

/** Sends a request to both sides, and compares the answers. `again`: bypasses all caches. */
export const compareOne = async (
  sides: ComparedSides,
  request: CorpusRequest,
  again = false,
): Promise<ComparisonOutcome> => {
  const { catalogue, legacy, candidate, addresses } = sides;
  const input = sides.inputOf(request);
  const sent = sides.asModern?.(request, input) ?? request;
  const key = request.keyed ? sides.key : undefined;
  const [{ status, contentType, text, exchanges }, fromCandidate] = await Promise.all([
    legacy.ask(request, key),
    candidate && timed(() => candidate.ask(sent, key, again)),
  ]);
  const candidateAnswer = fromCandidate?.result;
  const ours = parseAnswer(status, contentType, text);
  const defined = catalogue.endpoints[request.endpoint] as Endpoint;
  const captured = decisiveExchange(exchanges, defined);
  const named = { endpoint: request.endpoint, curl: curlsOf(addresses, sent, key !== undefined, captured) };
  const reply = captured?.reply;
  if (reply && "failed" in reply) return { ...named, ...failed(`legacy: ${withoutTarget(reply.why)}`) };
  if (candidateAnswer !== undefined && "failed" in candidateAnswer && !candidateAnswer.wasReached)
    return { ...named, ...failed(candidateAnswer.failed) };

  const endpoint = { ...defined, name: request.endpoint };
  const exchange = reply && { ...captured, status: reply.status, reading: readingOf(reply, defined) };
  const document = exchange?.reading.is === "document" ? exchange.reading.document : undefined;
  const answer = { endpoint, input: input ?? {}, sent: formatRequest(request), ours, exchange, document };
  const made =
    unreadable(sides.ledger, answer) ??
    (candidateAnswer === undefined
      ? explained(sides, answer)
      : "failed" in candidateAnswer
        ? withoutAnswer(answer, candidateAnswer.failed)
        : comparedWithCandidate(sides, answer, candidateAnswer));
  if (made.differences === undefined) return { ...named, ...made };
  const from = candidate ? ours.status : exchange?.status;
  const to = candidate ? candidateAnswer && "status" in candidateAnswer && candidateAnswer.status : ours.status;
  const ms = {
    ...(exchanges.length > 0 ? { legacy: exchanges.reduce((sum, each) => sum + each.ms, 0) } : {}),
    ...(fromCandidate ? { candidate: fromCandidate.ms } : {}),
  };
  const answers = from && to ? { answers: { statuses: [from, to] as const, ms } } : {};
  return { ...named, ...answers, ...made, ...(document ? { document } : {}) };
};

/** The failure of an upstream names the request at its end; failures of different requests are counted together. */
const withoutTarget = (failure: string): string => failure.replace(/: (?:GET|POST) \S+$/, "");

const timed = async <T>(call: () => Promise<T>): Promise<{ result: T; ms: number }> => {
  const started = performance.now();
  return { result: await call(), ms: performance.now() - started };
};

/** The gateway's answer to a request, and its sources. */
type GatewayAnswer = {
  endpoint: Endpoint & { name: string };
  input: Record<string, unknown>;
  /** `GET /datasets/61`, with its body. */
  sent: string;
  ours: GivenAnswer;
  exchange: AnsweredExchange | undefined;
  document: JsonObject | undefined;
};

/** The exchange that made the answer: the last, unless it looked up an error (`recover`) and found no other error. */
const decisiveExchange = (exchanges: readonly CapturedExchange[], endpoint: Endpoint): CapturedExchange | undefined => {
  const { recover } = endpoint;
  const hasError = ({ reply }: CapturedExchange, matches: (code: number) => boolean | undefined): boolean => {
    const reading = "failed" in reply ? undefined : readingOf(reply, endpoint);
    return reading?.is === "error" && matches(reading.code) === true;
  };
  const last = exchanges.at(-1);
  if (recover?.errors === undefined || last === undefined || hasError(last, (code) => recover.errors?.has(code)))
    return last;
  return exchanges.find((exchange) => hasError(exchange, (code) => code === recover.code)) ?? last;
};

const readingOf = ({ body }: UpstreamReply, endpoint: Endpoint): LegacyReading =>
  readLegacy(body, xmlReaderFor(endpoint));

/** The example of an answer that is compared with legacy's. */
const besideLegacy =
  ({ sent, ours, exchange }: GatewayAnswer, rows: () => Row[]): Differing["example"] =>
  () => ({
    request: sent,
    left: { title: "legacy", ...(exchange ? { status: exchange.status } : {}) },
    right: { title: "the new interface", status: ours.status },
    rows: rows(),
  });

/** The example of a candidate's answer; `status` is `undefined` if it gave none. */
const besideExpected =
  ({ sent, ours }: GatewayAnswer, status: number | undefined, rows: () => Row[]): Differing["example"] =>
  () => ({
    request: sent,
    left: { title: "expected", status: ours.status },
    right: { title: "the candidate", ...(status === undefined ? {} : { status }) },
    rows: rows(),
  });

/** The outcome of an answer of legacy that no format can read; `undefined` for any other answer. */
const unreadable = (ledger: Ledger, answer: GatewayAnswer): Differing | Uncompared | undefined => {
  const { endpoint, ours, exchange } = answer;
  if (exchange?.reading.is !== "unreadable" || ours.status !== 502) return undefined;
  const { why } = exchange.reading;
  const difference = { path: UNREADABLE, at: UNREADABLE, form: "value", legacy: why, expected: ours.status } as const;
  const entry = ledger.allowing(endpoint.name, difference);
  if (entry === undefined) return { notCompared: "unreadable", why: `legacy's answer cannot be read: ${why}` };
  return {
    differences: [{ ...difference, kind: "expected", entry: entry.id, count: 1 }],
    example: besideLegacy(answer, () => plainRows(why, ours.body, [])),
  };
};

/** Compares the gateway's answer with legacy's, if there is no candidate. */
const explained = ({ catalogue, ledger }: ComparedSides, answer: GatewayAnswer): Differing => {
  const { endpoint, input, ours, exchange, document } = answer;
  const differences = explainAnswer({ endpoint, input, errors: catalogue.errors }, exchange, ours).map((difference) => {
    // A difference that no rule explains may be expected.
    const entry = difference.kind === "unexplained" ? ledger.allowing(endpoint.name, difference) : undefined;
    return entry ? { ...difference, kind: "expected" as const, entry: entry.id } : difference;
  });
  const example = besideLegacy(answer, () =>
    document && ours.status === 200
      ? explainedRows(endpoint.output, document, ours.body)
      : plainRows(exchange && legacyBody(exchange.reading), ours.body, differences),
  );
  return { differences, example };
};

/** Compares the candidate's answer with the gateway's. */
const comparedWithCandidate = (
  { catalogue, ledger }: ComparedSides,
  answer: GatewayAnswer,
  candidate: GivenAnswer,
): Differing | Uncompared => {
  const { endpoint, input, ours, document } = answer;
  const { output } = endpoint;
  const origin = document && originIn(output, document);
  const differences = compareSides({ endpoint, input, errors: catalogue.errors, ledger, origin }, ours, candidate);
  if (ours.status >= 500 && differences.length > 0) return failed(noExpectation(ours));
  const rule = ours.status === 200 ? output : undefined;
  const example = besideExpected(answer, candidate.status, () =>
    comparedRows(rule, ours.body, candidate.body ?? candidate.text, differences),
  );
  return { differences, example };
};

/** The outcome if a candidate was reached and gave no answer: the whole answer is missing. */
const withoutAnswer = (answer: GatewayAnswer, why: string): Differing | Uncompared => {
  const { ours } = answer;
  if (ours.status >= 500) return failed(noExpectation(ours));
  const missing = { path: "", at: "", form: "missing", expected: `${ours.status}`, candidate: why, count: 1 } as const;
  return {
    differences: [{ ...missing, kind: "unexplained", cause: "the candidate gives no answer" }],
    example: besideExpected(answer, undefined, () => plainRows(ours.body, why, [])),
  };
};

const noExpectation = ({ status, body }: GivenAnswer): string =>
  `legacy gave no answer to expect anything by (${status} ${JSON.stringify(body)})`;
