/** Who has heard of what: a message, how many got it, and how many of them have said that it is done. */
export type Acks = {
  /** Before it is sent; what nobody waits for is not counted. */
  expect(message: string): void;
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
  const settle = ({ heard, receivers, done }: Waiting) => {
    if (heard >= receivers) done();
  };
  return {
    expect: (message) => void waiting.set(message, { heard: 0, receivers: Infinity, done: () => undefined }),
    heard(message) {
      const entry = waiting.get(message);
      if (entry === undefined) return;
      entry.heard++;
      settle(entry);
    },
    from: (message, receivers) =>
      new Promise((resolve) => {
        const entry = waiting.get(message);
        if (entry === undefined) return resolve();
        Object.assign(entry, { receivers, done: resolve });
        return settle(entry);
      }),
    forget: (message) => void waiting.delete(message),
  };
};
