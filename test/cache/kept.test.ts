import { expect, test } from "vitest";
import { type Entry, entryOf } from "../../src/cache/entry.ts";
import { openKept } from "../../src/cache/kept.ts";
import { plainly } from "../../src/cache/representation.ts";
import type { Drop, SharedTier } from "../../src/cache/sharedTier.ts";
import { openStore } from "../../src/cache/store.ts";
import { windowsBy } from "../../src/cache/windows.ts";

const windows = { fresh: 1000, stale: 1000, staleIfError: 1000 };
const about = { endpoint: "e", groups: ["g/1", "g"], windows, storedAt: 0 };
const asking = {
  question: { key: "k", endpoint: "e", windowsOf: windowsBy({ fresh: "1s" }), personal: false },
  owner: undefined,
  wanted: {},
};

test.each<[string, Drop, boolean]>([
  ["softly", { groups: ["g/1"], soft: true }, false],
  ["hard", { groups: ["g/1"] }, false],
  ["everything, softly", { all: true, soft: true }, false],
  ["something else", { groups: ["h"] }, true],
  ["something else, softly", { groups: ["h"], soft: true }, true],
])("an entry of the shared tier that was dropped while it was on its way (%s): kept %s", async (_, drop, isKept) => {
  let arrive: (entry: Entry) => void = () => undefined;
  const tier: SharedTier = {
    trusted: () => true,
    mark: () => "a",
    get: () => new Promise((resolve) => (arrive = resolve)),
    set: () => undefined,
    drop: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
  const kept = openKept({
    store: openStore({ bytes: 100_000, entryBytes: 10_000 }, () => 1),
    longest: 1000,
    openTier: () => tier,
    onDrop: () => undefined,
    onDropped: () => undefined,
    now: () => 1,
  });
  const found = kept.find(asking);
  await kept.drop(drop);
  arrive(entryOf(plainly({ status: 200, body: "x" }), about));
  expect([(await found) !== undefined, kept.ready(asking, 1) !== undefined]).toEqual([isKept, isKept]);
});
