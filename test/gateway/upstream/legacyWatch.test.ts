import { expect, onTestFinished, test, vi } from "vitest";
import type { Judgement } from "../../../src/catalogue/legacy/judgement.ts";
import { type FailureKind, type RequestUnderWay, UpstreamFailure } from "../../../src/gateway/upstream/failure.ts";
import type { Probed } from "../../../src/gateway/upstream/legacyHealth.ts";
import { LegacyWatch } from "../../../src/gateway/upstream/legacyWatch.ts";
import { line, own, page, unconnected } from "./probed.ts";

const website = { method: "GET", path: "/" };
const noDatabase: Probed = { status: 412, judgement: "ill" };
const failureOf = (kind: FailureKind, code?: string) =>
  new UpstreamFailure(kind, website, code && Object.assign(new Error(code), { code }));

type Probe = ConstructorParameters<typeof LegacyWatch>[0]["probe"];

/** A watch over requests that the test sends. */
class TestedWatch extends LegacyWatch {
  readonly #waiting: Set<RequestUnderWay>;

  constructor(probe: Probe) {
    const waiting = new Set<RequestUnderWay>();
    super({ isJudged: (target) => target.startsWith("/api/"), probe, waiting: () => [...waiting] });
    this.#waiting = waiting;
  }

  override sent(request: RequestUnderWay["request"] = line): RequestUnderWay {
    const now = performance.now();
    const sent = { request, startedAt: now, sentAt: now, isLate: false };
    this.#waiting.add(sent);
    super.sent();
    return sent;
  }

  override begun(sent: RequestUnderWay): void {
    this.#waiting.delete(sent);
    super.begun(sent);
  }
}

