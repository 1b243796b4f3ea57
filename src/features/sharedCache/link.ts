import { createClient, RESP_TYPES } from "redis";
import type { Script } from "./scripts.ts";

/** Two connections to one Redis: one for commands, one that listens. */
export type Link = {
  /** Runs a script; rejects at once where there is no connection. Texts come back as bytes. */
  run(script: Script, keys: readonly string[], args: readonly (string | Buffer)[]): Promise<unknown>;
  /** Nobody waits for it. */
  publish(channel: string, message: string): void;
  /** Connected, and subscribed to the channels. */
  isListening(): boolean;
  /** At once; what is on its way is rejected, and nothing is told any more. */
  end(): void;
};

export type LinkSettings = {
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

export const openLink = ({ url, channels, ...told }: LinkSettings): Link => {
  const options = {
    url,
    disableOfflineQueue: true,
    commandsQueueMaxLength: 10_000,
    socket: { connectTimeout: CONNECT, reconnectStrategy: (attempt: number) => Math.min(50 * (attempt + 1), RETRY) },
  };
  const commands = createClient(options);
  const listener = createClient(options);
  let isEnded = false;
  let wasSubscribed = false;
  let isSubscribed = false;
  const onError = (error: unknown) => {
    if (!isEnded) told.onError(error as Error);
  };
  const deaf = () => {
    isSubscribed = false;
    if (!isEnded) told.onDeaf();
  };
  const subscribe = async () => {
    try {
      // Once subscribed, the library does it again by itself, before it is ready.
      const heard = (message: string, channel: string) => {
        if (!isEnded) told.onMessage(message, channel);
      };
      if (!wasSubscribed) await listener.subscribe(channels, heard);
      wasSubscribed = true;
      isSubscribed = true;
      if (!isEnded) told.onListening();
    } catch (error) {
      onError(error);
    }
  };
  for (const client of [commands, listener]) {
    client.on("error", onError);
    // The library goes on with a connection that was being made when the client was ended.
    client.on("connect", () => isEnded && client.destroy());
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
    isListening: () => isSubscribed && listener.isReady,
    end() {
      isEnded = true;
      // Not `close()`: that waits for what a Redis that hangs never answers.
      for (const client of [commands, listener]) client.destroy();
    },
  };
};
