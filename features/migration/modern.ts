import type { ModernParts } from "../../libraries/modern/client.ts";
import type { MigrationSettings } from "./settings.ts";

/** The new implementation, and how to send requests to it. */
export type Modern = Awaited<ReturnType<typeof openModern>>;

/** Opens the connections to the new implementation. Its client is loaded only here: not without `MODERN_URL`. */
export const openModern = async (url: string, settings: MigrationSettings, parts: ModernParts) => {
  const opened = (await import("../../libraries/modern/client.ts")).openModern(url, settings, parts);
  const { MODERN_TIMEOUT_MS, MODERN_ROUTES: routes } = settings;
  return {
    url,
    client: opened.client,
    /** Milliseconds for one answer; after that legacy answers instead. */
    timeout: MODERN_TIMEOUT_MS,
    /** The routes that the operator has set, by endpoint. */
    routes,
    /** Identifies the implementation in cache keys. */
    identity: JSON.stringify(["modern", url, routes]),
    close: () => opened.close(),
  };
};
