import { hash, randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import { LRUCache } from "lru-cache";
import {
  type HttpExchange,
  openLogDestination,
  type RequestCaller,
  scrubAgent,
  truncate,
} from "../../src/operation/index.ts";
import type { Additions, Core } from "../../src/gateway/index.ts";
import { accessLogEvents } from "./events.ts";
import type { AccessLogSettings } from "./settings.ts";

/** Levels of lines, as pino numbers them. */
const [INFO, WARN, ERROR] = [30, 40, 50];

/** Milliseconds that a line may wait to be written with others: a separate write would cost more than the line. */
const LINE_DELAY = 50;

/** Characters of a path, of an agent and of a method that a line has at most. */
const MAX_PATH = 500;
const MAX_AGENT = 200;
const MAX_METHOD = 20;

/**
 * Agents and callers whose logged form is remembered: making it costs more than the rest of a line. Agents
 * beside a key are left out.
 */
const MAX_KNOWN = 1000;

/** Milliseconds until an answer begins, from which on its request is slow. */
const SLOW = 1000;

/** Parts that a test replaces: `fd`, where lines go; `slow`, milliseconds from which on a request is slow. */
export type AccessLogParts = { fd?: number; slow?: number | undefined };

/** Writes lines about requests, to the standard output by default. */
const open = (
  { meter, observer }: Pick<Core, "meter" | "observer">,
  settings: AccessLogSettings,
  { fd = 1, slow = SLOW }: AccessLogParts = {},
): { onExchange: Additions["onExchange"][number] } => {
  const { ACCESS_LOG: which } = settings;
  const onDropped = (lines: number) => observer.event("access_log_lines_dropped", { lines });
  const destination = openLogDestination(fd, onDropped, { delayMs: LINE_DELAY });
  meter.total(
    "access_log_lines_dropped_total",
    "Lines of the access log that were dropped because its reader was too slow.",
    () => destination.dropped(),
  );
  const secret = randomBytes(32).toString("hex");
  const agents = new LRUCache<string, string>({ max: MAX_KNOWN, memoMethod: (agent) => shownAgent(agent, []) });
  const callers = new LRUCache<string, string>({
    max: MAX_KNOWN,
    memoMethod: (caller) => hash("sha256", secret + caller, "hex").slice(0, 16),
  });

  /** `caller`: a hash of the id or, without a key, of the address, by a secret of this process. */
  const senderOf = ({ id, address, credential: { given } }: RequestCaller, agent: string | undefined) => ({
    caller: callers.memo(id ?? address),
    agent: agent && (given.length === 0 ? agents.memo(agent) : shownAgent(agent, given)),
  });

  /** The members of a line, in their order. Times are in milliseconds. */
  const recordOf = (exchange: HttpExchange, ms: number, response: ServerResponse | undefined) => {
    const { id, path, endpoint, status, bytes, upstreamCalls, upstreamMs, cache, isProxied } = exchange;
    const isAsked = upstreamCalls > 0;
    const isCut = response !== undefined && exchange.isDeferred && !response.writableFinished;
    const { caller } = exchange;
    const sender = response && caller && senderOf(caller, response.req.headers["user-agent"]);
    return {
      requestId: id,
      method: response && truncate(response.req.method ?? "", MAX_METHOD),
      path: path && truncate(path, MAX_PATH),
      endpoint,
      status,
      bytes,
      ms: rounded(ms),
      upstreamMs: isAsked ? rounded(upstreamMs) : undefined,
      upstreamCalls: isAsked ? upstreamCalls : undefined,
      cache,
      // Without a stage the endpoint is not migrated.
      stage: exchange.stage ?? (endpoint && "legacy"),
      backend: exchange.backend ?? (isProxied || cache === "hit" ? "legacy" : "gateway"),
      caller: sender?.caller,
      agent: sender?.agent,
      /** The gateway refused it before it looked anything up. */
      refused: exchange.isRefused || undefined,
      /** The connection ended before the whole answer was sent. */
      aborted: isCut || undefined,
    };
  };

  return {
    onExchange(exchange, response) {
      const ms = performance.now() - exchange.started;
      const isError = exchange.status >= 500 && !exchange.isRefused;
      const isSlow = (exchange.begunAfter ?? ms) >= slow;
      if (which !== "all" && !isError && !isSlow) return;
      const level = isError ? ERROR : isSlow ? WARN : INFO;
      const members = JSON.stringify(recordOf(exchange, ms, response)).slice(1);
      // The format of pino, which takes three times as long for so many members.
      destination.write(`{"level":${level},"time":"${new Date().toISOString()}","event":"request",${members}\n`);
    },
  };
};

const shownAgent = (agent: string, keys: readonly string[]): string => truncate(scrubAgent(agent, keys), MAX_AGENT);

/** To microseconds. */
const rounded = (ms: number): number => Math.round(ms * 1000) / 1000;

export const feature = { open, events: accessLogEvents };
