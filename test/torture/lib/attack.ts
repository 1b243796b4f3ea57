import type { Socket } from "node:net";
import { type Program, startProgram } from "../../support/program.ts";
import { openRandom, scrambled } from "./random.ts";
import { openRawUpstream, openUpstream, type UpstreamListener } from "./upstreams.ts";

/** A condition that must hold: the measured value and its bound, with their units. */
export type Check = { what: string; measured: string; bound: string; holds: boolean };

/** One kind of abuse. It runs against its own gateways and judges itself: it has passed if all checks hold. */
export type Attack = {
  /** Its name for `--only`. */
  name: string;
  /** One sentence: what the attacker does. */
  what: string;
  run: (context: Context) => Promise<Check[]>;
};

/** `requests`: how many each fuzz sends. */
type RunOptions = { seed: number; requests: number };

/** The tools of an attack. `close` closes all that it has opened. */
const openContext = (name: string, { seed, requests }: RunOptions) => {
  const closers: (() => unknown)[] = [];
  const closing = <T>(opened: T, close: () => unknown): T => {
    closers.unshift(close);
    return opened;
  };
  const context = {
    seed,
    requests,
    random: openRandom(seed, scrambled(name)),
    /** Starts the real program with these settings. */
    startGateway: async (settings: Record<string, string>) => {
      // The prefix alone would lead to the documents, of which the model knows nothing.
      const program = await startProgram({ DOCUMENTS: "false", LOG_LEVEL: "error", ...settings });
      return closing(program, () => program.child.kill("SIGKILL"));
    },
    openUpstream: async (listener: UpstreamListener) => {
      const upstream = await openUpstream(listener);
      return closing(upstream, () => upstream.close());
    },
    openRawUpstream: async (answer: (socket: Socket, request: string) => void) => {
      const upstream = await openRawUpstream(answer);
      return closing(upstream, () => upstream.close());
    },
    /** Closes something else at the end. */
    onEnd: (close: () => unknown) => void closers.unshift(close),
  };
  return { context, close: () => closers.forEach((closer) => closer()) };
};

export type Context = ReturnType<typeof openContext>["context"];

/** Runs an attack and closes all that it opened. An attack that throws did not hold, and its check says why. */
export const runAttack = async (attack: Attack, options: RunOptions): Promise<Check[]> => {
  const { context, close } = openContext(attack.name, options);
  try {
    return await attack.run(context);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return [{ what: "the attack came to its end", measured: message, bound: "no exception", holds: false }];
  } finally {
    close();
  }
};

/** `measured` must be at most `bound`. */
export const atMost = (what: string, measured: number, bound: number, unit = ""): Check => ({
  what,
  measured: shown(measured, unit),
  bound: `at most ${shown(bound, unit)}`,
  holds: measured <= bound,
});

/** A check that there are no such examples; it shows the first of them. */
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

/** The gateway's process must not have ended. */
export const liveness = (gateway: Program): Check => {
  const isAlive = gateway.isAlive();
  return holds("the process", isAlive ? "alive" : `ended: ${gateway.output.error.slice(-500)}`, "alive", isAlive);
};

/** The gateway must have logged no error of its own. */
export const faultless = ({ output }: Program): Check =>
  none("errors of the gateway's own", output.error.match(/.*internal_error.*/g) ?? []);

const shown = (value: number, unit: string): string =>
  `${Number.isInteger(value) ? value : value.toFixed(1)}${unit === "" ? "" : ` ${unit}`}`;
