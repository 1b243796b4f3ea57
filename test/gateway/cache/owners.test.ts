import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { alice, bob, cachedGateway, clock, kept, markOf } from "./support.ts";
import { settled } from "../../support/waiting.ts";

const minute = 60_000;
type Gateway = Awaited<ReturnType<typeof cachedGateway>>;
let time: ReturnType<typeof clock>;
let gateway: Gateway;
beforeEach(async () => {
  time = clock();
  gateway = await cachedGateway();
});

const callers = { nobody: undefined, alice, bob };
type Caller = keyof typeof callers;
const ask = (path: string, caller: Caller, headers: Record<string, string> = {}) => {
  const key = callers[caller];
  return gateway.ask(path, { ...(key === undefined ? {} : gateway.as(key)), ...headers });
};
const ownerOf = async (path: string, caller: Caller) => markOf((await ask(path, caller)).body);

describe.each(Object.entries(kept))("%s", (name, path) => {
  const personal = name === "listDatasets";

  test("an answer fetched without a key serves users with a proven key, except a list", async () => {
    expect(await ownerOf(path, "nobody")).toBe("nobody 1");
    expect(await ownerOf(path, "alice")).toBe(personal ? "alice 1" : "nobody 1");
    const before = gateway.legacy.asked.length;
    const again = await ask(path, "alice");
    expect([markOf(again.body), again.headers.get("cache-control")]).toEqual([
      personal ? "alice 1" : "nobody 1",
      "private, no-cache",
    ]);
    expect(gateway.legacy.asked).toHaveLength(before);
  });

  test("a 404 fetched without a key is not served to a user: it may be their own", async () => {
    gateway.legacy.gone = true;
    expect((await ask(path, "nobody")).status).toBe(404);
    gateway.legacy.gone = false;
    expect(await ownerOf(path, "alice")).toBe("alice 1");
  });

  test("a wrong key gets 401 anywhere in a request, also with a cached answer", async () => {
    await ask(path, "nobody");
    await ask(path, "alice");
    const wrong = "c".repeat(32);
    for (const [target, headers] of [
      [`${path}?api_key=${wrong}`, {}],
      [path, gateway.as(wrong)],
      [path, { Authorization: `Bearer ${wrong}` }],
    ] as const) {
      const { status, body } = await gateway.ask(target, headers);
      expect([status, body]).toEqual([401, '{"detail":{"code":"103","message":"Authentication failed"}}']);
    }
  });

  test("one key is one owner, in three places and in capitals", async () => {
    gateway.legacy.privateTo = alice;
    const first = (await ask(path, "alice")).body;
    const before = gateway.legacy.asked.length;
    expect((await gateway.ask(`${path}?api_key=${alice}`)).body).toBe(first);
    expect((await gateway.ask(path, { Authorization: `bearer ${alice}` })).body).toBe(first);
    expect((await gateway.ask(path, gateway.as(alice.toUpperCase()))).body).toBe(first);
    expect(gateway.legacy.asked).toHaveLength(before);
    expect((await gateway.ask(path, gateway.as(bob.toUpperCase()))).status).toBe(403);
  });

  test("a key that is refused in one spelling is refused in the other", async () => {
    gateway.legacy.privateTo = alice;
    await ask(path, "alice");
    gateway.legacy.good.delete(alice);
    const past = { "Cache-Control": "no-cache" };
    expect((await gateway.ask(path, { ...gateway.as(alice.toUpperCase()), ...past })).status).toBe(401);
    expect((await ask(path, "alice")).status).toBe(401);
    expect(gateway.core.cache.size().entries).toBe(0);
  });

  test("a resource that turns private is gone for others with the next refresh", async () => {
    await ask(path, "nobody");
    await ask(path, "alice");
    gateway.legacy.privateTo = alice;
    time.pass(2 * 24 * 60 * minute);
    for (const caller of ["bob", "nobody"] as const) {
      const turned = await ask(path, caller);
      // Served once more while it is revalidated, if its lifetimes allow; then never again.
      expect(turned.how.includes("stale-while-revalidate") || turned.status === 403).toBe(true);
      await settled();
      expect((await ask(path, caller)).status).toBe(403);
    }
    expect(markOf((await ask(path, "alice", { "Cache-Control": "no-cache" })).body)).toBe("alice 1");
    gateway.legacy.mode = "down";
    expect((await ask(path, "nobody")).status).toBe(502);
  });

  test("a key that is revoked is refused within a minute, and what it fetched is gone", async () => {
    gateway.legacy.privateTo = alice;
    await ask(path, "alice");
    gateway.legacy.good.delete(alice);
    time.pass(minute + 1);
    expect((await ask(path, "alice")).status).toBe(401);
    expect(gateway.core.cache.size().entries).toBe(0);
    gateway.legacy.good.add(alice);
    const asked = gateway.legacy.asked.length;
    expect(markOf((await ask(path, "alice")).body)).toBe("alice 1");
    expect(gateway.legacy.asked.length).toBeGreaterThan(asked);
  });

  test("at the moment of a refresh each caller still gets only their own answer", async () => {
    const callersInTurn = ["nobody", "alice", "bob"] as const;
    // Users first, so that each user has an answer of their own.
    for (const caller of ["alice", "bob", "nobody"] as const) await ask(path, caller);
    gateway.legacy.version = 2;
    time.pass(personal ? 2 * minute : 25 * 60 * minute);
    // Keys are verified again before legacy becomes slow.
    for (const caller of ["alice", "bob"] as const) await ask("/v1/datasets/abc", caller);
    const release = gateway.legacy.hold();
    const answers = [...callersInTurn, ...callersInTurn].map((caller) => ask(path, caller));
    await settled();
    release();
    gateway.legacy.gate = undefined;
    const marks = (await Promise.all(answers)).map(({ body }) => markOf(body).split(" ")[0]);
    for (const [i, mark] of marks.entries())
      expect([callersInTurn[i % 3], ...(personal ? [] : ["nobody"])]).toContain(mark);
  });
});

