import { get } from "node:http";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { AllSettings } from "../../../features/settings.ts";
import { openSharedBuckets } from "../../../features/rateLimit/sharedBuckets.ts";
import { EXPOSED_HEADERS } from "../../../src/gateway/http/cors.ts";
import { problemOf } from "../../../src/gateway/http/problemDetails.ts";
import { startSampleLegacy } from "../../../tools/sampleLegacy/startSampleLegacy.ts";
import { listeningGateway, recordingUpstream, xmlError } from "../../gateway/http/support.ts";
import { keys } from "../../gateway/answer/support.ts";
import { connectRedis } from "../../../libraries/stores/redis.ts";
import { describeWithRedis, startRedis } from "../../libraries/stores/redis/redisServer.ts";
import { until } from "../../support/waiting.ts";
import { pageOfMetrics } from "../../support/metrics.ts";

type Options = { headers?: Record<string, string>; from?: string; method?: string };

/** The status and the headers of an answer to one request from an address of the loopback network. */
const ask = (port: number, path: string, { headers = {}, from = "127.0.0.1", method = "GET" }: Options = {}) =>
  new Promise<{ status: number; headers: Record<string, unknown>; body: string }>((resolve, reject) => {
    get({ port, host: "127.0.0.1", path, method, localAddress: from, headers }, (response) => {
      let body = "";
      response.on("data", (chunk: Buffer) => (body += chunk.toString()));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
    }).on("error", reject);
  });

const measures = "/v1/evaluationmeasures/list";

/** A gateway with one request a second and ten at once; `statuses` asks one after the other. */
const limited = async (environment: Record<string, string> = {}) => {
  let refusal: ReturnType<typeof xmlError> | undefined;
  const { url, seen } = await recordingUpstream(() => refusal);
  const gateway = await listeningGateway(url, { RATE_LIMIT: "1", ...environment });
  const statuses = async (count: number, path = measures, options: Options = {}) => {
    const found: number[] = [];
    for (let i = 0; i < count; i++) found.push((await ask(gateway.port, path, options)).status);
    return found;
  };
  const revoke = () => void (refusal = xmlError(103, "Authentication failed"));
  return { ...gateway, seen, statuses, revoke };
};

/** The statuses of ten requests that are accepted. */
const burst: readonly number[] = Array(10).fill(200);

