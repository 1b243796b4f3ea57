import { Client, type Dispatcher } from "undici";

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
