import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Judgement } from "../../../src/catalogue/legacy/judgement.ts";
import { type FailureKind, UpstreamFailure } from "../../../src/gateway/upstream/failure.ts";
import type { LegacyHealth, Probed } from "../../../src/gateway/upstream/legacyHealth.ts";
import { watchLegacy } from "../../../src/gateway/upstream/watchLegacy.ts";

const website = { method: "GET", path: "/" };
const newRead = () => ({ method: "GET", path: "/api/v1/json/data/61" });
const failureOf = (kind: FailureKind, code?: string) =>
  new UpstreamFailure(kind, website, code && Object.assign(new Error(code), { code }));

const own: Probed = { status: 200, judgement: "own" };
const noDatabase: Probed = { status: 412, judgement: "ill" };
const unreachable = failureOf("unreachable", "ECONNREFUSED");

/** An outage over probes that the test answers, by the test's clock. */
const open = () => {
  vi.useFakeTimers({ toFake: ["Date", "performance", "setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  vi.advanceTimersByTime(1000);
  const asked: ((probed: Probed) => void)[] = [];
  const said: unknown[] = [];
  const outage = watchLegacy({
    isJudged: (target) => target.startsWith("/api/"),
    probe: () => new Promise((resolve) => void asked.push(resolve)),
  });
  // As it was said before, one thing at a time.
  const partsOf = ({ is, differs, ...rest }: LegacyHealth) => ({
    refuses: is === "refusing" ? (rest as { status: number }).status : undefined,
    differs: differs?.isSure === true,
    why: is === "failing" ? (rest as { why: string }).why : undefined,
  });
  outage.onChange((health, before) => {
    const [now, then] = [partsOf(health), partsOf(before)];
    if (now.differs !== then.differs) said.push({ differs: now.differs });
    if (now.refuses !== then.refuses) said.push({ refuses: now.refuses });
    if (now.why !== then.why) said.push(now.why);
  });
  /** An answer to a request that was sent at once. */
  const answer = (judgement: Judgement | undefined, times = 1): void => {
    for (let i = 0; i < times; i++) {
      const request = newRead();
      outage.sent(request);
      outage.begun(request);
      outage.answered(request, judgement);
    }
  };
  const fail = (kind: FailureKind, { code, request = newRead(), times = 1 } = {} as FailOptions): void => {
    for (let i = 0; i < times; i++) outage.failed(request, failureOf(kind, code));
  };
  type FailOptions = { code?: string; request?: { method: string; path: string }; times?: number };
  /** Answers the probe that is under way. */
  const probed = async (result: Probed): Promise<void> => {
    expect(outage.isAsking()).toBe(true);
    asked.at(-1)?.(result);
    await outage.settled();
  };
  const pass = (ms: number): void => void vi.advanceTimersByTime(ms);
  return { outage, asked, said, answer, fail, probed, pass };
};
type Opened = ReturnType<typeof open>;

describe("the probe is asked", () => {
  test.each<[after: string, does: (opened: Opened) => void, probes: number]>([
    ["three ill answers", ({ answer }) => answer("ill", 3), 1],
    ["three empty 500s", ({ answer }) => answer("failed", 3), 1],
    ["three refusals", ({ answer }) => answer("refused", 3), 1],
    ["three timeouts", ({ fail }) => fail("timeout", { times: 3 }), 1],
    ["three answers that break off", ({ fail }) => fail("broken", { times: 3 }), 1],
    ["a refused connection", ({ fail }) => fail("unreachable", { code: "ECONNREFUSED" }), 1],
    ["a refused connection of the website", ({ fail }) => fail("unreachable", { request: website }), 1],
    ["a silence of five seconds", ({ outage, pass }) => (outage.sent(newRead()), pass(5000)), 1],
    ["two ill answers", ({ answer }) => answer("ill", 2), 0],
    ["ill answers that are not in a row", ({ answer }) => (answer("ill", 2), answer("own"), answer("ill", 2)), 0],
    ["two ill answers and what says nothing", ({ answer }) => (answer("ill", 2), answer(undefined, 5)), 0],
    ["three requests that were given up", ({ fail }) => fail("aborted", { times: 3 }), 0],
    ["three requests without a place", ({ fail }) => fail("overloaded", { times: 3 }), 0],
    ["three timeouts of the website", ({ fail }) => fail("timeout", { request: website, times: 3 }), 0],
    ["a silence of the website", ({ outage, pass }) => (outage.sent(website), pass(60_000)), 0],
    ["no more descriptors", ({ fail }) => fail("unreachable", { code: "EMFILE" }), 0],
    ["a pool that is closed", ({ fail }) => fail("unreachable", { code: "UND_ERR_DESTROYED" }), 0],
    [
      "answers that take four seconds",
      ({ outage, pass }) => {
        for (let i = 0; i < 10; i++) {
          const request = newRead();
          outage.sent(request);
          pass(4000);
          outage.begun(request);
        }
      },
      0,
    ],
    ["many misses at once", ({ answer, fail }) => (answer("ill", 50), fail("unreachable")), 1],
  ])("after %s", (_, does, probes) => {
    const opened = open();
    does(opened);
    expect([opened.asked.length, opened.outage.isAsking(), opened.outage.isOn()]).toEqual([probes, probes > 0, false]);
  });

  test("once a second at most, while legacy is well", async () => {
    const { asked, answer, probed, pass } = open();
    answer("ill", 3);
    await probed(own);
    answer("ill", 30);
    expect(asked).toHaveLength(1);
    pass(1000);
    answer("ill", 1);
    expect(asked).toHaveLength(2);
  });

  test("after one second, two, then every five, by the clock of its callers too", async () => {
    const { outage, asked, fail, probed, pass } = open();
    fail("unreachable");
    for (const [at, pause] of [1000, 2000, 5000, 5000].entries()) {
      await probed(unreachable);
      pass(pause - 1);
      outage.refused();
      expect(asked).toHaveLength(at + 1);
      pass(1);
      expect(asked).toHaveLength(at + 2);
    }
    outage.close();
  });
});

describe("legacy fails", () => {
  test.each<[what: string, probed: Probed, why: string | undefined]>([
    ["is legacy's own", own, undefined],
    ["is legacy's own error", { status: 412, judgement: "own" }, undefined],
    ["is 107", noDatabase, "it has no database"],
    ["is a page", { status: 502, judgement: "ill" }, "it answers with status 502"],
    ["is an empty 500", { status: 500, judgement: "failed" }, "it answers with status 500"],
    ["does not come", failureOf("timeout"), "it takes too long to answer"],
    ["breaks off", failureOf("broken"), "it breaks off its answers"],
    ["is a refused connection", unreachable, "it cannot be reached"],
    ["finds no descriptor", failureOf("unreachable", "EMFILE"), undefined],
    ["finds no room", failureOf("crowded"), undefined],
    ["finds no place", failureOf("overloaded"), undefined],
    ["says nothing", { status: 200, judgement: undefined }, undefined],
  ])("if the answer to the probe %s: %s", async (_, probed, why) => {
    const opened = open();
    opened.answer("ill", 3);
    await opened.probed(probed);
    expect([opened.outage.isOn(), ...opened.said]).toEqual([why !== undefined, ...(why === undefined ? [] : [why])]);
    opened.outage.close();
  });

  test("until the probe is answered, and what waits for its end hears of it", async () => {
    const { outage, said, fail, probed, pass } = open();
    expect(outage.ended()).toBeUndefined();
    fail("unreachable");
    await probed(unreachable);
    const ended = outage.ended();
    pass(1000);
    await probed(noDatabase);
    pass(2000);
    await probed({ status: 200, judgement: undefined });
    expect(outage.isOn()).toBe(true);
    pass(5000);
    await probed(own);
    await ended;
    expect(said).toEqual(["it cannot be reached", "it has no database", undefined]);
    pass(60_000);
    expect(outage.isAsking()).toBe(false);
  });

  test("a refusal of the gateway begins no failure, ends one, and is told by status", async () => {
    const { outage, said, answer, probed, pass } = open();
    answer("refused", 3);
    await probed({ status: 403, judgement: "refused" });
    expect([outage.isOn(), said]).toEqual([false, [{ refuses: 403 }]]);
    pass(1000);
    await probed(noDatabase);
    pass(1000);
    await probed({ status: 401, judgement: "refused" });
    pass(2000);
    await probed(own);
    const failing = [{ refuses: undefined }, "it has no database"];
    expect(said.slice(1)).toEqual([...failing, { refuses: 401 }, undefined, { refuses: undefined }]);
  });

  describe("a request is sent all the same", () => {
    /** Requests that are sent, each with the function that ends it; how many of two that ask are sent. */
    const openTries = () => {
      const { outage, pass } = open();
      const sent: (() => void)[] = [];
      const send = () => {
        const { promise, resolve } = Promise.withResolvers<void>();
        sent.push(resolve);
        return promise;
      };
      const tries = () => [outage.tryOne(send), outage.tryOne(send)].filter((one) => one !== undefined).length;
      const end = async (at: number) => {
        sent[at]?.();
        await Promise.resolve();
      };
      return { tries, end, pass };
    };

    test("one a second", async () => {
      const { tries, end, pass } = openTries();
      expect(tries()).toBe(1);
      await end(0);
      pass(999);
      expect(tries()).toBe(0);
      pass(1);
      expect(tries()).toBe(1);
    });

    test("one in five seconds while the last one is without an answer", async () => {
      const { tries, end, pass } = openTries();
      expect(tries()).toBe(1);
      pass(4999);
      expect(tries()).toBe(0);
      pass(1);
      expect(tries()).toBe(1);
      pass(1000);
      expect(tries()).toBe(0);
      await end(1);
      expect(tries()).toBe(1);
    });
  });
});

describe("a probe that is treated otherwise than requests", () => {
  /** An outage whose probe was overruled. */
  const overruled = async () => {
    const opened = open();
    opened.answer("ill", 3);
    await opened.probed({ status: 301, judgement: "ill" });
    opened.answer("own", 3);
    return opened;
  };

  test("is overruled by three own answers in a row, and told when it fails once more", async () => {
    const { outage, said, probed, pass } = await overruled();
    expect([outage.isOn(), said]).toEqual([false, ["it answers with status 301", undefined]]);
    pass(1000);
    await probed({ status: 301, judgement: "ill" });
    expect([outage.isOn(), said.slice(2)]).toEqual([false, [{ differs: true }]]);
    outage.close();
  });

  test("is not told where legacy is just back", async () => {
    const { said, probed, pass } = await overruled();
    pass(1000);
    await probed(own);
    expect(said).toEqual(["it answers with status 301", undefined]);
  });

  test("is not told by the answer to a probe from before the three", async () => {
    const { outage, said, answer, probed, pass } = open();
    answer("ill", 3);
    await probed({ status: 301, judgement: "ill" });
    pass(1000);
    answer("own", 3);
    await probed(failureOf("timeout"));
    expect([outage.isOn(), said]).toEqual([false, ["it answers with status 301", undefined]]);
    pass(1000);
    await probed(own);
    expect(said).toHaveLength(2);
  });

  test("is not by fewer, nor by answers to requests from before the failure", async () => {
    const { outage, answer, probed } = open();
    const before = Array.from({ length: 5 }, newRead);
    for (const request of before) outage.sent(request);
    answer("ill", 3);
    await probed(noDatabase);
    for (const request of before) outage.answered(request, "own");
    answer("own", 2);
    answer("ill");
    answer("own", 2);
    expect(outage.isOn()).toBe(true);
    outage.close();
  });

  test("is not believed while requests get legacy's own answers, until it gets one", async () => {
    const { outage, said, answer, probed, pass } = await overruled();
    for (const result of [{ status: 502, judgement: "ill" } as const, failureOf("timeout")]) {
      pass(5000);
      answer("ill", 9);
      answer("own");
      await probed(result);
      expect(outage.isOn()).toBe(false);
    }
    pass(5000);
    await probed(own);
    expect(said.at(-1)).toEqual({ differs: false });
    pass(1000);
    answer("ill", 3);
    await probed(noDatabase);
    expect(outage.isOn()).toBe(true);
    outage.close();
  });

  test.each([
    ["where it cannot connect, until it can", unreachable],
    ["where legacy itself says that it has no database, until a front answers", noDatabase],
  ])("is believed %s", async (_, result) => {
    const { outage, probed, pass } = await overruled();
    pass(2000);
    await probed(result);
    expect(outage.isOn()).toBe(true);
    pass(1000);
    await probed({ status: 301, judgement: "ill" });
    expect(outage.isOn()).toBe(false);
    outage.close();
  });
});

test("a closed outage asks no more", async () => {
  const { outage, asked, fail, probed, pass } = open();
  fail("unreachable");
  await probed(unreachable);
  outage.sent(newRead());
  outage.close();
  pass(60_000);
  outage.refused();
  expect(asked).toHaveLength(1);
});
