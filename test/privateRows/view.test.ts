import { describe, expect, test } from "vitest";
import { openIndex } from "../../src/privateRows/index.ts";
import type { Standing } from "../../src/privateRows/standing.ts";
import { openView } from "../../src/privateRows/view.ts";
import { privateDatasets } from "../../transforms/privateDatasets.ts";

const asker = { owner: "somebody", ask: () => Promise.reject(new Error("nobody is asked here")), deadline: Infinity };

/** A view over 3, 5 and 7, of which 7 is one that nobody is told of; `open`: what something has just happened to. */
const opened = (standing: Standing, { known = undefined as Standing | undefined, open = [] as number[] } = {}) => {
  const index = openIndex({ onFound: () => undefined, onRows: () => undefined });
  index.put({ id: 3, shown: { did: "3", name: "three" } });
  index.put({ id: 5, shown: { did: "5", name: "five" }, uploader: 16 });
  index.put({ id: 7 });
  const asked = { standings: 0, settled: 0, isComplete: true };
  const view = openView({
    knowledge: privateDatasets,
    index,
    questions: {
      ask: () => undefined,
      outdate: () => undefined,
      has: (id) => open.includes(id),
      ids: () => open,
      settled: async () => {
        asked.settled++;
        open.splice(0);
      },
      watch: () => () => false,
    },
    standings: {
      known: () => known,
      forget: () => undefined,
      of: async () => {
        asked.standings++;
        return standing;
      },
    },
    isComplete: () => asked.isComplete,
    oursOf: ({ shown }) => (shown?.["name"] === "unfit" ? undefined : shown),
  });
  const of = async (input: Record<string, unknown>) => {
    const seen = await view(input, asker);
    return typeof seen === "string" ? seen : seen.added.map(({ id }) => id);
  };
  return { of, index, asked };
};

const administrator = (...shown: number[]): Standing => ({ shown: new Set(shown), isAdministrator: true });
const ownerOf = (...shown: number[]): Standing => ({ shown: new Set(shown), isAdministrator: false });

describe("what a list lacks", () => {
  test.each<[string, Standing, Record<string, unknown>, number[] | string]>([
    ["an administrator", administrator(), { data_id: [3, 5] }, [3, 5]],
    ["an administrator who is listed one of them", administrator(5), { data_id: [3, 5] }, [3]],
    ["an administrator who is listed all of them", administrator(3, 5), { data_id: [3, 5] }, "own"],
    ["an administrator, where one may be meant that nobody is told of", administrator(), {}, "incomplete"],
    ["an administrator, whose own that one is", administrator(7), {}, [3, 5]],
    ["an administrator, by an uploader", administrator(), { data_id: [3, 5], uploader: 16 }, "incomplete"],
    [
      "an administrator, by an uploader that is known of all that may be meant",
      administrator(),
      { data_id: [5], uploader: 16 },
      [5],
    ],
    ["an administrator, by another uploader", administrator(), { data_id: [5], uploader: 17 }, "own"],
    ["the owner of all there were", ownerOf(3, 5, 7), {}, "own"],
    ["the owner of all there were, where others have come", ownerOf(3), { data_id: [3, 5] }, "incomplete"],
    ["the owner of all there were, where others are not meant", ownerOf(3), { data_id: [3] }, "own"],
    ["anybody else", "other", {}, "own"],
    ["somebody of whom nothing is known", "unknown", { data_id: [3] }, "incomplete"],
    ["somebody of whom nothing is known, where nothing is lacking", "unknown", { data_id: [4] }, "own"],
    ["somebody whose key is none", "refused", { data_id: [3] }, "refused"],
  ])("%s", async (_, standing, input, added) => {
    expect(await opened(standing).of(input)).toEqual(added);
    // Remembered, or asked for.
    expect(await opened(standing, { known: typeof standing === "object" ? standing : undefined }).of(input)).toEqual(
      added,
    );
  });

  test("nobody is asked about one who is known to be none, or where nothing could be lacking", async () => {
    const none = opened("unknown", { known: "other", open: [3] });
    expect([await none.of({}), none.asked]).toEqual(["own", { standings: 0, settled: 0, isComplete: true }]);
    const nothing = opened("unknown");
    expect([await nothing.of({ data_id: [4] }), nothing.asked.standings]).toEqual(["own", 0]);
  });

  test("an index that is not complete cannot tell, but to one who is none", async () => {
    const one = opened(administrator());
    one.asked.isComplete = false;
    expect(await one.of({ data_id: [3] })).toBe("incomplete");
    expect(await one.of({ data_id: [4] })).toBe("incomplete");
    const other = opened("other");
    other.asked.isComplete = false;
    expect(await other.of({})).toBe("own");
  });

  test("a row that does not fit what the endpoint promises may be lacking", async () => {
    const { of, index } = opened(administrator());
    index.put({ id: 3, shown: { name: "unfit" } });
    expect([await of({ data_id: [3] }), await of({ data_id: [5] })]).toEqual(["incomplete", [5]]);
  });

  test("it waits for a row that something has happened to, where that may be meant", async () => {
    const meant = opened(administrator(), { open: [5] });
    expect([await meant.of({ data_id: [3, 5] }), meant.asked.settled]).toEqual([[3, 5], 1]);
    const other = opened(administrator(), { open: [5] });
    expect([await other.of({ data_id: [3] }), other.asked.settled]).toEqual([[3], 0]);
    const unheardOf = opened(administrator(), { open: [4] });
    expect([await unheardOf.of({ data_id: [3, 4] }), unheardOf.asked.settled]).toEqual([[3], 1]);
  });
});
