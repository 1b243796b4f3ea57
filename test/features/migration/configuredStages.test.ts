import { describe, expect, test } from "vitest";
import type { Stage } from "../../../features/migration/stage.ts";
import { Stages } from "../../../features/migration/stages.ts";
import { openStageStore, type StageStore } from "../../../features/migration/stageStore.ts";
import { memoryStores } from "../../../libraries/stores/openStores.ts";
import { settled } from "../../support/waiting.ts";

/** One state that several gateways share. Each is notified of the others' changes. */
const shared = async (): Promise<StageStore> => {
  const inner = await openStageStore(memoryStores());
  const listeners: (() => void)[] = [];
  const notify = <T>(result: T): T => {
    for (const listener of listeners) listener();
    return result;
  };
  return {
    ...inner,
    update: async (...about) => notify(await inner.update(...about)),
    onChange: (listener) => void listeners.push(() => listener(new Map())),
  };
};

let clock = 0;
const gateway = async (store: StageStore, configured: Record<string, Stage>) => {
  const moves: string[] = [];
  const stages = new Stages({
    store,
    endpoints: ["getThing"],
    configured,
    onLost: (endpoints) => void moves.push(`lost ${endpoints.join()}`),
    onStored: () => undefined,
    onMove: (_, from, to) => void moves.push(`${from.stage} ${from.share} -> ${to.stage} ${to.share}`),
    onUnwritten: () => undefined,
    now: () => new Date(Date.UTC(2026, 10, 21) + clock++),
  });
  await settled();
  const at = () => `${stages.of("getThing").stage} ${stages.of("getThing").share} by ${stages.of("getThing").by}`;
  return { stages, at, moves };
};
const thing = (stage: Stage["stage"], share = 100) => ({ getThing: { stage, share } });

describe("configured stages and moves", () => {
  test("a changed configuration undoes a move for good, even if it is changed back", async () => {
    const store = await shared();
    await (await gateway(store, {})).stages.move("getThing", { stage: "modern", share: 100 }, "me", "");
    const { at, stages } = await gateway(store, thing("shadow"));
    expect(at()).toBe("shadow 100 by configuration");
    expect(stages.audit()[0]).toMatchObject({
      by: "configuration",
      from: { stage: "modern" },
      to: { stage: "shadow" },
    });
    expect((await gateway(store, {})).at()).toBe("legacy 100 by configuration");
  });

  test("gateways with different configurations follow the latest change", async () => {
    const store = await shared();
    const a = await gateway(store, {});
    await a.stages.move("getThing", { stage: "canary", share: 50 }, "me", "");
    const c = await gateway(store, thing("canary", 60));
    expect([a.at(), c.at()]).toEqual(["canary 60 by configuration", "canary 60 by configuration"]);
    await c.stages.move("getThing", { stage: "legacy", share: 100 }, "me", "something is wrong");
    expect([a.at(), c.at()]).toEqual(["legacy 100 by me", "legacy 100 by me"]);
    expect(a.moves).toEqual(["legacy 100 -> canary 50", "canary 50 -> canary 60", "canary 60 -> legacy 100"]);
  });

  test("gateways that reload one file move an endpoint once, and keep a move made since", async () => {
    const store = await shared();
    const [a, b, c] = [await gateway(store, {}), await gateway(store, {}), await gateway(store, {})] as const;
    const sinceOfEach = () => [a, b, c].map(({ stages }) => stages.of("getThing").since);
    await a.stages.configure(thing("canary", 5));
    const since = sinceOfEach();
    await b.stages.configure(thing("canary", 5));
    expect(sinceOfEach()).toEqual(since);
    await a.stages.move("getThing", { stage: "legacy", share: 100 }, "me", "something is wrong");
    await c.stages.configure(thing("canary", 5));
    expect([a.at(), b.at(), c.at()]).toEqual(["legacy 100 by me", "legacy 100 by me", "legacy 100 by me"]);
    expect(a.stages.audit()).toHaveLength(2);
  });

  test("configuring a stage as it is keeps its time; removing that undoes the stage", async () => {
    const store = await shared();
    const { stages, at, moves } = await gateway(store, {});
    await stages.move("getThing", { stage: "canary", share: 5 }, "me", "");
    const before = stages.of("getThing");
    await stages.configure(thing("canary", 5));
    expect(stages.of("getThing")).toEqual({ ...before, configured: expect.any(String) as string });
    expect([at(), stages.audit().length, moves]).toEqual(["canary 5 by me", 1, ["legacy 100 -> canary 5"]]);
    expect((await gateway(store, {})).at()).toBe("legacy 100 by configuration");
  });

  test("a move to where the endpoint is changes nothing", async () => {
    const { stages, moves } = await gateway(await shared(), {});
    await stages.move("getThing", { stage: "canary", share: 5 }, "me", "");
    const before = stages.of("getThing");
    expect(await stages.move("getThing", { stage: "canary", share: 5 }, "you", "again")).toBe(true);
    expect([stages.of("getThing"), stages.audit().length, moves.length]).toEqual([before, 1, 1]);
  });

  test("a stage that cannot be stored still takes effect here, at once and whole", async () => {
    const store: StageStore = {
      ...(await openStageStore(memoryStores())),
      update: async () => Promise.reject(new Error("the disk is full")),
    };
    const { stages, at } = await gateway(store, {});
    await stages.configure(thing("canary", 5));
    expect(at()).toBe("canary 5 by configuration");
    await expect(stages.move("getThing", { stage: "modern", share: 100 }, "me", "")).rejects.toThrow(
      "the disk is full",
    );
    expect(at()).toBe("canary 5 by configuration");
  });

  test("of moves at the same moment from the same stage one is made", async () => {
    const { stages } = await gateway(await shared(), {});
    const moves = Array.from({ length: 8 }, (_, share) =>
      stages.move("getThing", { stage: "canary", share }, "me", ""),
    );
    expect((await Promise.all(moves)).filter(Boolean)).toHaveLength(1);
    expect(stages.audit()).toHaveLength(1);
  });

  test("the audit log keeps the newest thousand moves, the newest first", async () => {
    const { stages } = await gateway(await shared(), {});
    for (let i = 0; i < 1003; i++) await stages.move("getThing", { stage: "shadow", share: i % 100 }, "me", `${i}`);
    const kept = stages.audit().map(({ why }) => why);
    expect([kept.length, kept[0], kept.at(-1)]).toEqual([1000, "1002", "3"]);
  });
});
