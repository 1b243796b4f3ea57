import { createHmac, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { connectionCause } from "../../src/operation/index.ts";
import type { Core, Started } from "../../src/gateway/index.ts";
import { webhookEvents } from "./events.ts";
import type { WebhookSettings } from "./settings.ts";

/** Milliseconds in which the receiver has to accept a message. */
const TIMEOUT = 10_000;
/** The most messages that wait. */
const MAX_WAITING = 100;
/** Milliseconds after each failed attempt until the next: eight attempts within four hours. */
const DELAYS = [5, 30, 120, 600, 1800, 3600, 7200].map((seconds) => seconds * 1000);

/** Posts news for operators to their URL, signed (Standard Webhooks 1.0), until the receiver accepts it. */
const open = (
  { isCheck, events, observer, meter }: Pick<Core, "isCheck" | "events" | "observer" | "meter">,
  settings: WebhookSettings,
  delays: readonly number[] = DELAYS,
): { start: () => Promise<Started>; close: () => Promise<void> } | undefined => {
  const { WEBHOOK_URL: url, WEBHOOK_SECRET: secret } = settings;
  if (isCheck || url === undefined || secret === undefined) return undefined;
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const results = { taken: 0, failed: 0, dropped: 0 };
  const waiting = new Set<string>();
  const stopping = new AbortController();
  meter.total("webhook_attempts_total", "Attempts to send a message to WEBHOOK_URL, by result.", () =>
    Object.entries(results).map(([result, value]) => ({ labels: { result }, value })),
  );
  meter.gauge("webhook_waiting", "Messages that wait for WEBHOOK_URL.", () => waiting.size);

  const drop = (id: string, why: string): void => {
    results.dropped++;
    observer.event("webhook_dropped", { id, why });
  };

  /** Sends a message until it is accepted, or until it has failed after the last delay. */
  const deliver = async (id: string, body: string): Promise<void> => {
    for (let attempts = 1; ; attempts++) {
      const why = await send({ url, key, id, body, signal: stopping.signal });
      if (stopping.signal.aborted) return;
      if (why === undefined) return void results.taken++;
      results.failed++;
      observer.event("webhook_failed", { id, attempts, why });
      const delay = delays[attempts - 1];
      if (delay === undefined) return drop(id, `it was not taken in ${attempts} attempts`);
      await sleep(delay, undefined, { ref: false });
    }
  };

  events.on("notice", ({ type, at, ...data }) => {
    const id = `msg_${randomUUID()}`;
    if (waiting.size >= MAX_WAITING) return drop(id, `${MAX_WAITING} messages wait`);
    waiting.add(id);
    deliver(id, JSON.stringify({ type, timestamp: at, data }))
      .catch(observer.fault)
      .finally(() => waiting.delete(id));
  });
  return {
    start: async () => ({ line: "moves, new unexplained differences, floods and incidents are posted to WEBHOOK_URL" }),
    async close() {
      stopping.abort();
      if (waiting.size > 0) observer.event("webhook_lost", { messages: waiting.size });
    },
  };
};

type Message = { url: string; key: Buffer; id: string; body: string; signal: AbortSignal };

/** Sends a message once. Returns why it was not accepted; `undefined` if it was. */
const send = async ({ url, key, id, body, signal }: Message): Promise<string | undefined> => {
  const seconds = String(Math.floor(Date.now() / 1000));
  const signature = createHmac("sha256", key).update(`${id}.${seconds}.${body}`).digest("base64");
  try {
    const answer = await fetch(url, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        "Webhook-Id": id,
        "Webhook-Timestamp": seconds,
        "Webhook-Signature": `v1,${signature}`,
      },
      body,
      // A redirect could lead a signed message to another place.
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT)]),
    });
    await answer.body?.cancel();
    return answer.ok ? undefined : `it answered ${answer.status}`;
  } catch (error) {
    const { name, cause } = error as Error & { cause?: NodeJS.ErrnoException };
    return connectionCause(cause) ?? cause?.code ?? cause?.message ?? name;
  }
};

export const feature = { open, events: webhookEvents };
