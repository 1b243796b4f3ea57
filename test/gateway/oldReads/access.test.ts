import { describe, expect, test } from "vitest";
import { pseudoRandom } from "../../../bench/pseudoRandom.ts";
import { clock, coalesced } from "../cache/support.ts";
import { listeningGateway } from "../http/support.ts";
import { describeWithRedis, startRedis } from "../../libraries/stores/redis/redisServer.ts";
import { casesOf } from "../../support/cases.ts";
import { until } from "../../support/waiting.ts";
import {
  administrator,
  type Caller,
  nobody,
  otherOwner,
  owner,
  readOnly,
  user,
  users,
  wrongKey,
} from "../../features/privateDatasets/people.ts";
import { edited, rows } from "../../features/privateDatasets/through.ts";
import { samplePaths, startSample } from "./sample.ts";
import { cachingOver, minute } from "./support.ts";

/** A caller of both interfaces, or a caller with a session of the website, which only legacy's interface knows. */
type SessionCaller = Caller & { session?: string };

const keyed = (path: string, { key }: Caller): string => (key === undefined ? path : `${path}?api_key=${key}`);
const cookieOf = ({ session }: SessionCaller): Record<string, string> =>
  session === undefined ? {} : { Cookie: `ci_session=${session}` };
/** The new interface knows no sessions. */
const mayBeShownMore = (path: string, { key = "", session }: SessionCaller): boolean =>
  key !== "" || (session !== undefined && !path.startsWith("/v1/"));
const loggedIn = (of: Required<Caller>, key?: string): SessionCaller => ({
  name: `session of the ${of.name}`,
  session: `s${of.user.id}`,
  ...(key !== undefined && { key }),
});
const ids = [2, 3, 5];
const ofDataset = (id: number): string[] => [
  `/api/v1/json/data/${id}`,
  `/api/v1/xml/data/${id}`,
  `/api/v1/data/${id}`,
  `/api/v1/json/data/features/${id}`,
  `/api/v1/xml/data/qualities/${id}`,
  `/v1/datasets/${id}`,
  `/v1/datasets/qualities/${id}`,
];
const lists = [
  "/api/v1/json/data/list",
  "/api/v1/xml/data/list/status/all/limit/100/offset/0",
  "/api/v1/data/list/tag/demo",
  "/api/v1/json/data/tag/list",
  "/v1/data/list/status/all",
  "/v1/data/list/tag/demo",
];

/** The sample legacy with datasets of several owners, and its callers. */
const startShared = () =>
  startSample({
    datasets: structuredClone(rows),
    users: users.map((person) => ({ ...person, session: `s${person.id}` })),
  });

type Shared = Awaited<ReturnType<typeof startShared>>;

/** The right answers: legacy itself answers its paths, a gateway without a cache the others. Neither has an outage. */
const openTruth = async ({ direct }: Shared) => {
  const plain = await listeningGateway(direct, { CACHE_BYTES: "0" });
  return async (path: string, caller: SessionCaller = nobody) => {
    const url = path.startsWith("/v1/") ? plain.url : direct;
    const answer = await fetch(url + keyed(path, caller), { headers: cookieOf(caller) });
    return { status: answer.status, body: await answer.text() };
  };
};

type Gateway = Awaited<ReturnType<typeof cachingOver>>;
const form = (fields: Record<string, string>): RequestInit => ({ method: "POST", body: new URLSearchParams(fields) });
const asJson = (body: object, { key = "" }: Caller): [Record<string, string>, RequestInit] => [
  { "Content-Type": "application/json", "X-API-Key": key },
  { method: "POST", body: JSON.stringify(body) },
];
const edit = ({ ask }: Gateway, by: Caller, id: number, visibility: string) =>
  ask(keyed("/api/v1/json/data/edit", by), {}, form(edited(id, `<oml:visibility>${visibility}</oml:visibility>`)));

test("a fetch for the cache shows legacy nothing of the caller, for any endpoint", async () => {
  const legacy = await startSample();
  const { ask } = await cachingOver(legacy, { TRUSTED_PROXIES: "127.0.0.1" });
  const names =
    "User-Agent Referer Origin Accept Accept-Language X-Request-Id traceparent Via X-Other X-Forwarded-Host";
  const headers = Object.fromEntries(names.split(" ").map((name) => [name, "secret"]));
  const from = { "X-Forwarded-For": "192.0.2.77", Forwarded: "for=192.0.2.77;host=secret" };
  for (const { path } of samplePaths()) {
    const { how } = await ask(path, { ...headers, ...from, "If-None-Match": '"secret"' });
    const shown = legacy.seen.at(-1);
    expect([how, shown?.url]).toEqual([expect.stringMatching(/^fwd=uri-miss/), path]);
    expect(JSON.stringify(shown?.rawHeaders)).not.toMatch(/secret|192\.0\.2\.77/);
  }
  expect(legacy.seen).toHaveLength(samplePaths().length);
});

