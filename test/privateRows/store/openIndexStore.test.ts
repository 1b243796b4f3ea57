import { expect, test } from "vitest";
import { openIndexStore } from "../../../src/privateRows/store/openIndexStore.ts";
import { temporaryDirectory } from "../../migration/store/support.ts";
import { row } from "./rows.ts";
import { openWith } from "./support.ts";

/** Where nobody listens. */
const REDIS_URL = "redis://127.0.0.1:1";

test("Redis goes before a directory, and without both it is memory", async () => {
  const DATA_DIR = temporaryDirectory();
  const kinds = [{ REDIS_URL, DATA_DIR }, { DATA_DIR }, {}].map(async (settings) => {
    const { store } = await openWith(openIndexStore(settings));
    return [store.kind, store.mayWalk()];
  });
  expect(await Promise.all(kinds)).toEqual([
    ["redis", false],
    ["directory", true],
    ["memory", true],
  ]);
});

test("memory keeps nothing, and says nothing of it", async () => {
  const { store, told, events, learn } = await openWith(openIndexStore({}));
  learn({ rows: [row(7)] });
  await store.close();
  expect([told, events]).toEqual([[], []]);
});
