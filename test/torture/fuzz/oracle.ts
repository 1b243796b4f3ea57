import { brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import type { Message } from "../lib/messageReader.ts";
import { type EchoRequest, echoBody } from "./echo.ts";
import type { LegacyAnswer } from "./legacy.ts";
import { type Expectation, SHORTER_BY, faults } from "./faults.ts";

/**
 * The judgement of an answer: right, an error that the gateway may give, the beginning of a right
 * one, or wrong (and why).
 */
type Judgement = "right" | "gatewayError" | "cut" | "unsent" | "late" | { wrong: string };

/** An answer of the new interface, read. */
export type ReadAnswer = { status: number; fields: string; json: unknown };

/** A request that is well-formed, and what a right answer to it is. */
export type WellFormed = {
  bytes: Buffer;
  method: string;
  target: string;
  /** The connection ends behind the answer, since the client asked for that. */
  closes: boolean;
  /** Stands in the request and in what the upstream makes of it. */
  nonce?: string;
  expected:
    | { echo: EchoRequest; body: Buffer; sentTarget: string }
    | { status: number; right?: RightAnswer }
    | { legacy: readonly LegacyAnswer[]; isKeyed: boolean };
};
/** The reason that this answer is wrong, or `undefined`. It is asked only if the status is as expected. */
export type RightAnswer = (answer: ReadAnswer) => string | undefined;

/** The shortest spelling of a legacy target: XML is the default form, and both spellings may share an answer. */
export const plainTarget = (target: string): string => target.replace("/api/v1/xml/", "/api/v1/");

/** `arrivals`: how often the upstream received the request. `damaged`: what it answered wrongly, by plain target. */
export const judge = (
  request: WellFormed,
  answer: Message,
  arrivals: number,
  damaged: ReadonlyMap<string, readonly Buffer[]>,
): Judgement => {
  const mayArrive = request.method === "GET" || request.method === "HEAD" ? 2 : 1;
  if (arrivals > mayArrive) return { wrong: `the upstream received it ${arrivals} times` };
  const status = Number(/^HTTP\/1\.1 (\d{3})(?: |$)/.exec(answer.start)?.[1] ?? Number.NaN);
  if (Number.isNaN(status)) return { wrong: `no status line: ${answer.start.slice(0, 60)}` };
  const { expected } = request;
  if ("legacy" in expected) {
    const target = plainTarget(request.target);
    const paths = [target, target.split("?")[0] as string];
    return judgeLegacys(
      request,
      expected,
      answer,
      status,
      paths.flatMap((path) => damaged.get(path) ?? []),
    );
  }
  return "echo" in expected
    ? judgeEcho(request, expected, answer, status, arrivals)
    : judgeOurs(request, expected, answer, status);
};

const judgeEcho = (
  { method }: WellFormed,
  { echo, body, sentTarget }: { echo: EchoRequest; body: Buffer; sentTarget: string },
  answer: Message,
  status: number,
  arrivals: number,
): Judgement => {
  const fault = faults[echo.fault];
  const isError = gatewayErrorOf(answer, status, method);
  if (fault?.expects === "exact" || fault?.expects === "noBody") {
    // The connection that it would have gone out on was dead already.
    if (isError && status !== 504 && arrivals === 0) return "unsent";
    if (isError && status === 504) return "late";
  } else if (isError) return "gatewayError";
  const sound = method === "HEAD" || fault?.expects === "noBody" ? NOTHING : echoBody(method, sentTarget, echo, body);
  const allowed = allowedBodies(fault?.expects ?? "exact", method);
  if (status !== (fault?.status ?? 200)) return { wrong: `status ${status}` };
  if (answer.whole) {
    if (allowed.whole && answer.body.equals(sound)) return "right";
    if (allowed.shorter && answer.body.equals(sound.subarray(0, -SHORTER_BY))) return "right";
    return { wrong: `a whole answer of ${describeBody(answer.body)}; right is ${describeBody(sound)}` };
  }
  if (allowed.cut && sound.subarray(0, answer.body.length).equals(answer.body)) return "cut";
  return { wrong: `a cut answer of ${describeBody(answer.body)}; right is ${describeBody(sound)}` };
};

/** Statuses of faults that leave the content as it is, and of those that have none. */
const ODD = new Set([299, 599]);
const EMPTY = new Set([204, 301, 304, 500]);

/**
 * A read of the legacy interface has legacy's bytes: sound for this caller, or damaged by legacy itself.
 */
const judgeLegacys = (
  { method }: WellFormed,
  { legacy, isKeyed }: { legacy: readonly LegacyAnswer[]; isKeyed: boolean },
  answer: Message,
  status: number,
  damaged: readonly Buffer[],
): Judgement => {
  if (gatewayErrorOf(answer, status, method)) return "gatewayError";
  const isCached = /\r\ncache-status:/i.test(answer.fields);
  if (isCached && /\r\nset-cookie:/i.test(answer.fields)) return { wrong: "a session in a cached answer" };
  if (isKeyed && /\r\ncache-control: [^\r]*public/i.test(answer.fields))
    return { wrong: "an answer to a key that any cache may share" };
  const { body } = answer;
  if (method === "HEAD" || (body.length === 0 && EMPTY.has(status)))
    return body.length === 0 ? "right" : { wrong: "a body where there must be none" };
  const plain = decodedBody(answer);
  const sound = legacy.filter((own) => status === own.status || ODD.has(status)).map((own) => Buffer.from(own.body));
  const bodies = [...sound, ...damaged].flatMap((bytes) => [bytes, gzipSync(bytes)]);
  if (!answer.whole)
    return bodies.some((bytes) => bytes.subarray(0, body.length).equals(body))
      ? "cut"
      : { wrong: `a cut answer of ${describeBody(body)}` };
  if (bodies.some((bytes) => bytes.equals(body) || bytes.equals(plain) || bytes.subarray(0, -SHORTER_BY).equals(body)))
    return "right";
  return {
    wrong: `status ${status}, ${describeBody(plain)}; right is ${legacy.map((given) => `${given.status}, ${describeBody(Buffer.from(given.body))}`).join(" or ")}`,
  };
};

const NOTHING = Buffer.alloc(0);

/** A cut cannot show in an answer without a body. */
const allowedBodies = (expects: Expectation, method: string) => ({
  whole: expects !== "broken" || method === "HEAD",
  shorter: expects === "shorter",
  cut: expects === "broken" || expects === "either" || expects === "shorter",
});

const describeBody = (body: Buffer): string =>
  `${body.length} bytes "${body.toString("latin1", 0, 60).split("\n")[0]}"`;

/** The new interface answers whole, in JSON, and rightly or with an error of its own. */
const judgeOurs = (
  { method }: WellFormed,
  expected: { status: number; right?: RightAnswer },
  answer: Message,
  status: number,
): Judgement => {
  if (!answer.whole) return { wrong: "a cut answer of the new interface" };
  if (gatewayErrorOf(answer, status, method) && (method === "HEAD" || isDetail(jsonOf(answer)))) return "gatewayError";
  if (status !== expected.status) return { wrong: `status ${status}; right is ${expected.status}` };
  if (method === "HEAD" || status === 304)
    return answer.body.length === 0 ? "right" : { wrong: "a body where there must be none" };
  if (!/\r\ncontent-type: application\/json/i.test(answer.fields)) return { wrong: "no JSON" };
  const json = jsonOf(answer);
  if (json === undefined) return { wrong: `unreadable: ${describeBody(answer.body)}` };
  if (status >= 400 && !isDetail(json)) return { wrong: `an error without a detail: ${describeBody(answer.body)}` };
  const why = expected.right?.({ status, fields: answer.fields, json });
  return why === undefined ? "right" : { wrong: why };
};

const isDetail = (json: unknown): boolean =>
  typeof json === "object" && json !== null && Object.keys(json).join() === "detail";

const gatewayErrorOf = (answer: Message, status: number, method: string): boolean => {
  if (status !== 502 && status !== 503 && status !== 504) return false;
  if (method === "HEAD") return answer.body.length === 0;
  return answer.whole && (isDetail(jsonOf(answer)) || isOfLegacysForm(decodedBody(answer).toString("latin1")));
};

/** True if a text is an error by the gateway, as clients of the legacy interface read errors. */
const isOfLegacysForm = (text: string): boolean =>
  /^(?:\{"error":\{"code":"|<oml:error [^>]*>\s*<oml:code>)(?:107|95\d\d)["<]/.test(text);

/** The body without its coding; as it came where it is not in the coding that it claims. */
const decodedBody = ({ fields, body }: Message): Buffer => {
  const coding = /\r\ncontent-encoding: (\w+)/i.exec(fields)?.[1]?.toLowerCase();
  try {
    return coding === "gzip" ? gunzipSync(body) : coding === "br" ? brotliDecompressSync(body) : body;
  } catch {
    return body;
  }
};

const jsonOf = (answer: Message): unknown => {
  try {
    return JSON.parse(decodedBody(answer).toString()) as unknown;
  } catch {
    return undefined;
  }
};
