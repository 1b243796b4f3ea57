import type { IncomingMessage, ServerResponse } from "node:http";
import { type HttpExchange, keysOf } from "../../http/exchange.ts";
import { scrubAgent } from "../../scrub/requestTarget.ts";
import { truncate } from "../../scrub/truncate.ts";
import { clientAddress } from "../../upstream/forwarding.ts";
import { openCallerHash } from "./caller.ts";

/** Characters of a path, of an agent and of a method that a line has at most. */
const MAX_PATH = 500;
const MAX_AGENT = 200;
const MAX_METHOD = 20;

/** Agents whose shown form is remembered: it costs more than the rest of a line. Those of requests with a key are not. */
const MAX_AGENTS = 200;

/** What a line tells of one request, in the order of its members. Times are in milliseconds. */
export type AccessRecord = {
  requestId: string;
  method: string | undefined;
  path: string | undefined;
  endpoint: string | undefined;
  status: number;
  bytes: number;
  ms: number;
  upstreamMs: number | undefined;
  upstreamCalls: number | undefined;
  cache: string | undefined;
  stage: string | undefined;
  backend: string | undefined;
  caller: string | undefined;
  agent: string | undefined;
  /** It was refused before anything was looked up for it. */
  refused: true | undefined;
  /** The connection ended before the whole answer was sent. */
  aborted: true | undefined;
};

/** What a record is made with. `ownerOf`: the salted hash of a key. */
type RecordParts = {
  trusted: (address: string) => boolean;
  ownerOf: (key: string) => string;
  stageOf: (endpoint: string) => string;
};

/** Makes the record of an exchange that is over. */
export const openRecords = ({ trusted, ownerOf, stageOf }: RecordParts) => {
  const hashOf = openCallerHash();
  const addressOf = ({ socket, headers }: IncomingMessage): string =>
    clientAddress(socket.remoteAddress, headers["x-forwarded-for"]?.toString(), trusted);

  const recordOf = (exchange: HttpExchange, ms: number, response?: ServerResponse): AccessRecord => {
    const { id, endpoint, status, bytes, upstreamCalls, isProxied, path } = exchange;
    const asked = upstreamCalls > 0;
    const isCut = response !== undefined && exchange.isDeferred && !response.writableFinished;
    return {
      requestId: id,
      method: truncated(response?.req.method, MAX_METHOD),
      path: truncated(path, MAX_PATH),
      endpoint,
      status,
      bytes,
      ms: rounded(ms),
      upstreamMs: asked ? rounded(exchange.upstreamMs) : undefined,
      upstreamCalls: asked ? upstreamCalls : undefined,
      cache: exchange.cache,
      stage: exchange.stage ?? (endpoint === undefined ? undefined : stageOf(endpoint)),
      backend: exchange.backend ?? (isProxied || exchange.cache === "hit" ? "legacy" : "gateway"),
      ...(response === undefined ? nobody : by(response.req, exchange.owner)),
      refused: exchange.isRefused || undefined,
      aborted: isCut || undefined,
    };
  };

  const by = (request: IncomingMessage, owner: string | undefined): Pick<AccessRecord, "caller" | "agent"> => {
    const { headers, url = "" } = request;
    const agent = headers["user-agent"];
    const keys = keysOf(url, headers);
    const [key] = keys;
    const caller = owner ?? (key === undefined ? addressOf(request) : ownerOf(key));
    return { caller: hashOf(caller), agent: agent && (keys.length === 0 ? shownAgent(agent) : shown(agent, keys)) };
  };

  const agents = new Map<string, string>();
  const shownAgent = (agent: string): string => {
    let text = agents.get(agent);
    if (text === undefined) {
      text = shown(agent, []);
      if (agents.size >= MAX_AGENTS) agents.clear();
      agents.set(agent, text);
    }
    return text;
  };

  return recordOf;
};

const shown = (agent: string, keys: readonly string[]): string => truncate(scrubAgent(agent, keys), MAX_AGENT);

const nobody = { caller: undefined, agent: undefined };

const truncated = (text: string | undefined, max: number): string | undefined => text && truncate(text, max);

/** To microseconds. */
const rounded = (ms: number): number => Math.round(ms * 1000) / 1000;
