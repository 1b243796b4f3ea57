import type { ModernClient } from "../../libraries/modern/client.ts";

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
