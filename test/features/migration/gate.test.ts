import { hash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bucketOf, decide } from "../../../features/migration/decide.ts";
import {
  decideGate,
  decideWithoutGate,
  type Evidence,
  whyNotAdvance,
  wilson,
} from "../../../features/migration/gate.ts";
import { zeroCounts } from "../../../libraries/compare/difference.ts";
import { gateSchema, type Stage } from "../../../features/migration/stage.ts";
import { decisionHeader } from "../../../src/gateway/cache/reply.ts";

describe("Wilson's bounds", () => {
  test.each([
    [0, 0, 0, 1],
    [10, 10, 0.7225, 1],
    [0, 10, 0, 0.2775],
    [500, 500, 0.9924, 1],
    [99, 100, 0.9455, 0.9982],
  ])("%i of %i", (good, of, lower, upper) => {
    expect(wilson(good, of).lower).toBeCloseTo(lower, 4);
    expect(wilson(good, of).upper).toBeCloseTo(upper, 4);
  });

  test("they enclose the observed share, and narrow with more observations", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5000 }), fc.double({ min: 0, max: 1, noNaN: true }), (of, share) => {
        const good = Math.round(of * share);
        const { lower, upper } = wilson(good, of);
        const more = wilson(good * 10, of * 10);
        expect(lower).toBeLessThanOrEqual(good / of + 1e-12);
        expect(upper).toBeGreaterThanOrEqual(good / of - 1e-12);
        expect(more.upper - more.lower).toBeLessThan(upper - lower);
      }),
    );
  });
});

describe("the side that answers", () => {
  const at = (stage: Stage["stage"], share: number, bucket: number, forced?: "legacy" | "modern") =>
    decisionHeader({ decision: decide({ stage, share }, { bucket: () => bucket, forced }) });
  test.each([
    [at("legacy", 100, 0), "stage=legacy; backend=legacy; reason=stage"],
    [at("shadow", 100, 0), "stage=shadow; backend=legacy; reason=stage"],
    [at("canary", 5, 4), "stage=canary; backend=modern; bucket=4; reason=share"],
    [at("canary", 5, 5), "stage=canary; backend=legacy; bucket=5; reason=share"],
    [at("canary", 0, 0), "stage=canary; backend=legacy; bucket=0; reason=share"],
    [at("canary", 100, 99), "stage=canary; backend=modern; bucket=99; reason=share"],
    [at("modern", 1, 99), "stage=modern; backend=modern; reason=stage"],
    [at("modern", 1, 99, "legacy"), "stage=modern; backend=legacy; reason=forced"],
    [at("canary", 5, 99, "modern"), "stage=canary; backend=modern; reason=forced"],
  ])("%s", (header, expected) => {
    expect(header).toBe(expected);
  });

  test("a caller stays in one bucket; buckets are even; a larger share keeps its callers", () => {
    const digest = (_: unknown, i: number) => hash("sha256", `client 192.0.2.${i % 256} agent ${i}`, "base64url");
    const buckets = Array.from({ length: 20_000 }, digest).map(bucketOf);
    expect(Math.min(...buckets)).toBe(0);
    expect(Math.max(...buckets)).toBe(99);
    for (const share of [5, 10, 25, 50]) {
      const there = buckets.filter((bucket) => bucket < share).length / buckets.length;
      expect(Math.abs(there - share / 100)).toBeLessThan(0.01);
    }
  });
});

