import type { ServerResponse } from "node:http";
import { type Core, sendOwnError, type Started, type Step, subnetOf } from "../../src/gateway/index.ts";
import type { Stores } from "../../libraries/stores/keyValueStore.ts";
import type { ConsolePart } from "../../libraries/ui/consolePart.ts";
import { html } from "../../libraries/ui/html.ts";
import { formatNumber } from "../../libraries/ui/wording.ts";
import { exchangeOf, hashOfKey, type RequestCaller, trustedProxies } from "../../src/operation/index.ts";
import { BURST_MS, openBuckets } from "./buckets.ts";
import { rateLimitEvents } from "./events.ts";
import type { RateLimitSettings } from "./settings.ts";

type LimitingCore = Pick<Core, "meter" | "observer" | "keys" | "guard">;

/** Limits how many requests each caller sends, before anything else is done for them. */
const open = async (core: LimitingCore, { run }: Pick<Stores, "run">, settings: RateLimitSettings) => {
  const { meter, observer, keys, guard } = core;
  let { RATE_LIMIT: rate = 0 } = settings;
  let isExempt = trustedProxies(settings.RATE_LIMIT_EXEMPT);
  const buckets = openBuckets();
  const shared =
    run === undefined
      ? undefined
      : (await import("./sharedBuckets.ts")).openSharedBuckets({
          run,
          onLost: (why) => observer.event("rate_limit_redis_lost", { why }),
          onUp: () => observer.event("rate_limit_redis_up", {}),
        });
  let refused = 0;
  meter.total("rate_limited_total", "Requests refused because of RATE_LIMIT.", () => refused);
  meter.gauge("rate_limit_callers", "Callers whose rate is counted.", buckets.size);

  const refuse = (response: ServerResponse, wait: number): void => {
    refused++;
    sendRefusal(response, burstOf(rate), wait);
  };

  const limit: Step = (request, response, next) => {
    const { caller } = exchangeOf(response);
    if (caller === undefined || isExempt(caller.address)) return next();
    const bucket = bucketNameOf(caller, keys, settings.REDIS_URL);
    const wait = buckets.take(bucket, performance.now(), rate);
    if (wait > 0) return refuse(response, wait);
    if (shared === undefined) return next();
    const limitShared = async (): Promise<void> => {
      // While Redis does not answer, the bucket of this process decides.
      const sharedWait = (await shared.take(bucket, rate)) ?? 0;
      if (response.destroyed || request.socket.destroyed) return;
      if (sharedWait > 0) refuse(response, sharedWait);
      else next();
    };
    limitShared().catch((error: unknown) => guard.fail(response, error));
  };

  return {
    // Without a limit there is no step.
    step: () => (rate > 0 ? limit : undefined),
    console: {
      page: async () => ({
        show: () => ({
          sections: [],
          facts: rate === 0 ? [] : [html`<strong>${formatNumber(refused)}</strong> over the rate limit`],
        }),
      }),
    } satisfies ConsolePart,
    reload(changed: RateLimitSettings): void {
      ({ RATE_LIMIT: rate = 0 } = changed);
      isExempt = trustedProxies(changed.RATE_LIMIT_EXEMPT);
    },
    start: async (): Promise<Started> =>
      rate === 0
        ? {}
        : { line: `each caller may send ${rate} requests a second, ${burstOf(rate)} at once: RATE_LIMIT is set` },
  };
};

/**
 * The name of a caller's bucket, here and in Redis; no key can be recovered from it. A key counts once legacy has
 * accepted it: with made-up keys a client would get a bucket for each. Any other request counts for its address, IPv6
 * for its /64.
 */
const bucketNameOf = (caller: RequestCaller, keys: Core["keys"], redisUrl: string | undefined): string => {
  const { key } = caller.credential;
  if (key === undefined || !keys.wasAccepted(caller.id)) return `address ${subnetOf(caller.address)}`;
  return `key ${redisUrl === undefined ? caller.id : hashOfKey(key, redisUrl).slice(0, 22)}`;
};

/** The most requests that a caller may send at once. `rate`: requests a second. */
const burstOf = (rate: number): number => (rate * BURST_MS) / 1000;

/**
 * Answers 429 with `Retry-After` (seconds) and the fields `RateLimit` and `RateLimit-Policy` of
 * draft-ietf-httpapi-ratelimit-headers-10: `q` requests in a window of `w` seconds, of which `r` are left, for `t`
 * seconds. `wait`: milliseconds until the next token.
 */
const sendRefusal = (response: ServerResponse, burst: number, wait: number): void => {
  const retryAfter = Math.max(1, Math.ceil(wait / 1000));
  const policy = ["RateLimit-Policy", `"caller";q=${burst};w=${BURST_MS / 1000}`];
  const headers = [...policy, "RateLimit", `"caller";r=0;t=${retryAfter}`];
  sendOwnError(response, { status: 429, detail: "Too many requests: see Retry-After.", retryAfter, headers });
};

export const feature = { open, events: rateLimitEvents };
