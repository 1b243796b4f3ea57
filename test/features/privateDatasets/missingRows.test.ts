import { describe, expect, test } from "vitest";
import type { AdminStatus } from "../../../src/features/privateDatasets/adminStatus.ts";
import { openIndex } from "../../../src/features/privateDatasets/index.ts";
import { openMissingRows } from "../../../src/features/privateDatasets/missingRows.ts";

const caller = { owner: "somebody", ask: () => Promise.reject(new Error("nobody is asked here")), deadline: Infinity };

/** What lists lack over 3, 5 and 7, of which 7 is hidden; `open`: what is being rechecked. */
const opened = (status: AdminStatus, { open = [] as number[] } = {}) => {
  const index = openIndex({ onFound: () => undefined, onRows: () => undefined });
  index.put({ id: 3, shown: { did: "3", name: "three" } });
  index.put({ id: 5, shown: { did: "5", name: "five" }, uploader: 16 });
  index.put({ id: 7 });
  const state = { probes: 0, settled: 0, isComplete: true, isCurrent: true, isStuck: false, hasFormerlyPrivate: false };
  const missing = openMissingRows({
    index,
    queue: {
      has: (id) => open.includes(id),
      ids: () => open,
      settled: async () => {
        state.settled++;
        if (!state.isStuck) open.splice(0);
      },
    },
    adminStatuses: {
      known: () => undefined,
      of: async () => {
        state.probes++;
        return status;
      },
    },
    hasFormerlyPrivate: () => state.hasFormerlyPrivate,
    isComplete: () => state.isComplete,
    isCurrent: () => state.isCurrent,
    listedRow: ({ shown }) => (shown?.["name"] === "unfit" ? undefined : shown),
  });
  const of = async (input: Record<string, unknown>) => {
    const found = await missing.find(input, caller);
    if (typeof found === "string") return found;
    const ids = [...found.added.keys()];
    return found.isIncomplete ? { ids, isIncomplete: true } : ids;
  };
  return { of, missing, index, state, open };
};

const lacks = (...ids: number[]) => ({ ids, isIncomplete: true });

describe("what a list lacks", () => {
  test.each<[string, AdminStatus, Record<string, unknown>, unknown]>([
    ["an administrator", "administrator", { data_id: [3, 5] }, [3, 5]],
    ["an administrator, of rows one of which is shown to nobody", "administrator", {}, lacks(3, 5)],
    ["an administrator, of that one alone", "administrator", { data_id: [7] }, "incomplete"],
    ["an administrator, by an uploader that is known of one", "administrator", { uploader: 16 }, lacks(5)],
    ["an administrator, by the uploader of all that may match", "administrator", { data_id: [5], uploader: 16 }, [5]],
    ["an administrator, by another uploader", "administrator", { data_id: [5], uploader: 17 }, "nothing"],
    ["an administrator, of other rows", "administrator", { data_id: [4] }, "nothing"],
    ["another caller", "other", {}, "own"],
    ["a caller of whom legacy says nothing", "unknown", { data_id: [3] }, "incomplete"],
    ["such a caller, of other rows", "unknown", { data_id: [4] }, "nothing"],
    ["a caller whose key is refused", "refused", { data_id: [3] }, "refused"],
  ])("%s", async (_, status, input, expected) => {
    expect(await opened(status).of(input)).toEqual(expected);
  });

  test("legacy is not asked about a caller where nothing can be lacking", async () => {
    const { of, state } = opened("administrator");
    expect([await of({ data_id: [4] }), state.probes]).toEqual(["nothing", 0]);
    state.hasFormerlyPrivate = true;
    expect([await of({ data_id: [4] }), state.probes]).toEqual([[], 1]);
  });

  test("while the index is built the known rows are added, and there may be more", async () => {
    const { of, state } = opened("administrator");
    state.isComplete = false;
    expect(await of({ data_id: [3] })).toEqual(lacks(3));
    expect(await of({ data_id: [4] })).toBe("incomplete");
    const other = opened("other");
    other.state.isComplete = false;
    expect(await other.of({})).toBe("own");
  });

  test("an index that was not looked after for long adds nothing", async () => {
    const { of, state } = opened("administrator");
    state.isComplete = state.isCurrent = false;
    expect(await of({ data_id: [3] })).toBe("incomplete");
  });

  test("a row that does not fit what the endpoint promises is left out alone", async () => {
    const { of, index } = opened("administrator");
    index.put({ id: 3, shown: { name: "unfit" } });
    expect([await of({ data_id: [3, 5] }), await of({ data_id: [5] })]).toEqual([lacks(5), [5]]);
  });

  test("a row that is being looked at is waited for where it may match", async () => {
    const meant = opened("administrator", { open: [5] });
    expect([await meant.of({ data_id: [3, 5] }), meant.state.settled]).toEqual([[3, 5], 1]);
    const other = opened("administrator", { open: [5] });
    expect([await other.of({ data_id: [3] }), other.state.settled]).toEqual([[3], 0]);
    const unheardOf = opened("administrator", { open: [4] });
    expect([await unheardOf.of({ data_id: [3, 4] }), unheardOf.state.settled]).toEqual([[3], 1]);
  });

  test("a row that is still being looked at after that is left out alone", async () => {
    const { of, state } = opened("administrator", { open: [5] });
    state.isStuck = true;
    expect(await of({ data_id: [3, 5] })).toEqual(lacks(3));
  });
});

describe("what was found is outdated", () => {
  test("when a row changes, or one that may match is looked at", async () => {
    const { missing, index, open } = opened("administrator");
    const input = { data_id: [3, 4, 5] };
    const found = await missing.find(input, caller);
    expect(missing.isOutdated(input, found)).toBe(false);
    open.push(6);
    expect(missing.isOutdated(input, found)).toBe(false);
    open.push(4);
    expect(missing.isOutdated(input, found)).toBe(true);
    open.splice(0);
    index.remove(5);
    expect(missing.isOutdated(input, found)).toBe(true);
  });

  test("when a row changes, unless the index is still built and the list says so", async () => {
    const { missing, index, state } = opened("administrator");
    const found = await missing.find({}, caller);
    index.remove(7);
    expect(missing.isOutdated({}, found)).toBe(true);
    state.isComplete = false;
    expect(missing.isOutdated({}, found)).toBe(false);
  });

  test("when nothing was lacking and now something may be, but not for other callers", async () => {
    const { missing, index } = opened("administrator");
    const input = { data_id: [4] };
    expect(missing.isOutdated(input, await missing.find(input, caller))).toBe(false);
    index.put({ id: 4, shown: { did: "4" } });
    expect(missing.isOutdated(input, "nothing")).toBe(true);
    expect(missing.isOutdated(input, "own")).toBe(false);
  });
});
