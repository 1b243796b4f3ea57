import { expect, test } from "vitest";
import { UpstreamFailure } from "../../../src/gateway/upstream/failure.ts";
import {
  afterEvent,
  type HealthEvent,
  type LegacyHealth,
  unknownHealth,
} from "../../../src/gateway/upstream/legacyHealth.ts";
import { line, own, page, unconnected } from "./probed.ts";

const T = 100_000;
const asked = { is: "asked", at: T - 100 } as const;
const differs = { since: T - 50_000, isSure: false };
const known: LegacyHealth = { ...unknownHealth, ownAt: T - 60_000, probedAt: T - 10_000, example: line };
const withoutDescriptors = new UpstreamFailure("unreachable", line, Object.assign(new Error("x"), { code: "EMFILE" }));
const failing = { is: "failing", why: "x", owns: 0, misses: 0 } as const;
const states = {
  well: known,
  "well, probe under way": { ...known, probe: asked },
  "well, two misses": { ...known, misses: 2 },
  "well, two misses, just probed": { ...known, misses: 2, probedAt: T - 400 },
  suspected: { ...known, is: "suspected", misses: 3, probe: asked },
  "failing, answer": { ...known, ...failing, because: "answer", probe: asked },
  "failing, answer, between probes": { ...known, ...failing, because: "answer", probe: { is: "due", at: T + 2000 } },
  "failing, answer, probed once": { ...known, ...failing, because: "answer", unanswered: 1, probe: asked },
  "failing, answer, probed twice": { ...known, ...failing, because: "answer", unanswered: 2, probe: asked },
  "failing, answer, probed often": { ...known, ...failing, because: "answer", unanswered: 9, probe: asked },
  "failing, answer, two owns": { ...known, ...failing, because: "answer", owns: 2, probe: asked },
  "failing, late": { ...known, ...failing, because: "late", probe: { is: "due", at: T + 2000 } },
  "failing, late, patient": {
    ...known,
    ...failing,
    because: "late",
    patience: 20_000,
    probe: { is: "due", at: T + 2000 },
  },
  refusing: { ...known, is: "refusing", status: 403, misses: 2, probe: { is: "due", at: T + 2000 } },
  "refusing, probe under way": { ...known, is: "refusing", status: 403, probe: asked },
  "well, differs": { ...known, differs, overruled: 1, misses: 2, ownAt: T - 1000, probe: { is: "due", at: T + 2000 } },
  "well, just differs": { ...known, differs: { since: T - 50, isSure: false }, overruled: 1, probe: asked },
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
  "probe unconnected": { type: "probed", probed: unconnected },
  "probe 107": { type: "probed", probed: { status: 412, judgement: "ill" } },
  "probe 500": { type: "probed", probed: { status: 500, judgement: "failed" } },
  "probe without descriptors": { type: "probed", probed: withoutDescriptors },
  "probe unjudged": { type: "probed", probed: { status: 200, judgement: undefined } },
  "probe thrown": { type: "probed", probed: undefined },
  due: { type: "due" },
  quick: { type: "quick" },
  "probe nothing": { type: "probed", probed: new UpstreamFailure("overloaded", line) },
} satisfies Record<string, HealthEvent>;

