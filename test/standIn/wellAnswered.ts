import type { IncomingMessage } from "node:http";
import { loadSettings } from "../../src/settings/load.ts";
import { openGateway } from "../../src/serve/gateway.ts";
import { openObserver } from "../../src/telemetry/observer.ts";
import { catalogue } from "../../transforms/catalogue.ts";
import type { Sendable } from "./transports.ts";

/** Gives the right answers of the new interface. */
export type WellAnswered = {
  answer(request: IncomingMessage, body: Buffer): Promise<Sendable>;
  close(): Promise<void>;
};

/** Headers that would change the answer to less than the whole document, or make a chain of gateways look like a loop. */
const leftOut = new Set([
  "via",
  "accept-encoding",
  "if-none-match",
  "if-modified-since",
  "host",
  "connection",
  "expect",
]);
/** Headers that are wrong for a changed document, or are about this gateway only. */
const keptBack = new Set(["etag", "content-length", "cache-status", "server-timing"]);

/** A gateway in this process without a cache, below this path. */
export const openWellAnswered = async (legacyUrl: string, path: string): Promise<WellAnswered> => {
  const environment = { CACHE_BYTES: "0", LEGACY_URL: legacyUrl, PREFIXES: path };
  const loaded = loadSettings(environment, catalogue.endpoints);
  if ("errors" in loaded) throw new Error(loaded.errors.join("\n"));
  const gateway = await openGateway({ ...loaded.settings, LEGACY_URL: legacyUrl }, catalogue, openObserver("silent"));
  return {
    async answer(incoming, body) {
      const { method = "GET", url = "/" } = incoming;
      const headers = Object.entries(incoming.headersDistinct).flatMap(([name, values = []]) =>
        leftOut.has(name) ? [] : values.map((value): [string, string] => [name, value]),
      );
      // A body has been read already; where there is none, the target is taken as it was sent.
      const asked =
        method === "POST"
          ? await gateway.app.fetch(new Request(new URL(url, "http://stand-in"), { method, headers, body }))
          : await gateway.app.fetch(new Request("http://stand-in/", { method, headers }), { incoming });
      return {
        status: asked.status,
        headers: Object.fromEntries([...asked.headers].filter(([name]) => !keptBack.has(name))),
        body: Buffer.from(await asked.arrayBuffer()),
      };
    },
    close: () => gateway.close(),
  };
};
