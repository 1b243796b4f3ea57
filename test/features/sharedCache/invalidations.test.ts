import { expect, test } from "vitest";
import {
  openAcknowledgements,
  openPendingInvalidations,
  parseMessage,
} from "../../../src/features/sharedCache/invalidations.ts";
import { openTerm } from "../../../src/features/sharedCache/replicationLease.ts";

/** A beat's answer, or a message, with an epoch; `late` ms after the beat was sent. */
type Step = { beat: string | undefined; late?: number } | { heard: string };

const heldAfter = (steps: readonly Step[]): boolean[] => {
  let time = 0;
  const term = openTerm(() => time);
  return steps.flatMap((step) => {
    if ("heard" in step) {
      term.announced(step.heard);
      return [];
    }
    time += 300;
    const sentAt = time;
    time += step.late ?? 1;
    return [term.answered(sentAt, step.beat)];
  });
};

test.each<[string, Step[], boolean[]]>([
  ["nothing is dropped", [{ beat: "a" }, { beat: "a" }, { beat: "a" }], [true, true, true]],
  ["a drop is heard of", [{ beat: "a" }, { heard: "b" }, { beat: "b" }], [true, true]],
  [
    "a drop is heard of after the beat that shows it",
    [{ beat: "a" }, { beat: "b" }, { heard: "b" }, { beat: "b" }],
    [true, true, true],
  ],
  [
    "the answer is older than what was heard of meanwhile",
    [{ beat: "a" }, { heard: "b" }, { heard: "c" }, { beat: "b" }, { beat: "c" }, { beat: "c" }],
    [true, true, true, true],
  ],
  [
    "the first answer is older than what was heard of meanwhile",
    [{ heard: "b" }, { beat: "a" }, { beat: "b" }, { beat: "b" }],
    [true, true, true],
  ],
  ["a full Redis has no epoch", [{ beat: "a" }, { beat: undefined }, { beat: undefined }], [true, true, true]],
  ["a drop is missed", [{ beat: "a" }, { beat: "b" }, { beat: "b" }], [true, true, false]],
  ["one is missed before each beat", [{ beat: "a" }, { beat: "b" }, { beat: "c" }], [true, true, false]],
  [
    "one is missed, and the next heard of",
    [{ beat: "a" }, { beat: "b" }, { heard: "c" }, { beat: "c" }],
    [true, true, false],
  ],
  ["an answer is late", [{ beat: "a" }, { beat: "a", late: 1300 }], [true, false]],
])("the lease where %s", (_, steps, held) => {
  expect(heldAfter(steps)).toEqual(held);
});

test("an acknowledgement counts from when it is expected until it is forgotten", async () => {
  const acks = openAcknowledgements();
  const done: string[] = [];
  acks.received("a");
  acks.expect("a");
  acks.received("a");
  const two = acks.from("a", 2).then(() => done.push("a"));
  await Promise.resolve();
  expect(done).toEqual([]);
  acks.received("a");
  await two;
  expect(done).toEqual(["a"]);
  acks.forget("a");
  acks.received("a");
  acks.expect("a");
  void acks.from("a", 1).then(() => done.push("again"));
  await new Promise(setImmediate);
  expect(done).toEqual(["a"]);
});

test("too many drops become one, that is held for as long as any of them", () => {
  const pending = openPendingInvalidations();
  for (let i = 0; i < 1000; i++) pending.add({ groups: [`g${i}`], ...(i === 7 ? { hold: 500 } : {}) });
  const first = pending.first();
  expect(first).toEqual({ groups: ["g0"] });
  pending.add({ groups: ["last"] });
  if (first) pending.done(first);
  expect(pending.first()).toEqual({ all: true, hold: 500 });
  pending.done({ all: true });
  expect(pending.first()).toBeDefined();
  pending.done(pending.first() ?? {});
  expect(pending.first()).toBeUndefined();
});

test.each([
  ["", false],
  ["garbage", false],
  ["null", false],
  ['{"from":"a","epoch":"b"}', false],
  ['{"from":"a","epoch":"b","drop":{"groups":"dataset"}}', false],
  ['{"from":"a","epoch":"b","drop":{"rows":[1]}}', false],
  ['{"from":"a","epoch":"b","drop":{}}', true],
  [
    '{"from":"a","epoch":"b","drop":{"keys":["k"],"groups":["g"],"endpoint":"e","all":true,"soft":true,"hold":1}}',
    true,
  ],
])("of messages, %j is readable: %j", (text, isReadable) => {
  expect(parseMessage(text)).toEqual(isReadable ? JSON.parse(text) : undefined);
});
