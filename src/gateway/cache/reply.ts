import type { CacheStatus } from "../../operation/telemetry/meter.ts";
import { acceptedCodings } from "./compression.ts";
import type { Coding, Entry, Representation } from "./entry.ts";
import type { Answer } from "../../catalogue/endpoint/answer.ts";
import { isAscii } from "node:buffer";
import { hash } from "node:crypto";

/** The parts of a request that decide how an answer is written. */
type ReplyRequest = {
  method: string;
  acceptEncoding: string | undefined;
  ifNoneMatch: string | undefined;
  /** It came with a key, or another caller may be answered by another backend: no shared cache may reuse the answer. */
  keyed: boolean;
  /** The names and values of its CORS headers, flat. */
  cors: readonly string[];
  /** The value of `Gateway-Decision`, where that is not the default. */
  decision?: string | undefined;
  /** How it wants errors written, other than as they are. */
  errorFormat?: { type: string; bytes: (status: number, body: Buffer) => Buffer } | undefined;
};

/** Status, flat names and values, bytes or ASCII: what `writeHead` and `end` take. */
export type Reply = { status: number; headers: string[]; body: Buffer | string | undefined };

/** Bytes of an answer that is written as text where it is ASCII: it then leaves in one write with its header. */
const MAX_TEXT = 16 * 1024;

/** An answer and how it came about. */
export type Answered = {
  how: CacheStatus;
  representation: Representation;
  /** The same representation, where it may be stored. */
  entry?: Entry;
  /** Another answer to the same request may be stored. */
  cacheable?: true;
  headers?: readonly string[];
  /** Milliseconds that the backend took, and that the whole request took. */
  upstream?: number;
  took?: number;
};

const CACHE_NAME = "catalog-gateway";

/** `catalog-gateway; hit; ttl=599`; `ttl` in seconds, negative for a stale entry. */
const formatCacheStatus = ({ hit, fwd, collapsed, stored, detail }: CacheStatus, ttl: number | undefined): string => {
  let text = CACHE_NAME;
  if (hit) text += "; hit";
  if (fwd !== undefined) text += `; fwd=${fwd}`;
  if (stored) text += "; stored";
  if (collapsed) text += "; collapsed";
  if (ttl !== undefined) text += `; ttl=${ttl}`;
  if (detail !== undefined) text += `; detail=${detail}`;
  return text;
};

const VARY = "Accept-Encoding, Authorization, X-API-Key";
/** Errors are written as the client accepts them. */
const VARY_OF_ERRORS = `Accept, ${VARY}`;
/** The decision while no endpoint is migrated. */
const DEFAULT_DECISION = "stage=legacy; backend=legacy; reason=stage";

/** Moments have fractions of milliseconds, whose differences are not exact: 59999.999 ms are a minute. */
const seconds = (ms: number): number => Math.floor(Math.round(ms) / 1000);

/** `public` with its lifetimes for an answer that every caller may see (RFC 9111, RFC 5861). */
const cacheControl = ({ owner, lifetimes, freshUntil, storedAt }: Entry, keyed: boolean): string => {
  if (keyed || owner !== undefined) return "private, no-cache";
  const stale =
    lifetimes.staleWhileRevalidate > 0 ? `, stale-while-revalidate=${seconds(lifetimes.staleWhileRevalidate)}` : "";
  const ifError = lifetimes.staleIfError > 0 ? `, stale-if-error=${seconds(lifetimes.staleIfError)}` : "";
  return `public, max-age=${seconds(Math.max(0, freshUntil - storedAt))}${stale}${ifError}`;
};

/** Cache-Groups is a list of strings (RFC 9875, RFC 9651). */
export const groupList = (groups: readonly string[]): string => groups.map((group) => `"${group}"`).join(", ");

const flat = (headers: Record<string, string> = {}): string[] => Object.entries(headers).flat();

