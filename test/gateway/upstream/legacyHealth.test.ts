import { expect, onTestFinished, test, vi } from "vitest";
import { UpstreamFailure } from "../../../src/gateway/upstream/failure.ts";
import {
  afterEvent,
  type HealthEvent,
  type LegacyHealth,
  type Probed,
  unknownHealth,
} from "../../../src/gateway/upstream/legacyHealth.ts";
import { watchLegacy } from "../../../src/gateway/upstream/watchLegacy.ts";

// Each state into each form, and back, over time: requests come four times a second, as in an ordinary afternoon.
const line = { method: "GET", path: "/api/v1/json/data/61" };
const refusedConnection = new UpstreamFailure(
  "unreachable",
  line,
  Object.assign(new Error("x"), { code: "ECONNREFUSED" }),
);

type Form = {
  ms?: number;
  request?: "own" | "ill" | "failed" | "refused" | "broken" | "unreachable" | "never";
  probe?: Probed | "never";
};
const page: Probed = { status: 502, judgement: "ill" };
const own: Probed = { status: 200, judgement: "own" };
const forms: Record<string, Form> = {
  well: { ms: 50, request: "own", probe: own },
  "slow 6 s": { ms: 6000, request: "own", probe: own },
  "slow 9 s": { ms: 9000, request: "own", probe: own },
  "slow 12 s": { ms: 12_000, request: "own", probe: own },
  page: { ms: 10, request: "ill", probe: page },
  "page after 30 s": { ms: 30_000, request: "ill", probe: page },
  "107": { ms: 10, request: "ill", probe: { status: 412, judgement: "ill" } },
  "empty 500": { ms: 10, request: "failed", probe: { status: 500, judgement: "failed" } },
  cut: { ms: 10, request: "broken", probe: new UpstreamFailure("broken", line) },
  frozen: { request: "never", probe: "never" },
  "refused connection": { ms: 1, request: "unreachable", probe: refusedConnection },
  "403": { ms: 10, request: "refused", probe: { status: 403, judgement: "refused" } },
  "probe redirected": { ms: 50, request: "own", probe: { status: 301, judgement: "ill" } },
};

