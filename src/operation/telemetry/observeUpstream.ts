import { shownTarget } from "./exchange.ts";
import type { Observer } from "./observer.ts";

/** A call to a backend: what was asked, and how it ended. `path` may hold a key, `ms` are milliseconds. */
type LoggedCall = { method: string; path: string; ms: number };

/** Logs each call at `LOG_LEVEL=debug`; `undefined` at other levels, so that calls cost nothing then. */
export const observeCalls = (observer: Observer, event: string): ((call: LoggedCall) => void) | undefined =>
  observer.isDebug
    ? ({ path, ms, ...call }) =>
        observer.debug(event, { ...call, asked: shownTarget(path), ms: Math.round(ms * 10) / 10 })
    : undefined;
