import type { Core, Feature } from "../../serve/feature.ts";
import { trustedProxies } from "../../upstream/forwarding.ts";
import { rateLimitEvents } from "./events.ts";
import { openBuckets } from "./buckets.ts";
import { openCallers, ownBucketOf } from "./caller.ts";
import { openRefusals } from "./refuse.ts";
import type { RateLimitSettings } from "./settings.ts";

/** Milliseconds that a request waits for Redis at most; then this gateway counts by itself. */
const TIMEOUT_MS = 50;

/** A caller that sent nothing for a while may send the requests of so many seconds at once. */
const BURST_SECONDS = 10;

type Admit = NonNullable<Feature["admit"]>;

/** Limits how many requests each caller sends, before anything else is done for them. */
const open = async (core: Core, settings: RateLimitSettings): Promise<Feature> => {
  const { meter, observer, keys } = core.services;
  const { RATE_LIMIT: rate = 1, REDIS_URL: url } = settings;
  const burst = BURST_SECONDS * rate;
  const size = { rate, burst };
  const buckets = openBuckets(size);
  const callerOf = openCallers({
    trusted: trustedProxies(settings.TRUSTED_PROXIES),
    exempt: trustedProxies(settings.RATE_LIMIT_EXEMPT),
    keys,
    hasBucket: (own) => buckets.has(own),
    secret: url ?? "",
  });
  const answerRefused = openRefusals(size, core.writeError, {
    corsOrigins: settings.CORS_ORIGINS,
    prefixes: settings.PREFIXES,
  });
  let refused = 0;
  const refuse: typeof answerRefused = (...about) => {
    refused++;
    answerRefused(...about);
  };
  const shared =
    url === undefined || core.isCheck
      ? undefined
      : (await import("./sharedBuckets.ts")).openSharedBuckets({
          ...size,
          url,
          timeout: TIMEOUT_MS,
          onLost: (why) => observer.event("rate_limit_redis_lost", { why }),
          onUp: () => observer.event("rate_limit_redis_up", {}),
        });
  /** While Redis does not say, the bucket of this process is enough. */
  const admitShared = async (taking: Promise<number | undefined>, ...[request, response, next]: Parameters<Admit>) => {
    const wait = (await taking) ?? 0;
    if (response.destroyed || request.socket.destroyed) return;
    if (wait > 0) refuse(request, response, wait);
    else next();
  };
  meter.total("rate_limited_total", "Requests refused because of RATE_LIMIT.", () => refused);
  meter.gauge("rate_limit_callers", "Callers whose rate is counted.", () => buckets.size);
  return {
    admit(request, response, next) {
      const caller = callerOf(request);
      if (caller === undefined) return next();
      const wait = buckets.take(caller.own, performance.now());
      if (wait > 0) return refuse(request, response, wait);
      if (shared === undefined) return next();
      void admitShared(shared.take(caller.shared()), request, response, next);
    },
    onKeyRefused: (owner) => buckets.remove(ownBucketOf(owner)),
    console: { page: async () => (await import("./console/page.ts")).rateLimitPage(() => refused) },
    start: () =>
      Promise.resolve({ line: `each caller may send ${rate} requests a second, ${burst} at once: RATE_LIMIT is set` }),
    async close() {
      shared?.close();
    },
  };
};

/** The feature, as the gateway opens it. */
export const rateLimitFeature = { open, events: rateLimitEvents };
