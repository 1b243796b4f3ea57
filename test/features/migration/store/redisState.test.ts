import { expect, test } from "vitest";
import { openRedisState } from "../../../../src/features/migration/store/redisState.ts";
import { migrationScripts } from "../../../../src/features/migration/store/redisScripts.ts";
import { moveIn } from "../../../../src/features/migration/store/sharedChange.ts";
import { moveTo, stage } from "./moves.ts";
import { stagesOf } from "./support.ts";

/** Answers every reading alike, and each change with the next of these: a fingerprint, or nothing where somebody was faster. */
const open = (changes: (string | null)[], stages: string[] = []) => {
  const told: string[][] = [];
  const state = openRedisState({
    run(script) {
      if (script === migrationScripts.read) return Promise.resolve([Buffer.from("1.x 1 0 0"), stages, [], []]);
      const next = changes.shift() ?? null;
      return Promise.resolve(next === null ? null : Buffer.from(next));
    },
    onEvent: (event) => void told.push([event]),
    onChange: (now) => void told.push(stagesOf(now)),
  });
  return { ...state, told };
};

const move = (state: Parameters<typeof moveIn>[0]) =>
  moveIn(state, "getThing", stage(1), moveTo("getThing", stage(1)), undefined);

test("a change is made again of what others have made of it meanwhile", async () => {
  const redis = open([null, null, "2.y 1 1 0"]);
  expect(await redis.change(move, () => false)).toBe(true);
  expect([stagesOf(redis.known()), redis.told]).toEqual([["getThing shadow 1"], []]);
});

test("where others always are faster it is given up", async () => {
  await expect(open([]).change(move, () => false)).rejects.toThrow("others change it all the time");
});

test("what was given up before it was written is not written", async () => {
  const redis = open(["2.y 1 1 0"]);
  await expect(redis.change(move, () => true)).rejects.toThrow("given up");
  expect(stagesOf(redis.known())).toEqual([]);
});

test("what was given up and is written all the same is told", async () => {
  let asked = 0;
  const redis = open(["2.y 1 1 0"]);
  await redis.change(move, () => asked++ > 0);
  expect(redis.told).toEqual([["getThing shadow 1"]]);
});

test("what could not be put back is tried again at the next look", async () => {
  const redis = open(["2.y 1 1 0", ...Array.from({ length: 10 }, () => null), "3.z 1 1 0"]);
  await redis.change(move, () => false);
  await expect(redis.sync()).rejects.toThrow("others change it all the time");
  expect([stagesOf(redis.known()), redis.told]).toEqual([["getThing shadow 1"], []]);
  await redis.sync();
  expect([stagesOf(redis.known()), redis.told]).toEqual([["getThing shadow 1"], [["migration_store_restored"]]]);
});
