import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { ComparedRequest } from "../../../src/tools/compare/compareOne.ts";
import { openDone, run } from "../../../src/tools/compare/run.ts";
import type { Difference } from "../../../src/compare/difference.ts";
import type { CorpusRequest } from "../../../src/tools/corpus/corpusRequest.ts";

const requestOf = (i: number): CorpusRequest => ({
  endpoint: "getThing",
  method: "GET",
  path: `/things/${i}`,
  keyed: false,
  shape: "",
});
const requestsOf = (count: number): CorpusRequest[] => Array.from({ length: count }, (_, i) => requestOf(i));

const different = (path: string, kind: Difference["kind"] = "unexplained"): Difference => ({
  path,
  at: path,
  form: "value",
  kind,
  count: 1,
});
const compared = (differences: Difference[]): ComparedRequest => ({
  outcome: {
    endpoint: "getThing",
    curl: { candidate: "" },
    differences,
    example: () => ({ question: "", left: { title: "" }, right: { title: "" }, rows: [] }),
  },
});
const failed: ComparedRequest = { outcome: { endpoint: "getThing", curl: { candidate: "" }, failed: "it broke" } };

type Scripted = (ask: CorpusRequest, again: boolean, time: number) => ComparedRequest | Promise<ComparedRequest>;

/** Runs a script of answers; gives the requests, and the final count of each path. */
const runOver = async (
  requests: CorpusRequest[],
  script: Scripted,
  { concurrency = 3, signal = new AbortController().signal, done = openDone() } = {},
) => {
  const asked: string[] = [];
  const times = new Map<string, number>();
  const counted: Record<string, string[]> = {};
  let now = 0;
  let most = 0;
  await run(
    {
      requests: requests,
      async compare(ask, again) {
        asked.push(`${ask.path}${again ? " again" : ""}`);
        most = Math.max(most, ++now);
        const time = (times.get(ask.path) ?? 0) + 1;
        times.set(ask.path, time);
        try {
          await sleep(1);
          return await script(ask, again, time);
        } finally {
          now--;
        }
      },
      count(ask, { outcome }) {
        const found =
          "failed" in outcome ? [outcome.failed] : outcome.differences.map(({ path, kind }) => `${path} ${kind}`);
        counted[ask.path] = [...(counted[ask.path] ?? []), `[${found.join(", ")}]`];
      },
      done,
      settings: { rate: 0, concurrency, settle: 5 },
    },
    signal,
  );
  return { asked, counted, most, done };
};

describe("a mismatch is checked again before it counts", () => {
  test.each<[string, Scripted, string, number]>([
    ["equal both times", () => compared([]), "[]", 1],
    ["explained is not checked again", () => compared([different("/a", "explained")]), "[/a explained]", 1],
    ["expected is not checked again", () => compared([different("/a", "expected")]), "[/a expected]", 1],
    ["the same twice stays", () => compared([different("/a")]), "[/a unexplained]", 2],
    ["gone the second time is drift", (_, again) => compared(again ? [] : [different("/a")]), "[/a drift]", 2],
    [
      "new the second time is drift",
      (_, again) => compared([different(again ? "/b" : "/a")]),
      "[/b drift, /a drift]",
      2,
    ],
    [
      "one stays, one goes",
      (_, again) => compared(again ? [different("/a")] : [different("/a"), different("/b")]),
      "[/a unexplained, /b drift]",
      2,
    ],
    ["failed twice", () => failed, "[it broke]", 2],
    ["failed, then equal", (_, again) => (again ? compared([]) : failed), "[]", 2],
    [
      "a mismatch first seen the second time is checked once more",
      (_, __, time) => (time === 1 ? failed : compared([different("/a")])),
      "[/a unexplained]",
      3,
    ],
    [
      "a mismatch whose second check fails does not count",
      (_, again) => (again ? failed : compared([different("/a")])),
      "[it broke]",
      2,
    ],
  ])("%s", async (_, script, expected, times) => {
    const { counted, asked } = await runOver([requestOf(0)], script);
    expect(counted).toEqual({ "/things/0": [expected] });
    expect(asked.length).toBe(times);
  });
});

test("every request is counted once, and no more than allowed run at the same time", async () => {
  const script: Scripted = ({ path }, again) => {
    const i = Number(path.split("/").at(-1));
    return i % 5 === 0 ? failed : compared(i % 3 === 0 && !again ? [different("/a")] : []);
  };
  const { counted, most, done } = await runOver(requestsOf(300), script, { concurrency: 4 });
  expect(Object.keys(counted).length).toBe(300);
  expect(Object.values(counted).every((one) => one.length === 1)).toBe(true);
  expect(most).toBe(4);
  expect(done.state()).toEqual({ upTo: 300, beyond: [] });
});

test("the same request twice is sent twice", async () => {
  const { asked } = await runOver([requestOf(1), requestOf(1)], () => compared([]));
  expect(asked).toEqual(["/things/1", "/things/1"]);
});

test("interrupted anywhere, only requests that were not counted are sent again", async () => {
  const interrupt = new AbortController();
  const first = await runOver(
    requestsOf(100),
    ({ path }, again) => {
      if (path === "/things/40") interrupt.abort();
      return compared(path === "/things/7" && !again ? [different("/a")] : []);
    },
    { signal: interrupt.signal },
  );
  const counted = Object.keys(first.counted);
  expect(counted.length).toBeLessThan(60);
  const kept = openDone(JSON.parse(JSON.stringify(first.done.state())) as ReturnType<typeof first.done.state>);
  expect(kept.count()).toBe(counted.length);
  const second = await runOver(requestsOf(100), () => compared([]), { done: kept });
  expect([...counted, ...Object.keys(second.counted)].toSorted()).toEqual(
    requestsOf(100)
      .map(({ path }) => path)
      .toSorted(),
  );
});

test("an error of ours ends the run, and is thrown", async () => {
  const broken = runOver(requestsOf(10), () => {
    throw new Error("a bug");
  });
  await expect(broken).rejects.toThrow("a bug");
});
