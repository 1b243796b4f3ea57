import { openEtagStore } from "./etagStore.ts";
import { CatalogError, readFailure } from "./failure.ts";

/** How a client is made. */
export type ClientSettings = {
  /** Where the new interface lies, such as `https://catalogue.example/v1`. */
  baseUrl: string;
  /** An API key; it travels as `X-API-Key`, never in a URL. */
  key?: string;
  /** How often a request is sent again, at most (default 3; 0: never). */
  retries?: number;
  /** The longest wait before one retry, in seconds (default 30). A longer `Retry-After` is not waited for: the call fails. */
  maxWait?: number;
  /** Characters of answers that are kept with their ETags (default 8 million; 0: none). */
  cacheSize?: number;
  /** In place of the global `fetch`. */
  fetch?: typeof fetch;
};

/** What one call may be given. */
export type CallOptions = { signal?: AbortSignal };

/** One request. `isRead`: it may be sent again though the server may have received it. */
export type ClientCall = { method: "GET" | "POST"; path: string; body?: string; isRead: boolean };

/** A document, and the headers that came with it. */
export type CallAnswer = { document: unknown; headers: Headers };

/** Statuses after which any request may be sent again when the server says when, and those after which a read may. */
const TOLD_TO_WAIT = new Set([429, 503]);
const READ_AGAIN = new Set([502, 504]);

/** The kind of a failure without an answer. */
const UNREACHABLE = "unreachable";

/** Sends calls: retries them as the status says, and sends no answer twice that the client has. */
export const openSender = (settings: ClientSettings, kinds: Readonly<Record<number, string>>) => {
  const { baseUrl, key, retries = 3, maxWait = 30, cacheSize = 8_000_000 } = settings;
  const send = settings.fetch ?? ((...args: Parameters<typeof fetch>) => fetch(...args));
  const base = baseUrl.replace(/\/+$/, "");
  const stored = openEtagStore(cacheSize);

  /** A whole answer. Whatever `fetch` throws becomes an `unreachable` failure. */
  const once = async (
    { method, path, body }: ClientCall,
    etag: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<{ response: Response; text: string }> => {
    try {
      const response = await send(base + path, {
        method,
        headers: {
          Accept: "application/json",
          ...(key === undefined ? {} : { "X-API-Key": key }),
          ...(body === undefined ? {} : { "Content-Type": "application/json" }),
          ...(etag === undefined ? {} : { "If-None-Match": etag }),
        },
        ...(body === undefined ? {} : { body }),
        ...(signal === undefined ? {} : { signal }),
      });
      return { response, text: await response.text() };
    } catch (cause) {
      throw new CatalogError({ kind: UNREACHABLE, status: 0, message: `${base} gave no answer.` }, { cause });
    }
  };

  /** Throws a `CatalogError` for an error, and where there is no whole answer. */
  const attempt = async (call: ClientCall, signal: AbortSignal | undefined): Promise<CallAnswer> => {
    // Other calls may evict the entry before the answer comes.
    const known = call.method === "GET" ? stored.get(call.path) : undefined;
    const { response, text } = await once(call, known?.etag, signal);
    const { status, headers } = response;
    if (status === 304 && known !== undefined) return { document: JSON.parse(known.text) as unknown, headers };
    if (!response.ok) throw new CatalogError(readFailure(response, text, kinds));
    const document = parsed(text);
    if (document === undefined)
      throw new CatalogError({ kind: "unexpected", status, message: `${base + call.path} answered no JSON.` });
    const etag = headers.get("etag");
    if (call.method === "GET" && etag !== null) stored.set(call.path, { etag, text });
    return { document, headers };
  };

  /** Seconds to wait before the call is sent again; `undefined`: it is not. */
  const waitAfter = (error: unknown, { isRead }: ClientCall, tried: number): number | undefined => {
    if (tried >= retries || !(error instanceof CatalogError)) return undefined;
    const backOff = Math.min(maxWait, 2 ** tried * (0.25 + Math.random() / 4));
    const { kind, status, retryAfter } = error.failure;
    if (TOLD_TO_WAIT.has(status) && retryAfter !== undefined) return retryAfter > maxWait ? undefined : retryAfter;
    return isRead && (kind === UNREACHABLE || READ_AGAIN.has(status)) ? backOff : undefined;
  };

  return async (call: ClientCall, { signal }: CallOptions = {}): Promise<CallAnswer> => {
    for (let tried = 0; ; tried++) {
      try {
        return await attempt(call, signal);
      } catch (error) {
        signal?.throwIfAborted();
        const wait = waitAfter(error, call, tried);
        if (wait === undefined) throw error;
        await sleep(wait * 1000, signal);
      }
    }
  };
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};

/** Rejects with the signal's reason where it aborts. */
const sleep = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