describe("the gate", () => {
  const gate = gateSchema.parse({ parity: 0.98, requests: 300, minutes: 5, errorRate: 0.02, p95: 500, hold: 30 });
  const none = { ...zeroCounts(), lower: 0 };
  const times = (ms: number) => Array.from({ length: 200 }, () => ms);
  const fine: Evidence = {
    isWrite: false,
    all: { ...none, compared: 400, equal: 400 },
    requests: 400,
    minutes: 10,
    good: 400,
    conclusive: 400,
    recent: { good: 200, conclusive: 200 },
    modern: { asked: 200, failed: 0, times: times(50) },
    unexplained: 0,
    failedMinutes: 0,
  };
  const said = (stage: Stage, change: Partial<Evidence> = {}) => {
    const { reason: says, to } = decideGate(gate, stage, { ...fine, ...change });
    return `${to ? `${to.stage} ${to.share}` : "stays"}: ${says}`;
  };
  const canary = (share: number): Stage => ({ stage: "canary", share });

  test.each<[string, Stage["stage"], Partial<Evidence>, string | undefined]>([
    ["nothing was compared", "legacy", { all: none }, "nothing has been compared (put it in shadow first)"],
    ["nothing was compared yet", "shadow", { all: none }, "nothing has been compared yet"],
    ["only drift", "shadow", { all: { ...none, compared: 3, drift: 3 } }, "nothing has been compared yet"],
    ["all is explained, of few requests", "canary", { requests: 1, minutes: 0 }, undefined],
    [
      "a difference",
      "shadow",
      { all: { ...none, compared: 3, drift: 1, unexplained: 1 } },
      "1 of 2 compared requests differs without a reason",
    ],
    ["a write", "canary", { isWrite: true }, "writes are never compared"],
  ])("the objection to a step by hand: %s", (_, stage, change, why) => {
    expect(whyNotAdvance({ stage }, { ...fine, ...change })?.split(" (fix")[0]).toBe(why);
  });

  test.each([
    [{ stage: "shadow", share: 100 }, "canary 5"],
    [canary(5), "canary 10"],
    [canary(7), "canary 10"],
    [canary(10), "canary 25"],
    [canary(25), "canary 50"],
    [canary(50), "canary 100"],
    [canary(100), "modern 100"],
    [{ stage: "modern", share: 10 }, "stays"],
    [{ stage: "legacy", share: 100 }, "stays"],
  ] satisfies [Stage, string][])("promotes %j", (stage, to) => {
    expect(said(stage)).toContain(`${to}:`);
  });

  test.each<[string, Partial<Evidence>, string]>([
    ["too few distinct requests", { requests: 299 }, "stays: held: 299 of 300 distinct requests compared"],
    ["a write, whatever was seen", { isWrite: true }, "stays: held: writes are never compared"],
    ["too soon", { minutes: 4.9 }, "stays: held: 4.9 of 5 minutes"],
    [
      "parity that is not proven yet",
      { good: 100, conclusive: 100 },
      "stays: held: a parity of 96.30 % is proven, 98.00 % is needed",
    ],
    ["soon after a demotion", { sinceDemotion: 12 }, "stays: held: 18 minutes after a demotion are left"],
    [
      "errors above the bound, not yet proven",
      { modern: { asked: 100, failed: 3, times: times(50) } },
      "stays: held: 3.00 % of modern's answers fail",
    ],
    ["parity shown to be worse", { recent: { good: 180, conclusive: 200 } }, "shadow 100: parity at most 93.4"],
    [
      "one failure is no proof",
      { requests: 450, recent: { good: 199, conclusive: 200 } },
      "canary 10: parity at least 99.05 % over 450 distinct requests",
    ],
    ["errors shown to be worse", { modern: { asked: 200, failed: 20, times: times(50) } }, "shadow 100: at least 6.5"],
    [
      "slow",
      { modern: { asked: 200, failed: 0, times: times(501) } },
      "shadow 100: at least 98.12 % of modern's answers take more than 500 ms, allowed 5.00 %",
    ],
    [
      "one slow answer of twenty is no proof",
      { modern: { asked: 20, failed: 0, times: [...times(50).slice(0, 19), 5000] } },
      "canary 10:",
    ],
    [
      "slow, but only a few times",
      { modern: { asked: 10, failed: 0, times: times(5000).slice(0, 10) } },
      "stays: held: 100.00 % of modern's answers take more than 500 ms",
    ],
    [
      "a bad moment after a good day",
      { good: 100_000, conclusive: 100_020, recent: { good: 180, conclusive: 200 } },
      "shadow 100:",
    ],
  ])("%s", (_, change, expected) => {
    expect(said(canary(5), change)).toContain(expected);
  });

  test.each<[at: Stage, Partial<Evidence>, to: string | undefined]>([
    [canary(50), { unexplained: 2 }, undefined],
    [canary(50), { unexplained: 3 }, "shadow: 3 distinct requests differ without a reason"],
    [canary(50), { failedMinutes: 1 }, undefined],
    [canary(50), { failedMinutes: 2 }, "shadow: most of modern's answers failed in 2 different minutes"],
    [{ stage: "shadow", share: 100 }, { unexplained: 9, failedMinutes: 9 }, undefined],
    [{ stage: "modern", share: 100 }, { unexplained: 9, failedMinutes: 9 }, undefined],
  ])("without a gate in STAGES: %j, %j", (at, change, expected) => {
    const { to, reason } = decideWithoutGate(at, { ...fine, ...change }) ?? {};
    expect(to && `${to.stage}: ${reason}`).toBe(expected);
  });

  test("a worse modern stays in shadow, where it answers no caller", () => {
    expect(said({ stage: "shadow", share: 10 }, { recent: { good: 0, conclusive: 200 } })).toContain(
      "stays: held: parity at most",
    );
  });

  test("no evidence both promotes and demotes, and without evidence nothing moves", () => {
    fc.assert(
      fc.property(
        fc.nat(500),
        fc.nat(500),
        fc.nat(200),
        fc.nat(200),
        fc.nat(200),
        (conclusive, bad, latest, failed, p95) => {
          const evidence: Evidence = {
            ...fine,
            requests: conclusive,
            minutes: 10,
            good: Math.max(0, conclusive - bad),
            conclusive,
            recent: { good: Math.max(0, latest - bad), conclusive: latest },
            modern: { asked: 200, failed, times: times(p95) },
            unexplained: bad,
            failedMinutes: 0,
          };
          const { to } = decideGate(gate, canary(5), evidence);
          expect(to?.stage === "canary" ? wilson(evidence.good, conclusive).lower : 1).toBeGreaterThanOrEqual(
            gate.parity,
          );
          expect(decideGate(gate, canary(5), { ...evidence, requests: 0, conclusive: 0, good: 0 }).to?.stage).not.toBe(
            "canary",
          );
        },
      ),
    );
  });
});
