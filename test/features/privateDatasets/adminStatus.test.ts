import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { LegacyFailed, LegacyReply } from "../../../src/legacy/client.ts";
import { openAdminStatuses } from "../../../src/features/privateDatasets/adminStatus.ts";
import { legacyErrors } from "../../../transforms/legacyErrors.ts";
import { askLegacyBy } from "../../../src/features/privateDatasets/askLegacy.ts";

afterEach(() => void vi.restoreAllMocks());

const error = (code: number): LegacyReply => ({
  status: 412,
  reading: { is: "error", code, message: `code ${code}` },
});
const away: LegacyFailed = { failed: { kind: "broken", message: "It is away." }, why: "it is away" };
const document: LegacyReply = { status: 200, reading: { is: "document", document: {}, form: "json" } };
const unreadable: LegacyReply = { status: 200, reading: { is: "unreadable", why: "it is a page" } };

/** A legacy that gives these answers to the probe, the last one for good; `paths`: what it was asked. */
const opened = (answers: (LegacyReply | LegacyFailed | Promise<LegacyReply>)[], max?: number) => {
  const paths: string[] = [];
  const statuses = openAdminStatuses(max);
  const ask = askLegacyBy(async ({ path }) => {
    paths.push(path);
    return (answers.length > 1 ? answers.shift() : answers[0]) ?? away;
  }, legacyErrors);
  const of = (owner = "one", patience = 1000) => statuses.of({ owner, ask }, patience);
  return { of, paths, forget: statuses.remove };
};

describe("whether a caller is an administrator", () => {
  test.each<[string, LegacyReply | LegacyFailed, string, boolean]>([
    ["the code that only administrators get", error(1011), "administrator", true],
    ["the code for missing rights", error(106), "other", true],
    ["a code that says nothing of it", error(100), "unknown", true],
    ["a wrong key", error(103), "refused", false],
    ["a missing key", error(102), "refused", false],
    ["a database that is down", error(107), "unknown", false],
    ["a document", document, "unknown", false],
    ["something unreadable", unreadable, "unknown", false],
    ["no answer", away, "unknown", false],
  ])("%s", async (_, answer, expected, isRemembered) => {
    const { of, paths } = opened([answer]);
    expect([await of(), await of()]).toEqual([expected, expected]);
    expect(paths).toHaveLength(isRemembered ? 1 : 2);
    expect(paths[0]).toBe("/evaluation/request/1/normal/1/none/0");
  });

  test("is remembered for each key for a minute", async () => {
    const { of, paths } = opened([error(1011), error(106), error(106)]);
    let later = 0;
    const now = performance.now.bind(performance);
    vi.spyOn(performance, "now").mockImplementation(() => now() + later);
    expect([await of("one"), await of("two"), await of("one")]).toEqual(["administrator", "other", "administrator"]);
    await sleep(5, (later = 59_000));
    expect(await of("one")).toBe("administrator");
    await sleep(5, (later = 61_000));
    expect(await of("one")).toBe("other");
    expect(paths).toHaveLength(3);
  });

  test("is requested once for all waiting callers, who wait for a bounded time", async () => {
    const answer = Promise.withResolvers<LegacyReply>();
    const { of, paths } = opened([answer.promise]);
    const waiting = [of(), of(), of()];
    expect(await of("one", 5)).toBe("unknown");
    answer.resolve(error(1011));
    expect(await Promise.all(waiting)).toEqual(["administrator", "administrator", "administrator"]);
    expect(await of()).toBe("administrator");
    expect(paths).toHaveLength(1);
  });

  test("is removed with the key, also while its probe is running", async () => {
    const answer = Promise.withResolvers<LegacyReply>();
    const { of, forget } = opened([error(1011), answer.promise, error(106)]);
    expect(await of()).toBe("administrator");
    forget("one");
    const waiting = of();
    forget("one");
    answer.resolve(error(1011));
    await waiting;
    expect(await of()).toBe("other");
  });

  test("is remembered of so many keys at most", async () => {
    const { of, paths } = opened([error(106)], 10);
    for (let i = 0; i < 11; i++) await of(`owner ${i}`);
    await of("owner 10");
    expect(paths).toHaveLength(11);
    await of("owner 0");
    expect(paths).toHaveLength(12);
  });
});
