import { forbiddenRequests } from "./forbidden.ts";
import type { Random } from "../lib/random.ts";
import { MAX_ECHO, type EchoRequest, echoQuery } from "./echo.ts";
import { pickFault } from "./faults.ts";
import {
  type User,
  MAX_ID,
  datasetOf,
  datasetsFor,
  flowOf,
  keys,
  maySee,
  measures,
  setupParameters,
  studyOf,
} from "./model.ts";
import { legacyAnswer } from "./legacy.ts";
import type { ReadAnswer, RightAnswer, WellFormed } from "./oracle.ts";

/** The share of the proxied requests that ask for a fault of the upstream. */
const FAULTY_SHARE = 0.25;

type Parts = {
  method: string;
  target: string;
  fields?: string[];
  body?: Buffer;
  isChunked?: boolean;
  version?: string;
  host?: string;
};

const HOST = "front.example";

const bytesOf = ({ method, target, fields = [], body, isChunked = false, version = "1.1", host = HOST }: Parts) => {
  const framing =
    body === undefined ? [] : [isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${body.length}`];
  const head = `${[`${method} ${target} HTTP/${version}`, `Host: ${host}`, ...fields, ...framing].join("\r\n")}\r\n\r\n`;
  if (body === undefined) return Buffer.from(head, "latin1");
  if (!isChunked) return Buffer.concat([Buffer.from(head, "latin1"), body]);
  const half = body.length >> 1;
  const pieces = [body.subarray(0, half), body.subarray(half)].filter((piece) => piece.length > 0);
  const chunks = pieces.flatMap((piece) => [
    Buffer.from(`${piece.length.toString(16)}\r\n`),
    piece,
    Buffer.from("\r\n"),
  ]);
  return Buffer.concat([Buffer.from(head, "latin1"), ...chunks, Buffer.from("0\r\n\r\n")]);
};

/** A well-formed request. `nonce` is used by no other request of the run. */
export const pickRequest = (random: Random, nonce: string): WellFormed => {
  const kind = random.number();
  if (kind < 0.35) return echo(random, nonce);
  if (kind < 0.45) return oldRead(random);
  if (kind < 0.71) return dataset(random);
  if (kind < 0.77) return list(random);
  if (kind < 0.92) return document(random);
  if (kind < 0.95) return tag(random, nonce);
  return refusal(random);
};

/** A read that the cache may answer. */
export const pickRead = (random: Random): WellFormed => (random.chance(0.5) ? oldRead(random) : dataset(random));

/** Names of secrets with values that name others: removing secrets from texts yields new names. */
const SECRET_NAMES = [
  `/cookie:${";ab%3Dc".repeat(115)}`,
  `/Set-Cookie:a=${";session_hash:b".repeat(60)}`,
  `/api_key${"%253Dauthorization:bearer".repeat(40)}`,
  `/${"api_key/session_hash=".repeat(40)}`,
];
const PROXIED = [
  "/echo",
  "/echo",
  "/api/v1/json/data/61",
  "/api/v1/json/data/tag",
  "/api/v1/xml/study/5/attach",
  "/api/v1//json//data/edit",
  "/index.php/api/v1/json/data/7",
  "/a/../b/%2e%2e/%41%2F~",
  "/v1x/datasets",
  "//other.example/path",
  ...SECRET_NAMES,
];
const FIELDS = [
  "X-API-Key: aaaa0000000000000000000000000001",
  "Cache-Control: no-cache",
  "If-None-Match: *",
  "Accept-Encoding: br, gzip;q=0.5",
  "Range: bytes=0-1",
  "Connection: X-A, keep-alive",
  "Via: 1.1 somewhere",
  "X-Forwarded-For: 1.2.3.4",
  "Cookie: ci_session=abc",
  "User-Agent: fuzz",
  `X-Long: ${"a".repeat(300)}`,
];

/** Lines that change no answer, whether they are empty or come twice. */
const UNNOTICED = [
  "Accept: */*",
  "Accept-Encoding: gzip",
  "Cache-Control: no-cache",
  "Connection: keep-alive",
  "Content-Type: application/json",
  "Cookie: a=b",
  "Forwarded: for=192.0.2.1",
  "Origin: http://a.example",
  "Pragma: no-cache",
  "TE: trailers",
  "Traceparent: x",
  "User-Agent: fuzz",
  "Via: 1.1 somewhere",
  "X-A: b",
  "X-Forwarded-For: 192.0.2.1",
  "X-Forwarded-Proto: http",
  "X-Request-Id: given",
];

/** An empty header, a repeated one, or none; and an empty Host, or none. */
const oddities = (random: Random): { fields: string[]; host: string } => {
  const line = random.pick(UNNOTICED);
  const empty = line.slice(0, line.indexOf(":") + 1);
  const fields = random.chance(0.1) ? random.pick([[empty], [line, line], [empty, line], [line, empty]]) : [];
  return { fields, host: random.chance(0.05) ? "" : HOST };
};

const echo = (random: Random, nonce: string): WellFormed => {
  const hasBody = random.chance(0.35);
  const method = hasBody
    ? random.pick(["POST", "POST", "POST", "PUT", "PATCH", "DELETE", "QUERY", "GET"])
    : random.pick(["GET", "GET", "GET", "GET", "GET", "HEAD", "OPTIONS", "DELETE"]);
  const size = random.chance(0.01) ? random.integer(MAX_ECHO) : random.integer(1500);
  const wanted: EchoRequest = { nonce, fault: pickFault(random, FAULTY_SHARE), size };
  const sentTarget = `${random.pick(PROXIED)}?${echoQuery(wanted)}`;
  const isAbsolute = random.chance(0.03);
  const target = isAbsolute ? `http://${HOST}${sentTarget}` : sentTarget;
  const body = Buffer.alloc(random.chance(0.01) ? random.integer(150_000) : random.integer(400), nonce);
  const closes = random.chance(0.02);
  const { fields, host } = oddities(random);
  if (random.chance(0.4)) fields.push(random.pick(FIELDS));
  if (closes) fields.push("Connection: close");
  if (hasBody && random.chance(0.02)) fields.push("Expect: 100-continue");
  const sent = hasBody ? body : undefined;
  const bytes = bytesOf({ method, target, fields, body: sent, isChunked: random.chance(0.4), host });
  return {
    bytes,
    method,
    target,
    closes,
    nonce,
    expected: { echo: wanted, body: sent ?? Buffer.alloc(0), sentTarget },
  };
};

type Credential = { user: User | undefined; isRefused: boolean; fields: string[]; query: string };

const credential = (random: Random): Credential => {
  const kind = random.number();
  const none = { user: undefined, isRefused: false, fields: [], query: "" };
  if (kind < 0.6) return none;
  if (kind < 0.63) return { ...none, isRefused: true, query: `api_key=${keys.ann}&api_key=${keys.bob}` };
  if (kind < 0.66) return { ...none, isRefused: true, fields: ["X-API-Key: not a key"] };
  const who = kind < 0.7 ? "stranger" : kind < 0.85 ? "ann" : "bob";
  const key = keys[who];
  const by = random.integer(3);
  return {
    user: who === "stranger" ? undefined : who,
    isRefused: who === "stranger",
    fields: by === 0 ? [`X-API-Key: ${key}`] : by === 1 ? [`Authorization: Bearer ${key}`] : [],
    query: by === 2 ? `api_key=${key}` : "",
  };
};

const CACHE_FIELDS = [
  "Cache-Control: no-cache",
  "Cache-Control: no-store",
  "Cache-Control: max-age=0",
  "Cache-Control: only-if-cached",
  "Cache-Control: max-stale=1000",
  "Range: bytes=0-10",
];

type Read = { path: string; status: number; right?: RightAnswer; credential?: Credential };

/** A reading request to the new interface, with everything that must not change its answer. */
const reading = (random: Random, { path, status, right, credential: given }: Read): WellFormed => {
  const method = random.chance(0.08) ? "HEAD" : "GET";
  const { fields = [], query = "", isRefused = false, user } = given ?? {};
  const target = `${path}${random.chance(0.1) && !path.endsWith("/") ? "/" : ""}${query === "" ? "" : `?${query}`}`;
  const odd = oddities(random);
  const added = [...fields, ...odd.fields];
  if (random.chance(0.15)) added.push(random.pick(CACHE_FIELDS));
  if (random.chance(0.05)) added.push(`Accept-Encoding: ${random.pick(["gzip", "br", "gzip, br", "*;q=0"])}`);
  const isConditional = random.chance(0.04);
  if (isConditional) added.push("If-None-Match: *");
  const expectedStatus = isRefused ? 401 : isConditional && status === 200 ? 304 : status;
  const checked: RightAnswer = (answer) => {
    if (user !== undefined && /\r\ncache-control: [^\r]*public/i.test(answer.fields))
      return "an answer to a key that any cache may share";
    return expectedStatus === status ? right?.(answer) : undefined;
  };
  return {
    bytes: bytesOf({ method, target, fields: added, host: odd.host }),
    method,
    target,
    closes: false,
    expected: { status: expectedStatus, right: checked },
  };
};

/** A read of the legacy interface, which a gateway may answer from its cache. */
const oldRead = (random: Random): WellFormed => {
  const id = 1 + random.integer(random.chance(0.5) ? 60 : MAX_ID);
  const rest = random.pick([
    `data/${id}`,
    `data/${id}`,
    `data/list/limit/${1 + random.integer(20)}/offset/${random.integer(40)}`,
    `study/${100 + random.integer(400)}`,
    `setup/${100 + random.integer(400)}`,
    `flow/exists/flow.${random.integer(400)}/Version_1`,
    "evaluationmeasure/list",
  ]);
  const path = `/api/v1/${random.pick(["json/", "xml/", ""])}${rest}`;
  const who = random.chance(0.5) ? undefined : random.pick(["stranger", "ann", "bob"] as const);
  const target = who === undefined ? path : `${path}?api_key=${keys[who]}`;
  const method = random.chance(0.05) ? "HEAD" : "GET";
  const { fields, host } = oddities(random);
  if (random.chance(0.3))
    fields.push(random.pick([...CACHE_FIELDS, ...FIELDS.filter((field) => !field.startsWith("X-API-Key"))]));
  const publicAnswer = legacyAnswer(method, path, "");
  const own = legacyAnswer(method, target, "");
  // A caller with a key gets the public answer, if it is a 200.
  const legacy = who === undefined || publicAnswer.status !== 200 ? [own] : [own, publicAnswer];
  return {
    bytes: bytesOf({ method, target, fields, host }),
    method,
    target,
    closes: false,
    expected: { legacy, isKeyed: who !== undefined },
  };
};

const codeIs =
  (code: string): RightAnswer =>
  ({ json }) => {
    const { detail } = json as { detail: { code?: unknown } };
    return String(detail.code) === code ? undefined : `code ${String(detail.code)}; right is ${code}`;
  };

/** Each field must be this, as JSON. */
const fieldsAre =
  (fields: Record<string, unknown>): RightAnswer =>
  ({ json }) => {
    for (const [name, right] of Object.entries(fields)) {
      const given = JSON.stringify((json as Record<string, unknown>)[name]);
      if (given !== JSON.stringify(right)) return `${name} is ${given}; right is ${JSON.stringify(right)}`;
    }
    return undefined;
  };

const dataset = (random: Random): WellFormed => {
  // Some are asked for often, so that the cache has them, most seldom.
  const id = 1 + random.integer(random.chance(0.5) ? 60 : MAX_ID);
  const who = credential(random);
  const path = `/v1/datasets/${random.chance(0.05) ? "0" : ""}${id}`;
  const found = datasetOf(id);
  if (found === undefined) return reading(random, { path, status: 404, right: codeIs("111"), credential: who });
  if (!maySee(who.user, found)) return reading(random, { path, status: 403, right: codeIs("112"), credential: who });
  const { name, visibility } = found;
  const same = fieldsAre({
    id,
    name,
    visibility,
    format: "arff",
    citation: visibility === "public" ? "for all" : `for ${who.user}`,
  });
  const right = (answer: ReadAnswer) =>
    visibility === "private" && /\r\ncache-control: [^\r]*public/i.test(answer.fields)
      ? "a private dataset that any cache may share"
      : same(answer);
  return reading(random, { path, status: 200, right, credential: who });
};

const list = (random: Random): WellFormed => {
  const who = credential(random);
  const [limit, offset] = [1 + random.integer(20), random.integer(random.chance(0.9) ? 40 : MAX_ID)];
  const rows = datasetsFor(who.user).slice(offset, offset + limit);
  const path = `/v1/data/list/limit/${limit}/offset/${offset}`;
  if (rows.length === 0) return reading(random, { path, status: 404, right: codeIs("372"), credential: who });
  const right: RightAnswer = ({ json }) => {
    const given = Array.isArray(json) ? (json as { did?: unknown; name?: unknown }[]) : [];
    const isSame =
      given.length === rows.length &&
      given.every(({ did, name }, at) => did === rows[at]?.id && name === rows[at]?.name);
    return isSame
      ? undefined
      : `rows ${given.map(({ did }) => String(did)).join()}; right is ${rows.map(({ id }) => id).join()}`;
  };
  if (!random.chance(0.4)) return reading(random, { path, status: 200, right, credential: who });
  const body = Buffer.from(JSON.stringify(random.chance(0.5) ? { limit, offset } : { pagination: { limit, offset } }));
  const target = `/v1/datasets/list${who.query === "" ? "" : `?${who.query}`}`;
  const bytes = bytesOf({
    method: "POST",
    target,
    fields: [...who.fields, JSON_BODY],
    body,
    isChunked: random.chance(0.3),
  });
  const expected = who.isRefused ? { status: 401 } : { status: 200, right };
  return { bytes, method: "POST", target, closes: false, expected };
};
const JSON_BODY = "Content-Type: application/json";

/** A study, a setup, a flow or the evaluation measures. */
const document = (random: Random): WellFormed => {
  const kind = random.integer(4);
  const id = 100 + random.integer(400);
  if (kind === 0) {
    const path = `/v1/${random.pick(["studies", "study"])}/${id}`;
    const is = studyOf(id);
    if (is === "absent") return reading(random, { path, status: 404, right: codeIs("601") });
    if (is === "byTag") return reading(random, { path, status: 410 });
    return reading(random, { path, status: 200, right: fieldsAre({ id, name: `study ${id}`, task_ids: [id] }) });
  }
  if (kind === 1) {
    const path = `/v1/setup/${id}`;
    const count = setupParameters(id);
    if (count === undefined) return reading(random, { path, status: 404, right: codeIs("281") });
    const right: RightAnswer = ({ json }) => {
      const { setup_parameters: setup } = json as { setup_parameters?: { setup_id?: number; parameter?: unknown[] } };
      return setup?.setup_id === id && (setup.parameter?.length ?? 0) === count ? undefined : "another setup";
    };
    return reading(random, { path, status: 200, right });
  }
  if (kind === 2) {
    const path = `/v1/flow/exists/flow.${id}/Version_1`;
    const flowId = flowOf(id);
    if (flowId === undefined) return reading(random, { path, status: 404 });
    return reading(random, { path, status: 200, right: fieldsAre({ flow_id: flowId }) });
  }
  const right: RightAnswer = ({ json }) =>
    JSON.stringify(json) === JSON.stringify(measures) ? undefined : "other measures";
  return reading(random, { path: "/v1/evaluationmeasures/list", status: 200, right });
};

/** A write. Its tag is the nonce, so that the upstream's record shows how often it was sent. */
const tag = (random: Random, nonce: string): WellFormed => {
  const kind = random.pick(["data", "setup"]);
  const what = random.pick(["tag", "untag"]);
  // Odd ids that neither 13 nor 17 divides: public datasets.
  const id = random.pick([1, 2, 3, 5, 7, 9, 11, 15]);
  const target = `/v1/${kind === "data" ? "datasets" : "setup"}/${what}`;
  const body = Buffer.from(JSON.stringify({ [`${kind}_id`]: id, tag: nonce }));
  const key = random.pick([keys.ann, keys.bob]);
  const bytes = bytesOf({ method: "POST", target, fields: [JSON_BODY, `X-API-Key: ${key}`], body });
  const right = fieldsAre({ [`${kind}_${what}`]: { id, tag: ["always", nonce] } });
  return { bytes, method: "POST", target, closes: false, nonce, expected: { status: 200, right } };
};

/** A request that the gateway refuses itself. */
const refusal = (random: Random): WellFormed => {
  const [path, status] = random.pick([
    ["/v1/datasets/abc", 422],
    ["/v1/datasets/1.5", 422],
    ["/v1/datasets/0", 404],
    ["/v1/datasets/99999999999", 404],
    ["/v1/data/list/limit/0", 422],
    ["/v1/data/list/limit", 422],
    ["/v1/nowhere/at/all", 404],
    ["/v1/datasets", 404],
    ["/v1", 404],
    ...SECRET_NAMES.map((named) => [`/v1${named}`, 404] as const),
  ] as const);
  return reading(random, { path, status });
};

/** A complete request that must be refused, or its connection closed. */
export const pickForbidden = (random: Random, nonce: string): string =>
  random.pick(forbiddenRequests(`/echo?${echoQuery({ nonce, fault: "none", size: 10 })}`))[1];

/** A request that was sound, with some of its bytes replaced, removed or doubled. */
export const pickMangled = (random: Random, nonce: string): Buffer => {
  const bytes = Buffer.from(echo(random, nonce).bytes.subarray(0, 2000));
  const at = random.integer(bytes.length);
  const kind = random.integer(3);
  if (kind === 0) return bytes.subarray(0, at);
  if (kind === 1) return Buffer.concat([bytes.subarray(0, at), bytes.subarray(random.integer(bytes.length))]);
  for (let i = 0; i < 1 + bytes.length / 100; i++) bytes[random.integer(bytes.length)] = random.integer(256);
  return bytes;
};
