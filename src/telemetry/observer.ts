import { createRequire } from "node:module";
import type * as pino from "pino";
import { openLogDestination } from "./logDestination.ts";

/** Counts and logs the events that an operator should know of. Never give it a key or a body. */
export type Observer = {
  /** Counts it, and logs it unless too many of that name were logged within the second. */
  event(name: string, about: { endpoint?: string } & Record<string, unknown>): void;
  /** How often each event happened, by `name endpoint`. */
  counts(): Record<string, number>;
  /** Lines that were dropped because the reader of the log was too slow. */
  droppedLines(): number;
  /** Not limited in rate: use `event` for everything that a client can cause. */
  readonly log: pino.Logger;
};

/** Events that are too frequent to log each: only the first of each kind is logged. */
const quiet = new Set(["unknown_field"]);
/** Faults of our own. */
const faults = new Set(["internal_error"]);
const MAX_KINDS = 1000;

/** Most lines of one event's name within a second; one line afterwards says how many more there were. */
const MAX_LINES = 10;
const SECOND = 1000;

/** Logs JSON lines of at least this `level` to the file descriptor `fd` (default: the standard error), and counts events. */
export const openObserver = (level: string, fd = 2): Observer => {
  const destination = openLogDestination(fd, (lines) => log().warn({ event: "log_lines_dropped", lines }));
  let logger: pino.Logger | undefined;
  const log = (): pino.Logger => (logger ??= openLogger(level, destination));
  const counted = new Map<string, number>();
  /** What was logged of a name in this second, and what was not. */
  const seconds = new Map<string, { logged: number; suppressed: number }>();

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
      if (suppressed > 0) log().warn({ event: name, suppressed });
    }, SECOND).unref();
    return true;
  };

  return {
    get log() {
      return log();
    },
    event(name, about) {
      const field = quiet.has(name) ? String(about["field"]) : "";
      const kind = [name, about.endpoint, field].filter(Boolean).join(" ");
      const count = (counted.get(kind) ?? 0) + 1;
      // Fields are named outside: past the bound new ones are neither kept nor logged.
      if (field !== "" && count === 1 && counted.size >= MAX_KINDS) return;
      counted.set(kind, count);
      if ((count > 1 && field !== "") || !isToBeLogged(name)) return;
      log()[faults.has(name) ? "error" : "warn"]({ event: name, ...shortened(about), count });
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
  if (typeof value === "string" && value.length > MAX_TEXT) return `${value.slice(0, MAX_TEXT)}…`;
  return Array.isArray(value) ? value.slice(0, MAX_ENTRIES).map(short) : value;
};
