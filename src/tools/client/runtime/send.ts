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

/** Sends calls: retries them as the status says, and sends no answer twice that the client has. */
export const openSender = (settings: ClientSettings, kinds: Readonly<Record<number, string>>) => {
  const { baseUrl, key, retries = 3, maxWait = 30, cacheSize = 8_000_000 } = settings;
  const send = settings.fetch ?? ((...args: Parameters<typeof fetch>) => fetch(...args));
  const base = baseUrl.replace(/\/+$/, "");
  const stored = openEtagStore(cacheSize);

  const once = async ({ method, path, body }: ClientCall, signal: AbortSignal | undefined): Promise<Response> => {
    const known = method === "GET" ? stored.get(path) : undefined;
    return send(base + path, {
      method,
      headers: {
        Accept: "application/json",
        ...(key === undefined ? {} : { "X-API-Key": key }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...(known === undefined ? {} : { "If-None-Match": known.etag }),
      },
      ...(body === undefined ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
    });
  };

  /** Throws a `CatalogError` for an error, and whatever `fetch` throws where there is no whole answer. */
  const attempt = async (call: ClientCall, signal: AbortSignal | undefined): Promise<CallAnswer> => {
    const response = await once(call, signal);
    const { status, headers } = response;
    const text = await response.text();
    const known = status === 304 ? stored.get(call.path) : undefined;
    if (known !== undefined) return { document: JSON.parse(known.text) as unknown, headers };
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
    if (tried >= retries) return undefined;
    const backOff = Math.min(maxWait, 2 ** tried * (0.25 + Math.random() / 4));
    if (!(error instanceof CatalogError)) return isRead ? backOff : undefined;
    const { status, retryAfter } = error.failure;
    if (TOLD_TO_WAIT.has(status) && retryAfter !== undefined) return retryAfter > maxWait ? undefined : retryAfter;
    return isRead && READ_AGAIN.has(status) ? backOff : undefined;
  };

  return async (call: ClientCall, { signal }: CallOptions = {}): Promise<CallAnswer> => {
    for (let tried = 0; ; tried++) {
      try {
        return await attempt(call, signal);
      } catch (error) {
        signal?.throwIfAborted();
        const wait = waitAfter(error, call, tried);
        if (wait === undefined) throw error instanceof CatalogError ? error : unreachable(base, error);
        await sleep(wait * 1000, signal);
      }
    }
  };
};

const unreachable = (base: string, cause: unknown): CatalogError =>
  new CatalogError({ kind: "unreachable", status: 0, message: `${base} gave no answer.` }, { cause });

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
