import { pathOf } from "../catalogue/index.ts";
import type { App } from "./answer/app.ts";
import type { Additions } from "./answer/additions.ts";
import type { Core } from "./answer/core.ts";
import type { CacheKey } from "./cache/cacheRequest.ts";
import type { FoundEntry } from "./cache/tieredEntries.ts";
import { originForm } from "./http/requestTarget.ts";
import type { OldReads } from "./oldReads/oldReads.ts";

/** The readers of the paths of both interfaces; `oldReads` is absent if no read of an old client is cached. */
type Readers = { app: Pick<App, "readPath">; oldReads?: Pick<OldReads, "keysOf"> | undefined };

/** The public answers that are stored, by the address of a read of either interface. */
export type StoredAnswers = ReturnType<typeof openStoredAnswers>;

/** Looks up the stored public answers by the address of a read, of either interface. */
export const openStoredAnswers = (
  { cache }: Pick<Core, "cache">,
  { backends }: Pick<Additions, "backends">,
  { app, oldReads }: Readers,
) => {
  const keysOf = (address: string): CacheKey[] => {
    const path = pathOf(originForm(address.trim()));
    const ours = app.readPath(path);
    if (ours === undefined) return oldReads?.keysOf(path) ?? [];
    const { cacheKey } = ours.endpoint;
    if (cacheKey === undefined) return [];
    return [undefined, ...backends].map((backend) => cacheKey(ours.input, backend));
  };

  return {
    /** `undefined` where the address is that of no read that may be stored. */
    async find(address: string): Promise<FoundEntry[] | undefined> {
      const keys = keysOf(address);
      if (keys.length === 0) return undefined;
      const entries = await Promise.all(keys.map((cacheKey) => cache.find({ cacheKey, owner: undefined, wanted: {} })));
      return entries.filter((entry) => entry !== undefined);
    },
    /** Deletes them in all gateways. `notAcknowledged`: another gateway, or Redis, has not done so yet. */
    async remove(address: string): Promise<"unknown" | "removed" | "notAcknowledged"> {
      const keys = keysOf(address).map(({ key }) => key);
      if (keys.length === 0) return "unknown";
      return (await cache.invalidate({ keys })) === false ? "notAcknowledged" : "removed";
    },
  };
};
