import { type MappedTraffic, mapTraffic, type TrafficMapper } from "./mapTraffic.ts";

/** One URL as it is found in traffic, of either interface -> what asks the new interface for the same; or why nothing does. */
export const askOfUrl = (mapper: TrafficMapper, method: string, url: string, body?: string): MappedTraffic =>
  mapTraffic(mapper, { method, url, keys: [], ...(body === undefined ? {} : { body }) });
