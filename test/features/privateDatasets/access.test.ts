import { describe, expect, test } from "vitest";
import { clock } from "../../gateway/cache/support.ts";
import {
  administrator,
  type Caller,
  nobody,
  otherOwner,
  owner,
  readOnly,
  secondAdministrator,
  user,
  users,
  wrongKey,
} from "./people.ts";
import { completeDataset } from "../../../tools/sampleLegacy/completeDataset.ts";
import { fronted, scanningThrough, through } from "./through.ts";
import { settled, until } from "../../support/waiting.ts";

/** The clock that is faked, and seen by all caches: lru-cache remembers it for a millisecond. */
const passing = () => {
  const { pass } = clock();
  return (ms: number) => {
    pass(ms);
    return settled();
  };
};

const error = (code: number) =>
  `<oml:error xmlns:oml="x"><oml:code>${code}</oml:code><oml:message>no</oml:message></oml:error>`;

const matrix: [Caller, number[] | number][] = [
  [nobody, [2, 9]],
  [user, [2, 9]],
  [readOnly, [2, 9]],
  [owner, [2, 3, 9]],
  [otherOwner, [2, 5, 9]],
  [administrator, [2, 3, 5, 6, 9]],
  [secondAdministrator, [2, 3, 5, 6, 9]],
  [wrongKey, 401],
];

describe("the rows that each caller is listed", () => {
  test("each caller is listed what legacy shows it, in any order of the callers", async () => {
    const { list, post } = await through();
    for (const round of [matrix, matrix.toReversed(), matrix])
      for (const [caller, ids] of round) {
        for (const listed of [await list(caller), await post(caller, { status: "all" })])
          expect({ ...listed, caller }).toMatchObject({ caller, ids, isIncomplete: false });
      }
  });

  test("without an administrator's key legacy's lists stay as they are", async () => {
    const { list, state } = await scanningThrough(undefined, { LEGACY_ADMIN_KEY: "" });
    expect(state()).toBeUndefined();
    const listed = await list(administrator);
    expect(listed).toMatchObject({ ids: [2, 6, 9], isIncomplete: false });
  });

  test("a former administrator is served as one for a minute at most", async () => {
    const pass = passing();
    const { list } = await through();
    const person = users.find(({ id }) => id === secondAdministrator.user.id);
    if (person === undefined) throw new Error("nobody");
    try {
      expect((await list(secondAdministrator)).ids).toEqual([2, 3, 5, 6, 9]);
      person.role = "normal";
      await pass(61_000);
      expect(await list(secondAdministrator)).toMatchObject({ ids: [2, 9], isIncomplete: false });
      person.role = "administrator";
      await pass(30_000);
      expect((await list(secondAdministrator)).ids).toEqual([2, 9]);
      await pass(31_000);
      expect((await list(secondAdministrator)).ids).toEqual([2, 3, 5, 6, 9]);
    } finally {
      person.role = "administrator";
    }
  });

  test("a caller is listed no private row once legacy refuses the key", async () => {
    const { list } = await through();
    const removed = users.findIndex(({ id }) => id === administrator.user.id);
    expect((await list(administrator)).ids).toEqual([2, 3, 5, 6, 9]);
    const [person] = users.splice(removed, 1);
    try {
      // Legacy says so at the next thing that is asked with it.
      expect((await list(administrator, "data_id/2,3/status/all")).ids).toBe(401);
      expect((await list(administrator)).ids).toBe(401);
      // Nor what the key was before: it comes back with fewer rights.
      if (person) users.splice(removed, 0, { ...person, role: "normal" });
      expect(await list(administrator, "status/all/limit/50")).toMatchObject({ ids: [2, 6, 9], isIncomplete: false });
    } finally {
      if (person) users.splice(removed, 1, person);
    }
  });
});

describe("an administrator's list", () => {
  test("an administrator's list without a limit has the first hundred rows", async () => {
    const many = Array.from({ length: 120 }, (_, i) =>
      completeDataset({ id: i + 1, name: "one", visibility: i % 2 === 0 ? "private" : "public" }),
    );
    const { list, post } = await through(many);
    for (const { ids } of [await list(secondAdministrator), await post(secondAdministrator, {})])
      expect(ids).toEqual(many.slice(0, 100).map(({ id }) => id));
  });

  test.each<
    [answer: string, status: number, body: string, expected: { ids: number[] | number; isIncomplete: boolean }]
  >([
    ["the code that only administrators get", 412, error(1011), { ids: [2, 3, 5, 6, 9], isIncomplete: false }],
    ["the code for missing rights", 412, error(106), { ids: [2, 6, 9], isIncomplete: false }],
    ["a code that says nothing of it", 412, error(100), { ids: [2, 6, 9], isIncomplete: true }],
    ["a database that is down", 412, error(107), { ids: [2, 6, 9], isIncomplete: true }],
    ["a wrong key", 412, error(103), { ids: 401, isIncomplete: false }],
    ["a page", 200, "<html>", { ids: [2, 6, 9], isIncomplete: true }],
    ["a list", 200, '{"data":{"dataset":[{"did":1.5},{"did":-1}]}}', { ids: [2, 6, 9], isIncomplete: true }],
  ])("an administrator's list depends on legacy's answer about the key: %s", async (_, status, body, expected) => {
    const front = await fronted();
    const { list } = await through(front);
    front.replace(/evaluation\/request/, status, body);
    expect(await list(administrator)).toMatchObject(expected);
    front.release();
    // Only an answer that shows it is remembered.
    const isShown = !expected.isIncomplete && expected.ids !== 401;
    const later = isShown ? expected : { ids: [2, 3, 5, 6, 9], isIncomplete: false };
    expect(await list(administrator)).toMatchObject(later);
  });

  test("an administrator's list is cached for that key only, not by shared caches", async () => {
    const { list } = await through();
    const first = await list(administrator);
    expect(first.headers.get("cache-status")).toMatch(/fwd=uri-miss; stored/);
    expect(first.headers.get("cache-control")).toBe("private, no-cache");
    expect(first.headers.get("cache-groups")).toContain('"private-dataset"');
    expect((await list(administrator)).headers.get("cache-status")).toMatch(/; hit/);
    expect((await list(secondAdministrator)).headers.get("cache-status")).toMatch(/fwd=uri-miss/);
    expect((await list(user)).ids).toEqual([2, 9]);
    expect((await list(nobody)).ids).toEqual([2, 9]);
  });

  test("the change of a row invalidates administrators' lists, and no others", async () => {
    const { list, core, bed, state } = await through(undefined, {}, { scan: { pause: 20 } });
    await list(administrator);
    await list(nobody);
    const { entries } = core.cache.size();
    bed.datasets.splice(
      bed.datasets.findIndex(({ id }) => id === 3),
      1,
    );
    await until(() => state()?.rows === 2);
    const after = await list(administrator);
    expect(after.ids).toEqual([2, 5, 6, 9]);
    expect(after.headers.get("cache-status")).toMatch(/fwd=uri-miss/);
    expect((await list(nobody)).headers.get("cache-status")).toMatch(/; hit/);
    expect(core.cache.size().entries).toBeLessThanOrEqual(entries + 1);
  });

  test("a former administrator is not served a stale list", async () => {
    const pass = passing();
    const { list, bed } = await through();
    expect((await list(administrator)).ids).toEqual([2, 3, 5, 6, 9]);
    await bed.close();
    await pass(61_000);
    expect((await list(administrator)).ids).not.toEqual([2, 3, 5, 6, 9]);
  });
});
