/** Who has heard of what: a message, how many got it, and how many of them have said that it is done. */
export type Acks = {
  /** One has done it. */
  heard(message: string): void;
  /** Comes back when as many as got the message have done it. */
  from(message: string, receivers: number): Promise<void>;
  /** Nobody waits for it any more. */
  forget(message: string): void;
};

type Waiting = { heard: number; receivers: number; done: () => void };

export const openAcks = (): Acks => {
  const waiting = new Map<string, Waiting>();
  const entryOf = (message: string): Waiting => {
    const entry = waiting.get(message) ?? { heard: 0, receivers: Infinity, done: () => undefined };
    waiting.set(message, entry);
    return entry;
  };
  const settle = ({ heard, receivers, done }: Waiting) => {
    if (heard >= receivers) done();
  };
  return {
    heard(message) {
      const entry = entryOf(message);
      entry.heard++;
      settle(entry);
    },
    from: (message, receivers) =>
      new Promise((resolve) => {
        const entry = entryOf(message);
        Object.assign(entry, { receivers, done: resolve });
        settle(entry);
      }),
    forget: (message) => void waiting.delete(message),
  };
};
