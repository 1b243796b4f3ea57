import type { Json } from "../../src/catalogue/index.ts";
import type { Caller } from "../../src/gateway/index.ts";

type KeyFound = { ok: boolean; found: string };

/** Inputs of an endpoint, by name. */
export type Examples = Record<string, Record<string, Json>>;

/** What a feature's part of `--check` works with. */
export type CheckReport = {
  /** Asks the gateway for a path below its prefix, past the cache. */
  ask: (target: string) => Promise<Response>;
  /**
   * Inputs of each endpoint that this legacy server knows, where they could be found; none
   * while legacy does not answer.
   */
  examples: Map<string, Examples>;
  /** Prints a line; `ok: false` makes the check fail. `advice`: what to do then, for the summary. */
  row: (ok: boolean, name: string, found: string, advice?: string) => void;
  /** Prints a line that never makes the check fail. */
  note: (name: string, found: string) => void;
  /** Verifies a key with legacy (`writes`: for writing), and prints the refusal or what `accepted` finds. */
  keyRow: (
    name: string,
    key: string,
    writes: boolean,
    accepted: (caller: Caller & { key: string }) => KeyFound | Promise<KeyFound>,
  ) => Promise<void>;
  /** Entries of a ledger that have ended, or that allow nothing, are failures. */
  strict: boolean;
};
