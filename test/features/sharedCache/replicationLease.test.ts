import { expect, onTestFinished, test, vi } from "vitest";
import { ReplicationLease } from "../../../features/sharedCache/replicationLease.ts";

/** A lease that is held at epoch `a`, in front of a Redis that the test plays; another gateway is there. */
const heldLease = async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const redis = { epoch: "a" as string | undefined, known: ["a"], others: ["other"], delay: 0 };
  const is = { away: false, refusing: false };
  /** The effects on cached entries. */
  const done: string[] = [];
  const takeOrRefuse = async () => {
    if (is.refusing) throw new Error("refused");
  };
  const lease = new ReplicationLease({
    isListening: () => !is.away,
    async ask(epochs) {
      const { epoch, known, others, delay } = redis;
      if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
      return { epoch, unknown: epochs.filter((it) => !known.includes(it)), others };
    },
    flush: takeOrRefuse,
    callOthers: () => {
      for (const id of redis.others) lease.answered(id);
    },
    distrust: () => void done.push("distrusts"),
    async empty(epochs) {
      await takeOrRefuse();
      done.push(["empties", ...epochs].join(" "));
      redis.known.push(...epochs);
    },
    renew: () => undefined,
    onEvent: () => undefined,
  });
  onTestFinished(() => lease.close());
  const write = (epoch: string) => {
    redis.epoch = epoch;
    redis.known.push(epoch);
  };
  const steps: Record<string, (argument: string) => unknown> = {
    /** Time passes by no other step. */
    pass: (ms) => vi.advanceTimersByTimeAsync(Number(ms)),
    /** Another gateway invalidates. `write`: its message does not arrive yet. */
    write,
    hear(epoch) {
      write(epoch);
      lease.announced(epoch);
    },
    /** Redis has an invalidation of this gateway, whose message does not arrive. */
    confirm: (epoch) => lease.confirmed(epoch),
    delay: (ms) => (redis.delay = Number(ms)),
    others: (ids) => (redis.others = ids === "none" ? [] : ids.split("+")),
    lose() {
      is.away = true;
      lease.lose("away");
    },
    back() {
      is.away = false;
      lease.beat();
    },
    /** Redis has lost its data. */
    flush: () => Object.assign(redis, { epoch: "0", known: ["0"] }),
    fill: () => (redis.epoch = undefined),
    refuse: () => (is.refusing = true),
    take: () => (is.refusing = false),
    held: () => expect(lease.isHeld()).toBe(true),
    lost: () => expect(lease.isHeld()).toBe(false),
  };
  await vi.advanceTimersByTimeAsync(600);
  done.length = 0;
  return { steps, done };
};

/** Each line: what happens; the steps; the effects. After a gap gateways wait for each other for 4.5 seconds. */
const cases = `
a message comes after the answer with its epoch  | write b, pass 300, hear b, pass 900, held                 |
a message comes before an answer that is older   | hear b, delay 200, pass 300, hear c, pass 900, held       |
an answer is older than a message, after a gap   | lose, delay 200, back, hear b, pass 9000, held            |
Redis is full, and so has no epoch               | fill, pass 2000, held                                     |
answers are slow                                 | delay 400, pass 2000, held                                |
an answer comes later than the lease ends        | delay 1600, pass 2100, lost                               |
each lease counts from when it was asked for     | delay 1000, pass 2100, lost                               |
an answer comes between that end and a tick      | lose, pass 100, back, delay 1400, pass 1650, delay 0, pass 3600, lost |
no answer comes                                  | delay 99999, pass 1800, lost                              |
a message is missed                              | write b, pass 700, lost                                   | distrusts
a message is missed before each answer           | write b, pass 300, write c, pass 400, lost                | distrusts
a message is missed, and the next one comes      | write b, pass 300, hear c, pass 300, lost                 | distrusts
Redis has the last epoch after a gap             | lose, back, pass 4400, lost, pass 600, held               |
Redis has another epoch                          | lose, write b, back, pass 4400, lost, pass 600, held      | distrusts
Redis does not know the last epoch               | lose, flush, back, pass 4400, lost, pass 600, held        | distrusts, distrusts, empties a
Redis has lost this gateway's invalidation       | confirm m, lose, back, pass 4400, lost, pass 600, held    | distrusts, empties m
another gateway does not come back               | lose, others none, back, pass 4400, lost, pass 600, held  | distrusts, empties
another gateway comes in the gap                 | lose, others other+new, back, pass 5000, held             |
another gateway had left before the gap          | others none, pass 6000, lose, back, pass 5000, held       |
a message comes after the last answer            | hear b, lose, back, pass 5000, held                       |
a message before the first answer hides none     | lose, write b, hear c, lose, back, pass 5000, held        | distrusts
a second gap begins the wait again               | lose, back, pass 4000, lose, back, pass 4400, lost, pass 600, held |
Redis refuses to be emptied                      | lose, flush, refuse, back, pass 60000, lost               | distrusts
Redis is emptied as soon as it takes it          | lose, flush, refuse, back, pass 9000, take, pass 900, held | distrusts, distrusts, empties a
`;

test.each(
  cases
    .trim()
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.trim())),
)("the lease where %s", async (_, script = "", effects = "") => {
  const { steps, done } = await heldLease();
  for (const step of script.split(", ")) {
    const [name = "", argument = ""] = step.split(" ");
    await steps[name]?.(argument);
  }
  expect(done.join(", ")).toBe(effects);
});
