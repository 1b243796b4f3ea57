import { describe, expect, test } from "vitest";
import type { Stage } from "../../../features/migration/stage.ts";
import { Stages } from "../../../features/migration/stages.ts";
import { openStageStore, type StageStore } from "../../../features/migration/stageStore.ts";
import { memoryStores } from "../../../libraries/stores/openStores.ts";
import { settled } from "../../support/waiting.ts";

/** A store that several gateways share. Each is notified of the others' changes. */
const shared = async (): Promise<StageStore> => {
  const inner = await openStageStore(memoryStores());
  const listeners: (() => void)[] = [];
  return {
    ...inner,
    update: async (...about) => {
      const result = await inner.update(...about);
      for (const listener of listeners) listener();
      return result;
    },
    onChange: (listener) => void listeners.push(() => listener(new Map())),
  };
};

/** `canary 5` */
const stageOf = (text: string): Stage => {
  const [stage, share = 100] = text.split(" ");
  return { stage: stage as Stage["stage"], share: Number(share) };
};
const configuration = (text: string): Record<string, Stage> => (text === "" ? {} : { getThing: stageOf(text) });

let clock = 0;
/** A gateway with this stage for `getThing` in its configuration. */
const gateway = async (store: StageStore, configured = "") => {
  const moves: string[] = [];
  const stages = new Stages({
    store,
    endpoints: ["getThing"],
    configured: configuration(configured),
    onLost: () => undefined,
    onStored: () => undefined,
    onMove: (_, from, to) => void moves.push(`${from.stage} ${from.share} -> ${to.stage} ${to.share}`),
    onUnwritten: () => undefined,
    now: () => new Date(Date.UTC(2026, 10, 21) + clock++),
  });
  await settled();
  const now = () => stages.of("getThing");
  return {
    stages,
    moves,
    now,
    at: () => `${now().stage} ${now().share} by ${now().by}`,
    move: (to: string, why = "") => stages.move("getThing", stageOf(to), "me", why),
    configure: (to: string) => stages.configure(configuration(to)),
  };
};

describe("configured stages and moves", () => {
  test("a changed configuration undoes a move for good, even if it is changed back", async () => {
    const store = await shared();
    await (await gateway(store)).move("modern");
    const { at, stages } = await gateway(store, "shadow");
    expect(at()).toBe("shadow 100 by configuration");
    expect(stages.audit()[0]).toMatchObject({
      by: "configuration",
      from: { stage: "modern" },
      to: { stage: "shadow" },
    });
    expect((await gateway(store)).at()).toBe("legacy 100 by configuration");
  });

  test("gateways with different configurations follow the latest change", async () => {
    const store = await shared();
    const a = await gateway(store);
    await a.move("canary 50");
    const c = await gateway(store, "canary 60");
    expect([a.at(), c.at()]).toEqual(["canary 60 by configuration", "canary 60 by configuration"]);
    await a.configure("");
    expect(a.at()).toBe("canary 60 by configuration");
    await c.move("legacy");
    expect([a.at(), c.at()]).toEqual(["legacy 100 by me", "legacy 100 by me"]);
    expect(a.moves).toEqual(["legacy 100 -> canary 50", "canary 50 -> canary 60", "canary 60 -> legacy 100"]);
  });

  test("gateways that reload one file move an endpoint once, and keep a move made since", async () => {
    const store = await shared();
    const [a, b, c] = [await gateway(store), await gateway(store), await gateway(store)] as const;
    await a.configure("canary 5");
    const { since } = a.now();
    await b.configure("canary 5");
    expect([a, b, c].map(({ now }) => now().since)).toEqual([since, since, since]);
    await a.move("legacy");
    await c.configure("canary 5");
    expect([a.at(), b.at(), c.at()]).toEqual(["legacy 100 by me", "legacy 100 by me", "legacy 100 by me"]);
    expect(a.stages.audit()).toHaveLength(2);
  });

  test("configuring a stage as it is keeps its time; removing that undoes the stage", async () => {
    const store = await shared();
    const { configure, move, now, stages, moves } = await gateway(store);
    await move("canary 5");
    const before = now();
    await configure("canary 5");
    expect(now()).toEqual({ ...before, configured: expect.any(String) as string });
    expect([stages.audit().length, moves]).toEqual([1, ["legacy 100 -> canary 5"]]);
    expect((await gateway(store)).at()).toBe("legacy 100 by configuration");
  });

  test("a move to where the endpoint is changes nothing", async () => {
    const { move, now, stages, moves } = await gateway(await shared());
    await move("canary 5");
    const before = now();
    expect(await move("canary 5", "again")).toBe(true);
    expect([now(), stages.audit().length, moves.length]).toEqual([before, 1, 1]);
  });

  test("a configured stage that cannot be stored takes effect here; a move does not", async () => {
    const store = await shared();
    await (await gateway(store)).move("shadow");
    const update = () => Promise.reject(new Error("the disk is full"));
    const { configure, move, at } = await gateway({ ...store, update });
    await configure("canary 5");
    expect(at()).toBe("canary 5 by configuration");
    await expect(move("modern")).rejects.toThrow("the disk is full");
    expect(at()).toBe("canary 5 by configuration");
  });

  test("of moves at the same moment from the same stage one is made", async () => {
    const { move, stages } = await gateway(await shared());
    const moves = await Promise.all(Array.from({ length: 8 }, (_, share) => move(`canary ${share}`)));
    expect(moves.filter(Boolean)).toHaveLength(1);
    expect(stages.audit()).toHaveLength(1);
  });

  test("the audit log keeps the newest thousand moves, the newest first", async () => {
    const { move, stages } = await gateway(await shared());
    for (let i = 0; i < 1003; i++) await move(`shadow ${i % 100}`, `${i}`);
    const kept = stages.audit().map(({ why }) => why);
    expect([kept.length, kept[0], kept.at(-1)]).toEqual([1000, "1002", "3"]);
  });
});