describe("more requests than the rate limit allows", () => {
  // No bucket gains a token while requests take their time.
  beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
  afterEach(() => void vi.useRealTimers());

  test("too many requests are refused on the new interface, cached answers too", async () => {
    const { port, statuses, seen, core } = await limited();
    expect(await statuses(12)).toEqual([...burst, 429, 429]);
    expect(seen).toHaveLength(1);
    const { status, headers, body } = await ask(port, measures, { headers: { Origin: "https://page.example" } });
    expect([status, body]).toEqual([429, '{"detail":"Too many requests: see Retry-After."}']);
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "cache-control": "no-store",
      "retry-after": "1",
      "ratelimit-policy": '"caller";q=10;w=10',
      ratelimit: '"caller";r=0;t=1',
      "access-control-allow-origin": "*",
      "access-control-expose-headers": EXPOSED_HEADERS,
    });
    expect(await pageOfMetrics(core.meter)).toMatch(/rate_limited_total 3\b/);
    expect((await ask(port, measures, { method: "HEAD" })).body).toBe("");
  });

  test("too many requests to the legacy interface are refused and never reach it", async () => {
    const { statuses, seen, port } = await limited();
    expect(await statuses(12, "/api/v1/json/evaluationmeasure/list")).toEqual([...burst, 429, 429]);
    expect(seen).toHaveLength(10);
    const { headers } = await ask(port, "/anything");
    expect([headers["retry-after"], headers["access-control-allow-origin"]]).toEqual(["1", "*"]);
  });

  test("too many requests are refused in both formats of errors", async () => {
    const { port, statuses } = await limited({ PREFIXES: "/v1,/v2" });
    expect(await statuses(10)).toEqual(burst);
    const refused = async (path: string, Accept: string) => {
      const { status, headers, body } = await ask(port, path, { headers: { Accept } });
      return [status, headers["content-type"], headers["vary"], JSON.parse(body)] as unknown[];
    };
    const detail = "Too many requests: see Retry-After.";
    const problem = problemOf(429, { detail }, "/v2");
    expect(problem.type).toBe("/v2/problems#too-many-requests");
    const problemJson = "application/problem+json";
    expect(await refused("/v1/datasets/61", "*/*")).toEqual([429, "application/json", "Accept", { detail }]);
    expect(await refused("/v2/datasets/61?a=b", problemJson)).toEqual([429, problemJson, "Accept", problem]);
    expect(await refused("/other", problemJson)).toEqual([429, "application/json", undefined, { detail }]);
  });

  test("a refused caller is accepted again after some time", async () => {
    const { statuses } = await limited();
    expect(await statuses(11)).toEqual([...burst, 429]);
    vi.advanceTimersByTime(1000);
    expect(await statuses(2)).toEqual([200, 429]);
  });

  test("requests count for each address, unless it is exempt", async () => {
    const { statuses } = await limited({ RATE_LIMIT_EXEMPT: "127.0.0.8/29" });
    expect(await statuses(11)).toEqual([...burst, 429]);
    expect(await statuses(11, measures, { from: "127.0.0.2" })).toEqual([...burst, 429]);
    expect(await statuses(20, measures, { from: "127.0.0.9" })).toEqual([...burst, ...burst]);
  });

  test("requests count for the address that a trusted proxy names, of IPv6 the /64", async () => {
    const { statuses } = await limited({ TRUSTED_PROXIES: "127.0.0.1" });
    const by = (address: string) => ({ headers: { "X-Forwarded-For": address } });
    expect(await statuses(11, measures, by("192.0.2.1"))).toEqual([...burst, 429]);
    expect(await statuses(10, measures, by("2001:db8::1"))).toEqual(burst);
    expect(await statuses(1, measures, by("2001:db8::ffff:2"))).toEqual([429]);
    expect(await statuses(1, measures, by("2001:db8:0:1::1"))).toEqual([200]);
  });

  test("requests count for an accepted key; with a made-up key for the address", async () => {
    const legacy = await startSampleLegacy();
    const { port } = await listeningGateway(legacy.url, { RATE_LIMIT: "1" });
    const statusOf = async (key?: string) =>
      (await ask(port, "/v1/datasets/1", key === undefined ? {} : { headers: { "X-API-Key": key } })).status;
    expect([await statusOf(keys.user), await statusOf("a1".repeat(16)), await statusOf("b2".repeat(16))]).toEqual([
      200, 401, 401,
    ]);
    for (let left = 7; left > 0; left--) expect(await statusOf()).toBe(200);
    expect([await statusOf(), await statusOf("c3".repeat(16))]).toEqual([429, 429]);
    // The key's own bucket is full, though its address has none left.
    expect([await statusOf(keys.user), await statusOf(keys.user)]).toEqual([200, 200]);
    await legacy.close();
  });

  test("a reload begins to limit, changes the limit and ends it", async () => {
    const { url } = await recordingUpstream(() => undefined);
    const gateway = await listeningGateway(url);
    const reload = (changed: object) =>
      gateway.features.reload({ ...(gateway.core.settings as AllSettings), ...changed });
    const statuses = (count: number, from?: string) =>
      Promise.all(
        Array.from(
          { length: count },
          async () => (await ask(gateway.port, measures, { ...(from && { from }) })).status,
        ),
      );
    expect(await statuses(30)).toEqual([...burst, ...burst, ...burst]);
    await reload({ RATE_LIMIT: 1 });
    expect((await statuses(12)).toSorted((a, b) => a - b)).toEqual([...burst, 429, 429]);
    await reload({ RATE_LIMIT: 2, RATE_LIMIT_EXEMPT: ["127.0.0.3"] });
    expect((await statuses(21, "127.0.0.2")).toSorted((a, b) => a - b)).toEqual([...burst, ...burst, 429]);
    expect(await statuses(30, "127.0.0.3")).toEqual([...burst, ...burst, ...burst]);
    await reload({ RATE_LIMIT: undefined });
    expect(await statuses(30)).toEqual([...burst, ...burst, ...burst]);
  });

  test("requests with an empty key count for the address", async () => {
    const { statuses, core } = await limited();
    expect([...(await statuses(6)), ...(await statuses(5, `${measures}?api_key=`))]).toEqual([...burst, 429]);
    expect(await pageOfMetrics(core.meter)).toMatch(/rate_limit_callers 1\n/);
  });

  test("requests count for one key, however its letters are written", async () => {
    const { statuses, core } = await limited();
    // The first request counts for the address, since the key is not known yet.
    for (const key of [keys.unknown, keys.unknown.toLowerCase(), keys.unknown.toUpperCase()])
      expect(await statuses(2, measures, { headers: { "X-API-Key": key } })).toEqual([200, 200]);
    expect(await pageOfMetrics(core.meter)).toMatch(/rate_limit_callers 2\n/);
  });

  test("requests count for the address again once legacy has refused the key", async () => {
    const { port, statuses, revoke } = await limited();
    const by = { headers: { "X-API-Key": keys.unknown.toUpperCase(), "Cache-Control": "no-cache" } };
    expect(await statuses(2, measures, by)).toEqual([200, 200]);
    revoke();
    // The key's bucket allowed the request that found it refused.
    expect(await statuses(11, measures, by)).toEqual([...Array<number>(10).fill(401), 429]);
    expect((await ask(port, measures)).status).toBe(429);
  });
});

