import { expect, onTestFinished, test } from "vitest";
import type { Looked, Unheard } from "../../../src/features/privateDatasets/look.ts";
import { openQuestions } from "../../../src/features/privateDatasets/questions.ts";
import { MOST } from "../../../src/features/privateDatasets/rows.ts";
import { until } from "../../support/waiting.ts";

const away = { failed: "it is away" };
const row = (name: string): Looked => ({ found: "private", shown: { name } });
const told = (name: string) => JSON.stringify({ name });

/** Questions whose answers a test gives one by one, or all at once by `answer`. */
const asked = (answer?: (id: number) => Looked, legacyAnswers = async () => true, onFull = () => {}) => {
  const stopping = new AbortController();
  onTestFinished(() => stopping.abort());
  const looks: { id: number; give: (looked: Looked) => void }[] = [];
  const taken: [number, string][] = [];
  const questions = openQuestions({
    lookAt: (id) =>
      new Promise((resolve) => {
        looks.push({ id, give: resolve });
        if (answer) resolve(answer(id));
      }),
    legacyAnswers,
    take(id, looked: Exclude<Looked, Unheard>) {
      taken.push([id, looked.found === "private" ? JSON.stringify(looked.shown) : `${looked.found}: ${looked.why}`]);
    },
    onFull,
    signal: stopping.signal,
    retry: 1,
  });
  /** Answers the look that is on its way, and waits for what comes of it. */
  const give = async (looked: Looked) => {
    const count = looks.length;
    looks.at(-1)?.give(looked);
    await until(() => looks.length > count || questions.ids().length === 0);
  };
  const over = () => until(() => questions.ids().length === 0);
  return { questions, looks, taken, give, over, stopping };
};

test("many ids are rechecked one by one, each once, in the order of the requests", async () => {
  const { questions, looks, taken, give } = asked();
  for (const id of [5, 2, 9, 2, 7]) questions.ask(id);
  expect([questions.ids(), looks.map(({ id }) => id)]).toEqual([[5, 9, 2, 7], [5]]);
  for (const name of ["a", "b", "c", "d"]) await give(row(name));
  expect(looks.map(({ id }) => id)).toEqual([5, 9, 2, 7]);
  expect(taken).toEqual([
    [5, told("a")],
    [9, told("b")],
    [2, told("c")],
    [7, told("d")],
  ]);
});

test("who asks again while it is looked at gets the answer to that", async () => {
  const { questions, taken, give, looks } = asked();
  questions.ask(5);
  questions.ask(6);
  questions.ask(5);
  questions.ask(5);
  await give(row("old"));
  expect([taken, questions.has(5), questions.ids()]).toEqual([[], true, [6, 5]]);
  await give(row("six"));
  await give(row("new"));
  expect(taken).toEqual([
    [6, told("six")],
    [5, told("new")],
  ]);
  expect(looks.map(({ id }) => id)).toEqual([5, 6, 5]);
});

test("what is asked when all is over is looked at as well", async () => {
  const { questions, taken } = asked((id) => row(`row ${id}`));
  questions.ask(1);
  await questions.settled();
  questions.ask(1);
  questions.ask(2);
  await questions.settled();
  expect(taken.map(([id]) => id)).toEqual([1, 1, 2]);
});

test("it is settled when none is open, and no sooner", async () => {
  const { questions, give } = asked();
  let settled = 0;
  const wait = () => void questions.settled().then(() => settled++);
  await questions.settled();
  questions.ask(1);
  questions.ask(2);
  wait();
  wait();
  await give(row("a"));
  expect(settled).toBe(0);
  await give(row("b"));
  expect([settled, questions.ids(), questions.has(2)]).toEqual([2, [], false]);
});

test("a recheck by another instance is repeated if one was running, and is reported", async () => {
  const { questions, taken, give, looks } = asked();
  const [five, six] = [questions.watch(5), questions.watch(6)];
  questions.ask(7);
  questions.outdate([5, 7, 8]);
  expect([five(), six()]).toEqual([true, false]);
  await give(row("old"));
  await give(row("new"));
  expect([taken, looks.map(({ id }) => id)]).toEqual([[[7, told("new")]], [7, 7]]);
});

test("more than there is room for is left to the next walk", () => {
  let isFull = 0;
  const { questions } = asked(
    undefined,
    async () => true,
    () => void isFull++,
  );
  for (let id = 1; id <= 1000; id++) questions.ask(id);
  expect(isFull).toBe(0);
  questions.ask(1001);
  questions.ask(1);
  expect([isFull, questions.has(1001), questions.ids().length]).toEqual([1, false, 1000]);
});

test("whoever looks on is told whether something has happened since, or was about to", async () => {
  const { questions, give } = asked();
  questions.ask(1);
  const [open, fresh, other] = [questions.watch(1), questions.watch(2), questions.watch(3)];
  questions.ask(2);
  await give(row("a"));
  await give(row("b"));
  const late = questions.watch(2);
  expect([open(), fresh(), other(), late()]).toEqual([true, true, false, false]);
  // It looks on no more.
  questions.ask(3);
  expect(other()).toBe(false);
});

test("while legacy is away rechecks are retried, change nothing and hold up no caller", async () => {
  let failures = 0;
  const { questions, taken, over } = asked(
    () => (++failures < 6 ? away : row("at last")),
    async () => false,
  );
  questions.ask(1);
  const waits = questions.settled();
  await until(() => failures === 4);
  await waits;
  await questions.settled();
  expect([taken, questions.has(1)]).toEqual([[], true]);
  await over();
  expect(taken).toEqual([[1, told("at last")]]);
});

test("what only this one fails at is hidden, and the others are looked at", async () => {
  const { questions, taken, looks, over } = asked((id) => (id === 1 ? away : { found: "none", why: "code 111" }));
  questions.ask(1);
  questions.ask(2);
  await over();
  expect(taken).toEqual([
    [1, "hidden: it is away"],
    [2, "none: code 111"],
  ]);
  expect(looks.map(({ id }) => id)).toEqual([1, 1, 1, 2]);
});

test("where only one failed the next one is waited for again", async () => {
  const { questions, taken, over } = asked((id) => (id === 1 ? away : row("well")));
  questions.ask(1);
  await over();
  questions.ask(2);
  await questions.settled();
  expect(taken).toEqual([
    [1, "hidden: it is away"],
    [2, told("well")],
  ]);
});

test("asked again while legacy fails at it, it is not hidden by that", async () => {
  let answers = 0;
  const { questions, taken, over } = asked(
    () => (answers < 1 ? away : row("well")),
    async () => {
      if (++answers === 1) questions.ask(1);
      return true;
    },
  );
  questions.ask(1);
  await over();
  expect(taken).toEqual([[1, told("well")]]);
});

test("nothing is looked at after its end", async () => {
  const { questions, looks, taken, stopping } = asked();
  questions.ask(1);
  questions.ask(2);
  stopping.abort();
  looks[0]?.give(row("a"));
  await new Promise(setImmediate);
  questions.ask(3);
  expect([looks.length, taken, questions.has(3)]).toEqual([1, [], false]);
});

test.each([0, -1, MOST + 1, 1e15, Number.NaN])("%d is no id, whoever names it", (id) => {
  const { questions, looks } = asked();
  questions.ask(id);
  expect([questions.ids(), looks]).toEqual([[], []]);
});
