import { describe, expect, test } from "vitest";
import { describeWithRedis } from "../libraries/stores/redis/redisServer.ts";
import { casesOf } from "../support/cases.ts";
import { framing, fuzz } from "./attacks/fuzz.ts";
import { onOldClients, withEveryFeature } from "./attacks/index.ts";
import { oldClientsOf } from "./attacks/oldClients.ts";
import { type Attack, runAttack } from "./lib/attack.ts";

/** Counts of answers in time: they are judged by `npm run check:torture`, on a machine of its own. */
const inTime = new Set(["right answers", "sound answers that were lost or late"]);

const expectHeld = async (attack: Attack): Promise<void> => {
  const checks = await runAttack(attack, { seed: 12, requests: casesOf(250) });
  expect(checks.filter(({ what, holds }) => !holds && !inTime.has(what))).toEqual([]);
  expect(checks.map(({ what }) => what)).toContain("the process");
};

// They mostly wait for connections to be closed.
describe.concurrent("fuzzed clients, and an upstream that is fuzzed or changes", () => {
  const oldClients = oldClientsOf({ name: "old-clients", gateways: 1, isTimed: false });

  test.each([fuzz, onOldClients(framing), oldClients])("$name: no wrong and no missing answer", (attack) =>
    expectHeld(attack),
  );

  describeWithRedis("with Redis", () => {
    test("every feature: no wrong and no missing answer", () => expectHeld(withEveryFeature(fuzz)));
  });
});