describeWithRedis("gateways with one Redis", () => {
  test("share the buckets, and no key is in their names", async () => {
    const redis = await startRedis();
    const legacy = await startSampleLegacy();
    const [a, b] = await Promise.all(
      [1, 2].map(() => listeningGateway(legacy.url, { RATE_LIMIT: "1", REDIS_URL: redis.url })),
    );
    const statusOf = async (gateway: typeof a, options: Options) =>
      (await ask(gateway?.port ?? 0, "/v1/datasets/1", options)).status;
    const names = () => redis.talk("KEYS catalog-gateway:2:rate:*");
    for (const [gateway, from] of [
      [a, "127.0.0.7"],
      [b, "127.0.0.8"],
    ] as const)
      await until(async () => (await statusOf(gateway, { from })) > 0 && (await names()).includes(`address ${from}`));
    const key = { headers: { "X-API-Key": keys.user } };
    // From now on Redis answers in time, however busy the machine is.
    vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    // The fake clock begins at 0. For a second after the start, or after a late answer, Redis is not asked.
    vi.advanceTimersByTime(3_600_000);
    // The first of each counts for the address, since the key is not known yet. By itself each
    // gateway would let ten pass.
    for (const gateway of [a, b]) expect(await statusOf(gateway, key)).toBe(200);
    const asked = [a, b].flatMap((gateway) => Array.from({ length: 10 }, () => statusOf(gateway, key)));
    const statuses = await Promise.all(asked);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(10);
    expect(statuses).toContain(429);
    expect(await names()).toMatch(/rate:key [\w-]{22}\r/);
    expect(await names()).not.toContain(keys.user);
    await legacy.close();
  });

  test("count separately while Redis is away", async () => {
    const redis = await startRedis();
    const events: string[] = [];
    const silent = () => undefined;
    const about = {
      url: redis.url,
      channels: ["any"],
      onMessage: silent,
      onListening: silent,
      onDeaf: silent,
      onSetAside: silent,
    };
    const connection = connectRedis(about);
    onTestFinished(() => connection.close());
    const shared = openSharedBuckets({
      run: (...command) => connection.run(...command),
      timeout: 1000,
      onLost: (why) => events.push(`lost: ${why}`),
      onUp: () => events.push("up"),
    });
    /** From buckets of two tokens, which gain a token in five seconds. */
    const take = (caller: string) => shared.take(caller, 0.2);
    await until(async () => (await take("first")) !== undefined);
    // The clock of Redis was an hour ahead when this caller came.
    await redis.talk(`SET catalog-gateway:2:rate:early ${Date.now() + 3_600_000}`);
    expect(await take("early")).toBe(0);
    // Another program has written these.
    await redis.talk("SET catalog-gateway:2:rate:text foreign", "LPUSH catalog-gateway:2:rate:list foreign");
    expect([await take("text"), await take("list")]).toEqual([0, 0]);
    events.splice(0);
    const waits = [await take("a"), await take("a"), await take("a")];
    expect(waits).toEqual([0, 0, expect.toSatisfy((wait: number) => wait > 0 && wait <= 5000)]);
    redis.pause();
    await until(async () => (await take("a")) === undefined && events.length === 1);
    expect(events).toEqual(["lost: no answer within 1000 ms"]);
    redis.resume();
    await until(async () => (await take("b")) !== undefined);
    expect(events).toEqual(["lost: no answer within 1000 ms", "up"]);
  });
});
