import { pino, stdTimeFunctions } from "pino";
import { contexts } from "./exchange.ts";
import { scrubRuns } from "../secrets/scrub.ts";
import { truncate } from "../secrets/truncate.ts";
import { coreEvents, type EventDefinition, type EventDefinitions, type EventLevel } from "./events.ts";
import { openLogDestination } from "./logDestination.ts";

/** Counts and logs the events that an operator should know. Never give it a key or a body. */
export type Observer = ReturnType<typeof openObserver>;

type EventMembers = { endpoint?: string; level?: EventLevel } & Record<string, unknown>;

/** An event that is too frequent to log: only the first of each field is logged. */
const QUIET = "unknown_field";
const undefinedEvent: EventDefinition = { level: "warn", msg: "Something happened that should be looked at." };
const MAX_KINDS = 1000;

/** The most characters of a request's path in a line. */
const MAX_PATH = 200;

/** The most lines of an event's name within a second; a line afterwards says how many more there were. */
const MAX_LINES = 10;
const SECOND = 1000;

/**
 * Logs JSON lines of at least this `level` to the file descriptor `fd` (default: the standard error), and counts
 * events. Neither throws: a report of trouble must not cause more trouble.
 */
export const openObserver = (level: string, fd = 2) => {
  const destination = openLogDestination(fd, (lines) => write("log_lines_dropped", { lines }));
  const isDebug = level === "debug";
  let definitions = coreEvents;
  const logger = pino({ level, base: undefined, timestamp: stdTimeFunctions.isoTime }, destination);
  let unwritten = 0;
  const counted = new Map<string, number>();
  const isToBeLogged = openLineLimit((name, members) => write(name, members));

  const write = (name: string, members: Record<string, unknown>, given?: EventLevel): void => {
    try {
      writeLine(name, members, given);
    } catch {
      // The log is the only place that could report this.
      unwritten++;
    }
  };

  const writeLine = (name: string, members: Record<string, unknown>, given?: EventLevel): void => {
    const { level: byDefault, msg, isOfRequest } = definitions[name] ?? undefinedEvent;
    const exchange = isOfRequest ? contexts.getStore()?.exchange : undefined;
    const path = exchange?.path;
    const request = exchange && {
      requestId: exchange.id,
      ...(path === undefined ? {} : { path: truncate(path, MAX_PATH) }),
    };
    logger[given ?? byDefault]({ event: name, ...shortened(members), ...request }, msg);
  };

  const listeners: ((name: string, endpoint: string | undefined) => void)[] = [];

  /** Counts an event. Returns its number so far. */
  const count = (kind: string): number => {
    const times = (counted.get(kind) ?? 0) + 1;
    counted.set(kind, times);
    return times;
  };

  return {
    /** True if `debug` logs anything. */
    isDebug,
    /** Adds the events of a feature to the known events. */
    define: (events: EventDefinitions): void => void (definitions = { ...definitions, ...events }),
    /** Logs details that are of interest only at `LOG_LEVEL=debug`: they are neither counted nor limited in rate. */
    debug(name: string, members: Record<string, unknown>): void {
      if (isDebug) write(name, members);
    },
    /**
     * Counts an event, and logs it unless too many of that name were logged within the second. Its definition gives its
     * level, unless `level` does, and its `msg`; the line of an event of a request has the request's id and path.
     */
    event(name: string, { level: given, ...members }: EventMembers): void {
      const field = name === QUIET ? String(members["field"]) : "";
      const kind = [name, members.endpoint, field].filter(Boolean).join(" ");
      // Backends choose the names of fields: beyond the bound new names are neither counted nor logged.
      if (field !== "" && !counted.has(kind) && counted.size >= MAX_KINDS) return;
      const times = count(kind);
      for (const listener of listeners) listener(name, members.endpoint);
      if ((times > 1 && field !== "") || !isToBeLogged(name, MAX_LINES)) return;
      write(name, { ...members, count: times }, given);
    },
    /**
     * Counts an error of the gateway itself as `internal_error`, and logs it with its stack: one line a second for each
     * place that throws. `members`: further members of the line. It may be passed as a function.
     */
    fault(this: void, error: unknown, members: Record<string, unknown> = {}): void {
      const times = count(FAULT);
      const stack = stackOf(error);
      const place = placeOf(stack);
      if (isToBeLogged(FAULT, 1, place)) write(FAULT, { error: stack, place, ...members, count: times });
    },
    /** Calls the listener with each event, logged or not. */
    onEvent: (listener: (name: string, endpoint: string | undefined) => void): void => void listeners.push(listener),
    /** The number of events, by `name endpoint`. */
    counts: (): Record<string, number> => Object.fromEntries(counted),
    /** Lines that were dropped because the reader of the log was too slow, or that could not be written. */
    droppedLines: (): number => destination.dropped() + unwritten,
  };
};

/**
 * Opens the limit on lines: says if another line of an event may be logged in this second. `place`: the place of the
 * event, if each place has its own limit. After the second `write` logs how many lines were suppressed.
 */
const openLineLimit = (write: (name: string, members: Record<string, unknown>) => void) => {
  const seconds = new Map<string, { logged: number; suppressed: number }>();
  return (name: string, most: number, place?: string): boolean => {
    const kind = place === undefined ? name : `${name} ${place}`;
    const second = seconds.get(kind);
    if (second !== undefined) {
      if (second.logged++ < most) return true;
      second.suppressed++;
      return false;
    }
    const begun = { logged: 1, suppressed: 0 };
    seconds.set(kind, begun);
    setTimeout(() => {
      seconds.delete(kind);
      const { suppressed } = begun;
      // The suppressed events belong to other requests than the first.
      if (suppressed > 0)
        contexts.run(undefined, write, name, { suppressed, ...(place === undefined ? {} : { place }) });
    }, SECOND).unref();
    return true;
  };
};

/** The event of a fault. */
const FAULT = "internal_error";

/** The stack of an error, without the parts of its message that may be a key. */
const stackOf = (error: unknown): string => {
  let stack: unknown;
  try {
    stack = error instanceof Error ? error.stack : undefined;
  } catch {
    // A getter may throw.
  }
  if (typeof stack !== "string") return "What was thrown has no stack that can be read.";
  const end = stack.indexOf(FRAME);
  return end === -1 ? scrubRuns(stack) : scrubRuns(stack.slice(0, end)) + stack.slice(end);
};

const FRAME = "\n    at ";

/** The beginning of a place in a stack: the folders above `src`, above the packages, or above the others with code. */
const BEFORE_PLACE = /^.*\/(?:src|node_modules)\/|^.*\/(?=(?:transforms|libraries|features|tools)\/)/;

/** The place at which an error was thrown, by its stack: the first file that is not Node's, with line and column. */
const placeOf = (stack: string): string => {
  const frame = stack.split(FRAME).find((line, at) => at > 0 && !line.includes("node:")) ?? "unknown";
  return truncate(frame.replace(BEFORE_PLACE, "").replace(/\)$/, ""), MAX_PATH);
};

/** The most characters of a text, and entries of a list, in a line. */
const MAX_TEXT = 2000;
const MAX_ENTRIES = 20;

const shortened = (members: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, short(value)]));

const short = (value: unknown): unknown => {
  if (typeof value === "string") return truncate(value, MAX_TEXT);
  return Array.isArray(value) ? value.slice(0, MAX_ENTRIES).map(short) : value;
};
