import { createRequire } from "node:module";
import type * as pino from "pino";
import { currentContext } from "./exchange.ts";
import { truncate } from "../secrets/truncate.ts";
import { coreEvents, type EventDefinition, type EventDefinitions, type EventLevel } from "./events.ts";
import { openLogDestination } from "./logDestination.ts";

/** Counts and logs the events that an operator should know of. Never give it a key or a body. */
export type Observer = {
  /**
   * Counts it, and logs it unless too many of that name were logged within the second. Its definition gives its level, unless `level`
   * does, and its `msg`; the line of an event of a request has the request's id and path.
   */
  event(name: string, about: { endpoint?: string; level?: EventLevel } & Record<string, unknown>): void;
  /** Logs what is of interest at `LOG_LEVEL=debug` only: neither counted nor limited in rate. */
  debug(name: string, about: Record<string, unknown>): void;
  /** Whether `debug` logs anything. */
  readonly isDebug: boolean;
  /** Adds the events of a feature to those that are known. */
  define(events: EventDefinitions): void;
  /** How often each event happened, by `name endpoint`. */
  counts(): Record<string, number>;
  /** Lines that were dropped because the reader of the log was too slow. */
  droppedLines(): number;
};

/** Events that are too frequent to log each: only the first of each kind is logged. */
const quiet = new Set(["unknown_field"]);
/** The definition of an event that has none. */
const undefinedEvent: EventDefinition = { level: "warn", msg: "Something happened that should be looked at." };
const MAX_KINDS = 1000;

/** Characters of a request's path in a line. */
const MAX_PATH = 200;

/** Most lines of one event's name within a second; one line afterwards says how many more there were. */
const MAX_LINES = 10;
const SECOND = 1000;

/** Logs JSON lines of at least this `level` to the file descriptor `fd` (default: the standard error), and counts events. */
export const openObserver = (level: string, fd = 2): Observer => {
  const destination = openLogDestination(fd, (lines) => write("log_lines_dropped", { lines }));
  const isDebug = level === "debug";
  let definitions = coreEvents;
  let logger: pino.Logger | undefined;
  const log = (): pino.Logger => (logger ??= openLogger(level, destination));
  const counted = new Map<string, number>();
  /** By event: the lines logged in this second, and those that were not. */
  const seconds = new Map<string, { logged: number; suppressed: number }>();

  const write = (name: string, about: Record<string, unknown>, given?: EventLevel): void => {
    const { level: byDefault, msg, isOfRequest } = definitions[name] ?? undefinedEvent;
    const exchange = isOfRequest ? currentContext()?.exchange : undefined;
    const path = exchange?.path;
    const request = exchange && {
      requestId: exchange.id,
      ...(path === undefined ? {} : { path: truncate(path, MAX_PATH) }),
    };
    log()[given ?? byDefault]({ event: name, ...about, ...request }, msg);
  };

  const isToBeLogged = (name: string): boolean => {
    const second = seconds.get(name);
    if (second !== undefined) {
      if (second.logged++ < MAX_LINES) return true;
      second.suppressed++;
      return false;
    }
    const begun = { logged: 1, suppressed: 0 };
    seconds.set(name, begun);
    setTimeout(() => {
      seconds.delete(name);
      const { suppressed } = begun;
      if (suppressed > 0) write(name, { suppressed });
    }, SECOND).unref();
    return true;
  };

  return {
    isDebug,
    define: (events) => void (definitions = { ...definitions, ...events }),
    debug(name, about) {
      if (isDebug) write(name, about);
    },
    event(name, { level: given, ...about }) {
      const field = quiet.has(name) ? String(about["field"]) : "";
      const kind = [name, about.endpoint, field].filter(Boolean).join(" ");
      const count = (counted.get(kind) ?? 0) + 1;
      // Fields are named outside: past the bound new ones are neither kept nor logged.
      if (field !== "" && count === 1 && counted.size >= MAX_KINDS) return;
      counted.set(kind, count);
      if ((count > 1 && field !== "") || !isToBeLogged(name)) return;
      write(name, { ...shortened(about), count }, given);
    },
    counts: () => Object.fromEntries(counted),
    droppedLines: () => destination.dropped(),
  };
};

/** Loads the logger with the first line: most starts have none to write. */
const openLogger = (level: string, destination: pino.DestinationStream): pino.Logger => {
  const { pino: open, stdTimeFunctions }: typeof pino = createRequire(import.meta.url)("pino");
  return open({ level, base: undefined, timestamp: stdTimeFunctions.isoTime }, destination);
};

/** Characters of a text, and entries of a list, that one line takes. */
const MAX_TEXT = 2000;
const MAX_ENTRIES = 20;

const shortened = (about: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(about).map(([name, value]) => [name, short(value)]));

const short = (value: unknown): unknown => {
  if (typeof value === "string") return truncate(value, MAX_TEXT);
  return Array.isArray(value) ? value.slice(0, MAX_ENTRIES).map(short) : value;
};
