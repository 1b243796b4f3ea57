import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test, vi } from "vitest";
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
import { through } from "./through.ts";
import { until } from "../../support/waiting.ts";

afterEach(() => void vi.restoreAllMocks());

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

describe("who is listed what", () => {
  test("is what legacy shows each of them, in whatever order they come", async () => {
    const { scanned, list, post } = await through();
    await scanned();
    for (const round of [matrix, matrix.toReversed(), matrix])
      for (const [caller, ids] of round) {
        for (const listed of [await list(caller), await post(caller, { status: "all" })])
          expect({ ...listed, headers: undefined, caller }).toEqual({
            ids,
            isIncomplete: false,
            headers: undefined,
            caller,
          });
      }
  });

  test("is the same where nothing is kept", async () => {
    const { scanned, list } = await through(undefined, { CACHE_BYTES: "0" });
    await scanned();
    for (const [caller, ids] of matrix) expect((await list(caller)).ids).toEqual(ids);
  });

  test("is as ever where no administrator's key is set", async () => {
    const { list, state } = await through(undefined, { LEGACY_ADMIN_KEY: "" });
    expect(state()).toBeUndefined();
    const listed = await list(administrator);
    expect(listed).toMatchObject({ ids: [2, 6, 9], isIncomplete: false });
  });

  test("follows their rights: an administrator is one for a minute at most", async () => {
    const { scanned, list } = await through();
    await scanned();
    let later = 0;
    const now = performance.now.bind(performance);
    vi.spyOn(performance, "now").mockImplementation(() => now() + later);
    // What is kept of the clock is a millisecond old at most.
    const pass = (ms: number) => sleep(5, (later += ms));
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

  test("is nothing any more when legacy does not take the key", async () => {
    const { scanned, list } = await through();
    await scanned();
    const removed = users.findIndex(({ id }) => id === administrator.user.id);
    expect((await list(administrator)).ids).toEqual([2, 3, 5, 6, 9]);
    const [person] = users.splice(removed, 1);
    try {
      // Legacy says so at the next thing that is asked with it.
      expect((await list(administrator, "data_id/2,3/status/all")).ids).toBe(401);
      expect((await list(administrator)).ids).toBe(401);
    } finally {
      if (person) users.splice(removed, 0, person);
    }
  });
});

describe("an administrator's list", () => {
  test("is cached for that key only, and not by shared caches", async () => {
    const { scanned, list } = await through();
    await scanned();
    const first = await list(administrator);
    expect(first.headers.get("cache-status")).toMatch(/fwd=uri-miss; stored/);
    expect(first.headers.get("cache-control")).toBe("private, no-cache");
    expect(first.headers.get("cache-groups")).toContain('"private-dataset"');
    expect((await list(administrator)).headers.get("cache-status")).toMatch(/; hit/);
    expect((await list(secondAdministrator)).headers.get("cache-status")).toMatch(/fwd=uri-miss/);
    expect((await list(user)).ids).toEqual([2, 9]);
    expect((await list(nobody)).ids).toEqual([2, 9]);
  });

  test("is invalidated by the change of a row, and only such lists are", async () => {
    const { scanned, list, services, bed, state } = await through(undefined, {}, { scan: { pause: 20 } });
    await scanned();
    await list(administrator);
    await list(nobody);
    const { entries } = services.cache.size();
    bed.datasets.splice(
      bed.datasets.findIndex(({ id }) => id === 3),
      1,
    );
    await until(() => state()?.rows === 2);
    const after = await list(administrator);
    expect(after.ids).toEqual([2, 5, 6, 9]);
    expect(after.headers.get("cache-status")).toMatch(/fwd=uri-miss/);
    expect((await list(nobody)).headers.get("cache-status")).toMatch(/; hit/);
    expect(services.cache.size().entries).toBeLessThanOrEqual(entries + 1);
  });

  test("is not served stale to a former administrator", async () => {
    const { scanned, list, bed } = await through();
    await scanned();
    expect((await list(administrator)).ids).toEqual([2, 3, 5, 6, 9]);
    let later = 0;
    const now = performance.now.bind(performance);
    vi.spyOn(performance, "now").mockImplementation(() => now() + later);
    await bed.close();
    await sleep(5, (later = 61_000));
    const listed = await list(administrator);
    expect(listed.ids).not.toEqual([2, 3, 5, 6, 9]);
  });
});