/** Whether an `If-None-Match` has this validator. It compares weakly, and with the tag of every coding: they all stand for the same content. */
export const matchesTag = (ifNoneMatch: string, tag: string): boolean =>
  ifNoneMatch.trim() === "*" ||
  [...ifNoneMatch.matchAll(/"([^"]*)"/g)].some(([, given = ""]) => given.replace(/-(br|gzip)$/, "") === tag);

/** Only these have a validator: `If-None-Match` would stop another method from being carried out (RFC 9110 13.1.2). */
const isRead = (method: string): boolean => method === "GET" || method === "HEAD";

const serverTiming = ({ how, upstream, took }: Answered): string =>
  [
    `cache;desc=${how.hit ? "hit" : how.fwd === undefined ? "none" : "miss"}`,
    ...(upstream === undefined ? [] : [`upstream;dur=${upstream.toFixed(1)}`]),
    ...(took === undefined ? [] : [`total;dur=${took.toFixed(1)}`]),
  ].join(", ");

const chosen = ({ coded }: Representation, accepted: readonly Coding[]): Coding | undefined => {
  for (const coding of accepted) if (coded[coding]) return coding;
  return undefined;
};

/** Has the client's preferred coding made for later requests, where the entry is not in it yet. */
const requestCoding = ({ coded, codingState, onCodingWanted }: Entry, accepted: readonly Coding[]): void => {
  const preferred = accepted.find((coding) => codingState?.[coding] !== "useless");
  if (preferred !== undefined && !coded[preferred]) onCodingWanted?.(preferred);
};

/** All headers but those of the connection. `length`: bytes of the body, `undefined` for a 304. */
const headersOf = (
  answered: Answered,
  { method, keyed, cors, decision, errorFormat }: ReplyRequest,
  coding: Coding | undefined,
  length: number | undefined,
  now: number,
): string[] => {
  const { entry } = answered;
  const { tag, status, headers } = answered.representation;
  const isError = status >= 400;
  const type = (isError && errorFormat?.type) || "application/json";
  const list = length === undefined ? [] : ["Content-Type", type, "Content-Length", String(length)];
  if (coding !== undefined && length !== undefined) list.push("Content-Encoding", coding);
  if (status === 200 && tag !== "" && isRead(method))
    list.push("ETag", `"${tag}${coding === undefined ? "" : `-${coding}`}"`);
  if (entry) {
    list.push("Cache-Control", cacheControl(entry, keyed), "Vary", isError ? VARY_OF_ERRORS : VARY);
    if (answered.how.hit || answered.how.detail === "stale-if-error")
      list.push("Age", String(Math.max(0, seconds(now - entry.storedAt))));
    if (entry.groups.length > 0) list.push("Cache-Groups", groupList(entry.groups));
  } else {
    list.push("Cache-Control", keyed ? "private, no-store" : "no-store");
    if (isError) list.push("Vary", VARY_OF_ERRORS);
    else if (answered.cacheable) list.push("Vary", VARY);
  }
  list.push("Cache-Status", formatCacheStatus(answered.how, entry && seconds(entry.freshUntil - now)));
  list.push("Server-Timing", serverTiming(answered), "Gateway-Decision", decision ?? DEFAULT_DECISION);
  list.push(...flat(headers), ...(answered.headers ?? []), ...cors);
  return list;
};

/** The status of a plain hit; replies compare with this very object. */
export const HIT: CacheStatus = { hit: true };

/** Entries whose replies are kept for the rest of a second, each with at most 60 KiB of headers and text. */
const MAX_KEPT = 256;

type KeptReplies = { cors: readonly string[]; replies: (Reply | undefined)[] };

/** Replies to hits of this second, in which they stay the same; the next one begins with none. An entry that is evicted is not held. */
let kept = { second: 0, entries: 0, replies: new WeakMap<Entry, KeptReplies>() };

