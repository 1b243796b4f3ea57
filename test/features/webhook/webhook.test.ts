import { createHmac } from "node:crypto";
import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { feature as webhook } from "../../../features/webhook/feature.ts";
import type { CoreEvents } from "../../../src/gateway/answer/core.ts";
import { openMeter } from "../../../src/operation/telemetry/meter.ts";
import type { Observer } from "../../../src/operation/telemetry/observer.ts";
import { httpUpstream } from "../../gateway/proxy/support.ts";
import { staged } from "../migration/support.ts";
import { settingsOf } from "../../support/settings.ts";
import { freePort } from "../../support/freePort.ts";
import { until } from "../../support/waiting.ts";

const key = Buffer.alloc(32, 7);
const secret = `whsec_${key.toString("base64")}`;

type Got = { id: string; type: string; data: Record<string, unknown>; isSigned: boolean; path: string };

/** Takes messages, after it has answered with these statuses. */
const receiver = async (...statuses: number[]) => {
  const got: Got[] = [];
  const startedAt = Math.floor(Date.now() / 1000);
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = Buffer.concat(await request.toArray()).toString();
    const {
      "webhook-id": id = "",
      "webhook-timestamp": seconds = "",
      "webhook-signature": signature,
    } = request.headers;
    const expected = createHmac("sha256", key)
      .update(`${String(id)}.${String(seconds)}.${body}`)
      .digest("base64");
    const isRecent = Number(seconds) >= startedAt && Number(seconds) <= Math.ceil(Date.now() / 1000);
    const { type, data } = JSON.parse(body) as Pick<Got, "type" | "data">;
    got.push({
      id: String(id),
      type,
      data,
      isSigned: isRecent && signature === `v1,${expected}`,
      path: request.url ?? "",
    });
    response.writeHead(statuses.shift() ?? 204, { Location: "/elsewhere", Connection: "close" }).end();
  };
  const origin = await httpUpstream((request, response) => void take(request, response));
  return { got, url: `${origin}/hook?token=s3cret` };
};

const opened = (environment: Record<string, string>, delays = [10, 10]) => {
  const loaded = settingsOf({ WEBHOOK_SECRET: secret, LEGACY_URL: "http://127.0.0.1:1", ...environment });
  if ("errors" in loaded) throw new Error(loaded.errors.join("\n"));
  const events: string[] = [];
  const observer = { event: (name: string, about: object) => void events.push(`${name} ${JSON.stringify(about)}`) };
  const notices = new EventEmitter<CoreEvents>();
  const core = { isCheck: false, observer: observer as Observer, meter: openMeter(() => ({})), events: notices };
  const feature = webhook.open(core, loaded.settings, delays);
  if (feature === undefined) throw new Error("no webhook");
  onTestFinished(() => feature.close());
  return {
    notify: (type: string) => notices.emit("notice", { type, at: new Date().toISOString(), endpoint: "getThing" }),
    events,
    feature,
  };
};

test("a gateway posts moves and new unexplained differences, signed", async () => {
  const { got, url } = await receiver();
  const { operate, ask } = await staged(
    { getDataset: { stage: "shadow" } },
    {
      faults: [{ endpoint: "getDataset", fault: "wrongType", path: "/version" }],
      environment: { WEBHOOK_URL: url, WEBHOOK_SECRET: secret },
    },
  );
  await ask("/datasets/61");
  await ask("/datasets/2");
  await operate("POST", "/stages/getStudy", { stage: "canary", share: 5, by: "Ada", why: "a week", despite: "tried" });
  await until(() => got.length === 2);
  expect(got.map(({ type, data, isSigned }) => [type, data["endpoint"], isSigned])).toEqual([
    ["stage.moved", "getStudy", true],
    ["differences.unexplained", "getDataset", true],
  ]);
  expect(got[0]?.data).toMatchObject({ by: "Ada", why: "a week", despite: "tried", to: { stage: "canary", share: 5 } });
  expect(got[1]?.data).toMatchObject({ count: 1, differences: [{ path: "/version", form: "type" }] });
});

test("a message is sent until it is taken, follows no redirect, and names no secret", async () => {
  const { got, url } = await receiver(500, 302);
  const { notify, events } = opened({ WEBHOOK_URL: url });
  notify("a");
  await until(() => got.length === 3);
  expect(new Set(got.map(({ id, path, isSigned }) => `${id} ${path} ${isSigned}`)).size).toBe(1);
  expect(events.map((event) => event.replace(/msg_[\w-]+/, ""))).toEqual([
    'webhook_failed {"id":"","attempts":1,"why":"it answered 500"}',
    'webhook_failed {"id":"","attempts":2,"why":"it answered 302"}',
  ]);
});

test("a message that is never taken is dropped", async () => {
  const { notify, events } = opened({ WEBHOOK_URL: `http://127.0.0.1:${await freePort()}/s3cret` });
  notify("a");
  await until(() => events.length === 4);
  expect(events.at(-1)).toContain("it was not taken in 3 attempts");
  expect(events[0]).toContain("connection refused");
  expect(events.join("")).not.toMatch(/s3cret|whsec/);
});

test("at most 100 messages wait; a stop says how many are lost", async () => {
  const { notify, events, feature } = opened({ WEBHOOK_URL: "http://127.0.0.1:1/" }, [3_600_000]);
  for (let i = 0; i < 102; i++) notify("a");
  await until(() => events.length === 102);
  expect(events.filter((event) => event.includes("100 messages wait"))).toHaveLength(2);
  await feature.close?.();
  expect(events.at(-1)).toBe('webhook_lost {"messages":100}');
});

test.each([
  [{ WEBHOOK_URL: "https://hooks.example/x" }, /WEBHOOK_URL: given without WEBHOOK_SECRET/],
  [{ WEBHOOK_SECRET: secret }, /WEBHOOK_SECRET: given without WEBHOOK_URL/],
  [{ WEBHOOK_URL: "https://user:s3cret@hooks.example/", WEBHOOK_SECRET: secret }, /WEBHOOK_URL: .*without a user/],
  [{ WEBHOOK_URL: "https://hooks.example/", WEBHOOK_SECRET: "s3cret" }, /WEBHOOK_SECRET: .*24 to 64 random bytes/],
])("settings that cannot work stop the start: %j", (environment, expected) => {
  const loaded = settingsOf(environment);
  const errors = "errors" in loaded ? loaded.errors.join("\n") : "";
  expect(errors).toMatch(expected);
  expect(errors).not.toContain("s3cret");
});
