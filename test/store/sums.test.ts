import { z } from "zod";
import { expect, test } from "vitest";
import { memoryStore } from "../../src/store/localStore.ts";
import { openSums } from "../../src/store/sums.ts";

test("what is added while a flush runs is stored before the store closes", async () => {
  const store = memoryStore({ schema: () => z.int(), onEvent: () => undefined });
  const errors: string[] = [];
  const sums = openSums<number>(store, {
    sum: (known, added) => known + added,
    collect: () => undefined,
    onError: ({ message }) => void errors.push(message),
    interval: 60_000,
  });
  sums.add("a", 1);
  sums.add("b", 2);
  const flushing = sums.flush();
  sums.add("a", 10);
  await sums.close();
  await flushing;
  expect(errors).toEqual([]);
  expect(Object.fromEntries(store.entries())).toEqual({ a: 11, b: 2 });
});