const NEW = "<oml:data_set_description><oml:name>new</oml:name></oml:data_set_description>";

/**
 * Random callers ask and write through random gateways; legacy fails now and then. What each gets is
 * compared with legacy itself.
 */
const compareWithLegacy = async (
  legacy: Shared,
  gateways: Gateway[],
  { seed, steps, pass }: { seed: number; steps: number; pass?: (ms: number) => void },
) => {
  const random = pseudoRandom(seed);
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  const rightOf = await openTruth(legacy);
  const withKeys = [user, owner, otherOwner, readOnly, administrator, wrongKey];
  const strangers: SessionCaller[] = [
    { name: "a caller with an empty key", key: "" },
    { name: "an unknown session", session: "unknown" },
  ];
  const sessions = [loggedIn(user), loggedIn(owner), loggedIn(otherOwner, ""), loggedIn(administrator, wrongKey.key)];
  const callers: SessionCaller[] = [nobody, nobody, ...withKeys, ...strangers, ...sessions];
  const paths = [...lists, ...lists, ...ids.flatMap(ofDataset)];
  /**
   * The stale public answers of each path that may be shown while legacy fails, besides the right one: lists that
   * a tag or an upload left.
   */
  const left = new Map<string, Set<string>>();
  const counts = { hits: 0, stale: 0, passed: 0 };

  const read = async () => {
    const [path, caller] = [pick(paths), pick(callers)];
    const { status, body, how, headers } = await pick(gateways).ask(keyed(path, caller), cookieOf(caller));
    const about = `${path} as ${caller.name}, ${how}`;
    if (how.startsWith("hit")) counts.hits++;
    if (how.includes("stale-if-error")) counts.stale++;
    if (how === "passed") counts.passed++;
    if (how !== "passed") expect([about, headers.get("set-cookie")]).toEqual([about, null]);
    if (mayBeShownMore(path, caller) && how !== "passed")
      expect([about, headers.get("cache-control")]).toEqual([about, expect.stringMatching(/^(private|no-store)/)]);
    const right = await rightOf(path, caller);
    if (!legacy.isDown) return expect([about, status, body]).toEqual([about, right.status, right.body]);
    if (status >= 500) return;
    const everybodys = await rightOf(path);
    const isRight = status === right.status && body === right.body;
    // An error of a single dataset would hide the caller's own.
    const mayBeEverybodys = status === 200 || lists.includes(path);
    const isEverybodys = mayBeEverybodys && status === everybodys.status && body === everybodys.body;
    if (!isRight && !isEverybodys && left.get(path)?.has(body) !== true)
      expect([about, status, body]).toEqual([about, right.status, right.body]);
  };
  const write = async () => {
    const [gateway, by, id] = [pick(gateways), pick([owner, otherOwner, administrator, user]), pick(ids)];
    const kind = pick([
      "edit",
      "edit",
      "status",
      "status in ours",
      "tag",
      "untag",
      "tag in ours",
      "untag in ours",
      "add",
    ]);
    const before = await Promise.all(lists.map(async (path) => [path, (await rightOf(path)).body] as const));
    const { status } = await send(kind, gateway, by, id);
    // Every other write that has changed something takes them out.
    if (!/tag|add/.test(kind) && status === 200) left.clear();
    else for (const [path, body] of before) left.set(path, (left.get(path) ?? new Set()).add(body));
  };
  const send = (kind: string, gateway: Gateway, by: Caller, id: number) => {
    const of = { data_id: String(id), tag: pick(["demo", "other"]), status: pick(["active", "deactivated"]) };
    const [action = ""] = kind.split(" ");
    if (kind === "edit") return edit(gateway, by, id, pick(["private", "public"]));
    if (kind === "add") return gateway.ask(keyed("/api/v1/data", by), {}, form({ description: NEW }));
    const path = `data/${action === "status" ? "status/update" : action}`;
    if (action === kind) return gateway.ask(keyed(`/api/v1/${pick(["json", "xml"])}/${path}`, by), {}, form(of));
    const body = action === "status" ? { dataset_id: id, status: of.status } : { data_id: id, tag: of.tag };
    return gateway.ask(`/v1/${path.replace("data", "datasets")}`, ...asJson(body, by));
  };
  /** Legacy fails, or is back: resolves when a gateway has noticed. */
  const turn = async () => {
    legacy.isDown = !legacy.isDown;
    if (legacy.isDown) return pass?.(random() * 24 * 60 * minute);
    for (const gateway of gateways)
      await until(async () => {
        pass?.(minute);
        await gateway.ask(pick(lists), { "Cache-Control": "no-cache" });
        return gateway.core.meter.openCircuits().length === 0;
      });
    pass?.(2 * minute);
  };

  for (let step = 0; step < steps; step++) {
    const kind = random();
    if (kind < (legacy.isDown ? 0.05 : 0.02)) await turn();
    else if (kind < 0.04) pass?.(random() * 20 * minute);
    else if (kind < 0.08 && !legacy.isDown) await write();
    else await read();
  }
  return counts;
};

