import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { Message } from "../lib/messageReader.ts";
import { type EchoRequest, echoBody } from "./echo.ts";
import { type Expectation, SHORTER_BY, faults } from "./faults.ts";

/** How an answer compares with what is true: right, an error that the gateway may give, the beginning of a right one, or wrong (and why). */
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
  expected: { echo: EchoRequest; body: Buffer; sentTarget: string } | { status: number; right?: RightAnswer };
};
/** Why this answer is wrong, or `undefined`. It is asked only where the status is the expected one. */
export type RightAnswer = (answer: ReadAnswer) => string | undefined;

/** `arrivals`: how often the upstream received the request. */
export const judge = (request: WellFormed, answer: Message, arrivals: number): Judgement => {
  const mayArrive = request.method === "GET" || request.method === "HEAD" ? 2 : 1;
  if (arrivals > mayArrive) return { wrong: `the upstream received it ${arrivals} times` };
  const status = Number(/^HTTP\/1\.1 (\d{3})(?: |$)/.exec(answer.start)?.[1] ?? Number.NaN);
  if (Number.isNaN(status)) return { wrong: `no status line: ${answer.start.slice(0, 60)}` };
  const { expected } = request;
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

const NOTHING = Buffer.alloc(0);

/** A body that is cut cannot show where there is none. */
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
  if (gatewayErrorOf(answer, status, method)) return "gatewayError";
  if (status !== expected.status) return { wrong: `status ${status}; right is ${expected.status}` };
  if (method === "HEAD" || status === 304)
    return answer.body.length === 0 ? "right" : { wrong: "a body where there is none" };
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
  return answer.whole && isDetail(jsonOf(answer));
};

const jsonOf = ({ fields, body }: Message): unknown => {
  const coding = /\r\ncontent-encoding: (\w+)/i.exec(fields)?.[1]?.toLowerCase();
  try {
    const plain = coding === "gzip" ? gunzipSync(body) : coding === "br" ? brotliDecompressSync(body) : body;
    return JSON.parse(plain.toString()) as unknown;
  } catch {
    return undefined;
  }
};
