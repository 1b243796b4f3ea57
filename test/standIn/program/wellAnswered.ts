import type { IncomingMessage } from "node:http";
import { loadSettings } from "../../../src/settings/load.ts";
import { openGateway } from "../../../src/serve/gateway.ts";
import { openObserver } from "../../../src/telemetry/observer.ts";
import { catalogue } from "../../../transforms/catalogue.ts";
import type { Sendable } from "./transports.ts";

/** Answers as the new interface should. */
export type WellAnswered = {
  answer(request: IncomingMessage, body: Buffer): Promise<Sendable>;
  close(): Promise<void>;
};

/** What would make an answer something else than the whole document, or a loop of a chain of gateways in one process. */
const leftOut = new Set([
  "via",
  "accept-encoding",
  "if-none-match",
  "if-modified-since",
  "host",
  "connection",
  "expect",
]);
/** Not true any more of a document that has been changed, or about this gateway only. */
const keptBack = new Set(["etag", "content-length", "cache-status", "server-timing"]);

/** A gateway in this process that keeps nothing, below this path. */
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
