import { openRedis } from "../../libraries/stores/redis/openRedis.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";
import type { Attack } from "../lib/attack.ts";
import { framing, fuzz } from "./fuzz.ts";
import { leaks } from "./leaks.ts";
import { oldClients, sharedOldClients } from "./oldClients.ts";
import { stalls } from "./stalls.ts";
import { towardsLegacy } from "./towardsLegacy.ts";
import { unreadLists } from "./unreadLists.ts";

/** The same attack on gateways that answer reads of the legacy interface from their caches. */
export const onOldClients = (attack: Attack): Attack => ({
  name: `${attack.name}-cached`,
  what: `${attack.what} With CACHE_LEGACY.`,
  run: (context) =>
    attack.run({
      ...context,
      startGateway: (settings) => context.startGateway({ ...settings, CACHE_LEGACY: "all" }),
    }),
});

/**
 * The same attack on gateways with Redis and every feature but the documents. Modern, the collector and the webhook are
 * a server that has nothing.
 */
export const withEveryFeature = (attack: Attack): Attack => ({
  name: `${attack.name}-features`,
  what: `${attack.what} With Redis and every feature but the documents.`,
  async run(context) {
    const redis = await openRedis();
    context.onEnd(redis.kill);
    const { url } = await context.openUpstream((_, response) => void response.writeHead(404).end());
    const features = {
      ACCESS_LOG: "all",
      CACHE_LEGACY: "all",
      DATA_DIR: temporaryFolder(),
      DEPRECATED: JSON.stringify([{ path: "/api/v1/json/data", since: "2026-01-01" }]),
      LEGACY_ADMIN_KEY: "a".repeat(32),
      MODERN_TIMEOUT_MS: "1000",
      MODERN_URL: url,
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      RATE_LIMIT: "100000",
      REDIS_URL: redis.url,
      STAGES: JSON.stringify({ getDataset: { stage: "shadow" }, listDatasets: { stage: "canary", share: 10 } }),
      TRUSTED_PROXIES: "127.0.0.1",
      WEBHOOK_SECRET: "a".repeat(32),
      WEBHOOK_URL: url,
    };
    return attack.run({ ...context, startGateway: (settings) => context.startGateway({ ...settings, ...features }) });
  },
});

/** Every attack, in the order in which they run. */
export const attacks: readonly Attack[] = [
  towardsLegacy,
  leaks,
  onOldClients(leaks),
  stalls,
  onOldClients(stalls),
  unreadLists,
  fuzz,
  withEveryFeature(fuzz),
  onOldClients(framing),
  oldClients,
  sharedOldClients,
];
