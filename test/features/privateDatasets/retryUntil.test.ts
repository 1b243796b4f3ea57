import { expect, test } from "vitest";
import type { LegacyFailure } from "../../../src/features/privateDatasets/readRow.ts";
import { openRetryUntil } from "../../../src/features/privateDatasets/retryUntil.ts";

const away: LegacyFailure = { ok: false, kind: "failed", why: "it is away" };
const refused: LegacyFailure = { ok: false, kind: "refused", why: "legacy does not know the key" };
const good = { ok: true } as const;
type Heard = typeof good | LegacyFailure;

/** Insists on answers that come one after the other, the last one again and again. */
const over = (answers: Heard[], goesOn = () => true, first = 0) => {
  const stopping = new AbortController();
  const heard: (string | undefined)[] = [];
  let attempts = 0;
  const retryUntil = openRetryUntil({
    goesOn,
    signal: stopping.signal,
    firstWait: first,
    onFailure: (failure) => void heard.push(failure && `${failure.kind}: ${failure.why}`),
  });
  const attempt = async (): Promise<Heard> => answers[Math.min(attempts++, answers.length - 1)] ?? away;
  return { retryUntil, attempt, heard, stopping, attempts: () => attempts };
};

test("an answer is given as it is, at once", async () => {
  const { retryUntil, attempt, heard, attempts } = over([good]);
  expect([await retryUntil(attempt), attempts(), heard]).toEqual([good, 1, [undefined]]);
});

test("what fails is tried until it does not, and each trouble is told", async () => {
  const { retryUntil, attempt, heard, attempts } = over([away, away, refused, away, away, good]);
  expect([await retryUntil(attempt), attempts()]).toEqual([good, 6]);
  const [failed, unknown] = ["failed: it is away", "refused: legacy does not know the key"];
  expect(heard).toEqual([failed, failed, unknown, failed, failed, undefined]);
});

test("after each third failure it is checked whether only this request fails", async () => {
  let asked = 0;
  const { retryUntil, attempt, attempts, heard } = over([away]);
  const failsAlone = async () => ++asked === 3;
  expect([await retryUntil(attempt, failsAlone), attempts(), asked]).toEqual([away, 5, 3]);
  // Then it was no trouble of legacy's.
  expect([heard.length, heard.at(-1)]).toEqual([6, undefined]);
});

test("a key that is refused is no matter of this one", async () => {
  const { retryUntil, attempt, attempts } = over([refused, refused, refused, refused, away, away, good]);
  let asked = 0;
  const failsAlone = async () => ++asked > 0;
  expect([await retryUntil(attempt, failsAlone), attempts(), asked]).toEqual([good, 7, 0]);
});

test("a result that is not needed any more is undefined", async () => {
  let isNeeded = true;
  const { retryUntil, attempt, attempts, heard } = over([away, away, good], () => isNeeded);
  const attemptThenStop = async () => {
    const answer = await attempt();
    if (attempts() === 2) isNeeded = false;
    return answer;
  };
  expect([await retryUntil(attemptThenStop), attempts(), heard]).toEqual([undefined, 2, ["failed: it is away"]]);
  expect([await retryUntil(attempt), attempts()]).toEqual([undefined, 2]);
});

test("it does not wait for longer than its signal", async () => {
  const stopped = new AbortController();
  const { retryUntil, attempt, stopping, attempts } = over([away], () => !stopped.signal.aborted, 1e9);
  stopping.signal.addEventListener("abort", () => stopped.abort());
  setTimeout(() => stopping.abort(), 5);
  expect([await retryUntil(attempt), attempts()]).toEqual([undefined, 1]);
});
