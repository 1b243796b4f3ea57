import type { Knowledge } from "../endpoint/endpoint.ts";
import type { Cache } from "../cache/cache.ts";
import type { LegacyClient } from "../legacy/client.ts";
import type { Meter } from "../meter.ts";
import type { Observer } from "../observe.ts";
import type { Keys } from "./keys.ts";
import type { ErrorTable } from "./legacyOutcome.ts";

/** What serving any endpoint needs. */
export type Machine = {
  client: LegacyClient;
  keys: Keys;
  errors: ErrorTable;
  knowledge: Knowledge;
  observer: Observer;
  meter: Meter;
  cache: Cache;
  /** The gateway's own key, for what legacy answers only with one. */
  serviceKey?: string;
  /** Milliseconds for one request, whatever it takes. */
  totalTimeout: number;
};
