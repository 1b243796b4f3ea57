import { describe, expect, onTestFinished, test, vi } from "vitest";
import { ReplicationLease } from "../../../features/sharedCache/replicationLease.ts";
import { Term } from "../../../features/sharedCache/term.ts";

/** A beat's answer, or a message, with an epoch; `late` ms after the beat was sent. */
type Step = { beat: string | undefined; late?: number } | { announced: string };

const heldAfter = (steps: readonly Step[]): string[] => {
  let time = 0;
  vi.spyOn(performance, "now").mockImplementation(() => time);
  onTestFinished(() => void vi.restoreAllMocks());
  const term = new Term();
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

test.each<[string, Step[], string[]]>([
  [
    "a drop is announced after the beat that shows it",
    [{ beat: "a" }, { beat: "b" }, { announced: "b" }, { beat: "b" }],
    ["in time", "in time", "in time"],
  ],
  [
    "the answer is older than what was announced meanwhile",
    [{ beat: "a" }, { announced: "b" }, { announced: "c" }, { beat: "b" }, { beat: "c" }, { beat: "c" }],
    ["in time", "in time", "in time", "in time"],
  ],
  [
    "the first answer is older than what was announced meanwhile",
    [{ announced: "b" }, { beat: "a" }, { beat: "b" }, { beat: "b" }],
    ["in time", "in time", "in time"],
  ],
  [
    "a full Redis has no epoch",
    [{ beat: "a" }, { beat: undefined }, { beat: undefined }],
    ["in time", "in time", "in time"],
  ],
  ["a drop is missed", [{ beat: "a" }, { beat: "b" }, { beat: "b" }], ["in time", "in time", "missed"]],
  ["one is missed before each beat", [{ beat: "a" }, { beat: "b" }, { beat: "c" }], ["in time", "in time", "missed"]],
  [
    "one is missed, and the next announced",
    [{ beat: "a" }, { beat: "b" }, { announced: "c" }, { beat: "c" }],
    ["in time", "in time", "missed"],
  ],
  ["an answer is late", [{ beat: "a" }, { beat: "a", late: 1300 }], ["in time", "late"]],
  [
    "it counts from when the heartbeat was sent",
    [{ beat: "a" }, { beat: "a", late: 1000 }, { beat: "a", late: 1000 }],
    ["in time", "in time", "late"],
  ],
])("the term where %s", (_, steps, held) => {
  expect(heldAfter(steps)).toEqual(held);
});

/**
 * A lease that is held at epoch `a` in front of a Redis that the test plays; another gateway is there.
 * Time passes only by `pass`.
 */
const heldLease = async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const redis = { isAway: false, epoch: "a", known: ["a"], others: ["other"], isRefusing: false };
  const done: string[] = [];
  const lease = new ReplicationLease({
    isListening: () => !redis.isAway,
    ask: async (epochs) => ({
      epoch: redis.epoch,
      unknown: epochs.filter((epoch) => !redis.known.includes(epoch)),
      others: redis.others,
    }),
    flush: async () => void (redis.isRefusing && (await Promise.reject(new Error("refused")))),
    callOthers: () => {
      for (const id of redis.others) lease.answered(id);
    },
    distrust: () => void done.push("distrusts"),
    empty: async (epochs) => {
      if (redis.isRefusing) throw new Error("refused");
      done.push(["empties", ...epochs].join(" "));
      redis.known.push(...epochs);
    },
    renew: () => undefined,
    onEvent: () => undefined,
  });
  onTestFinished(() => lease.close());
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
  /** An invalidation by another gateway. `isHeard`: its message arrives here. */
  const invalidate = (epoch: string, isHeard: boolean) => {
    redis.epoch = epoch;
    redis.known.push(epoch);
    if (isHeard) lease.announced(epoch);
  };
  const lose = () => {
    redis.isAway = true;
    lease.lose("away");
  };
  const comeBack = () => {
    redis.isAway = false;
    lease.beat();
  };
  await pass(600);
  done.length = 0;
  return { redis, lease, done, pass, invalidate, lose, comeBack };
};

type HeldLease = Awaited<ReturnType<typeof heldLease>>;

describe("after a gap", () => {
  test.each<[string, (on: HeldLease) => unknown, string[]]>([
    ["Redis has the last epoch: nothing is distrusted", () => undefined, []],
    ["Redis has another epoch: this gateway distrusts what it has", (on) => on.invalidate("b", false), ["distrusts"]],
    [
      "Redis does not know the last epoch: it is emptied, and knows it then",
      ({ redis }) => Object.assign(redis, { epoch: "0", known: ["0"] }),
      ["distrusts", "distrusts", "empties a"],
    ],
    [
      "Redis has lost an invalidation of this gateway's own: it is emptied",
      ({ lease }) => lease.confirmed("mine"),
      ["distrusts", "empties mine"],
    ],
    [
      "another gateway does not come back: Redis is emptied",
      ({ redis }) => (redis.others = []),
      ["distrusts", "empties"],
    ],
    ["another gateway came in the gap: it need not answer", ({ redis }) => redis.others.push("new"), []],
  ])("%s", async (_, inTheGap, expected) => {
    const on = await heldLease();
    on.lose();
    await inTheGap(on);
    await on.pass(60_000);
    on.comeBack();
    await on.pass(4400);
    expect(on.lease.isHeld()).toBe(false);
    await on.pass(600);
    expect([on.lease.isHeld(), ...on.done]).toEqual([true, ...expected]);
  });

  test("an epoch announced after the last heartbeat is the latest epoch", async () => {
    const on = await heldLease();
    on.invalidate("b", true);
    on.lose();
    on.comeBack();
    await on.pass(5000);
    expect([on.lease.isHeld(), on.done]).toEqual([true, []]);
  });

  test("a message before Redis's first answer does not hide missed messages", async () => {
    const on = await heldLease();
    on.lose();
    on.invalidate("b", false);
    // Its subscription is back, and breaks again before Redis answers.
    on.invalidate("c", true);
    on.lease.lose("away");
    on.comeBack();
    await on.pass(5000);
    expect([on.lease.isHeld(), on.done]).toEqual([true, ["distrusts"]]);
  });

  test("a second gap restarts the wait", async () => {
    const on = await heldLease();
    on.lose();
    on.comeBack();
    await on.pass(4000);
    on.lose();
    on.comeBack();
    await on.pass(4000);
    expect(on.lease.isHeld()).toBe(false);
    await on.pass(1000);
    expect([on.lease.isHeld(), on.done]).toEqual([true, []]);
  });

  test("the lease is not held until Redis was emptied and took pending invalidations", async () => {
    const on = await heldLease();
    on.lose();
    Object.assign(on.redis, { epoch: "0", known: ["0"], isRefusing: true });
    on.comeBack();
    await on.pass(60_000);
    expect([on.lease.isHeld(), on.done]).toEqual([false, ["distrusts"]]);
    on.redis.isRefusing = false;
    await on.pass(5000);
    expect([on.lease.isHeld(), on.done.at(-1)]).toEqual([true, "empties a"]);
  });

  test("a gateway that has left a working Redis is not awaited", async () => {
    const on = await heldLease();
    on.redis.others = [];
    await on.pass(6000);
    on.lose();
    on.comeBack();
    await on.pass(5000);
    expect([on.lease.isHeld(), on.done]).toEqual([true, []]);
  });
});
