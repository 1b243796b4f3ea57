import { setImmediate as soon } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Difference } from "../../../libraries/compare/difference.ts";
import type { CorpusRequest } from "../../../tools/corpus/corpusRequest.ts";
import { compareAll } from "../../../tools/compare/compareAll.ts";

const requests = async function* (count: number): AsyncGenerator<CorpusRequest> {
  for (let i = 0; i < count; i++)
    yield { endpoint: "getThing", method: "GET", path: `/things/${i}`, keyed: false, shape: "" };
};
const mismatch: Difference = { path: "/a", at: "/a", form: "value", kind: "unexplained", count: 1 };

test("of 3000 mismatches a bounded number wait for the recheck, and each counts once", async () => {
  const counted: string[] = [];
  let [waiting, mostWaiting, busy, mostBusy] = [0, 0, 0, 0];
  await compareAll(
    {
      requests: requests(3000),
      async compare({ path }, again) {
        mostBusy = Math.max(mostBusy, ++busy);
        await soon();
        busy--;
        waiting += again ? -1 : 1;
        mostWaiting = Math.max(mostWaiting, waiting);
        const example = () => ({ request: "", left: { title: "" }, right: { title: "" }, rows: [] });
        return { endpoint: "getThing", curl: { candidate: path }, differences: [mismatch], example };
      },
      count: ({ curl }) => void counted.push(curl.candidate),
      rate: 0,
      concurrency: 4,
      settle: 1,
    },
    new AbortController().signal,
  );
  expect(new Set(counted).size).toBe(3000);
  expect(counted).toHaveLength(3000);
  expect(mostWaiting).toBeLessThanOrEqual(1000);
  expect(mostBusy).toBe(4);
});
