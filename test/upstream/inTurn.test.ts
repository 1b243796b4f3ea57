import { describe, expect, test } from "vitest";
import { openSemaphore, inTurn } from "../../src/upstream/semaphore.ts";

describe("in a turn", () => {
  test("no more run at once than the gate has places", async () => {
    const gate = openSemaphore({ places: 2, queue: 10 });
    let [running, most] = [0, 0];
    const run = async () => {
      most = Math.max(most, ++running);
      await new Promise(setImmediate);
      running--;
    };
    await Promise.all(Array.from({ length: 10 }, () => inTurn(gate, 1000, run)));
    expect([most, gate.running, gate.waiting]).toEqual([2, 0, 0]);
  });

  test("those who wait too long, or find too many waiting, have no turn", async () => {
    const gate = openSemaphore({ places: 1, queue: 1 });
    const first = Promise.withResolvers<string>();
    const running = inTurn(gate, 1000, () => first.promise);
    const waiting = inTurn(gate, 10, async () => "late");
    expect(await inTurn(gate, 1000, async () => "too many")).toBe("noTurn");
    expect(await waiting).toBe("noTurn");
    first.resolve("done");
    expect(await running).toBe("done");
    expect([gate.running, gate.waiting]).toEqual([0, 0]);
  });

  test("the place is free again when it fails", async () => {
    const gate = openSemaphore({ places: 1, queue: 1 });
    await expect(inTurn(gate, 1000, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await inTurn(gate, 1000, async () => "yes")).toBe("yes");
  });
});
