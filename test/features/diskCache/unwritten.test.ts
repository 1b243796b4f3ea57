import { expect, test } from "vitest";
import { Unwritten } from "../../../features/diskCache/unwritten.ts";

const MIB = 1024 ** 2;
const row = { key: "a", names: "[]", head: "{}" };

test("entries are taken ten times before one is stored, and none is dropped", () => {
  const unwritten = new Unwritten();
  const taken = Array.from({ length: 10 }, (_, i) => {
    const body = Buffer.alloc(100_000, i);
    expect(unwritten.add(row, body)).toBe(true);
    return { body, ...unwritten.take() };
  });
  for (const { body, rows = [], block } of taken) {
    const [{ at, length } = { at: 0, length: 0 }] = rows;
    expect([rows.length, Buffer.from(block as SharedArrayBuffer, at, length).equals(body)]).toEqual([1, true]);
  }
});

test("four blocks wait for the disk at most; one that is given back is filled again", () => {
  const unwritten = new Unwritten();
  const addWhole = () => unwritten.add(row, Buffer.alloc(MIB));
  const blocks = Array.from({ length: 4 }, () => {
    expect(addWhole()).toBe(true);
    return unwritten.take()?.block as SharedArrayBuffer;
  });
  expect([new Set(blocks).size, addWhole()]).toEqual([4, false]);
  unwritten.release(blocks[1] as SharedArrayBuffer);
  expect(addWhole()).toBe(true);
  expect(unwritten.take()?.block).toBe(blocks[1]);
});

test("a block is free when all that was taken from it is stored, and not before", () => {
  const unwritten = new Unwritten();
  const take = (bytes: number) => {
    unwritten.add(row, Buffer.alloc(bytes));
    return unwritten.take() as NonNullable<ReturnType<typeof unwritten.take>>;
  };
  const first = take(10);
  unwritten.add(row, Buffer.alloc(10));
  unwritten.release(first.block);
  // An entry that waits keeps its place.
  expect(take(10).rows.map(({ at }) => at)).toEqual([10, 20]);
  unwritten.release(first.block);
  expect(take(10).rows.map(({ at }) => at)).toEqual([0]);
});

test("an entry that is larger than a block gets one of its size, which is not kept", () => {
  const unwritten = new Unwritten();
  for (let i = 0; i < 5; i++) {
    expect(unwritten.add(row, Buffer.alloc(3 * MIB))).toBe(true);
    const taken = unwritten.take();
    expect(taken?.block.byteLength).toBe(3 * MIB);
    unwritten.release(taken?.block as SharedArrayBuffer);
  }
});
