import type { Json } from "../../src/catalogue/index.ts";
import type { Caller } from "../../src/gateway/index.ts";

type KeyFound = { ok: boolean; found: string };

/** Inputs of an endpoint, by name. */
export type Examples = Record<string, Record<string, Json>>;

/** The tools for a feature's part of `--check`. */
export type CheckReport = {
  /** Sends the gateway a request for a path below its prefix, bypassing the cache. */
  ask: (target: string) => Promise<Response>;
  /**
   * Inputs of each endpoint that this legacy server knows, as far as they could be found; empty while legacy does not
   * answer.
   */
  examples: Map<string, Examples>;
  /** Prints a line; `ok: false` makes the check fail. `advice`: the next step then, for the summary. */
  row: (ok: boolean, name: string, found: string, advice?: string) => void;
  /** Prints a line that never makes the check fail. */
  note: (name: string, found: string) => void;
  /** Verifies a key with legacy (`writes`: for writing), and prints the refusal or the result of `accepted`. */
  keyRow: (
    name: string,
    key: string,
    writes: boolean,
    accepted: (caller: Caller & { key: string }) => KeyFound | Promise<KeyFound>,
  ) => Promise<void>;
  /** Ledger entries that have ended, or that allow nothing, are failures. */
  strict: boolean;
};
