import { z } from "zod";
import { expect, test } from "vitest";
import { memoryStore } from "../../src/store/localStore.ts";
import { copiedStore } from "../../src/workers/copiedStore.ts";
import { hostStore, type SentChanges } from "../../src/workers/hostStore.ts";

/** A store with copies in so many workers, and the changes that its listeners got. `held`: telling waits for it. */
const opened = async (count: number) => {
  const heard: string[] = [];
  const state = { held: Promise.resolve() };
  const settings = (who: string) => ({
    name: "numbers",
    schema: () => z.int(),
    isRebuildable: true,
    onEvent: () => undefined,
    onChange: (changes: ReadonlyMap<string, number | undefined>) =>
      void heard.push(`${who} ${[...changes].map(([key, value]) => `${key}=${value}`).join(" ")}`),
  });
  const hear = new Map<string, (changes: SentChanges) => void>();
  const { store, host } = await hostStore(
    settings("primary"),
    async (about) => memoryStore(about),
    async (sent, except) => {
      await state.held;
      for (const [worker, listener] of hear) if (worker !== except) listener(structuredClone(sent));
    },
  );
  store.save(new Map([["before", 1]]));
  const copies = [];
  for (let i = 1; i <= count; i++) {
    const worker = `worker ${i}`;
    const copy = await copiedStore(settings(worker), {
      async open(onChanges) {
        hear.set(worker, onChanges);
        await host.sendAll(onChanges);
        return host.kind;
      },
      update: (update) => host.update(structuredClone(update), worker),
      save: (changes, isMinor) => host.save(structuredClone(changes), isMinor, worker),
    });
    copies.push(copy);
  }
  return { store, copies, heard, state };
};
const asObject = ({ entries }: { entries: () => ReadonlyMap<string, number> }) => Object.fromEntries(entries());

test("a worker's copy has what was stored before, and does not hold the lease", async () => {
  const { copies } = await opened(1);
  expect(copies.map((one) => [asObject(one), one.kind, one.holdsLease()])).toEqual([[{ before: 1 }, "memory", false]]);
});

test("an update resolves when all have it; only those that did not make it are told", async () => {
  const { store, copies, heard, state } = await opened(2);
  let release = (): void => undefined;
  state.held = new Promise((resolve) => (release = resolve));
  let isDone = false;
  const updating = copies[0]?.update("a", () => 5).then((done) => (isDone = done));
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect([isDone, heard]).toEqual([false, ["primary a=5"]]);
  release();
  await updating;
  expect(isDone).toBe(true);
  expect(heard).toEqual(["primary a=5", "worker 2 a=5"]);
  for (const one of [store, ...copies]) expect(asObject(one)).toEqual({ before: 1, a: 5 });
});

test("updates that collide are made one after the other, and none is lost", async () => {
  const { store, copies } = await opened(3);
  const increment = (latest = 0) => latest + 1;
  await Promise.all([store, ...copies].map((one) => one.update("count", increment)));
  await Promise.all(copies.map((one) => one.update("count", increment)));
  for (const one of [store, ...copies]) expect(asObject(one)["count"]).toBe(7);
});

test("what is saved or deleted reaches the others; minor changes come together later", async () => {
  const { store, copies, heard } = await opened(2);
  copies[0]?.save(new Map<string, number | undefined>([["before", undefined]]));
  store.save(new Map([["minor", 1]]), { isMinor: true });
  store.save(new Map([["minor", 2]]), { isMinor: true });
  await expect.poll(() => asObject(copies[1] as (typeof copies)[number]), { timeout: 5000 }).toEqual({ minor: 2 });
  expect(heard).toEqual([
    "primary before=undefined",
    "worker 2 before=undefined",
    "worker 1 minor=2",
    "worker 2 minor=2",
  ]);
});

test("a value that does not fit is refused, wherever it comes from", async () => {
  const { store, copies } = await opened(1);
  await expect(copies[0]?.update("a", () => 1.5)).rejects.toThrow("expected int");
  expect(asObject(store)).toEqual({ before: 1 });
});
