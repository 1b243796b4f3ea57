import type { Program } from "../../support/program.ts";
import type { Random } from "./random.ts";
import type { HttpUpstream, RawUpstream, UpstreamListener } from "./upstreams.ts";
import type { Socket } from "node:net";

/** One thing that must hold: what was measured, and its bound, with their units. */
export type Check = { what: string; measured: string; bound: string; holds: boolean };

/** One kind of abuse. It runs against its own gateways and judges itself: it has passed if all checks hold. */
export type Attack = {
  /** Its name for `--only`. */
  name: string;
  /** One sentence: what the attacker does. */
  what: string;
  run: (context: Context) => Promise<Check[]>;
};

/** The tools of an attack. All that they open is closed when the attack ends, also by an error. */
export type Context = {
  seed: number;
  /** How many requests the fuzz sends. */
  requests: number;
  random: Random;
  /** Starts the real program with these settings. */
  startGateway: (settings: Record<string, string>) => Promise<Program>;
  openUpstream: (listener: UpstreamListener) => Promise<HttpUpstream>;
  openRawUpstream: (answer: (socket: Socket, request: string) => void) => Promise<RawUpstream>;
  /** Closes something else at the end. */
  onEnd: (close: () => unknown) => void;
  /** Says how far the attack has come. */
  progress: (text: string) => void;
};

/** `measured` must be at most `bound`. */
export const atMost = (what: string, measured: number, bound: number, unit = ""): Check => ({
  what,
  measured: shown(measured, unit),
  bound: `at most ${shown(bound, unit)}`,
  holds: measured <= bound,
});

/** None of these may be there; the check shows the first of them. */
export const none = (what: string, examples: readonly string[], count = examples.length): Check => ({
  ...atMost(what, count, 0),
  measured: [String(count), ...examples.slice(0, 20)].join("\n  "),
});

/** All cases must hold. The check names those that do not. */
export const allHold = (what: string, cases: readonly { name: string; holds: boolean }[]): Check => {
  const failed = cases.filter(({ holds }) => !holds).map(({ name }) => name);
  const named = failed.length === 0 ? "" : `: not ${failed.slice(0, 8).join("; ")}${failed.length > 8 ? "; ..." : ""}`;
  return {
    what,
    measured: `${cases.length - failed.length}${named}`,
    bound: `all ${cases.length}`,
    holds: failed.length === 0,
  };
};

export const holds = (what: string, measured: string, bound: string, isSo: boolean): Check => ({
  what,
  measured,
  bound,
  holds: isSo,
});

const shown = (value: number, unit: string): string =>
  `${Number.isInteger(value) ? value : value.toFixed(1)}${unit === "" ? "" : ` ${unit}`}`;
