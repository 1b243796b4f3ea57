import type { IncomingMessage, ServerResponse } from "node:http";
import type { Hono } from "hono";
import type { Settings } from "../config/settings.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import { legacyClient } from "../legacy/client.ts";
import type { Observer } from "../observe.ts";
import { passThrough } from "../passThrough/passThrough.ts";
import { trustedProxies } from "../upstream/trustedProxies.ts";
import { openUpstream } from "../upstream/upstream.ts";
import { gatewayApp } from "./app.ts";
import { type KeyProbes, openKeys } from "./keys.ts";
import type { ErrorTable } from "./legacyOutcome.ts";
import type { Machine } from "./machine.ts";
import { prepare } from "./prepared.ts";

/** What is known of one legacy interface and of what replaces it. */
export type Catalogue = {
  endpoints: Record<string, Endpoint>;
  errors: ErrorTable;
  keyProbes: KeyProbes;
  legacyStudies: readonly number[];
};

export type Gateway = {
  app: Hono<{ Bindings: Partial<{ incoming: IncomingMessage; outgoing: ServerResponse }> }>;
  passThrough: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
  machine: Machine;
  /** Waits for what legacy still answers, then closes the connections to it. */
  close: () => Promise<void>;
};

/** Puts the gateway together; nothing is connected or listens yet. */
export const openGateway = (
  settings: Settings & { LEGACY_URL: string },
  catalogue: Catalogue,
  observer: Observer,
): Gateway => {
  const upstream = () =>
    openUpstream({
      origin: settings.LEGACY_URL,
      connections: settings.MAX_CONNECTIONS,
      waiting: settings.MAX_WAITING,
      connectTimeout: settings.CONNECT_TIMEOUT_MS,
      headersTimeout: settings.HEADERS_TIMEOUT_MS,
      bodyTimeout: settings.BODY_TIMEOUT_MS,
    });
  // Each its own connections: downloads that pass through do not hold up what is transformed.
  const transformed = upstream();
  const passed = upstream();

  const client = legacyClient(transformed, {
    path: settings.LEGACY_PATH === "/" ? "" : settings.LEGACY_PATH,
    host: settings.LEGACY_HOST ?? new URL(settings.LEGACY_URL).host,
    maxReply: settings.MAX_REPLY_BYTES,
  });
  const machine: Machine = {
    client,
    keys: openKeys(client, catalogue.keyProbes, catalogue.errors),
    errors: catalogue.errors,
    knowledge: { legacyStudies: new Set(settings.LEGACY_STUDIES ?? catalogue.legacyStudies) },
    observer,
    ...(settings.LEGACY_API_KEY === undefined ? {} : { serviceKey: settings.LEGACY_API_KEY }),
    totalTimeout: settings.TOTAL_TIMEOUT_MS,
  };
  const trusted = trustedProxies(settings.TRUSTED_PROXIES);
  const pass = passThrough(passed, {
    host: settings.LEGACY_HOST,
    trusted,
    onEvent: ({ kind, method, path, error }) =>
      observer.event("pass_through_failed", { kind, method, path, why: error?.message }),
  });
  const app = gatewayApp(machine, prepare(catalogue.endpoints, observer), {
    prefixes: settings.PREFIXES,
    corsOrigins: settings.CORS_ORIGINS,
    body: { most: settings.MAX_BODY_BYTES, timeout: settings.BODY_TIMEOUT_MS },
    trusted,
    passThrough: pass,
  });
  return {
    app,
    passThrough: pass,
    machine,
    close: async () => void (await Promise.all([transformed.close(), passed.close()])),
  };
};
