import type { Cache } from "../cache/cache.ts";
import type { LegacyWriteKnowledge } from "../endpoint/legacyWrites.ts";
import type { OldClients } from "../oldClients/oldClients.ts";
import type { PassThroughOptions } from "../passThrough/passThrough.ts";
import type { Watch } from "../passThrough/heldAnswer.ts";
import type { Feed } from "../privateRows/feed.ts";
import { passingWrite } from "./passingWrite.ts";
import { pathOf } from "./paths.ts";
import { UNSETTLED } from "./serve.ts";

/** Looks on while requests pass through: who sends them, and what of the kept answers they outdate. */
export const lookOn =
  (
    passing: LegacyWriteKnowledge,
    cache: Cache,
    oldClients: OldClients,
    feed?: Feed,
  ): NonNullable<PassThroughOptions["watch"]> =>
  (method, target, req) => {
    const write = passingWrite(passing, method, target);
    // The key may stand in the body, which is looked at in these alone.
    if (write?.body === undefined) oldClients.seen(req, target);
    if (write === undefined) return feed && readOn(feed, method, target);
    return {
      chunk: write.chunk,
      over(answer) {
        if (write.body !== undefined) oldClients.seen(req, target, write.body());
        const groups = write.groups(answer);
        if (groups.length === 0) return undefined;
        feed?.written(pathOf(target), [...groups, ...(write.named?.() ?? [])], answer);
        return cache.drop({ groups, ...(answer ? {} : { hold: UNSETTLED }) });
      },
    };
  };

/** What a reader of a single row is told of it. */
const readOn = (feed: Feed, method: string, target: string): Watch | undefined => {
  const id = feed.readBy(method, pathOf(target));
  return id === undefined
    ? undefined
    : {
        chunk: () => undefined,
        over(answer) {
          if (answer) feed.passed(id, answer);
          return undefined;
        },
      };
};
