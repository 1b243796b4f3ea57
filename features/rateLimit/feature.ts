import { createHmac } from "node:crypto";
import type { ServerResponse } from "node:http";
import { type Core, sendOwnError, type Started, type Step, subnetOf } from "../../src/gateway/index.ts";
import type { Stores } from "../../libraries/stores/keyValueStore.ts";
import type { ConsolePart } from "../../libraries/ui/consolePart.ts";
import { html } from "../../libraries/ui/html.ts";
import { formatNumber } from "../../libraries/ui/wording.ts";
import { exchangeOf, type RequestCaller, trustedProxies } from "../../src/operation/index.ts";
import { BURST_MS, openBuckets } from "./buckets.ts";
import { rateLimitEvents } from "./events.ts";
import type { RateLimitSettings } from "./settings.ts";

/** The sender of a request: the names of its bucket here and in Redis. No key can be recovered from either. */
type LimitedCaller = { own: string; shared: () => string };

/** Limits how many requests each caller sends, before anything else is done for them. */
const open = async (
  core: Pick<Core, "meter" | "observer" | "keys" | "guard">,
  { run }: Pick<Stores, "run">,
  settings: RateLimitSettings,
) => {
  const { meter, observer, keys } = core;
  const { REDIS_URL: url } = settings;
  let { RATE_LIMIT: rate = 0 } = settings;
  let isExempt = trustedProxies(settings.RATE_LIMIT_EXEMPT);
  const burst = (): number => (rate * BURST_MS) / 1000;
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

  /**
   * `undefined`: the caller is exempt. A key counts once legacy has accepted it: with made-up keys a client would get a
   * bucket for each. Any other request counts for its address, IPv6 for its /64.
   */
  const limitedAs = ({ address, credential }: RequestCaller): LimitedCaller | undefined => {
    if (isExempt(address)) return undefined;
    const { key } = credential;
    const owner = key === undefined ? undefined : keys.ownerOf(key);
    if (key !== undefined && owner !== undefined && keys.wasAccepted(owner)) {
      // Legacy ignores the case of keys: else each spelling would have a bucket.
      const digest = () =>
        createHmac("sha256", url ?? "")
          .update(key.toLowerCase())
          .digest("base64url");
      return { own: `key ${owner}`, shared: () => `key ${digest().slice(0, 22)}` };
    }
    const own = `address ${subnetOf(address)}`;
    return { own, shared: () => own };
  };

  /**
   * Answers 429 with `Retry-After` (seconds) and the fields `RateLimit` and `RateLimit-Policy` of
   * draft-ietf-httpapi-ratelimit-headers-10: `q` requests in a window of `w` seconds, of which `r` are left, for `t`
   * seconds. `wait`: milliseconds until the next token.
   */
  const refuse = (response: ServerResponse, wait: number): void => {
    refused++;
    const retryAfter = Math.max(1, Math.ceil(wait / 1000));
    const policy = ["RateLimit-Policy", `"caller";q=${burst()};w=${BURST_MS / 1000}`];
    const headers = [...policy, "RateLimit", `"caller";r=0;t=${retryAfter}`];
    const detail = "Too many requests: see Retry-After.";
    sendOwnError(response, { status: 429, detail, retryAfter, headers });
  };

  /** While Redis does not answer, the bucket of this process decides. */
  const limitShared = async (
    taken: Promise<number | undefined>,
    ...[request, response, next]: Parameters<Step>
  ): Promise<void> => {
    const wait = (await taken) ?? 0;
    if (response.destroyed || request.socket.destroyed) return;
    if (wait > 0) refuse(response, wait);
    else next();
  };

  const limit: Step = (request, response, next) => {
    const { caller: sender } = exchangeOf(response);
    const caller = sender && limitedAs(sender);
    if (caller === undefined) return next();
    const wait = buckets.take(caller.own, performance.now(), rate);
    if (wait > 0) return refuse(response, wait);
    if (shared === undefined) return next();
    limitShared(shared.take(caller.shared(), rate), request, response, next).catch((error: unknown) =>
      core.guard.fail(response, error),
    );
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
        : { line: `each caller may send ${rate} requests a second, ${burst()} at once: RATE_LIMIT is set` },
  };
};

export const feature = { open, events: rateLimitEvents };
