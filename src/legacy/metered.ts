import type { Meter } from "../telemetry/meter.ts";
import type { LegacyClient } from "./client.ts";

/** The same client, with every call counted and timed, for the operator and for who asked. */
export const metered =
  (client: LegacyClient, meter: Meter): LegacyClient =>
  async (request, form, caller, readXml) => {
    const started = performance.now();
    const reply = await client(request, form, caller, readXml);
    const took = performance.now() - started;
    meter.asked("failed" in reply, took);
    if (caller.spent) {
      caller.spent.calls++;
      caller.spent.ms += took;
    }
    return reply;
  };
