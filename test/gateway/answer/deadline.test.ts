import { expect, onTestFinished, test, vi } from "vitest";
import type { LegacyClient } from "../../../src/gateway/upstream/legacyClient.ts";
import { gatewayFor } from "../../support/gateway.ts";
import { keys } from "./support.ts";

const TOTAL = 3000;
const path = "/v1/datasets/61";

/** A gateway by the test's clock, over a legacy that answers until it hangs. */
const patient = async () => {
  vi.useFakeTimers({ toFake: ["Date", "performance", "setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const state = { hangs: false, isLost: false };
  const document = { data_set_description: { id: "61", name: "a", format: "arff" } };
  const client: LegacyClient = (_request, _form, { deadline }) => {
    // The clock of the day is set back while a request is on its way.
    if (state.isLost) return new Promise(() => undefined);
    if (state.hangs) vi.setSystemTime(Date.now() - 3_600_000);
    return state.hangs
      ? new Promise((resolve) => {
          const failed = { kind: "tooSlow", message: "" } as const;
          setTimeout(() => resolve({ failed, why: "" }), deadline - performance.now());
        })
      : Promise.resolve({
          status: 200,
          contentType: "",
          isOfGateway: false,
          body: Buffer.from(JSON.stringify(document)),
        });
  };
  const { app, core } = await gatewayFor(
    "http://127.0.0.1:1",
    { TOTAL_TIMEOUT_MS: String(TOTAL) },
    { aroundClient: () => client },
  );
  // The request that verifies a key is answered after all callers have left.
  vi.spyOn(core.keys, "verify").mockImplementation(() => new Promise(() => undefined));
  const ask = async (target: string, headers: Record<string, string> = {}) =>
    (await app.request(target, { headers })).status;
  return { ask, state };
};

test("all calls to legacy for one request share one deadline", async () => {
  const { ask, state } = await patient();
  expect(await ask(path)).toBe(200);
  state.hangs = true;
  // Only stale-if-error is left: legacy gets the request first, and then verifies the key.
  await vi.advanceTimersByTimeAsync(2 * 24 * 60 * 60 * 1000);
  const answers: [string, number][] = [];
  const asked = [path, "/v1/datasets/abc"].map(async (target) =>
    answers.push([target, await ask(target, { "X-API-Key": keys.unknown })]),
  );
  await vi.advanceTimersByTimeAsync(TOTAL + 10);
  await vi.waitFor(() => expect(answers).toHaveLength(2));
  expect(Object.fromEntries(answers)).toEqual({ [path]: 504, "/v1/datasets/abc": 504 });
  await Promise.all(asked);
});

test("a fetch that never ends is a 500 to all who wait for it; the next one asks again", async () => {
  const { ask, state } = await patient();
  state.isLost = true;
  const lost = [ask(path), ask(path)];
  // Longer than all bounds of an answer together.
  await vi.advanceTimersByTimeAsync(200_000);
  expect(await Promise.all(lost)).toEqual([500, 500]);
  state.isLost = false;
  expect(await ask(path)).toBe(200);
});
