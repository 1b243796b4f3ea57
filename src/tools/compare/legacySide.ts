import { AsyncLocalStorage } from "node:async_hooks";
import { untagged } from "../../cache/representation.ts";
import type { Settings } from "../../settings/settings.ts";
import type { Knowledge } from "../../endpoint/endpoint.ts";
import type { CorpusRequest } from "../corpus/ask.ts";
import { type Catalogue, openGateway } from "../../serve/gateway.ts";
import type { Observer } from "../../telemetry/observer.ts";
import type { GivenAnswer, LegacyExchange } from "../../compare/answers.ts";
import { parseAnswer } from "../../compare/readAnswer.ts";

/** Legacy, as the gateway asks it and what the gateway makes of it. */
export type LegacySide = {
  knowledge: Knowledge;
  ask(ask: CorpusRequest, key: string | undefined): Promise<{ ours: GivenAnswer; exchanges: LegacyExchange[] }>;
  close(): Promise<void>;
};

const PREFIX = "/v1";

/** A gateway within this process that keeps nothing; each of its questions to legacy is noted beside the answer it led to. */
export const openLegacySide = (
  settings: Settings & { LEGACY_URL: string },
  catalogue: Catalogue,
  observer: Observer,
): LegacySide => {
  // Legacy's own lists are compared: an index of private rows takes a walk. And legacy's answers: modern may be the candidate.
  const alone = { ...settings, PREFIXES: [PREFIX], CACHE_BYTES: 0, LEGACY_ADMIN_KEY: undefined, MODERN_URL: undefined };
  const gateway = openGateway(alone, catalogue, observer);
  const asking = new AsyncLocalStorage<LegacyExchange[]>();
  const { services } = gateway;
  const { client, cache } = services;
  services.client = async (request, form, caller, readXml) => {
    const reply = await client(request, form, caller, readXml);
    asking.getStore()?.push({ request, form, ...("failed" in reply ? { failed: reply.why } : reply) });
    return reply;
  };
  // Every question is asked for itself: two that are the same at the same time have to see the same twice.
  services.cache = {
    ...cache,
    answer: async ({ owner }, fill) => ({
      representation: untagged((await fill(owner, false)).answer),
      cacheable: false,
      how: { fwd: "bypass" },
    }),
  };
  return {
    knowledge: services.knowledge,
    async ask({ method, path, body }, key) {
      const exchanges: LegacyExchange[] = [];
      const headers = {
        "User-Agent": "catalog-gateway-compare",
        ...(key === undefined ? {} : { "X-API-Key": key }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      };
      const sent = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
      const response = await asking.run(exchanges, () => gateway.app.request(PREFIX + path, sent));
      const ours = parseAnswer(
        response.status,
        response.headers.get("content-type") ?? undefined,
        await response.text(),
      );
      return { ours, exchanges };
    },
    close: () => gateway.close(),
  };
};
