import { expect, onTestFinished, test } from "vitest";
import type { LegacyFailure, RowState } from "../../../src/features/privateDatasets/readRow.ts";
import { openRecheckQueue } from "../../../src/features/privateDatasets/recheckQueue.ts";
import { MAX_ID } from "../../../src/features/privateDatasets/rows.ts";
import { until } from "../../support/waiting.ts";

const away: LegacyFailure = { ok: false, kind: "failed", why: "it is away" };
const row = (name: string): RowState => ({ ok: true, found: "private", shown: { name } });
const shown = (name: string) => JSON.stringify({ name });

/** A queue whose answers a test gives one by one, or all at once by `answer`. */
const asked = (
  answer?: (id: number) => RowState | LegacyFailure,
  legacyAnswers = async () => true,
  onFull = () => {},
) => {
  const stopping = new AbortController();
  onTestFinished(() => stopping.abort());
  const looks: { id: number; give: (looked: RowState | LegacyFailure) => void }[] = [];
  const taken: [number, string][] = [];
  const queue = openRecheckQueue({
    read: (id) =>
      new Promise((resolve) => {
        looks.push({ id, give: resolve });
        if (answer) resolve(answer(id));
      }),
    legacyAnswers,
    record(id, looked) {
      taken.push([id, looked.found === "private" ? JSON.stringify(looked.shown) : `${looked.found}: ${looked.why}`]);
    },
    onFull,
    signal: stopping.signal,
    firstWait: 1,
  });
  /** Answers the look that is on its way, and waits for what comes of it. */
  const give = async (looked: RowState | LegacyFailure) => {
    const count = looks.length;
    looks.at(-1)?.give(looked);
    await until(() => looks.length > count || queue.ids().length === 0);
  };
  const over = () => until(() => queue.ids().length === 0);
  return { queue, looks, taken, give, over, stopping };
};

test("many ids are looked at one after the other, each once, in the order of the queue", async () => {
  const { queue, looks, taken, give } = asked();
  for (const id of [5, 2, 9, 2, 7]) queue.add(id);
  expect([queue.ids(), looks.map(({ id }) => id)]).toEqual([[5, 9, 2, 7], [5]]);
  for (const name of ["a", "b", "c", "d"]) await give(row(name));
  expect(looks.map(({ id }) => id)).toEqual([5, 9, 2, 7]);
  expect(taken).toEqual([
    [5, shown("a")],
    [9, shown("b")],
    [2, shown("c")],
    [7, shown("d")],
  ]);
});

test("an id that is added again while it is read is read once more", async () => {
  const { queue, taken, give, looks } = asked();
  queue.add(5);
  queue.add(6);
  queue.add(5);
  queue.add(5);
  await give(row("old"));
  expect([taken, queue.has(5), queue.ids()]).toEqual([[], true, [6, 5]]);
  await give(row("six"));
  await give(row("new"));
  expect(taken).toEqual([
    [6, shown("six")],
    [5, shown("new")],
  ]);
  expect(looks.map(({ id }) => id)).toEqual([5, 6, 5]);
});

test("what is asked when all is over is looked at as well", async () => {
  const { queue, taken } = asked((id) => row(`row ${id}`));
  queue.add(1);
  await queue.settled();
  queue.add(1);
  queue.add(2);
  await queue.settled();
  expect(taken.map(([id]) => id)).toEqual([1, 1, 2]);
});

test("it is settled when none is open, and no sooner", async () => {
  const { queue, give } = asked();
  let settled = 0;
  const wait = () => void queue.settled().then(() => settled++);
  await queue.settled();
  queue.add(1);
  queue.add(2);
  wait();
  wait();
  await give(row("a"));
  expect(settled).toBe(0);
  await give(row("b"));
  expect([settled, queue.ids(), queue.has(2)]).toEqual([2, [], false]);
});

test("a read that is on its way is outdated when another gateway has read the row", async () => {
  const { queue, taken, give, looks } = asked();
  const [five, six] = [queue.watch(5), queue.watch(6)];
  queue.add(7);
  queue.outdate([5, 7, 8]);
  expect([five(), six()]).toEqual([true, false]);
  await give(row("old"));
  await give(row("new"));
  expect([taken, looks.map(({ id }) => id)]).toEqual([[[7, shown("new")]], [7, 7]]);
});

test("ids beyond its room are left to the next scan", () => {
  let isFull = 0;
  const { queue } = asked(
    undefined,
    async () => true,
    () => void isFull++,
  );
  for (let id = 1; id <= 1000; id++) queue.add(id);
  expect(isFull).toBe(0);
  queue.add(1001);
  queue.add(1);
  expect([isFull, queue.has(1001), queue.ids().length]).toEqual([1, false, 1000]);
});

test("a watcher learns whether the row was rechecked since, or was about to be", async () => {
  const { queue, give } = asked();
  queue.add(1);
  const [open, fresh, other] = [queue.watch(1), queue.watch(2), queue.watch(3)];
  queue.add(2);
  await give(row("a"));
  await give(row("b"));
  const late = queue.watch(2);
  expect([open(), fresh(), other(), late()]).toEqual([true, true, false, false]);
  // It looks on no more.
  queue.add(3);
  expect(other()).toBe(false);
});

test("while legacy is away reads are repeated, and no list waits for them", async () => {
  let failures = 0;
  const { queue, taken, over } = asked(
    () => (++failures < 6 ? away : row("at last")),
    async () => false,
  );
  queue.add(1);
  const waits = queue.settled();
  await until(() => failures === 4);
  await waits;
  await queue.settled();
  expect([taken, queue.has(1)]).toEqual([[], true]);
  await over();
  expect(taken).toEqual([[1, shown("at last")]]);
});

test("what only this one fails at is hidden, and the others are looked at", async () => {
  const { queue, taken, looks, over } = asked((id) => (id === 1 ? away : { ok: true, found: "none", why: "code 111" }));
  queue.add(1);
  queue.add(2);
  await over();
  expect(taken).toEqual([
    [1, "hidden: it is away"],
    [2, "none: code 111"],
  ]);
  expect(looks.map(({ id }) => id)).toEqual([1, 1, 1, 2]);
});

test("where only one failed the next one is waited for again", async () => {
  const { queue, taken, over } = asked((id) => (id === 1 ? away : row("well")));
  queue.add(1);
  await over();
  queue.add(2);
  await queue.settled();
  expect(taken).toEqual([
    [1, "hidden: it is away"],
    [2, shown("well")],
  ]);
});

test("asked again while legacy fails at it, it is not hidden by that", async () => {
  let answers = 0;
  const { queue, taken, over } = asked(
    () => (answers < 1 ? away : row("well")),
    async () => {
      if (++answers === 1) queue.add(1);
      return true;
    },
  );
  queue.add(1);
  await over();
  expect(taken).toEqual([[1, shown("well")]]);
});

test("nothing is looked at after its end", async () => {
  const { queue, looks, taken, stopping } = asked();
  queue.add(1);
  queue.add(2);
  stopping.abort();
  looks[0]?.give(row("a"));
  await new Promise(setImmediate);
  queue.add(3);
  expect([looks.length, taken, queue.has(3)]).toEqual([1, [], false]);
});

test.each([0, -1, MAX_ID + 1, 1e15, Number.NaN])("%d is no id", (id) => {
  const { queue, looks } = asked();
  queue.add(id);
  expect([queue.ids(), looks]).toEqual([[], []]);
});
