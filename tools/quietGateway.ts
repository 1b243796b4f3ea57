import type { CanonicalRequest } from "../libraries/compare/canonicalRequest.ts";
import { AsyncLocalStorage } from "node:async_hooks";
import type { LegacyRequest } from "../src/catalogue/index.ts";
import { type Catalogue, type LegacyFailed, nothing, openGateway, type UpstreamReply } from "../src/gateway/index.ts";
import { openObserver, type Settings } from "../src/operation/index.ts";

/** An exchange with legacy: the gateway's request, and the response. */
export type CapturedExchange = {
  request: LegacyRequest;
  format: "json" | "xml";
  key?: string | undefined;
  reply: UpstreamReply | LegacyFailed;
  /** Milliseconds until the complete reply. */
  ms: number;
};

/** The gateway's answer, and the exchanges that it was made from. */
type QuietAnswer = {
  status: number;
  contentType: string | undefined;
  text: string;
  /** In the order of the requests, without the verification of the key. */
  exchanges: CapturedExchange[];
  /** The places where legacy's document did not fit the schema. */
  mismatch: string[];
};

/** A gateway within this process that does not listen, log or store. */
export type QuietGateway = Awaited<ReturnType<typeof openQuietGateway>>;

const PREFIX = "/v1";

/** Opens a gateway without features, so that no feature changes legacy's lists and answers. */
export const openQuietGateway = async (settings: Settings, catalogue: Catalogue, userAgent: string) => {
  const captured = new AsyncLocalStorage<Pick<QuietAnswer, "exchanges" | "mismatch">>();
  const observer = {
    ...openObserver("silent"),
    event(name: string, { places }: Record<string, unknown>) {
      if (name === "schema_mismatch") captured.getStore()?.mismatch.push(...(places as string[]));
    },
  };
  // A reader thread would take the bytes of a large answer, but `exchanges` need them.
  const { module: _, ...unthreaded } = catalogue;
  const quiet = { ...settings, PREFIXES: [PREFIX], CACHE_BYTES: 0 };
  const gateway = await openGateway(quiet, unthreaded, observer, nothing, {
    // Two equal requests at the same time must each see their own exchanges.
    isUncached: true,
    isCheck: true,
    aroundClient: (client) => async (request, format, caller) => {
      const started = performance.now();
      const reply = await client(request, format, caller);
      const ms = performance.now() - started;
      captured.getStore()?.exchanges.push({ request, format, key: caller.key, reply, ms });
      return reply;
    },
  });
  return {
    async ask({ method, path, body }: CanonicalRequest, key?: string): Promise<QuietAnswer> {
      const seen = { exchanges: [], mismatch: [] };
      const headers = {
        "User-Agent": userAgent,
        ...(key === undefined ? {} : { "X-API-Key": key }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      };
      const sent = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
      const response = await captured.run(seen, () => gateway.app.request(PREFIX + path, sent));
      const contentType = response.headers.get("content-type") ?? undefined;
      return { status: response.status, contentType, text: await response.text(), ...seen };
    },
    close: () => gateway.close(),
  };
};
