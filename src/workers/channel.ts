import { parseJson } from "../rules/parseJson.ts";

/** Answers a request of the other process; what it returns is sent back as JSON. */
export type MessageHandler = (payload: never) => unknown;

/** One end of the connection between two processes: both can send requests, which arrive in their order. */
export type Channel = {
  /** Resolves with the answer. Rejects with the other's error, or when the channel is closed or overloaded. */
  request: (method: string, payload?: unknown) => Promise<unknown>;
  /** Sets what answers a method. */
  handle: (method: string, handler: MessageHandler) => void;
  /** Rejects what waits for an answer. */
  close: () => void;
};

/** How messages leave and arrive: the two members that a child process and its parent have of each other. */
export type Wire = {
  send(text: string, done: (error: Error | null) => void): void;
  onMessage(listener: (text: unknown) => void): void;
};

type Message =
  | { method: string; id: number; payload?: unknown }
  | { answerTo: number; payload?: unknown }
  | { answerTo: number; error: string };

/** Bytes that may wait to be sent, and requests that may wait for an answer. */
const MAX_UNSENT = 64 * 1024 ** 2;
const MAX_PENDING = 10_000;

/** Opens one end. `onOverload` is called once a bound is reached: the other process does not keep up, and this channel is of no use any more. */
export const openChannel = (wire: Wire, onOverload: () => void, bounds = { MAX_UNSENT, MAX_PENDING }): Channel => {
  const handlers = new Map<string, (payload: unknown) => unknown>();
  const pending = new Map<number, { resolve: (payload: unknown) => void; reject: (error: Error) => void }>();
  let unsent = 0;
  let last = 0;
  let isClosed = false;

  const close = (): void => {
    isClosed = true;
    for (const { reject } of pending.values()) reject(new Error("the other process has ended"));
    pending.clear();
  };
  const send = (message: Message): void => {
    if (isClosed) return;
    const text = JSON.stringify(message);
    unsent += text.length;
    if (unsent > bounds.MAX_UNSENT || pending.size > bounds.MAX_PENDING) {
      close();
      return onOverload();
    }
    // A failure means that the other process has ended, which its owner hears in another way.
    return wire.send(text, () => (unsent -= text.length));
  };
  const answer = async (id: number, method: string, payload: unknown): Promise<void> => {
    const handler = handlers.get(method);
    if (handler === undefined) return send({ answerTo: id, error: `${method}: not handled` });
    try {
      const result = handler(payload);
      // What needs no waiting is answered before anything that is handled later.
      send({ answerTo: id, payload: result instanceof Promise ? await result : result });
    } catch (error) {
      send({ answerTo: id, error: (error as Error).message });
    }
  };
  const settle = (message: Extract<Message, { answerTo: number }>): void => {
    const waiting = pending.get(message.answerTo);
    pending.delete(message.answerTo);
    if ("error" in message) waiting?.reject(new Error(message.error));
    else waiting?.resolve(message.payload);
  };
  const take = (text: unknown): void => {
    const message = (typeof text === "string" ? parseJson(text) : undefined) as Message | undefined;
    if (message === undefined || isClosed) return;
    if ("method" in message) void answer(message.id, message.method, message.payload);
    else settle(message);
  };
  // One by one: Node emits messages that have come together before what awaits the first of them goes on.
  wire.onMessage((text) => void setImmediate(take, text));

  return {
    request: (method, payload) =>
      new Promise((resolve, reject) => {
        if (isClosed) return reject(new Error("the other process has ended"));
        const id = ++last;
        pending.set(id, { resolve, reject });
        return send({ method, id, payload });
      }),
    handle: (method, handler) => void handlers.set(method, handler as (payload: unknown) => unknown),
    close,
  };
};
