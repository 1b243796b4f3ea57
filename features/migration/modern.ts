import type { ModernClient, ModernParts } from "../../libraries/modern/client.ts";
import type { MigrationSettings } from "./settings.ts";

/** The new implementation, and how to send requests to it. */
export type Modern = {
  url: string;
  client: ModernClient;
  /** Milliseconds for one answer; after that legacy answers instead. */
  timeout: number;
  /** The routes that the operator has set, by endpoint. */
  routes: Readonly<Record<string, string>>;
  /** Identifies the implementation in cache keys. */
  identity: string;
};

/** Opens the connections to the new implementation. Its client is loaded only here: not without `MODERN_URL`. */
export const openModern = async (
  url: string,
  settings: MigrationSettings,
  parts: ModernParts,
): Promise<Modern & { close: () => Promise<void> }> => {
  const opened = (await import("../../libraries/modern/client.ts")).openModern(url, settings, parts);
  const { MODERN_TIMEOUT_MS: timeout, MODERN_ROUTES: routes } = settings;
  const identity = JSON.stringify(["modern", url, routes]);
  return { url, client: opened.client, timeout, routes, identity, close: () => opened.close() };
};
