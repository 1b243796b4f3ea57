import type { Knowledge } from "../endpoint/endpoint.ts";
import type { Cache } from "../cache/cache.ts";
import type { LegacyClient } from "../legacy/client.ts";
import type { Migration } from "../features/migration/migration.ts";
import type { ModernClient } from "../modern/client.ts";
import type { Meter } from "../telemetry/meter.ts";
import type { Observer } from "../telemetry/observer.ts";
import type { Reader } from "../reading/reader.ts";
import type { Keys } from "./keys.ts";
import type { UnconfirmedWrites } from "./unconfirmedWrites.ts";
import type { PrivateRows } from "../features/privateDatasets/privateRows.ts";
import type { ErrorTable } from "../legacy/reading.ts";

/** What serving any endpoint needs. */
export type Services = {
  client: LegacyClient;
  reader: Reader;
  keys: Keys;
  unconfirmed: UnconfirmedWrites;
  errors: ErrorTable;
  knowledge: Knowledge;
  observer: Observer;
  meter: Meter;
  cache: Cache;
  migration: Migration;
  /**
   * The new implementation, where there is one: the milliseconds it may take before legacy is asked instead, and the routes that the
   * operator has set for it, by endpoint.
   */
  modern?: { client: ModernClient; timeout: number; routes: Readonly<Record<string, string>> };
  /** Where both sides' interfaces begin, for commands that reproduce a difference. */
  addresses: { legacy: string; candidate: string };
  /** The gateway's own key, for what legacy answers only with one. */
  serviceKey?: string;
  /** Rows that legacy's list keeps from administrators, where they are looked for. */
  privateRows?: PrivateRows;
  /** Milliseconds for one request, whatever it takes. */
  totalTimeout: number;
};
