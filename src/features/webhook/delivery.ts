import { z } from "zod";
import type { KeyedStore, KeyedStoreSettings } from "../../store/keyedStore.ts";

/** A message that waits. `at`: when it was made; `due`: when it is sent next; milliseconds since the epoch. */
const messageSchema = z.strictObject({
  at: z.int(),
  due: z.int(),
  attempts: z.int().min(0),
  body: z.string().max(64 * 1024),
});

/** A message that waits, as it is stored. */
export type WaitingMessage = z.infer<typeof messageSchema>;

/** Sends messages in the order in which they are due, each until it is taken. */
type Delivery = {
  /** Stores a message and sends it soon. Resolves when it is stored. */
  add(id: string, body: string): Promise<void>;
  waiting(): number;
  /** Stops sending. Resolves with the number of messages that are lost: those that are stored nowhere else. */
  close(): Promise<number>;
};

/** What the store of messages is opened with. One gateway at a time sends. */
export type MessageStoreSettings = Pick<
  KeyedStoreSettings<WaitingMessage>,
  "name" | "schema" | "isRebuildable" | "hasLease" | "onChange" | "onEvent"
>;

type DeliverySettings = {
  open: (settings: MessageStoreSettings) => Promise<KeyedStore<WaitingMessage>>;
  /** Sends one message; rejects if it was not taken. */
  send: (id: string, body: string, signal: AbortSignal) => Promise<void>;
  onFailed: (id: string, attempts: number, error: Error) => void;
  onDropped: (id: string, why: string) => void;
  onNotKept: (error: Error) => void;
  /** Milliseconds after each failed attempt until the next; after the last one the message is given up. */
  delays?: readonly number[];
  /** Milliseconds between two looks for messages that are due. */
  interval?: number;
};

const MAX_WAITING = 1000;
const SECOND = 1000;
/** Ten attempts within a day and a half. */
const DELAYS = [5, 30, 120, 600, 1800, 3600, 7200, 21_600, 43_200, 43_200].map((seconds) => seconds * SECOND);

/** Opens the delivery of messages, which also sends what an earlier process has left. */
export const openDelivery = async (settings: DeliverySettings): Promise<Delivery> => {
  const { open, send, onFailed, onDropped, onNotKept, delays = DELAYS, interval = 500 } = settings;
  const store = await open({
    name: "webhook",
    schema: () => messageSchema,
    isRebuildable: true,
    hasLease: true,
    onChange: () => undefined,
    onEvent: (event, { why = event }) => {
      if (event === "lost" || event === "unreadable") onNotKept(new Error(why));
    },
  });
  const stopping = new AbortController();
  let sending: Promise<void> | undefined;

  const remove = (id: string): void => store.save(new Map([[id, undefined]]));

  const dropOldest = (): void => {
    const [oldest] = [...store.entries()].toSorted(([, a], [, b]) => a.at - b.at);
    if (oldest === undefined) return;
    remove(oldest[0]);
    onDropped(oldest[0], `more than ${MAX_WAITING} messages wait`);
  };

  const sendOne = async (id: string, message: WaitingMessage): Promise<void> => {
    try {
      await send(id, message.body, stopping.signal);
      remove(id);
    } catch (error) {
      if (stopping.signal.aborted) return;
      const attempts = message.attempts + 1;
      onFailed(id, attempts, error as Error);
      const delay = delays[attempts - 1];
      if (delay === undefined) {
        remove(id);
        onDropped(id, `it was not taken in ${attempts} attempts`);
      } else store.save(new Map([[id, { ...message, attempts, due: Date.now() + delay }]]));
    }
  };

  const sendDue = async (): Promise<void> => {
    if (!store.holdsLease()) return;
    const due = [...store.entries()].filter(([, message]) => message.due <= Date.now());
    for (const [id, message] of due.toSorted(([, a], [, b]) => a.due - b.due)) {
      if (stopping.signal.aborted) return;
      await sendOne(id, message);
    }
  };
  const look = (): void => {
    sending ??= sendDue().finally(() => (sending = undefined));
  };
  const looking = setInterval(look, interval);
  looking.unref();

  return {
    async add(id, body) {
      const now = Date.now();
      if (store.entries().size >= MAX_WAITING) dropOldest();
      const message = { at: now, due: now, attempts: 0, body };
      await store
        .update(id, () => message)
        .catch((error: Error) => {
          onNotKept(error);
          store.save(new Map([[id, message]]));
        });
      look();
    },
    waiting: () => store.entries().size,
    async close() {
      clearInterval(looking);
      stopping.abort();
      await sending;
      const lost = store.kind === "memory" ? store.entries().size : 0;
      await store.close();
      return lost;
    },
  };
};
