import { isAscii } from "node:buffer";
import { isReadMethod } from "../../catalogue/index.ts";
import { acceptedCodings } from "./compression.ts";
import { bytesOf, type Coding, type Entry } from "./entry.ts";
import { HIT, legacyDecision, type Served } from "./served.ts";

// This file writes an answer for one client: its status, headers and bytes.

type ReplyRequest = {
  method: string;
  acceptEncoding: string | undefined;
  ifNoneMatch: string | undefined;
  /** The request has a key: no shared cache may reuse the answer. */
  keyed: boolean;
  /** The names and values of the CORS headers, flat. */
  cors: readonly string[];
  errorFormat?: { type: string; bytes: (status: number, body: Buffer) => Buffer } | undefined;
};

/** The arguments of `writeHead` and `end`: status, flat names and values, and the body as bytes or ASCII text. */
export type Reply = { status: number; headers: string[]; body: Buffer | string | undefined };

/** Bytes up to which an ASCII answer is written as text: Node then sends it in one write with its header. */
const MAX_TEXT = 16 * 1024;

/**
 * Writes an answer for one client: in a coding that it accepts, or as a 304 if it has the answer already. A hit starts
 * the compression from which later hits profit.
 */
export const replyWith = (
  served: Served,
  request: ReplyRequest,
  now: number,
  writeHeaders: WriteHeaders = headersOf,
): Reply => {
  const { answer, entry } = served;
  const accepted = acceptedCodings(request.acceptEncoding);
  const isUnmodified = entry !== undefined && holdsAlready(entry, request);
  // The miss was the first request, and a hit is at least the second: from now on compression pays off.
  if (served.how === HIT && entry !== undefined && !isUnmodified) requestCoding(entry, accepted);
  const coding = entry && codingFor(entry, accepted, isUnmodified ? request.ifNoneMatch : undefined);
  if (isUnmodified)
    return { status: 304, headers: writeHeaders(served, request, coding, undefined, now), body: undefined };
  const { status, body } = answer;
  const error = status >= 400 ? request.errorFormat?.bytes(status, bytesOf(body)) : undefined;
  const bytes = error ?? (coding && entry?.coded[coding]) ?? bytesOf(body);
  const isText = bytes.length <= MAX_TEXT && isAscii(bytes);
  return {
    status,
    headers: writeHeaders(served, request, error ? undefined : coding, bytes.length, now),
    body: request.method === "HEAD" ? undefined : isText ? bytes.toString("latin1") : bytes,
  };
};

/**
 * True if the client has this answer already, in any coding. Only reads have a validator: `If-None-Match` would stop
 * any other method from being performed (RFC 9110 13.1.2).
 */
const holdsAlready = ({ status, tag }: Entry, { method, ifNoneMatch }: ReplyRequest): boolean =>
  ifNoneMatch !== undefined && isReadMethod(method) && status === 200 && matchesTag(ifNoneMatch, tag);

/**
 * True if an `If-None-Match` has this validator. The comparison is weak, and includes the tag of every coding: all
 * codings stand for the same content.
 *
 * @example matchesTag('W/"x-br"', "x") // true
 */
export const matchesTag = (ifNoneMatch: string, tag: string): boolean =>
  ifNoneMatch.trim() === "*" ||
  [...ifNoneMatch.matchAll(/"([^"]*)"/g)].some(([, given = ""]) => given.replace(/-(br|gzip)$/, "") === tag);

/**
 * The coding that the client gets; `undefined`: no coding. `held`: the `If-None-Match` of a client that has the answer.
 * That client gets the coding that it has: a cache updates a stored response only if the tag is the same, and the tag
 * includes the coding (RFC 9111, section 4.3.4).
 */
const codingFor = ({ tag, coded }: Entry, accepted: readonly Coding[], held: string | undefined): Coding | undefined =>
  (held === undefined ? undefined : accepted.find((coding) => held.includes(etagOf({ tag }, coding)))) ??
  accepted.find((coding) => coded[coding]);

/** Starts the compression in the client's preferred coding, for later requests, unless the entry has that coding. */
const requestCoding = ({ coded, codingState, onCodingWanted }: Entry, accepted: readonly Coding[]): void => {
  const preferred = accepted.find((coding) => codingState?.[coding] !== "useless");
  if (preferred !== undefined && !coded[preferred]) onCodingWanted?.(preferred);
};

const VARY = "Accept-Encoding, Authorization, X-API-Key";
/** The format of an error depends on the client's `Accept`. */
const VARY_OF_ERRORS = `Accept, ${VARY}`;

/** Writes all headers except those of the connection. `length`: bytes of the body, `undefined` for a 304. */
export type WriteHeaders = (
  served: Served,
  request: ReplyRequest,
  coding: Coding | undefined,
  length: number | undefined,
  now: number,
) => string[];

