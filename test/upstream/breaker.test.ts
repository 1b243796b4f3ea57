import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { legacyAnswer, type LegacyClient } from "../../src/legacy/client.ts";
import { guarded } from "../../src/legacy/guarded.ts";
import { xmlReader } from "../../src/legacy/xml.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const failure = (isItsFault: boolean) => ({
  failed: { kind: "broken" as const, message: "It broke." },
  why: "it broke",
  isItsFault,
});
const readXml = xmlReader([]);
const answered = legacyAnswer(200, Buffer.from("<html>"), readXml);

const opened = async (isItsFault: boolean) => {
  let answer: () => ReturnType<LegacyClient> = async () => failure(isItsFault);
  let asked = 0;
  const client = guarded(async () => {
    asked++;
    return answer();
  });
  const ask = async () => client({ method: "GET", path: "/x" }, "json", { headers: [], deadline: 0 }, readXml);
  for (let second = 0; second < 10; second++) {
    for (let i = 0; i < 10; i++) await ask();
    vi.advanceTimersByTime(900);
  }
  return { ask, asked: () => asked, use: (next: typeof answer) => (answer = next) };
};

test("a backend that fails is left alone, and tried again by one caller: nobody else waits for that one", async () => {
  const { ask, asked, use } = await opened(true);
  expect(await ask()).toMatchObject({ failed: { kind: "unavailable" }, why: "the circuit is open" });
  const before = asked();
  vi.advanceTimersByTime(5001);
  let answerIt = () => {};
  use(() => new Promise((resolve) => (answerIt = () => resolve(answered))));
  const probe = ask();
  await Promise.resolve();
  expect(await ask()).toMatchObject({ why: "the circuit is open" });
  expect(asked()).toBe(before + 1);
  answerIt();
  expect(await probe).toMatchObject({ status: 200 });
  use(async () => answered);
  expect(await ask()).toMatchObject({ status: 200 });
});

test("what is not its fault opens nothing", async () => {
  const { ask } = await opened(false);
  expect(await ask()).toMatchObject({ why: "it broke" });
});
