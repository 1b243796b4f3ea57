import type { Cache } from "../cache/cache.ts";
import type { Knowledge } from "../endpoint/endpoint.ts";
import type { LegacyClient } from "../legacy/client.ts";
import type { ErrorTable } from "../legacy/reading.ts";
import type { Reader } from "../reading/reader.ts";
import type { Dependencies } from "../telemetry/dependencies.ts";
import type { Meter } from "../telemetry/meter.ts";
import type { Observer } from "../telemetry/observer.ts";
import type { Hooks } from "./feature.ts";
import type { Keys } from "./keys.ts";
import type { UnconfirmedWrites } from "./unconfirmedWrites.ts";

/** What answering any request needs. It is made once, and nothing is assigned to it afterwards. */
export type Services = {
  client: LegacyClient;
  reader: Reader;
  keys: Keys;
  unconfirmed: UnconfirmedWrites;
  errors: ErrorTable;
  knowledge: Knowledge;
  observer: Observer;
  meter: Meter;
  dependencies: Dependencies;
  cache: Cache;
  hooks: Hooks;
  /** The gateway's own key, for what legacy answers only with one. */
  serviceKey?: string;
  /** Milliseconds for one request, all of its requests to legacy together. */
  totalTimeout: number;
};