/** `failing: it has no database, owns 1, differs, probe asked` */
const wordsOf = (health: LegacyHealth): string => {
  const { is, misses, patience, probe } = health;
  const parts: string[] = [is === "failing" ? `failing: ${health.why}` : is];
  if (is === "failing" && health.owns > 0) parts.push(`owns ${health.owns}`);
  if (misses > 0) parts.push(`misses ${misses}`);
  if (health.differs) parts.push(health.differs.isSure ? "differs surely" : "differs");
  if (patience > 5000) parts.push(`patience ${patience}`);
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
  ["well, probe under way", "probe page", "failing: it answers with status 502, probe in 1000"],
  ["well, probe under way", "probe late", "failing: it takes too long to answer, probe in 1000"],
  ["well, probe under way", "probe late, refuted", "well"],
  ["well, probe under way", "probe nothing", "well"],
  ["suspected", "own", "suspected, probe asked"],
  ["suspected", "miss", "suspected, misses 4, probe asked"],
  ["suspected", "unreachable", "suspected, misses 3, probe asked"],
  ["suspected", "silence", "suspected, misses 3, probe asked"],
  ["suspected", "probe own", "well"],
  ["suspected", "probe 403", "refusing, probe in 1000"],
  ["suspected", "probe page", "failing: it answers with status 502, probe in 1000"],
  ["suspected", "probe cut", "failing: it breaks off its answers, probe in 1000"],
  ["suspected", "probe late", "failing: it takes too long to answer, probe in 1000"],
  ["suspected", "probe late, refuted", "well"],
  ["suspected", "probe unconnected", "failing: it cannot be reached, probe in 1000"],
  ["suspected", "probe 107", "failing: it has no database, probe in 1000"],
  ["suspected", "probe nothing", "well"],
  ["suspected", "probe 500", "failing: it answers with status 500, probe in 1000"],
  ["suspected", "probe without descriptors", "well"],
  ["suspected", "probe unjudged", "well"],
  ["suspected", "probe thrown", "well"],
  ["failing, answer", "own", "failing: x, owns 1, probe asked"],
  ["failing, answer, between probes", "own", "failing: x, owns 1, probe asked"],
  ["failing, answer", "own of before", "failing: x, probe asked"],
  ["failing, answer, between probes", "own of before", "failing: x, probe asked"],
  ["failing, answer, two owns", "own", "well, differs, probe asked"],
  ["failing, answer, two owns", "miss", "failing: x, misses 1, probe asked"],
  ["failing, answer", "unreachable", "failing: x, probe asked"],
  ["failing, answer", "silence", "failing: x, misses 3, probe asked"],
  ["failing, answer", "probe own", "well"],
  ["failing, answer", "probe 403", "refusing, probe in 1000"],
  ["failing, answer, two owns", "probe page", "failing: it answers with status 502, owns 2, probe in 1000"],
  ["failing, answer", "probe late", "failing: it takes too long to answer, probe in 1000"],
  ["failing, answer", "probe unconnected", "failing: it cannot be reached, probe in 1000"],
  ["failing, answer", "probe nothing", "failing: x, probe in 1000"],
  ["failing, answer, probed once", "probe nothing", "failing: x, probe in 2000"],
  ["failing, answer, probed twice", "probe nothing", "failing: x, probe in 5000"],
  ["failing, answer, probed often", "probe thrown", "failing: x, probe in 5000"],
  ["failing, late", "own", "well, patience 10000"],
  ["failing, late", "own of before", "well, patience 10000"],
  ["failing, late, patient", "own", "well, patience 30000"],
  ["failing, late, patient", "quick", "failing: x, probe in 2000"],
  ["failing, late", "due", "failing: x, probe asked"],
  ["failing, late", "miss", "failing: x, misses 1, probe in 2000"],
  ["refusing", "own", "refusing, probe in 2000"],
  ["refusing", "miss", "refusing, misses 3, probe asked"],
  ["refusing", "unreachable", "refusing, misses 2, probe asked"],
  ["refusing", "silence", "refusing, misses 3, probe asked"],
  ["refusing, probe under way", "probe own", "well"],
  ["refusing, probe under way", "probe 403", "refusing, probe in 1000"],
  ["refusing, probe under way", "probe page", "failing: it answers with status 502, probe in 1000"],
  ["refusing, probe under way", "probe late", "failing: it takes too long to answer, probe in 1000"],
  ["refusing, probe under way", "probe late, refuted", "refusing, probe in 1000"],
  ["refusing, probe under way", "probe nothing", "refusing, probe in 1000"],
  ["well, differs", "own", "well, differs, probe in 2000"],
  ["well, differs", "miss", "well, misses 3, differs, probe asked"],
  ["well, differs", "silence", "well, misses 3, differs, probe asked"],
  ["well, differs, own", "probe own", "well"],
  ["well, differs, own", "probe 403", "refusing, differs, probe in 1000"],
  ["well, differs, own", "probe page", "well, differs surely, probe in 1000"],
  ["well, differs, own", "probe late", "well, differs, probe in 1000"],
  ["well, differs, agreed", "probe page", "failing: it answers with status 502, probe in 1000"],
  ["well, differs, agreed", "probe late", "failing: it takes too long to answer, probe in 1000"],
  ["well, differs twice", "probe page", "well, misses 3, differs surely, probe in 1000"],
  ["well, differs twice, agreed", "probe page", "failing: it answers with status 502, probe in 1000"],
  ["well, differs often, agreed", "probe page", "failing: it answers with status 502, probe in 1000"],
  ["well, differs, own", "probe 107", "failing: it has no database, differs, probe in 1000"],
  ["well, differs, own", "probe nothing", "well, differs, probe in 1000"],
  ["well, just differs", "probe page", "well, differs, probe in 1000"],
  ["failing, certain, differs", "probe own", "well"],
  ["failing, certain, differs", "probe page", "well, differs surely, probe in 1000"],
  ["failing, certain, differs", "probe late", "well, differs, probe in 1000"],
  ["failing, certain, differs", "probe unconnected", "failing: it cannot be reached, differs, probe in 1000"],
])("%s; then %s: %s", (state, event, next) => {
  const ownAt = event === "probe late, refuted" ? T - 50 : states[state].ownAt;
  expect(wordsOf(afterEvent({ ...states[state], ownAt }, events[event], T))).toBe(next);
});

test("a state in doubt has a probe, after any event", () => {
  for (const [name, state] of Object.entries<LegacyHealth>(states))
    for (const [event, happens] of Object.entries<HealthEvent>(events)) {
      const health = afterEvent(state, happens, T);
      const isSettled = health.is === "well" && health.differs === undefined;
      expect([name, event, isSettled || health.probe !== undefined]).toEqual([name, event, true]);
    }
});