/** A watch by the test's clock. `probe`: what a probe comes to. */
const watchBy = (probe: Probe): TestedWatch => {
  vi.useFakeTimers({ toFake: ["Date", "performance", "setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  vi.advanceTimersByTime(1000);
  return new TestedWatch(probe);
};

/** A watch over probes that the test answers. */
const open = () => {
  const asked: ((probed: Probed) => void)[] = [];
  const watch = watchBy(() => new Promise((resolve) => void asked.push(resolve)));
  const said: string[] = [];
  watch.onChange((health) => void said.push(health.is === "failing" ? health.why : health.is));
  /** An answer to a request that was sent at once. */
  const answer = (judgement: Judgement | undefined, times = 1): void => {
    for (let i = 0; i < times; i++) {
      const request = watch.sent();
      watch.begun(request);
      watch.answered(request, judgement);
    }
  };
  const fail = (kind: FailureKind, { code, request = line, times = 1 } = {} as FailOptions): void => {
    for (let i = 0; i < times; i++) watch.failed(request, failureOf(kind, code));
  };
  type FailOptions = { code?: string; request?: { method: string; path: string }; times?: number };
  const isAsking = () => watch.health().probe?.is === "asked";
  /** Answers the probe that is under way. */
  const probed = async (result: Probed): Promise<void> => {
    expect(isAsking()).toBe(true);
    asked.at(-1)?.(result);
    await watch.settled();
  };
  const pass = (ms: number): void => void vi.advanceTimersByTime(ms);
  return { watch, asked, said, answer, fail, isAsking, probed, pass };
};
type Opened = ReturnType<typeof open>;

test.each<[after: string, does: (opened: Opened) => void, probes: number]>([
  ["three ill answers", ({ answer }) => answer("ill", 3), 1],
  ["three empty 500s", ({ answer }) => answer("failed", 3), 1],
  ["three refusals", ({ answer }) => answer("refused", 3), 1],
  ["three timeouts", ({ fail }) => fail("timeout", { times: 3 }), 1],
  ["three answers that break off", ({ fail }) => fail("broken", { times: 3 }), 1],
  ["a refused connection", ({ fail }) => fail("unreachable", { code: "ECONNREFUSED" }), 1],
  ["a refused connection of the website", ({ fail }) => fail("unreachable", { request: website }), 1],
  ["a silence of five seconds", ({ watch, pass }) => (watch.sent(), pass(5000)), 1],
  ["two ill answers and what says nothing", ({ answer }) => (answer("ill", 2), answer(undefined, 5)), 0],
  ["three requests that were given up", ({ fail }) => fail("aborted", { times: 3 }), 0],
  ["three requests without a place", ({ fail }) => fail("overloaded", { times: 3 }), 0],
  ["three timeouts of the website", ({ fail }) => fail("timeout", { request: website, times: 3 }), 0],
  ["a silence of the website", ({ watch, pass }) => (watch.sent(website), pass(60_000)), 0],
  ["no more descriptors", ({ fail }) => fail("unreachable", { code: "EMFILE" }), 0],
  ["a pool that is closed", ({ fail }) => fail("unreachable", { code: "UND_ERR_DESTROYED" }), 0],
  [
    "a request that waits while others are answered",
    ({ watch, answer, pass }) => {
      watch.sent();
      for (let i = 0; i < 5; i++) {
        pass(4000);
        answer("own");
      }
    },
    0,
  ],
  ["many misses at once", ({ answer, fail }) => (answer("ill", 50), fail("unreachable")), 1],
])("probes after %s", (_, does, probes) => {
  const { asked, isAsking, watch, ...opened } = open();
  does({ asked, isAsking, watch, ...opened });
  expect([asked.length, isAsking(), watch.isOn()]).toEqual([probes, probes > 0, false]);
});

test("each change is reported once, also to those that wait for the end of a failure", async () => {
  const { watch, said, answer, fail, isAsking, probed, pass } = open();
  expect(watch.ended()).toBeUndefined();
  fail("unreachable");
  await probed(unconnected);
  const ended = watch.ended();
  pass(1000);
  await probed(noDatabase);
  pass(2000);
  await probed({ status: 200, judgement: undefined });
  pass(5000);
  await probed({ status: 401, judgement: "refused" });
  await ended;
  pass(1000);
  await probed(own);
  expect(said).toEqual(["it cannot be reached", "it has no database", "refusing", "well"]);
  answer("own");
  pass(60_000);
  expect(isAsking()).toBe(false);
});

test("answers to requests from before a failure do not overrule the probe", async () => {
  const { watch, answer, probed, pass } = open();
  const before = Array.from({ length: 5 }, () => watch.sent());
  pass(1);
  answer("ill", 3);
  await probed(page);
  for (const request of before) watch.answered(request, "own");
  answer("own", 2);
  expect(watch.isOn()).toBe(true);
  answer("own");
  expect(watch.isOn()).toBe(false);
  watch.stop();
});

test("a probe that throws is over, and the next one is sent", async () => {
  const failure = new Error("thrown");
  const probes: unknown[] = [];
  const watch = watchBy(() => (probes.push(failure), Promise.reject(failure)));
  watch.failed(line, unconnected);
  await expect(watch.settled()).rejects.toBe(failure);
  vi.advanceTimersByTime(1000);
  watch.failed(line, unconnected);
  expect(probes).toHaveLength(2);
  await expect(watch.settled()).rejects.toBe(failure);
});

test.each([
  ["a second", unconnected, 1000],
  ["in five seconds where legacy is late", failureOf("timeout"), 5000],
])("while legacy fails, one request %s is sent", async (_, result, every) => {
  const { watch, fail, probed, pass } = open();
  fail("unreachable");
  await probed(result);
  let sent = 0;
  const tryTwice = async (isNeeded: boolean) => {
    for (let i = 0; i < 2; i++) await watch.execute(async () => void sent++, isNeeded);
    return sent;
  };
  expect([await tryTwice(false), await tryTwice(true)]).toEqual([0, 1]);
  pass(every - 1);
  expect(await tryTwice(true)).toBe(1);
  pass(1);
  expect(await tryTwice(true)).toBe(2);
  watch.stop();
});

test("a closed watch sends no probe", async () => {
  const { watch, asked, fail, probed, pass } = open();
  fail("unreachable");
  await probed(unconnected);
  watch.sent();
  watch.stop();
  pass(60_000);
  void watch.execute(() => Promise.resolve(), false);
  expect(asked).toHaveLength(1);
});

// Each state into each form, and back, over time: requests come four times a second, as in an ordinary afternoon.
type Form = {
  ms?: number;
  request?: "own" | "ill" | "failed" | "refused" | "broken" | "unreachable" | "never";
  probe?: Probed | "never";
};
const forms: Record<string, Form> = {
  well: { ms: 50, request: "own", probe: own },
  "slow 6 s": { ms: 6000, request: "own", probe: own },
  "slow 9 s": { ms: 9000, request: "own", probe: own },
  "slow 12 s": { ms: 12_000, request: "own", probe: own },
  page: { ms: 10, request: "ill", probe: page },
  "page after 30 s": { ms: 30_000, request: "ill", probe: page },
  "107": { ms: 10, request: "ill", probe: { status: 412, judgement: "ill" } },
  "empty 500": { ms: 10, request: "failed", probe: { status: 500, judgement: "failed" } },
  cut: { ms: 10, request: "broken", probe: failureOf("broken") },
  frozen: { request: "never", probe: "never" },
  "refused connection": { ms: 1, request: "unreachable", probe: unconnected },
  "403": { ms: 10, request: "refused", probe: { status: 403, judgement: "refused" } },
  "probe redirected": { ms: 50, request: "own", probe: { status: 301, judgement: "ill" } },
};

const play = (every = 250) => {
  let form: Form = forms["well"] as Form;
  const watch = watchBy(
    (_, timeout) =>
      new Promise((resolve) => {
        const { probe, ms = Infinity } = form;
        const late = setTimeout(() => resolve(failureOf("timeout")), timeout);
        if (probe === undefined || probe === "never" || ms >= timeout) return;
        setTimeout(() => (clearTimeout(late), resolve(probe)), ms);
      }),
  );
  const send = () => {
    const request = watch.sent();
    const { request: how = "never", ms = 0 } = form;
    return new Promise<void>((resolve) => {
      const end = () => {
        watch.begun(request);
        if (how === "unreachable") watch.failed(line, unconnected);
        else if (how === "broken" || how === "never")
          watch.failed(line, failureOf(how === "never" ? "timeout" : "broken"));
        else watch.answered(request, how);
        resolve();
      };
      setTimeout(end, how === "never" ? 30_000 : ms);
    });
  };
  const timer = setInterval(() => void watch.execute(send, true), every);
  onTestFinished(() => clearInterval(timer));
  const be = (name: string) => void (form = forms[name] as Form);
  /** Milliseconds until the state is reached. */
  const until = async (is: () => boolean, most = 60_000) => {
    const from = performance.now();
    while (!is() && performance.now() - from < most) await vi.advanceTimersByTimeAsync(50);
    return performance.now() - from;
  };
  return { watch, be, until, pass: (ms: number) => vi.advanceTimersByTimeAsync(ms) };
};

const bad = ["page", "107", "empty 500", "cut", "frozen", "refused connection"];
const cases = Object.keys(forms).flatMap((first) =>
  bad.filter((second) => second !== first).map((second) => [first, second] as const),
);
test.each(cases)(
  "%s for a minute, then %s: it fails within ten seconds, and is well within five of its end",
  async (first, second) => {
    const { watch, be, until, pass } = play();
    await pass(5000);
    be(first);
    await pass(60_000);
    be(second);
    const noticed = await until(() => watch.isOn());
    await pass(20_000);
    // Earlier requests still get their slow answers: the third miss in a row comes after the last of them.
    const { ms = 0, request } = forms[first] as Form;
    const inFlight = request === "own" ? ms : 0;
    const most = first === "slow 12 s" && second === "frozen" ? 15_300 : 10_300;
    expect([noticed - inFlight <= most, watch.isOn()]).toEqual([true, true]);
    be("well");
    const over = await until(() => watch.health().is === "well");
    await pass(6000);
    expect([over <= 5300, watch.health().is, watch.health().differs]).toEqual([true, "well", undefined]);
  },
);

test.each(["slow 6 s", "slow 9 s", "slow 12 s", "probe redirected", "403"])(
  "%s is no outage but at its beginning",
  async (name) => {
    const { watch, be, pass } = play();
    await pass(5000);
    be(name);
    let failing = 0;
    for (let i = 0; i < 600; i++) {
      await pass(100);
      if (watch.isOn()) failing += 100;
    }
    expect(failing).toBeLessThanOrEqual(name === "slow 12 s" ? 2500 : 0);
  },
);

test.each([250, 1000])(
  "a probe that a front redirects is no outage for ever: page, then requests alone are well (%i ms)",
  async (every) => {
    const { watch, be, until, pass } = play(every);
    be("page");
    await pass(8000);
    expect(watch.isOn()).toBe(true);
    be("probe redirected");
    expect(await until(() => !watch.isOn())).toBeLessThan(4500);
    await pass(30_000);
    expect([watch.isOn(), watch.health().differs?.isSure]).toEqual([false, true]);
    be("page");
    expect(await until(() => watch.isOn())).toBeLessThan(10_300);
    be("probe redirected");
    expect(await until(() => !watch.isOn())).toBeLessThan(4500);
    be("frozen");
    expect(await until(() => watch.isOn())).toBeLessThan(15_300);
    be("well");
    await pass(11_000);
    expect([watch.health().is, watch.health().differs]).toEqual(["well", undefined]);
  },
);
