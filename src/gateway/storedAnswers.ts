import { TrieRouter } from "hono/router/trie-router";
import { pathOf, unescaped } from "../catalogue/index.ts";
import type { Core } from "./answer/feature.ts";
import { type PreparedEndpoint, patterns } from "./answer/prepared.ts";
import { inputOfPath } from "./answer/requestInput.ts";
import type { CacheKey } from "./cache/cacheRequest.ts";
import { storedAnswer, type StoredAnswers } from "./cache/storedAnswer.ts";
import { originForm } from "./http/requestTarget.ts";
import { openPathReads } from "./oldReads/pathRead.ts";

type Parts = Pick<Core, "cache" | "catalogue" | "endpoints" | "features" | "readTarget" | "settings">;

/** Looks up by the address of a read, of either interface, what is stored for everybody. `legacy` identifies legacy. */
export const openStoredAnswers = (core: Parts, legacy: string): StoredAnswers => {
  const { cache, endpoints, features, readTarget, settings } = core;
  const readOld = openPathReads(core, legacy);
  const router = new TrieRouter<{ endpoint: PreparedEndpoint; pairsBelow: string | undefined }>();
  for (const { path, pairsBelow, methods } of patterns(endpoints)) {
    const endpoint = methods.get("GET");
    if (endpoint !== undefined)
      for (const written of pairsBelow === undefined ? [path] : [pairsBelow, path])
        router.add("GET", written, { endpoint, pairsBelow });
  }

  const ourKeys = (path: string): CacheKey[] => {
    const [[found]] = router.match("GET", path.replace(/(?<=.)\/$/, ""));
    if (found === undefined) return [];
    const [{ endpoint, pairsBelow }, params] = found;
    const named = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, unescaped(String(value))]));
    const reading = inputOfPath({ target: path }, endpoint, { params: named, pairsBelow });
    if (!("input" in reading) || endpoint.cacheKey === undefined) return [];
    const { cacheKey } = endpoint;
    const backends = [undefined, ...features.flatMap(({ backend }) => backend ?? [])];
    return backends.map((backend) => cacheKey(reading.input, backend));
  };
  const keysOf = (address: string): CacheKey[] => {
    const path = pathOf(originForm(address));
    const ours = settings.PREFIXES.filter((prefix) => prefix === "/" || path.startsWith(`${prefix}/`)).flatMap(
      (prefix) => ourKeys(prefix === "/" ? path : path.slice(prefix.length)),
    );
    if (ours.length > 0) return ours;
    const old = readOld(path, { target: readTarget(path) });
    return old === undefined ? [] : Object.values(old.cacheKeys);
  };

  return {
    async find(address) {
      const keys = keysOf(address);
      if (keys.length === 0) return undefined;
      const found = await Promise.all(
        keys.map(async (cacheKey) => {
          const request = { cacheKey, owner: undefined, wanted: {} };
          return (await cache.lookUpShared(request)) ?? cache.lookUp(request, performance.now());
        }),
      );
      return found.flatMap((one) => (one === undefined ? [] : [storedAnswer(one.entry, one.freshness)]));
    },
    async remove(address) {
      const keys = keysOf(address).map(({ key }) => key);
      if (keys.length === 0) return "unknown";
      return (await cache.invalidate({ keys })) === false ? "notAcknowledged" : "removed";
    },
  };
};
