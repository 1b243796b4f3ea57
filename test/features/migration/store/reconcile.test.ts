import { expect, test } from "vitest";
import { reconcile } from "../../../../src/features/migration/store/reconcile.ts";
import { plain, type SharedState, type Stored } from "../../../../src/features/migration/store/sharedState.ts";
import { entry, moveTo, stage } from "./moves.ts";
import { stagesOf } from "./support.ts";

/** Stages of one endpoint each: `[version, second]`. */
const having = (version: number, stages: Record<string, [version: number, second: number]>): SharedState => ({
  version,
  stages: Object.fromEntries(
    Object.entries(stages).map(([endpoint, [at, second]]) => [endpoint, { version: at, stage: stage(second) }]),
  ),
  audit: [],
  expected: [],
});

const stored = (state: SharedState, unreadable: Partial<Stored["unreadable"]> = {}): Stored => ({
  ...state,
  fingerprint: "",
  unreadable: { stages: [], audit: [], expected: [], ...unreadable },
});

test.each<[string, SharedState, SharedState, { stages: string[]; lost?: string[]; overtaken?: string[] }]>([
  ["what is new is taken over", having(0, {}), having(1, { a: [1, 1] }), { stages: ["a shadow 1"] }],
  ["what is the same is the same", having(1, { a: [1, 1] }), having(1, { a: [1, 1] }), { stages: ["a shadow 1"] }],
  [
    "the later change holds, whatever its clock says",
    having(1, { a: [1, 9] }),
    having(2, { a: [2, 1] }),
    { stages: ["a shadow 1"] },
  ],
  [
    "what is gone is put back",
    having(2, { a: [1, 1], b: [2, 2] }),
    having(2, { b: [2, 2] }),
    { stages: ["a shadow 1", "b shadow 2"], lost: ["a"] },
  ],
  [
    "what is the stage before is put back",
    having(2, { a: [2, 2] }),
    having(1, { a: [1, 1] }),
    { stages: ["a shadow 2"], lost: ["a"] },
  ],
  [
    "what was moved anew after the count was lost holds",
    having(5, { a: [5, 5] }),
    having(1, { a: [1, 6] }),
    { stages: ["a shadow 6"], overtaken: ["a"] },
  ],
  [
    "two changes of the same number: the later clock",
    having(2, { a: [2, 3] }),
    having(2, { a: [2, 2] }),
    { stages: ["a shadow 3"], lost: ["a"] },
  ],
  ["only the count was lost", having(5, { a: [5, 5] }), having(0, { a: [5, 5] }), { stages: ["a shadow 5"] }],
])("%s", (_, ours, theirs, { stages, lost = [], overtaken = [] }) => {
  const found = reconcile(ours, stored(theirs));
  expect(stagesOf(plain(found.state))).toEqual(stages);
  expect([found.lost, found.overtaken]).toEqual([{ stages: lost, moves: 0, expected: [] }, overtaken]);
  // No later change has a number that was given already.
  expect(found.state.version).toBeGreaterThanOrEqual(
    Math.max(ours.version, ...Object.values(theirs.stages).map(({ version }) => version)),
  );
});

test("what cannot be read is there: the last known holds here, and is not put over it", () => {
  const ours = { ...having(1, { a: [1, 1] }), expected: [entry("one")] };
  const { state, lost } = reconcile(ours, stored(having(2, {}), { stages: ["a"], expected: ["one"] }));
  expect(stagesOf(plain(state))).toEqual(["a shadow 1"]);
  expect([state.expected, lost]).toEqual([[], { stages: [], moves: 0, expected: [] }]);
});

test("lines of the audit log that are gone come back in their order", () => {
  const moves = [5, 4, 3, 2, 1].map((second) => moveTo("a", stage(second)));
  const ours = { ...having(0, {}), audit: moves.slice(1) };
  const { state, lost } = reconcile(
    ours,
    stored({ ...having(0, {}), audit: [moves[0], moves[2], moves[4]].flatMap((move) => move ?? []) }),
  );
  expect(state.audit).toEqual(moves);
  expect(lost.moves).toBe(2);
});

test("lines that a full audit log has no place for any more are not lost", () => {
  const moves = Array.from({ length: 1003 }, (_, i) => moveTo("a", stage(2000 - i)));
  const theirs = stored({ ...having(0, {}), audit: moves.slice(0, 1000) });
  const { state, lost } = reconcile({ ...having(0, {}), audit: moves.slice(3) }, theirs);
  expect([state.audit, lost.moves]).toEqual([moves.slice(0, 1000), 0]);
});

test("two changes of the same number and the same moment: nobody puts his over the other's", () => {
  const [ours, theirs] = [having(2, { a: [2, 2] }), having(2, { a: [2, 2] })];
  const other = { version: 2, stage: { ...stage(2), share: 99 } };
  const { state, lost, overtaken } = reconcile(ours, stored({ ...theirs, stages: { a: other } }));
  expect([state.stages, lost.stages, overtaken]).toEqual([{ a: other }, [], ["a"]]);
});
