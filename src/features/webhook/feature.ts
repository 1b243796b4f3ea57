import { randomUUID } from "node:crypto";
import type { Core, Feature } from "../../serve/feature.ts";
import { openKeyedStore } from "../../store/openKeyedStore.ts";
import { openDelivery } from "./delivery.ts";
import { webhookEvents } from "./events.ts";
import type { WebhookSettings } from "./settings.ts";
import { signedHeaders } from "./signature.ts";

/** Milliseconds in which a message has to be taken. */
const TIMEOUT = 10_000;

/** Replaces the times of the delivery in tests, in milliseconds. */
export type WebhookTimes = Pick<Parameters<typeof openDelivery>[0], "delays" | "interval">;

/** Posts what operators want to know of to a URL of theirs, signed, until it is taken. */
const open = async (core: Core, settings: WebhookSettings, times: WebhookTimes = {}): Promise<Feature> => {
  const { isCheck, services } = core;
  const { WEBHOOK_URL: url, WEBHOOK_SECRET: secret, REDIS_URL, DATA_DIR } = settings;
  if (isCheck || url === undefined || secret === undefined) return {};
  const { observer, meter } = services;
  const results = meter.counter("webhook_attempts_total", "Attempts to send a message to WEBHOOK_URL.", ["result"]);
  const [taken, failed, dropped] = ["taken", "failed", "dropped"].map((result) => results(result));

  const send = async (id: string, body: string, stopping: AbortSignal): Promise<void> => {
    const seconds = Math.floor(Date.now() / 1000);
    const answer = await fetch(url, {
      method: "POST",
      headers: signedHeaders(secret, id, seconds, body),
      body,
      // A redirect could lead a signed message to another place.
      redirect: "manual",
      signal: AbortSignal.any([stopping, AbortSignal.timeout(TIMEOUT)]),
    }).catch((error: Error) => {
      const cause = error.cause as NodeJS.ErrnoException | undefined;
      throw new Error(cause?.code ?? cause?.message ?? error.name, { cause: error });
    });
    await answer.body?.cancel();
    if (!answer.ok) throw new Error(`it answered ${answer.status}`);
    if (taken) taken.value++;
  };
  const delivery = await openDelivery({
    ...times,
    open: (about) => openKeyedStore({ REDIS_URL, DATA_DIR }, about),
    send,
    onFailed(id, attempts, error) {
      if (failed) failed.value++;
      observer.event("webhook_failed", { id, attempts, why: error.message });
    },
    onDropped(id, why) {
      if (dropped) dropped.value++;
      observer.event("webhook_dropped", { id, why });
    },
    onNotKept: (error) => observer.event("webhook_not_kept", { why: error.message }),
  });
  meter.gauge("webhook_waiting", "Messages that wait for WEBHOOK_URL.", () => delivery.waiting());
  return {
    onNotice: ({ type, at, ...data }) =>
      void delivery.add(`msg_${randomUUID()}`, JSON.stringify({ type, timestamp: at, data })),
    start: () => Promise.resolve({ line: "moves and new unexplained differences are posted to WEBHOOK_URL" }),
    async close() {
      const lost = await delivery.close();
      if (lost > 0) observer.event("webhook_lost", { messages: lost });
    },
  };
};

/** The feature, as the gateway opens it. */
export const webhookFeature = { open, events: webhookEvents };
