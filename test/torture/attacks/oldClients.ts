import { openRedis } from "../../libraries/stores/redis/openRedis.ts";
import type { Program } from "../../support/program.ts";
import { sleep, until } from "../../support/waiting.ts";
import { type Mood, openOldClients } from "../fuzz/oldClients/run.ts";
import { type Attack, faultless, holds, liveness, none } from "../lib/attack.ts";
import { ask } from "../lib/client.ts";

/** Seconds for which a dataset and a list are fresh, stale while they are revalidated, and stale while legacy fails. */
const [FRESH, REVALIDATED, FAILING] = [1, 1, 30];
/** Seconds that an answer may take on a busy machine. */
const ON_ITS_WAY = 2;

const lifetimes = {
  fresh: `${FRESH}s`,
  staleWhileRevalidate: `${REVALIDATED}s`,
  staleIfError: `${FAILING}s`,
  notFoundTtl: `${FRESH}s`,
  preconditionTtl: `${FRESH}s`,
};

/** Legacy's moods where it is judged how old answers are: first they grow old, then legacy fails in each way. */
const timedMoods: readonly Mood[] = [
  ...Array.from({ length: 4 }, () => "unwritten" as const),
  ...(["well", "well", "resets", "well", "front", "page", "well", "database", "losesAnswers", "well"] as const),
];
const untimedMoods: readonly Mood[] = ["well", "well", "losesAnswers", "well"];

/** Milliseconds after which a gateway without a word from Redis no longer trusts its cached answers. */
const LEASE = 1500;

type OldClientsAttack = {
  name: string;
  gateways: number;
  /** Answers are short-lived, and how old they are is judged. */
  isTimed: boolean;
};

/** Old clients read and write datasets through this number of gateways; several share a Redis. */
export const oldClientsOf = ({ name, gateways: count, isTimed }: OldClientsAttack): Attack => ({
  name,
  what: `Old clients read and write changing datasets through ${count === 1 ? "a gateway" : "gateways with Redis"}; an oracle knows what legacy has shown.`,
  async run(context) {
    const redis = count === 1 ? undefined : await openRedis();
    if (redis !== undefined) context.onEnd(redis.kill);
    /** Those that are asked now, and all that were started. */
    const [gateways, started]: [Program[], Program[]] = [[], []];
    const clients = await openOldClients({
      seed: context.seed,
      requests: Math.ceil(context.requests / count),
      moods: isTimed ? timedMoods : untimedMoods,
      lag: count === 1 ? 0 : LEASE,
      isOver: () => gateways.some(({ isAlive }) => !isAlive()),
    });
    context.onEnd(() => clients.upstream.close());
    const start = async () => {
      const gateway = await context.startGateway({
        LEGACY_URL: clients.upstream.url,
        CACHE_LEGACY: "all",
        TRUSTED_PROXIES: "127.0.0.1",
        ...(isTimed && { CACHE_LIFETIMES: JSON.stringify({ getDataset: lifetimes, listDatasets: lifetimes }) }),
        ...(redis && { REDIS_URL: redis.url }),
      });
      gateways.push(gateway);
      started.push(gateway);
    };
    for (let i = 0; i < count; i++) await start();
    const began = performance.now();
    const tally = await clients.run({
      gateways: () => gateways.map(({ port }) => port),
      maxAge: (wasOut) =>
        isTimed ? 1000 * (FRESH + ON_ITS_WAY + (wasOut ? FAILING : REVALIDATED)) : Number.POSITIVE_INFINITY,
      async between() {
        // Its background requests fail within that time, too.
        if (isTimed) await sleep(1000);
        for (const gateway of gateways) await until(() => knowsLegacyIsWell(gateway));
        if (count === 1) return;
        gateways.shift()?.child.kill("SIGKILL");
        await start();
      },
    });
    const { reads, writes, cached, wrong, examples } = tally;
    const about = `${reads} reads, ${cached} of them hits, and ${writes} writes in ${((performance.now() - began) / 1000).toFixed(0)} s`;
    return [
      holds("requests sent", about, "hits too", cached > 0),
      none("wrong answers", examples, wrong),
      ...gateways.map(liveness),
      ...started.map(faultless),
    ];
  },
});

/** Asks legacy for something small, and whether what fails is over. */
const knowsLegacyIsWell = async ({ port, adminPort, isAlive }: Program): Promise<boolean> => {
  if (!isAlive()) return true;
  const headers = { "Cache-Control": "no-cache", "X-Forwarded-For": `198.51.100.${Math.floor(Math.random() * 250)}` };
  await ask(port, "/v1/evaluationmeasures/list", { headers });
  const page = (await ask(adminPort, "/metrics")).body.toString();
  return ['breaker_state{backend="legacy",state="closed"}', 'dependency_up{dependency="legacy"}'].every((name) =>
    page.includes(`catalog_gateway_${name} 1\n`),
  );
};

export const oldClients = oldClientsOf({ name: "old-clients", gateways: 1, isTimed: true });
export const sharedOldClients = oldClientsOf({ name: "old-clients-redis", gateways: 2, isTimed: true });
