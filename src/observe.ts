import { pino, type Logger } from "pino";

/** What happened that an operator should know of: counted by name and endpoint, and logged. Never a key, never a body. */
export type Observer = {
  event(name: string, about: { endpoint?: string } & Record<string, unknown>): void;
  /** How often each event happened, by `name endpoint`. */
  counts(): Record<string, number>;
  log: Logger;
};

/** Seen too often to be logged each time: only the first of each kind is. */
const quiet = new Set(["unknown_field"]);
const MOST_KINDS = 1000;

export const openObserver = (level: string): Observer => {
  const log = pino(
    { level, base: undefined, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ dest: 2, sync: true }),
  );
  const counted = new Map<string, number>();
  return {
    log,
    event(name, about) {
      const field = quiet.has(name) ? String(about["field"]) : "";
      const kind = [name, about.endpoint, field].filter(Boolean).join(" ");
      const count = (counted.get(kind) ?? 0) + 1;
      // Names come from outside: past the bound new ones are neither kept nor logged.
      if (count === 1 && counted.size >= MOST_KINDS) return;
      counted.set(kind, count);
      if (count === 1 || field === "") log.warn({ event: name, ...about, count });
    },
    counts: () => Object.fromEntries(counted),
  };
};
