import { Agent, type IncomingHttpHeaders } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import fc from "fast-check";
import type { Endpoint } from "../../../src/catalogue/endpoint/endpoint.ts";
import { endpoints } from "../../../transforms/index.ts";
import { ask } from "../../torture/lib/client.ts";
import { type ConformRequest, requestsFor } from "./requests.ts";
import { openSchemas, type Operation } from "./schemas.ts";

/** The requests, and the gateway that they go to. */
type ConformSettings = {
  /** The origin of a gateway in front of the sample legacy. */
  origin: string;
  /** The text of the document, and the prefix that it is about. */
  document: string;
  prefix: string;
  credentials: { known: readonly string[]; unknown: string };
  requests: number;
  seed: number;
};

/** One thing that the document does not say, with the first request that showed it and how many did. */
type Finding = { operation: string; what: string; request: string; count: number };

/** Answers by operation and status, and what the document does not say of them. */
type ConformResult = { sent: number; statuses: Record<string, Record<number, number>>; findings: Finding[] };

type Received = { status: number; headers: IncomingHttpHeaders; body: string };

/** Requests at a time, and requests of one operation that are generated at once. */
const CONCURRENCY = 16;
const BATCH = 40;
/** Milliseconds for one answer. */
const TIMEOUT = 20_000;

/** The paths without parameters, aliases included. */
const fixed = new Set(
  Object.values(endpoints)
    .flatMap(({ routes }: Endpoint) => routes.map((route) => route.replace(/^\w+ /, "").replace("/{...filters}", "")))
    .filter((path) => !path.includes("{")),
);

/** Headers that HTTP itself has for every message. */
const OF_HTTP = new Set(["connection", "content-length", "content-type", "date", "keep-alive", "transfer-encoding"]);

/** Errors that an operation names where it has them, and does not leave to its `default`. */
const NAMED = new Set([401, 403, 404, 409, 412, 415, 422, 429, 502, 503, 504]);

/**
 * Reasons for a 422 that no schema can say: an order, a field that was given twice, or a task
 * that legacy does not have.
 */
const BEYOND_SCHEMAS =
  /^(ensure the range goes from low to high|extra fields not permitted; the field was given before|there is no task [0-9]+$)/;

/**
 * Sends generated requests for every operation, and compares each answer with the document. Rejects where the
 * gateway cannot be reached.
 */
export const conform = async ({
  origin,
  document,
  prefix,
  credentials,
  requests,
  seed,
}: ConformSettings): Promise<ConformResult> => {
  const schemas = openSchemas(document);
  const { operations } = schemas.document;
  const port = Number(new URL(origin).port);
  const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY });
  const findings = new Map<string, Finding>();
  const statuses: ConformResult["statuses"] = {};
  let sent = 0;

  const check = async (operation: Operation, request: ConformRequest): Promise<void> => {
    const { method, target, headers, ...rest } = request;
    const answer = await ask(port, target, { ...rest, method, headers, limit: TIMEOUT, agent });
    if (answer.status === 0) throw new Error(`no answer to ${method} ${target} within ${TIMEOUT} ms`);
    const received = { ...answer, body: decoded(answer.body, answer.headers) };
    sent++;
    const { operationId } = operation;
    const counts = (statuses[operationId] ??= {});
    counts[received.status] = (counts[received.status] ?? 0) + 1;
    for (const what of differences(schemas, operation, request, received)) {
      const known = findings.get(operationId + what);
      if (known) known.count++;
      else
        findings.set(operationId + what, { operation: operationId, what, request: JSON.stringify(request), count: 1 });
    }
  };

  try {
    const arbitraries = operations.map((each) => [each, requestsFor(each, { prefix, fixed, credentials })] as const);
    const size = Math.min(BATCH, Math.ceil(requests / operations.length));
    for (let first = 0, turn = 0; first < requests; first += size, turn++) {
      const [operation, arbitrary] = arbitraries[turn % arbitraries.length] as (typeof arbitraries)[number];
      const numRuns = Math.min(size, requests - first);
      const batch = fc.sample(arbitrary, { numRuns, seed: (seed + turn) | 0 }).values();
      const work = async () => {
        for (const request of batch) await check(operation, request);
      };
      await Promise.all(Array.from({ length: CONCURRENCY }, work));
    }
  } finally {
    agent.destroy();
  }
  return { sent, statuses, findings: [...findings.values()] };
};

/** The ways in which an answer differs from the document. */
const differences = (
  { validate, errorsOf }: ReturnType<typeof openSchemas>,
  operation: Operation,
  { method, given }: ConformRequest,
  { status, headers, body }: Received,
): string[] => {
  const answer = operation.answers.get(status < 400 || NAMED.has(status) ? status : 0);
  if (answer === undefined) return [`undocumented status ${status}`];
  const found = Object.keys(headers)
    .filter((name) => !OF_HTTP.has(name) && answer.headers?.has(name) === false)
    .map((name) => `undocumented header ${name} of ${status}`);
  if (status === 304 || method === "HEAD") return body === "" ? found : [...found, `a body of ${status} to ${method}`];
  const type = headers["content-type"] ?? "no type";
  const media = answer.content[type];
  if (media === undefined) return [...found, `undocumented type ${type} of ${status}`];
  const value = parsed(body);
  if (!validate(media.schema, value)) {
    const [error] = errorsOf(media.schema, value) ?? [];
    return [
      ...found,
      `undocumented shape of ${status}: ${error?.instancePath.replaceAll(/\d+/g, "*")} ${error?.message}`,
    ];
  }
  const isValid = fits(operation, given, validate);
  if (isValid === false && status < 400) found.push(`${status} for an input that does not fit`);
  if (isValid === true && status === 422 && !isBeyondSchemas(value)) found.push(`422 for an input that fits`);
  return found;
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** True if path and body fit their schemas; `undefined` if that cannot be decided. */
const fits = (
  { parameters, body }: Operation,
  given: ConformRequest["given"],
  validate: ReturnType<typeof openSchemas>["validate"],
): boolean | undefined => {
  for (const [name, { schema }] of parameters) {
    if (name === "value") return undefined;
    const text = given.path[name] as string;
    if (!validate(schema, /^[+-]?[0-9]+$/.test(text) ? Number(text) : text) && !validate(schema, text)) return false;
  }
  if (body === undefined) return true;
  return "body" in given ? validate(body.schema, given.body) : undefined;
};

type InputErrors = { msg: string; loc: unknown[] }[];
type Coded = { code?: string; detail: string | object; errors?: InputErrors };

const isBeyondSchemas = (value: unknown): boolean => {
  const { code, detail, errors = detail } = value as Coded;
  // A refusal by legacy itself has a code.
  if (code !== undefined || (typeof errors === "object" && "code" in errors)) return true;
  return (
    Array.isArray(errors) &&
    (errors as InputErrors).every(({ msg, loc }) => BEYOND_SCHEMAS.test(msg) || loc[0] === "query")
  );
};

const decoded = (bytes: Buffer, { "content-encoding": coding }: IncomingHttpHeaders): string => {
  if (bytes.length === 0) return "";
  return (coding === "br" ? brotliDecompressSync(bytes) : coding === "gzip" ? gunzipSync(bytes) : bytes).toString();
};