const play = (every = 250) => {
  vi.useFakeTimers({ toFake: ["Date", "performance", "setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  vi.advanceTimersByTime(1000);
  let form: Form = forms["well"] as Form;
  const count = { probes: 0, sent: 0 };
  const watch = watchLegacy({
    isJudged: () => true,
    probe: (_, timeout) =>
      new Promise((resolve) => {
        count.probes++;
        const { probe, ms = Infinity } = form;
        const late = setTimeout(() => resolve(new UpstreamFailure("timeout", line)), timeout);
        if (probe === undefined || probe === "never" || ms >= timeout) return;
        setTimeout(() => (clearTimeout(late), resolve(probe)), ms);
      }),
  });
  const send = () => {
    const request = { ...line };
    count.sent++;
    const { request: how = "never", ms = 0 } = form;
    watch.sent(request);
    return new Promise<void>((resolve) => {
      const end = () => {
        watch.begun(request);
        if (how === "unreachable") watch.failed(request, refusedConnection);
        else if (how === "broken" || how === "never")
          watch.failed(request, new UpstreamFailure(how === "never" ? "timeout" : "broken", line));
        else watch.answered(request, how);
        resolve();
      };
      setTimeout(end, how === "never" ? 30_000 : ms);
    });
  };
  const timer = setInterval(() => {
    watch.refused();
    if (!watch.isOn()) void send();
    else void watch.tryOne(send);
  }, every);
  onTestFinished(() => clearInterval(timer));
  const be = (name: string) => void (form = forms[name] as Form);
  /** Milliseconds until it is so. */
  const until = async (is: () => boolean, most = 60_000) => {
    const from = performance.now();
    while (!is() && performance.now() - from < most) await vi.advanceTimersByTimeAsync(50);
    return performance.now() - from;
  };
  return { watch, be, until, count, pass: (ms: number) => vi.advanceTimersByTimeAsync(ms) };
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
    // What was sent before gets its slow answer: the third miss in a row comes after the last of them.
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

// The transition table: each state and each event. `late refuted`: legacy has answered since the probe was sent.
const T = 100_000;
const asked = { is: "asked", at: T - 100 } as const;
const differs = { since: T - 50_000, isSure: false };
const known: LegacyHealth = { ...unknownHealth, ownAt: T - 60_000, probedAt: T - 10_000, example: line };
const failing = { is: "failing", why: "x", owns: 0, misses: 0 } as const;
const states = {
  well: known,
  "well, probe under way": { ...known, probe: asked },
  "well, two misses": { ...known, misses: 2 },
  "well, two misses, just probed": { ...known, misses: 2, probedAt: T - 400 },
  suspected: { ...known, is: "suspected", misses: 3, probe: asked },
  "failing, answer": { ...known, ...failing, because: "answer", probe: asked },
  "failing, answer, between probes": { ...known, ...failing, because: "answer", probe: { is: "due", at: T + 2000 } },
  "failing, answer, two owns": { ...known, ...failing, because: "answer", owns: 2, probe: asked },
  "failing, late": { ...known, ...failing, because: "late", probe: { is: "due", at: T + 2000 } },
  refusing: { ...known, is: "refusing", status: 403, misses: 2, probe: { is: "due", at: T + 2000 } },
  "refusing, probe under way": { ...known, is: "refusing", status: 403, probe: asked },
  "well, differs": { ...known, differs, overruled: 1, misses: 2, ownAt: T - 1000, probe: { is: "due", at: T + 2000 } },
  "well, differs, agreed": { ...known, differs, overruled: 1, misses: 3, ownAt: T - 5000, probe: asked },
  "well, differs, own": { ...known, differs, overruled: 1, misses: 0, ownAt: T - 1000, probe: asked },
  "well, differs twice": { ...known, differs, overruled: 2, misses: 3, ownAt: T - 9999, probe: asked },
  "well, differs twice, agreed": { ...known, differs, overruled: 2, misses: 3, ownAt: T - 10_000, probe: asked },
  "well, differs often, agreed": { ...known, differs, overruled: 9, misses: 3, ownAt: T - 60_000, probe: asked },
  "failing, certain, differs": { ...known, ...failing, because: "certain", differs, overruled: 1, probe: asked },
} satisfies Record<string, LegacyHealth>;
const events = {
  own: { type: "own", request: line, isNew: true },
  "own of before": { type: "own", request: line, isNew: false },
  miss: { type: "miss", request: line },
  unreachable: { type: "unreachable", request: line },
  silence: { type: "silence", request: line },
  "probe own": { type: "probed", probed: own },
  "probe 403": { type: "probed", probed: { status: 403, judgement: "refused" } },
  "probe page": { type: "probed", probed: page },
  "probe cut": { type: "probed", probed: new UpstreamFailure("broken", line) },
  "probe late": { type: "probed", probed: new UpstreamFailure("timeout", line) },
  "probe late, refuted": { type: "probed", probed: new UpstreamFailure("timeout", line) },
  "probe unconnected": { type: "probed", probed: refusedConnection },
  "probe 107": { type: "probed", probed: { status: 412, judgement: "ill" } },
  "probe nothing": { type: "probed", probed: new UpstreamFailure("overloaded", line) },
} satisfies Record<string, HealthEvent>;

/** `failing answer, owns 1, differs, probe asked` */
const wordsOf = (health: LegacyHealth): string => {
  const { is, misses, probe } = health;
  const parts: string[] = [is === "failing" ? `failing ${health.because}` : is];
  if (is === "failing" && health.owns > 0) parts.push(`owns ${health.owns}`);
  if (misses > 0) parts.push(`misses ${misses}`);
  if (health.differs) parts.push(health.differs.isSure ? "differs surely" : "differs");
  if (probe) parts.push(probe.is === "asked" ? "probe asked" : `probe in ${probe.at - T}`);
  return parts.join(", ");
};

test.each<[state: keyof typeof states, event: keyof typeof events, next: string]>([
  ["well", "own", "well"],
  ["well", "miss", "well, misses 1"],
  ["well, two misses", "own", "well"],
  ["well, two misses", "miss", "suspected, misses 3, probe asked"],
  ["well, two misses, just probed", "miss", "well, misses 3, probe in 600"],
  ["well", "unreachable", "suspected, probe asked"],
  ["well", "silence", "suspected, misses 3, probe asked"],
  ["well, probe under way", "miss", "well, misses 1, probe asked"],
  ["well, probe under way", "silence", "well, misses 3, probe asked"],
  ["well, probe under way", "probe own", "well"],
  ["well, probe under way", "probe 403", "refusing, probe in 1000"],
  ["well, probe under way", "probe page", "failing answer, probe in 1000"],
  ["well, probe under way", "probe late", "failing late, probe in 1000"],
  ["well, probe under way", "probe late, refuted", "well"],
  ["well, probe under way", "probe nothing", "well"],
  ["suspected", "own", "suspected, probe asked"],
  ["suspected", "miss", "suspected, misses 4, probe asked"],
  ["suspected", "unreachable", "suspected, misses 3, probe asked"],
  ["suspected", "silence", "suspected, misses 3, probe asked"],
  ["suspected", "probe own", "well"],
  ["suspected", "probe 403", "refusing, probe in 1000"],
  ["suspected", "probe page", "failing answer, probe in 1000"],
  ["suspected", "probe cut", "failing answer, probe in 1000"],
  ["suspected", "probe late", "failing late, probe in 1000"],
  ["suspected", "probe late, refuted", "well"],
  ["suspected", "probe unconnected", "failing certain, probe in 1000"],
  ["suspected", "probe 107", "failing certain, probe in 1000"],
  ["suspected", "probe nothing", "well"],
  ["failing, answer", "own", "failing answer, owns 1, probe asked"],
  ["failing, answer, between probes", "own", "failing answer, owns 1, probe asked"],
  ["failing, answer", "own of before", "failing answer, probe asked"],
  ["failing, answer, two owns", "own", "well, differs, probe asked"],
  ["failing, answer, two owns", "miss", "failing answer, misses 1, probe asked"],
  ["failing, answer", "unreachable", "failing answer, probe asked"],
  ["failing, answer", "silence", "failing answer, misses 3, probe asked"],
  ["failing, answer", "probe own", "well"],
  ["failing, answer", "probe 403", "refusing, probe in 1000"],
  ["failing, answer, two owns", "probe page", "failing answer, owns 2, probe in 1000"],
  ["failing, answer", "probe late", "failing late, probe in 1000"],
  ["failing, answer", "probe unconnected", "failing certain, probe in 1000"],
  ["failing, answer", "probe nothing", "failing answer, probe in 1000"],
  ["failing, late", "own", "well"],
  ["failing, late", "own of before", "well"],
  ["failing, late", "miss", "failing late, misses 1, probe in 2000"],
  ["refusing", "own", "refusing, probe in 2000"],
  ["refusing", "miss", "refusing, misses 3, probe asked"],
  ["refusing", "unreachable", "refusing, misses 2, probe asked"],
  ["refusing", "silence", "refusing, misses 3, probe asked"],
  ["refusing, probe under way", "probe own", "well"],
  ["refusing, probe under way", "probe 403", "refusing, probe in 1000"],
  ["refusing, probe under way", "probe page", "failing answer, probe in 1000"],
  ["refusing, probe under way", "probe late", "failing late, probe in 1000"],
  ["refusing, probe under way", "probe late, refuted", "refusing, probe in 1000"],
  ["refusing, probe under way", "probe nothing", "refusing, probe in 1000"],
  ["well, differs", "own", "well, differs, probe in 2000"],
  ["well, differs", "miss", "well, misses 3, differs, probe asked"],
  ["well, differs", "silence", "well, misses 3, differs, probe asked"],
  ["well, differs, own", "probe own", "well"],
  ["well, differs, own", "probe 403", "refusing, differs, probe in 1000"],
  ["well, differs, own", "probe page", "well, differs surely, probe in 1000"],
  ["well, differs, own", "probe late", "well, differs, probe in 1000"],
  ["well, differs, agreed", "probe page", "failing answer, probe in 1000"],
  ["well, differs, agreed", "probe late", "failing late, probe in 1000"],
  ["well, differs twice", "probe page", "well, misses 3, differs surely, probe in 1000"],
  ["well, differs twice, agreed", "probe page", "failing answer, probe in 1000"],
  ["well, differs often, agreed", "probe page", "failing answer, probe in 1000"],
  ["well, differs, own", "probe 107", "failing certain, differs, probe in 1000"],
  ["well, differs, own", "probe nothing", "well, differs, probe in 1000"],
  ["failing, certain, differs", "probe own", "well"],
  ["failing, certain, differs", "probe page", "well, differs surely, probe in 1000"],
  ["failing, certain, differs", "probe late", "well, differs, probe in 1000"],
  ["failing, certain, differs", "probe unconnected", "failing certain, differs, probe in 1000"],
])("%s; then %s: %s", (state, event, next) => {
  const ownAt = event === "probe late, refuted" ? T - 50 : states[state].ownAt;
  expect(wordsOf(afterEvent({ ...states[state], ownAt }, events[event], T))).toBe(next);
});