/** `SEEDS=50` tries more. */
const seeds = Array.from({ length: Number(process.env["SEEDS"] ?? 1) }, (_, i) => i + 1);
const STEPS = casesOf(200);

describe("each caller gets what legacy shows it, through both interfaces", () => {
  test.each(seeds)("by one gateway, also while time passes and legacy fails: seed %i", async (seed) => {
    const { pass } = clock();
    const legacy = await startShared();
    const counts = await compareWithLegacy(legacy, [await cachingOver(legacy)], { seed, steps: STEPS, pass });
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(0);
  });
});

describeWithRedis("each caller gets what legacy shows it, through both interfaces", () => {
  test.each(seeds)("by two gateways with one Redis, also while legacy fails: seed %i", async (seed) => {
    const legacy = await startShared();
    const { hits, passed } = await compareWithLegacy(legacy, await openTwo(legacy), { seed, steps: STEPS / 2 });
    expect([hits, passed]).not.toContain(0);
  });
});

const openTwo = async (legacy: Shared) => {
  const redis = await startRedis();
  const open = () => cachingOver(legacy, { REDIS_URL: redis.url });
  const gateways: [Gateway, Gateway] = [await open(), await open()];
  await until(() => gateways.every(({ core }) => core.cache.sharing() === "in step"));
  return gateways;
};

type Write = [name: string, write: (gateway: Gateway) => ReturnType<Gateway["ask"]>];
const writes: Write[] = [
  ["an edit makes a dataset private", (gateway) => edit(gateway, owner, 2, "private")],
  [
    "the new interface deactivates it",
    ({ ask }) => ask("/v1/datasets/status/update", ...asJson({ dataset_id: 2, status: "deactivated" }, owner)),
  ],
  [
    "legacy's interface deactivates it",
    ({ ask }) => ask(keyed("/api/v1/xml/data/status/update", owner), {}, form({ data_id: "2", status: "deactivated" })),
  ],
  ["it is deleted", ({ ask }) => ask(keyed("/api/v1/json/data/2", owner), {}, { method: "DELETE" })],
];

/**
 * Asks before and after the write, while the answers to the first requests are still on their way; then legacy fails.
 * Resolves with the paths whose right answer the write changed.
 */
const askAround = async (reader: Gateway, writer: Gateway, legacy: Shared, write: Write[1]) => {
  const truth = await openTruth(legacy);
  // A path without a form is the same as in XML.
  const paths = [...ofDataset(2), ...lists].filter((path) => path !== "/api/v1/data/2");
  const release = Promise.withResolvers<void>();
  legacy.gate = release.promise;
  const running = paths.map((path) => reader.ask(path));
  await until(() => legacy.seen.length >= paths.length);
  legacy.gate = undefined;
  expect((await write(writer)).status).toBe(200);
  const later = paths.map((path) => reader.ask(path));
  await until(async () => (await coalesced(reader.core)) >= paths.length);
  release.resolve();
  const before = await Promise.all(running);
  for (const [i, path] of paths.entries()) {
    const { status, body } = await truth(path);
    expect(await later[i]).toMatchObject({ status, body });
    expect(await reader.ask(path)).toMatchObject({ status, body });
  }
  legacy.isDown = true;
  for (const path of paths) {
    const { status, body } = await reader.ask(path);
    if (status < 500) expect({ path, status, body }).toEqual({ path, ...(await truth(path)) });
  }
  const after = await Promise.all(paths.map((path) => truth(path)));
  return paths.filter((_, i) => before[i]?.body !== after[i]?.body);
};

describe("once a write is answered, no caller gets an answer from before it", () => {
  test.each(writes)("%s", async (_, write) => {
    const legacy = await startShared();
    const gateway = await cachingOver(legacy);
    expect(await askAround(gateway, gateway, legacy, write)).not.toEqual([]);
  });
});

describeWithRedis("once a write is answered, no other gateway gives an answer from before it", () => {
  test.each(writes)("%s", async (_, write) => {
    const legacy = await startShared();
    expect(await askAround(...(await openTwo(legacy)), legacy, write)).not.toEqual([]);
  });
});
