import { BackendFailure, openBreaker } from "../upstream/breaker.ts";
import type { LegacyFailed, LegacyClient } from "./client.ts";

/** A failed call, on its way through the breaker. */
class LegacyFailure extends BackendFailure {
  readonly reply: LegacyFailed;
  constructor(reply: LegacyFailed) {
    super(reply.why);
    this.reply = reply;
    this.isUnconnected = reply.isUnconnected === true;
  }
}

const open: LegacyFailed = {
  failed: { kind: "unavailable", message: "The legacy interface fails; it is given time." },
  why: "the circuit is open",
  isUnsent: true,
};

/** The same client, but while legacy fails it is left alone for a few seconds, and its callers do not wait. */
export const guarded = (client: LegacyClient): LegacyClient => {
  const breaker = openBreaker();
  return async (request, form, caller, readXml) => {
    const question = `${request.method} ${request.path} ${new URLSearchParams(request.form).toString()}`;
    try {
      const asked = await breaker.execute({ request: question, caller }, async () => {
        const reply = await client(request, form, caller, readXml);
        if ("failed" in reply && reply.isItsFault) throw new LegacyFailure(reply);
        return reply;
      });
      return asked ?? open;
    } catch (error) {
      if (error instanceof LegacyFailure) return error.reply;
      throw error;
    }
  };
};
