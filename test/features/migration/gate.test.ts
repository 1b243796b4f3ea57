import { hash } from "node:crypto";
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
  ])("the stage, the bucket and the request decide the side: %s", (header, expected) => {
    expect(header).toBe(expected);
  });

  test("callers are spread evenly over the buckets 0 to 99", () => {
    const digest = (_: unknown, i: number) => hash("sha256", `client 192.0.2.${i % 256} agent ${i}`, "base64url");
    const buckets = Array.from({ length: 20_000 }, digest).map(bucketOf);
    expect([Math.min(...buckets), Math.max(...buckets)]).toEqual([0, 99]);
    for (const share of [5, 10, 25, 50])
      expect(buckets.filter((bucket) => bucket < share).length / buckets.length).toBeCloseTo(share / 100, 1.7);
  });
});

test.each([
  [0, 0, 0, 1],
  [10, 10, 0.7225, 1],
  [0, 10, 0, 0.2775],
  [500, 500, 0.9924, 1],
  [99, 100, 0.9455, 0.9982],
])("Wilson's bounds of %i good trials of %i are %f and %f", (good, of, lower, upper) => {
  expect(wilson(good, of).lower).toBeCloseTo(lower, 4);
  expect(wilson(good, of).upper).toBeCloseTo(upper, 4);
});

const gate = gateSchema.parse({ parity: 0.98, requests: 300, minutes: 5, errorRate: 0.02, p95: 500, hold: 30 });
const none = { ...zeroCounts(), lower: 0 };
const times = (ms: number, count = 200) => Array.from({ length: count }, () => ms);
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
const canary = (share: number): Stage => ({ stage: "canary", share });
const shadow: Stage = { stage: "shadow", share: 100 };
/** The next stage by the gate, and the reason. */
const decisionText = (stage: Stage, change: Partial<Evidence> = {}) => {
  const { reason, to } = decideGate(gate, stage, { ...fine, ...change });
  return `${to ? `${to.stage} ${to.share}` : "stays"}: ${reason}`;
};

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
  [shadow, "canary 5"],
  [canary(5), "canary 10"],
  [canary(7), "canary 10"],
  [canary(10), "canary 25"],
  [canary(25), "canary 50"],
  [canary(50), "canary 100"],
  [canary(100), "modern 100"],
  [{ stage: "modern", share: 10 }, "stays"],
  [{ stage: "legacy", share: 100 }, "stays"],
] satisfies [Stage, string][])("with good evidence a gate moves %j to: %s", (stage, to) => {
  expect(decisionText(stage)).toContain(`${to}:`);
});

const slow = "of modern's answers take more than 500 ms";
test.each<[string, Partial<Evidence>, string]>([
  ["too few distinct requests", { requests: 299 }, "stays: held: 299 of 300 distinct requests compared"],
  ["a write", { isWrite: true }, "stays: held: writes are never compared"],
  ["too soon", { minutes: 4.9 }, "stays: held: 4.9 of 5 minutes"],
  ["parity not proven yet", { good: 100, conclusive: 100 }, "stays: held: a parity of 96.30 % is proven, 98.00 % is n"],
  ["soon after a demotion", { sinceDemotion: 12 }, "stays: held: 18 minutes after a demotion are left"],
  [
    "errors, not proven",
    { modern: { asked: 100, failed: 3, times: times(50) } },
    "stays: held: 3.00 % of modern's ans",
  ],
  ["parity proven worse", { recent: { good: 180, conclusive: 200 } }, "shadow 100: parity at most 93.4"],
  [
    "a bad moment after a good day",
    { good: 1e6, recent: { good: 180, conclusive: 200 } },
    "shadow 100: parity at most",
  ],
  [
    "one difference of 200",
    { recent: { good: 199, conclusive: 200 } },
    "canary 10: parity at least 99.05 % over 400 dis",
  ],
  ["few differences", { recent: { good: 0, conclusive: 19 } }, "canary 10:"],
  ["errors proven", { modern: { asked: 200, failed: 20, times: times(50) } }, "shadow 100: at least 6.5"],
  [
    "slow",
    { modern: { asked: 200, failed: 0, times: times(501) } },
    `shadow 100: at least 98.12 % ${slow}, allowed 5.00 %`,
  ],
  ["one slow of 20", { modern: { asked: 20, failed: 0, times: [...times(50, 19), 5000] } }, "canary 10:"],
  ["slow a few times", { modern: { asked: 10, failed: 0, times: times(5000, 10) } }, `stays: held: 100.00 % ${slow}`],
])("the gate of a canary of 5 %% decides by the evidence: %s", (_, change, expected) => {
  expect(decisionText(canary(5), change)).toContain(expected);
});

test("a worse modern stays in shadow, where it answers no caller", () => {
  expect(decisionText(shadow, { recent: { good: 0, conclusive: 200 } })).toContain("stays: held: parity at most");
});

test.each<[at: Stage, Partial<Evidence>, to: string | undefined]>([
  [canary(50), { unexplained: 2 }, undefined],
  [canary(50), { unexplained: 3 }, "shadow: 3 distinct requests differ without a reason"],
  [canary(50), { failedMinutes: 1 }, undefined],
  [canary(50), { failedMinutes: 2 }, "shadow: most of modern's answers failed in 2 different minutes"],
  [shadow, { unexplained: 9, failedMinutes: 9 }, undefined],
  [{ stage: "modern", share: 100 }, { unexplained: 9, failedMinutes: 9 }, undefined],
])("without a gate in STAGES only a canary goes back: %j, %j", (at, change, expected) => {
  const { to, reason } = decideWithoutGate(at, { ...fine, ...change }) ?? {};
  expect(to && `${to.stage}: ${reason}`).toBe(expected);
});
