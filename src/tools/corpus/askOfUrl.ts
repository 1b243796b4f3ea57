import { askOfTraffic, type Mapped } from "./askOfTraffic.ts";
import type { Mapper } from "./mapper.ts";

/** One URL as it is found in traffic, of either interface -> what asks the new interface for the same; or why nothing does. */
export const askOfUrl = (mapper: Mapper, method: string, url: string, body?: string): Mapped =>
  askOfTraffic(mapper, { method, url, keys: [], ...(body === undefined ? {} : { body }) });
