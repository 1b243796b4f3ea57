import { expect, test } from "vitest";
import { openInsist } from "../../../src/features/privateDatasets/insist.ts";
import type { Unheard } from "../../../src/features/privateDatasets/look.ts";

const away = { failed: "it is away" };
const refused = { refused: "legacy does not know the key" } as const;
const good = { good: true };
type Heard = typeof good | Unheard;

/** Insists on answers that come one after the other, the last one again and again. */
const over = (answers: Heard[], goesOn = () => true, first = 0) => {
  const stopping = new AbortController();
  const told: (string | undefined)[] = [];
  let attempts = 0;
  const insist = openInsist({
    goesOn,
    signal: stopping.signal,
    first,
    onTrouble: (trouble) => void told.push(trouble && `${trouble.kind}: ${trouble.why}`),
  });
  const attempt = async (): Promise<Heard> => answers[Math.min(attempts++, answers.length - 1)] ?? away;
  return { insist, attempt, told, stopping, attempts: () => attempts };
};

test("an answer is given as it is, at once", async () => {
  const { insist, attempt, told, attempts } = over([good]);
  expect([await insist(attempt), attempts(), told]).toEqual([good, 1, [undefined]]);
});

test("what fails is tried until it does not, and each trouble is told", async () => {
  const { insist, attempt, told, attempts } = over([away, away, refused, away, away, good]);
  expect([await insist(attempt), attempts()]).toEqual([good, 6]);
  const [failed, unknown] = ["failed: it is away", "refused: legacy does not know the key"];
  expect(told).toEqual([failed, failed, unknown, failed, failed, undefined]);
});

test("after three failures it is asked whether it is only this one, each time anew", async () => {
  let asked = 0;
  const { insist, attempt, attempts, told } = over([away]);
  const isOnlyThis = async () => ++asked === 3;
  expect([await insist(attempt, isOnlyThis), attempts(), asked]).toEqual([away, 5, 3]);
  // Then it was no trouble of legacy's.
  expect([told.length, told.at(-1)]).toEqual([6, undefined]);
});

test("a key that is refused is no matter of this one", async () => {
  const { insist, attempt, attempts } = over([refused, refused, refused, refused, away, away, good]);
  let asked = 0;
  const isOnlyThis = async () => ++asked > 0;
  expect([await insist(attempt, isOnlyThis), attempts(), asked]).toEqual([good, 7, 0]);
});

test("where nobody needs it any more there is no answer", async () => {
  let isNeeded = true;
  const { insist, attempt, attempts, told } = over([away, away, good], () => isNeeded);
  const attemptThenStop = async () => {
    const heard = await attempt();
    if (attempts() === 2) isNeeded = false;
    return heard;
  };
  expect([await insist(attemptThenStop), attempts(), told]).toEqual([undefined, 2, ["failed: it is away"]]);
  expect([await insist(attempt), attempts()]).toEqual([undefined, 2]);
});

test("it does not wait for longer than its signal", async () => {
  const stopped = new AbortController();
  const { insist, attempt, stopping, attempts } = over([away], () => !stopped.signal.aborted, 1e9);
  stopping.signal.addEventListener("abort", () => stopped.abort());
  setTimeout(() => stopping.abort(), 5);
  expect([await insist(attempt), attempts()]).toEqual([undefined, 1]);
});
