import { expect, test } from "vitest";
import { openChannel } from "../../src/workers/channel.ts";

/** Two ends in this process. `isStuck`: what the first one sends is not taken. */
const pair = (bounds?: { MAX_UNSENT: number; MAX_PENDING: number }) => {
  const state = { isStuck: false, overloads: 0 };
  const listeners: ((text: unknown) => void)[] = [];
  const wire = (self: number) => ({
    send(text: string, done: (error: Error | null) => void) {
      if (state.isStuck && self === 0) return;
      done(null);
      listeners[1 - self]?.(text);
    },
    onMessage: (listener: (text: unknown) => void) => void (listeners[self] = listener),
  });
  const one = openChannel(wire(0), () => state.overloads++, bounds);
  const other = openChannel(wire(1), () => undefined);
  return { one, other, state };
};

test("a request is answered, and an error is passed on", async () => {
  const { one, other } = pair();
  other.handle("double", (n: number) => 2 * n);
  other.handle("fail", () => {
    throw new Error("it is wrong");
  });
  expect(await one.request("double", 4)).toBe(8);
  await expect(one.request("fail")).rejects.toThrow("it is wrong");
  await expect(one.request("nothing")).rejects.toThrow("nothing: not handled");
});

test("what awaits an answer goes on before the next message is handled", async () => {
  const { one, other } = pair();
  const seen: string[] = [];
  one.handle("later", () => void seen.push("later"));
  other.handle("first", () => {
    setImmediate(() => void other.request("later"));
    return "answer";
  });
  await one.request("first").then((text) => seen.push(String(text)));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(seen).toEqual(["answer", "later"]);
});

test.each([
  ["bytes that are not taken", { MAX_UNSENT: 100, MAX_PENDING: 1000 }],
  ["requests without an answer", { MAX_UNSENT: 1e6, MAX_PENDING: 3 }],
])("the bound on %s closes the channel", async (_, bounds) => {
  const { one, state } = pair(bounds);
  state.isStuck = true;
  const requests = Array.from({ length: 5 }, () => one.request("tell", "x".repeat(20)));
  const results = await Promise.allSettled(requests);
  expect(results.map(({ status }) => status)).toEqual(Array(5).fill("rejected"));
  expect(state.overloads).toBe(1);
});
