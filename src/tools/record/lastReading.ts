import type { Endpoint } from "../../endpoint/endpoint.ts";
import { type LegacyReading, readLegacy } from "../../legacy/reading.ts";
import { xmlReaderFor } from "../../legacy/xml.ts";
import type { Exchange } from "./exchange.ts";

/** How the gateway reads what legacy answered last: that is what its own answer was made of. */
export const lastReading = (endpoint: Endpoint, legacy: readonly Exchange[]): LegacyReading | undefined => {
  const last = legacy.at(-1);
  return last && readLegacy(Buffer.from(last.response.body), xmlReaderFor(endpoint));
};
