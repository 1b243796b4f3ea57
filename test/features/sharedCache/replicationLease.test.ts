import { expect, onTestFinished, test } from "vitest";
import { openReplicationLease, openTerm } from "../../../src/features/sharedCache/replicationLease.ts";

const settled = () => new Promise(setImmediate);

/** A lease whose heartbeats are answered by `answer`. */
const byHand = () => {
  const said: string[] = [];
  const asked: ((epoch: string) => void)[] = [];
  const state = { isListening: true };
  const lease = openReplicationLease({
    isListening: () => state.isListening,
    ask: () => new Promise((resolve) => asked.push(resolve)),
    flush: () => Promise.resolve(),
    recover(isFirst) {
      said.push(isFirst ? "first" : "recover");
      return Promise.resolve();
    },
    renew: () => said.push("renew"),
    onEvent: (event) => said.push(event.replace("shared_tier_", "")),
  });
  onTestFinished(() => lease.close());
  const answer = async (epoch: string) => {
    asked.shift()?.(epoch);
    await settled();
  };
  return { lease, said, state, answer };
};

test("trusted after the first answer and the recovery", async () => {
  const { lease, said, answer } = byHand();
  lease.beat();
  expect(lease.isHeld()).toBe(false);
  await answer("a");
  expect([lease.isHeld(), lease.epoch(), said]).toEqual([true, "a", ["first", "up"]]);
});

test("an answer to a heartbeat from before the subscription broke does not count", async () => {
  const { lease, said, state, answer } = byHand();
  lease.beat();
  state.isListening = false;
  lease.lose("the subscription broke");
  state.isListening = true;
  await answer("a");
  expect([lease.isHeld(), said]).toEqual([false, []]);
  lease.beat();
  await answer("b");
  expect([lease.isHeld(), said]).toEqual([true, ["first", "up"]]);
});

test("lost, it is not trusted until all is made good on new connections", async () => {
  const { lease, said, answer } = byHand();
  lease.beat();
  await answer("a");
  lease.lose("a message could not be read");
  expect([lease.isHeld(), lease.epoch()]).toEqual([false, undefined]);
  lease.beat();
  await answer("b");
  expect([lease.isHeld(), lease.epoch()]).toEqual([true, "b"]);
  expect(said).toEqual(["first", "up", "lost", "renew", "recover", "up"]);
});

test("an error is reported once until the state changes", async () => {
  const { lease, said, answer } = byHand();
  for (const message of ["x", "y", "x", "y"]) lease.failed(new Error(message));
  lease.beat();
  await answer("a");
  lease.failed(new Error("x"));
  expect(said).toEqual(["error", "error", "first", "up", "error"]);
});

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
  ["nothing is dropped", [{ beat: "a" }, { beat: "a" }, { beat: "a" }], [true, true, true]],
  ["a drop is announced", [{ beat: "a" }, { announced: "b" }, { beat: "b" }], [true, true]],
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
])("the lease where %s", (_, steps, held) => {
  expect(heldAfter(steps)).toEqual(held);
});
