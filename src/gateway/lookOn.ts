import type { Cache } from "../cache/cache.ts";
import type { LegacyWriteKnowledge } from "../endpoint/legacyWrites.ts";
import type { OldClients } from "../oldClients/oldClients.ts";
import type { PassThroughOptions } from "../passThrough/passThrough.ts";
import { passingWrite } from "./passingWrite.ts";
import { UNSETTLED } from "./serve.ts";

/** Looks on while requests pass through: who sends them, and what of the kept answers they outdate. */
export const lookOn =
  (passing: LegacyWriteKnowledge, cache: Cache, oldClients: OldClients): NonNullable<PassThroughOptions["watch"]> =>
  (method, target, req) => {
    const write = passingWrite(passing, method, target);
    // The key may stand in the body, which is looked at in these alone.
    if (write?.body === undefined) oldClients.seen(req, target);
    if (write === undefined) return undefined;
    return {
      chunk: write.chunk,
      over(answer) {
        if (write.body !== undefined) oldClients.seen(req, target, write.body());
        const groups = write.groups(answer);
        return groups.length === 0 ? undefined : cache.drop({ groups, ...(answer ? {} : { hold: UNSETTLED }) });
      },
    };
  };