test("in any order of requests: no answer of another caller, none past its lifetimes", async () => {
  const step = fc.oneof(
    fc.record({
      kind: fc.constant("ask" as const),
      caller: fc.constantFrom<Caller>("nobody", "alice", "bob"),
      path: fc.constantFrom(...Object.values(kept)),
    }),
    fc.record({ kind: fc.constant("pass" as const), ms: fc.constantFrom(1000, 30_000, 61_000, 11 * minute) }),
    fc.record({ kind: fc.constant("private" as const), to: fc.constantFrom(undefined, alice, bob) }),
    fc.record({ kind: fc.constant("write" as const) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 25 }), async (steps) => {
      await gateway.core.cache.invalidate({ all: true });
      gateway.legacy.privateTo = undefined;
      const wrong: string[] = [];
      for (const each of steps) {
        if (each.kind === "pass") time.pass(each.ms);
        // As after a write: its cached answers are invalidated.
        else if (each.kind === "private") {
          gateway.legacy.privateTo = each.to;
          await gateway.core.cache.invalidate({ all: true });
        } else if (each.kind === "write") {
          gateway.legacy.version++;
          await gateway.core.cache.invalidate({ all: true });
        } else {
          const { status, body } = await ask(each.path, each.caller);
          const { privateTo, version } = gateway.legacy;
          const visible = privateTo === undefined || privateTo === callers[each.caller];
          const alone = each.caller === "nobody" || each.path === kept.listDatasets || privateTo !== undefined;
          const allowed = [each.caller, ...(alone ? [] : ["nobody"])].map((who) => `200 ${who} ${version}`);
          const got = `${status} ${markOf(body)}`;
          if (!(visible ? allowed : ["403 none"]).includes(got)) wrong.push(`${each.caller} ${each.path}: ${got}`);
        }
      }
      expect(wrong).toEqual([]);
    }),
    { numRuns: 30 },
  );
});