const keptFor = (entry: Entry, cors: readonly string[], now: number): KeptReplies["replies"] => {
  const second = seconds(now);
  if (kept.second !== second) kept = { second, entries: 0, replies: new WeakMap() };
  const known = kept.replies.get(entry);
  if (known?.cors === cors) return known.replies;
  const replies: KeptReplies["replies"] = [];
  if (known !== undefined || kept.entries++ < MAX_KEPT) kept.replies.set(entry, { cors, replies });
  return replies;
};

/** Writes an answer for one client: coding, validators, 304 where the client has it. A hit may have it compressed for later ones. */
export const replyWith = (answered: Answered, request: ReplyRequest, now: number): Reply => {
  const { representation, entry } = answered;
  const accepted = acceptedCodings(request.acceptEncoding);
  const isUnmodified = holdsAlready(representation, request);
  const coding =
    (isUnmodified ? heldCoding(representation, request, accepted) : undefined) ?? chosen(representation, accepted);
  const hit = answered.how === HIT ? entry : undefined;
  // The miss was the first request, a hit is at least the second: from here on compression pays off.
  if (hit !== undefined && !isUnmodified) requestCoding(hit, accepted);
  if (hit === undefined || answered.took !== undefined) return write(answered, request, coding, isUnmodified, now);
  const place =
    (coding === undefined ? 0 : coding === "br" ? 1 : 2) * 8 +
    (isUnmodified ? 4 : 0) +
    (request.keyed ? 2 : 0) +
    (request.method === "HEAD" ? 1 : 0);
  return (keptFor(hit, request.cors, now)[place] ??= write(answered, request, coding, isUnmodified, now));
};

/** Whether the client has this representation, in whatever coding. */
const holdsAlready = ({ status, tag }: Representation, { method, ifNoneMatch }: ReplyRequest): boolean =>
  ifNoneMatch !== undefined && isRead(method) && status === 200 && tag !== "" && matchesTag(ifNoneMatch, tag);

/** A cache updates what it has by a tag that is the same, coding included (RFC 9111, section 4.3.4). */
const heldCoding = ({ tag }: Representation, { ifNoneMatch }: ReplyRequest, accepted: readonly Coding[]) =>
  accepted.find((one) => ifNoneMatch?.includes(`"${tag}-${one}"`));

const write = (
  answered: Answered,
  request: ReplyRequest,
  coding: Coding | undefined,
  isUnmodified: boolean,
  now: number,
): Reply => {
  const { status, body, coded } = answered.representation;
  if (isUnmodified)
    return { status: 304, headers: headersOf(answered, request, coding, undefined, now), body: undefined };
  const errorBytes = status >= 400 ? request.errorFormat?.bytes(status, body) : undefined;
  const bytes = errorBytes ?? (coding && coded[coding]) ?? body;
  const isText = bytes.length <= MAX_TEXT && isAscii(bytes);
  return {
    status,
    headers: headersOf(answered, request, errorBytes ? undefined : coding, bytes.length, now),
    body: request.method === "HEAD" ? undefined : isText ? bytes.toString("latin1") : bytes,
  };
};

/** The bytes of a text, alone in their block of memory; a buffer is returned as it is. */
export const bytesOf = (text: string | Buffer): Buffer => {
  if (typeof text !== "string") return text;
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
};

/** The representation of an answer that is not stored: it needs no tag. */
export const untagged = ({ status, body, headers }: Answer): Representation => ({
  status,
  body: bytesOf(body),
  coded: {},
  tag: "",
  ...(headers ? { headers } : {}),
});

/** The representation of an answer that may be stored: with its tag, in no coding yet. */
export const tagged = (content: Answer): Representation => {
  const plain = untagged(content);
  return { ...plain, tag: content.tag ?? tagOf(plain.body) };
};

/** The strong validator of these bytes: 22 characters of a SHA-256. */
export const tagOf = (bytes: Buffer): string => hash("sha256", bytes, "base64url").slice(0, 22);
