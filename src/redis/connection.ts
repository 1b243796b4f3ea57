import { createClient, RESP_TYPES } from "redis";
import type { Script } from "./scripts.ts";

/** Two connections to one Redis: one for commands, one that listens. */
export type Connection = {
  /** Runs a script; rejects at once where there is no connection. Texts come back as bytes. */
  run(script: Script, keys: readonly string[], args: readonly (string | Buffer)[]): Promise<unknown>;
  /** Nobody waits for it. */
  publish(channel: string, message: string): void;
  /** Connected, and subscribed to the channels. */
  isListening(): boolean;
  close(): Promise<void>;
};

export type ConnectionSettings = {
  url: string;
  channels: string[];
  onMessage: (message: string, channel: string) => void;
  onListening: () => void;
  /** The listening connection has broken: something may be missed from now on. */
  onDeaf: () => void;
  onError: (error: Error) => void;
};

/** Milliseconds for a connection to be made, and at most between two attempts. */
const CONNECT = 1000;
const RETRY = 500;

export const connectRedis = ({
  url,
  channels,
  onMessage,
  onListening,
  onDeaf,
  onError,
}: ConnectionSettings): Connection => {
  const options = {
    url,
    disableOfflineQueue: true,
    commandsQueueMaxLength: 10_000,
    socket: { connectTimeout: CONNECT, reconnectStrategy: (attempt: number) => Math.min(50 * (attempt + 1), RETRY) },
  };
  const commands = createClient(options);
  const listener = createClient(options);
  let wasSubscribed = false;
  let isSubscribed = false;
  const deaf = () => {
    isSubscribed = false;
    onDeaf();
  };
  const subscribe = async () => {
    try {
      // Once subscribed, the library does it again by itself, before it is ready.
      if (!wasSubscribed) await listener.subscribe(channels, onMessage);
      wasSubscribed = true;
      isSubscribed = true;
      onListening();
    } catch (error) {
      onError(error as Error);
    }
  };
  for (const client of [commands, listener]) {
    client.on("error", onError);
    // It tries for ever; what goes wrong meanwhile is told by events.
    client.connect().catch(onError);
  }
  listener
    .on("ready", () => void subscribe())
    .on("error", deaf)
    .on("reconnecting", deaf)
    .on("end", deaf);

  const bytes = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } };
  return {
    async run({ text, sha }, keys, args) {
      const rest = [String(keys.length), ...keys, ...args];
      try {
        return await commands.sendCommand(["EVALSHA", sha, ...rest], bytes);
      } catch (error) {
        if (!(error as Error).message.startsWith("NOSCRIPT")) throw error;
        return commands.sendCommand(["EVAL", text, ...rest], bytes);
      }
    },
    publish: (channel, message) => void commands.publish(channel, message).catch(onError),
    isListening: () => isSubscribed && listener.isReady,
    close: () => {
      // Not `close()`: that waits for what a Redis that hangs never answers.
      for (const client of [commands, listener]) if (client.isOpen) client.destroy();
      return Promise.resolve();
    },
  };
};
