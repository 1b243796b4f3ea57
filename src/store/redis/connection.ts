import { createClient, RESP_TYPES } from "@redis/client";
import type { RunScript } from "./script.ts";

/** Two connections to one Redis: one for commands, one that listens to channels. Both reconnect for ever. */
export type RedisConnection = {
  run: RunScript;
  /** Sends a message; a failure is reported by `onError`. */
  publish(channel: string, message: string): void;
  /** Connected, and subscribed to the channels. */
  isListening(): boolean;
  /** Replaces both connections: they may hang for ever, since neither end notices that packets are lost. */
  renew(): void;
  /** Ends both connections at once. Pending commands are rejected, and no callback is called any more. */
  close(): void;
};

/** What a connection is opened with. */
export type ConnectionSettings = {
  url: string;
  /** Where there are none, no connection listens. */
  channels: string[];
  onMessage: (message: string, channel: string) => void;
  onListening: () => void;
  /** The listening connection has broken: messages may be missed from now on. */
  onDeaf?: () => void;
  onError: (error: Error) => void;
};

/** Milliseconds for a connection to be made, and at most between two attempts. */
const CONNECT = 1000;
const RETRY = 500;
const MAX_QUEUED_COMMANDS = 10_000;

const bytes = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } };

/** Connects in the background. */
export const connectRedis = (settings: ConnectionSettings): RedisConnection => {
  let link = openLink(settings);
  return {
    run: (...about) => link.run(...about),
    publish: (channel, message) => link.publish(channel, message),
    isListening: () => link.isListening(),
    renew() {
      link.close();
      link = openLink(settings);
    },
    close: () => link.close(),
  };
};

const openLink = ({ url, channels, ...callbacks }: ConnectionSettings): Omit<RedisConnection, "renew"> => {
  // The library changes the options that it gets.
  const options = () => ({
    url,
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_QUEUED_COMMANDS,
    socket: { connectTimeout: CONNECT, reconnectStrategy: (attempt: number) => Math.min(50 * (attempt + 1), RETRY) },
  });
  const commands = createClient(options());
  const listener = channels.length === 0 ? undefined : createClient(options());
  let isClosed = false;
  let wasSubscribed = false;
  let isSubscribed = false;
  const onError = (error: unknown) => {
    if (!isClosed) callbacks.onError(error as Error);
  };
  const deaf = () => {
    isSubscribed = false;
    if (!isClosed) callbacks.onDeaf?.();
  };
  const subscribe = async (to: NonNullable<typeof listener>) => {
    try {
      const heard = (message: string, channel: string) => {
        if (!isClosed) callbacks.onMessage(message, channel);
      };
      // After a reconnection the library subscribes again before it is ready.
      if (!wasSubscribed) await to.subscribe(channels, heard);
      wasSubscribed = true;
      isSubscribed = true;
      if (!isClosed) callbacks.onListening();
    } catch (error) {
      onError(error);
    }
  };
  const clients = listener === undefined ? [commands] : [commands, listener];
  for (const client of clients) {
    client.on("error", onError);
    // The library goes on with a connection that was being made when the client was destroyed.
    client.on("connect", () => isClosed && client.destroy());
    // It retries for ever, and reports failures by events.
    client.connect().catch(onError);
  }
  listener
    ?.on("ready", () => void subscribe(listener))
    .on("error", deaf)
    .on("reconnecting", deaf)
    .on("end", deaf);

  return {
    async run({ text, sha }, keys, args) {
      const rest = [String(keys.length), ...keys, ...args];
      const whole = () => commands.sendCommand(["EVAL", text, ...rest], bytes);
      if (sha === undefined) return whole();
      try {
        return await commands.sendCommand(["EVALSHA", sha, ...rest], bytes);
      } catch (error) {
        if (!(error as Error).message.startsWith("NOSCRIPT")) throw error;
        return whole();
      }
    },
    publish: (channel, message) => void commands.publish(channel, message).catch(onError),
    isListening: () => isSubscribed && listener?.isReady === true,
    close() {
      isClosed = true;
      // `close()` of the library would wait for replies that a hanging Redis never sends.
      for (const client of clients) client.destroy();
    },
  };
};
