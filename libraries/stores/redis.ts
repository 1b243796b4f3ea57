import {
  ClientOfflineError,
  DisconnectsClientError,
  SocketClosedUnexpectedlyError,
  createClient,
  RESP_TYPES,
} from "@redis/client";
import { connectionCause } from "../../src/operation/index.ts";

/**
 * Runs a Lua script. Texts come back as bytes.
 *
 * @throws At once, with the reason, if there is no connection.
 */
export type RunScript = (
  script: string,
  keys: readonly string[],
  args: readonly (string | Buffer)[],
) => Promise<unknown>;

/** Two connections to one Redis: one for commands, one that listens to channels. Both reconnect for ever. */
type RedisConnection = {
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

type ConnectionSettings = {
  url: string;
  channels: string[];
  onMessage: (message: string, channel: string) => void;
  onListening: () => void;
  /** The listening connection has broken: messages may be missed from now on. */
  onDeaf: () => void;
  onError?: (error: Error) => void;
  /** A key had another type than a script expects, and was renamed. */
  onSetAside: (key: string) => void;
};

/** Milliseconds until a connection must be made, and the most between two attempts. */
const CONNECT = 1000;
const RETRY = 500;
const MAX_QUEUED_COMMANDS = 10_000;

const bytes = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } };

/**
 * The beginning of the names of channels. A channel belongs to the whole Redis, whichever database a connection has
 * selected: its name has the database's number.
 */
export const channelPrefix = (url: string): string => `catalog-gateway:1:${Number(new URL(url).pathname.slice(1))}:`;

/**
 * Wraps every script. If a command finds a key of another type, another program has written it: the key gets another
 * name, and the command is repeated. Otherwise each gateway would fail at this key until an operator deletes it. -> the
 * keys that were renamed, and the result of the script
 */
const settingAside = (script: string): string => `
local server = redis
local renamed = {}
local function try(...)
  local reply = server.pcall(...)
  if type(reply) ~= 'table' or not string.find(reply.err or '', '^WRONGTYPE') then return reply end
  local key = select(2, ...)
  server.call('RENAME', key, key .. ':set-aside')
  renamed[#renamed + 1] = key
  return server.pcall(...)
end
local redis = { pcall = try }
function redis.call(...)
  local reply = try(...)
  -- The command fails again, and Redis raises the error in its own form.
  if type(reply) == 'table' and reply.err then return server.call(...) end
  return reply
end
local function run() ${script}
end
return { renamed, run() }`;

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

const openLink = ({ url, channels, onSetAside, ...callbacks }: ConnectionSettings): Omit<RedisConnection, "renew"> => {
  // The library changes the options that it gets.
  const options = () => ({
    url,
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_QUEUED_COMMANDS,
    socket: { connectTimeout: CONNECT, reconnectStrategy: (attempt: number) => Math.min(50 * (attempt + 1), RETRY) },
  });
  const [commands, listener] = [createClient(options()), createClient(options())];
  let isClosed = false;
  let isSubscribed = false;
  let broken: Error | undefined;
  const onError = (error: unknown) => {
    if (isClosed) return;
    broken = inWords(error as Error);
    callbacks.onError?.(broken);
  };
  const deaf = () => {
    if (!isClosed) callbacks.onDeaf();
  };
  const onMessage = (message: string, channel: string) => {
    if (!isClosed) callbacks.onMessage(message, channel);
  };
  const subscribe = async () => {
    try {
      // After a reconnection the library subscribes again before it is ready.
      if (!isSubscribed) await listener.subscribe(channels, onMessage);
      isSubscribed = true;
      if (!isClosed) callbacks.onListening();
    } catch (error) {
      onError(error);
    }
  };
  for (const client of [commands, listener]) {
    client.on("error", onError);
    // The library continues with a connection that was being made when the client was destroyed.
    client.on("connect", () => isClosed && client.destroy());
    // It retries for ever, and reports failures by events.
    client.connect().catch(onError);
  }
  listener.on("ready", () => void subscribe());
  listener.on("error", deaf).on("reconnecting", deaf).on("end", deaf);

  return {
    async run(script, keys, args) {
      try {
        const command = ["EVAL", settingAside(script), String(keys.length), ...keys, ...args];
        const [renamed, reply] = (await commands.sendCommand(command, bytes)) as unknown as [Buffer[], unknown];
        for (const key of renamed) onSetAside(key.toString());
        return reply;
      } catch (error) {
        if (!(error instanceof ClientOfflineError)) throw inWords(error as Error);
        throw new Error(broken?.message ?? "it does not answer", { cause: error });
      }
    },
    publish: (channel, message) => void commands.publish(channel, message).catch(onError),
    isListening: () => isSubscribed && listener.isReady,
    close() {
      isClosed = true;
      // `close()` of the library would wait for replies that a hanging Redis never sends.
      for (const client of [commands, listener]) client.destroy();
    },
  };
};

/** The error as operators read it. */
const inWords = (error: Error): Error => {
  if (error instanceof SocketClosedUnexpectedlyError) return new Error("it closed the connection", { cause: error });
  // The connection is renewed if an answer comes too late.
  if (error instanceof DisconnectsClientError) return new Error("it did not answer in time", { cause: error });
  const cause = connectionCause(error);
  return cause === undefined ? error : new Error(cause, { cause: error });
};
