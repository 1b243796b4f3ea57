import { expect, test } from "vitest";
import { openTerm } from "../../../src/features/sharedCache/replicationLease.ts";

/** A beat's answer, or a message, with an epoch; `late` ms after the beat was sent. */
type Step = { beat: string | undefined; late?: number } | { announced: string };

const heldAfter = (steps: readonly Step[]): boolean[] => {
  let time = 0;
  const term = openTerm(() => time);
  return steps.flatMap((step) => {
    if ("announced" in step) {
      term.announced(step.announced);
      return [];
    }
    time += 300;
    const sentAt = time;
    time += step.late ?? 1;
    return [term.answered(sentAt, step.beat)];
  });
};

test.each<[string, Step[], boolean[]]>([
  [
    "a drop is announced after the beat that shows it",
    [{ beat: "a" }, { beat: "b" }, { announced: "b" }, { beat: "b" }],
    [true, true, true],
  ],
  [
    "the answer is older than what was announced meanwhile",
    [{ beat: "a" }, { announced: "b" }, { announced: "c" }, { beat: "b" }, { beat: "c" }, { beat: "c" }],
    [true, true, true, true],
  ],
  [
    "the first answer is older than what was announced meanwhile",
    [{ announced: "b" }, { beat: "a" }, { beat: "b" }, { beat: "b" }],
    [true, true, true],
  ],
  ["a full Redis has no epoch", [{ beat: "a" }, { beat: undefined }, { beat: undefined }], [true, true, true]],
  ["a drop is missed", [{ beat: "a" }, { beat: "b" }, { beat: "b" }], [true, true, false]],
  ["one is missed before each beat", [{ beat: "a" }, { beat: "b" }, { beat: "c" }], [true, true, false]],
  [
    "one is missed, and the next announced",
    [{ beat: "a" }, { beat: "b" }, { announced: "c" }, { beat: "c" }],
    [true, true, false],
  ],
  ["an answer is late", [{ beat: "a" }, { beat: "a", late: 1300 }], [true, false]],
  [
    "it counts from when the heartbeat was sent",
    [{ beat: "a" }, { beat: "a", late: 1000 }, { beat: "a", late: 1000 }],
    [true, true, false],
  ],
])("the lease where %s", (_, steps, held) => {
  expect(heldAfter(steps)).toEqual(held);
});
