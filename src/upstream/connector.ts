import type { buildConnector as connectors, Dispatcher } from "undici";
import { connectionReset } from "./failure.ts";
import { buildConnector, Client } from "./undici.ts";

/** Opens connections to one upstream: HTTP/1.1 only, both address families tried, `timeout` in ms. */
export const connector = (timeout: number): connectors.connector => {
  const connect = buildConnector({
    timeout,
    allowH2: false,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: Math.max(10, Math.min(500, Math.floor(timeout / 2))),
  });
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error !== null) return callback(error, null);
      socket.on("error", renameReset);
      return callback(null, socket);
    });
};

/**
 * undici takes ECONNRESET for the clean end of a body that has no length (lib/dispatcher/client-h1.js, onHttpSocketError), so that
 * a cut answer would look whole. Under another code it fails the request. This listener is there before undici's.
 */
const renameReset = (error: NodeJS.ErrnoException): void => {
  if (error.code === "ECONNRESET") error.code = connectionReset;
};

/**
 * A connection of a pool that a refused request does not use up. undici answers `false` for a request that it refuses and for a
 * connection that is busy (DispatcherBase.dispatch). The pool takes both for busy and waits for `drain`, which an idle connection
 * never emits: it would not be used again. A connection that holds no request is not busy.
 */
export class PooledClient extends Client {
  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    return super.dispatch(options, handler) || (this.stats.size === 0 && !this.closed && !this.destroyed);
  }
}
