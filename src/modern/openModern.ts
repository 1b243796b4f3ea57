import type { Settings } from "../settings/settings.ts";
import type { ByteBudget } from "../concurrency/byteBudget.ts";
import { openUpstream } from "../upstream/upstream.ts";
import { type Judging, modernClient, type ModernClient } from "./client.ts";

/** Connections of its own to modern: what waits there holds up nothing else. */
export const openModern = (
  url: string,
  settings: Settings,
  judging: Judging,
  replies: ByteBudget,
): { client: ModernClient; close: () => Promise<void> } => {
  const { origin, pathname, host } = new URL(url);
  const upstream = openUpstream({
    origin,
    connections: settings.MAX_CONNECTIONS,
    waiting: settings.MAX_WAITING,
    waitTimeout: settings.WAIT_TIMEOUT_MS,
    connectTimeout: settings.CONNECT_TIMEOUT_MS,
    headersTimeout: settings.HEADERS_TIMEOUT_MS,
    bodyTimeout: settings.BODY_TIMEOUT_MS,
    replies,
  });
  const base = pathname.replace(/\/$/, "");
  return {
    client: modernClient(upstream, { base, host, maxReply: settings.MAX_REPLY_BYTES, ...judging }),
    close: () => upstream.close(),
  };
};
