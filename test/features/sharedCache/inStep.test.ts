import { expect, onTestFinished, test } from "vitest";
import { openInStep } from "../../../src/features/sharedCache/inStep.ts";

const settled = () => new Promise(setImmediate);

/** In step by hand: what it asks is answered by `answer`. */
const byHand = () => {
  const said: string[] = [];
  const asked: ((epoch: string) => void)[] = [];
  const state = { isListening: true };
  const step = openInStep({
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
  onTestFinished(() => step.close());
  const answer = async (epoch: string) => {
    asked.shift()?.(epoch);
    await settled();
  };
  return { step, said, state, answer };
};

test("trusted once a beat is answered and what is kept is made good", async () => {
  const { step, said, answer } = byHand();
  step.beat();
  expect(step.trusted()).toBe(false);
  await answer("a");
  expect([step.trusted(), step.epoch(), said]).toEqual([true, "a", ["first", "up"]]);
});

test("a beat from before the subscription broke says nothing of what was missed until it was back", async () => {
  const { step, said, state, answer } = byHand();
  step.beat();
  state.isListening = false;
  step.lose("the subscription broke");
  state.isListening = true;
  await answer("a");
  expect([step.trusted(), said]).toEqual([false, []]);
  step.beat();
  await answer("b");
  expect([step.trusted(), said]).toEqual([true, ["first", "up"]]);
});

test("lost, it is not trusted until all is made good on new connections", async () => {
  const { step, said, answer } = byHand();
  step.beat();
  await answer("a");
  step.lose("a message could not be read");
  expect([step.trusted(), step.epoch()]).toEqual([false, undefined]);
  step.beat();
  await answer("b");
  expect([step.trusted(), step.epoch()]).toEqual([true, "b"]);
  expect(said).toEqual(["first", "up", "lost", "renew", "recover", "up"]);
});

test("an error is told once until something changes", async () => {
  const { step, said, answer } = byHand();
  for (const message of ["x", "y", "x", "y"]) step.failed(new Error(message));
  step.beat();
  await answer("a");
  step.failed(new Error("x"));
  expect(said).toEqual(["error", "error", "first", "up", "error"]);
});