/** The headers of the new interface. */
const headersOf: WriteHeaders = (served, { method, keyed, cors, errorFormat }, coding, length, now) => {
  const { entry, answer, how, headers = [], isDivided = false } = served;
  const isPrivate = keyed || isDivided;
  const isError = answer.status >= 400;
  const list = contentHeaders((isError && errorFormat?.type) || "application/json", coding, length);
  if (entry === undefined) {
    list.push("Cache-Control", isPrivate ? "private, no-store" : "no-store");
    if (isError || served.cacheable) list.push("Vary", isError ? VARY_OF_ERRORS : VARY);
  } else {
    if (answer.status === 200 && isReadMethod(method)) list.push("ETag", etagOf(entry, coding));
    list.push("Cache-Control", cacheControl(entry, isPrivate), "Vary", isError ? VARY_OF_ERRORS : VARY);
    if (how.hit || how.detail === "stale-if-error") list.push("Age", ageOf(entry, now));
    if (entry.groups.length > 0) list.push("Cache-Groups", groupList(entry.groups));
  }
  list.push("Cache-Status", cacheStatus(served, now), "Server-Timing", serverTiming(served));
  list.push("Gateway-Decision", decisionHeader(served));
  for (const [name, value] of Object.entries(answer.headers ?? {})) list.push(name, value);
  list.push(...headers, ...cors);
  return list;
};

/**
 * The headers that describe a body, flat: of all answers with a body that the gateway writes for clients. A header for
 * each answer, with or without a body, is added where `X-Request-Id` is (`http/httpServer.ts`). `type`: empty if legacy
 * named no type. `length`: in bytes, `undefined` for a 304.
 */
export const contentHeaders = (type: string, coding: string | undefined, length: number | undefined): string[] => {
  if (length === undefined) return [];
  const list = type === "" ? [] : ["Content-Type", type];
  list.push("Content-Length", String(length));
  if (coding !== undefined) list.push("Content-Encoding", coding);
  return list;
};

/** `"tag"`, or `"tag-br"` for the answer in a coding. */
export const etagOf = ({ tag }: { tag: string }, coding: Coding | undefined): string =>
  `"${tag}${coding === undefined ? "" : `-${coding}`}"`;

/** Seconds since the entry was stored. */
export const ageOf = ({ storedAt }: Entry, now: number): string => String(Math.max(0, seconds(now - storedAt)));

/** Times have fractions of milliseconds, so their differences are not exact: 59999.999 ms count as a minute. */
const seconds = (ms: number): number => Math.floor(Math.round(ms) / 1000);

/** `public` with the entry's lifetimes if every caller may see the answer, else `private` (RFC 9111, RFC 5861). */
const cacheControl = ({ owner, lifetimes, freshUntil, storedAt }: Entry, isPrivate: boolean): string => {
  if (isPrivate || owner !== undefined) return "private, no-cache";
  const { staleWhileRevalidate, staleIfError } = lifetimes;
  const stale = staleWhileRevalidate > 0 ? `, stale-while-revalidate=${seconds(staleWhileRevalidate)}` : "";
  const ifError = staleIfError > 0 ? `, stale-if-error=${seconds(staleIfError)}` : "";
  return `public, max-age=${seconds(Math.max(0, freshUntil - storedAt))}${stale}${ifError}`;
};

/** The value of `Cache-Groups`: a list of strings (RFC 9875, RFC 9651). */
export const groupList = (groups: readonly string[]): string => groups.map((group) => `"${group}"`).join(", ");

/** `catalog-gateway; hit; ttl=599`; `ttl` in seconds, negative for a stale entry (RFC 9211). */
export const cacheStatus = ({ how: { hit, fwd, collapsed, stored, detail }, entry }: Served, now: number): string => {
  let text = "catalog-gateway";
  if (hit) text += "; hit";
  if (fwd !== undefined) text += `; fwd=${fwd}`;
  if (stored) text += "; stored";
  if (collapsed) text += "; collapsed";
  if (entry !== undefined) text += `; ttl=${seconds(entry.freshUntil - now)}`;
  if (detail !== undefined) text += `; detail=${detail}`;
  return text;
};

const serverTiming = ({ how, upstream, took }: Served): string => {
  let text = `cache;desc=${how.hit ? "hit" : how.fwd === undefined ? "none" : "miss"}`;
  if (upstream !== undefined) text += `, upstream;dur=${upstream.toFixed(1)}`;
  if (took !== undefined) text += `, total;dur=${took.toFixed(1)}`;
  return text;
};

/**
 * `stage=canary; backend=modern; bucket=37; reason=share`, and `private=incomplete` if the list may lack rows that the
 * caller may see.
 */
export const decisionHeader = ({
  decision = legacyDecision,
  isIncomplete,
}: Pick<Served, "decision" | "isIncomplete">): string => {
  const { stage, backend, bucket, reason } = decision;
  const shared = bucket === undefined ? "" : `; bucket=${bucket}`;
  return `stage=${stage}; backend=${backend}${shared}; reason=${reason}${isIncomplete ? "; private=incomplete" : ""}`;
};
