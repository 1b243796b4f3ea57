import { openByteBudget } from "../../src/concurrency/byteBudget.ts";
import type { ClientLimits } from "../../src/http/httpServer.ts";

/** Bounds that a test does not reach unless it means to. */
export const roomyLimits: ClientLimits = { sendTimeout: 20_000, memory: openByteBudget(2 ** 28), maxConnections: 1000 };
