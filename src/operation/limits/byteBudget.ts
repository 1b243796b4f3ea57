/** The first bytes of each answer are not counted: small answers are given however many large answers there are. */
export const UNCOUNTED = 64 * 1024;

/** The counted bytes of an answer. */
export const countedBytes = ({ length }: { length: number }): number => Math.max(0, length - UNCOUNTED);

/** A bound on the bytes that several holders have at the same time. Each holder releases the bytes that it took. */
export type ByteBudget = ReturnType<typeof openByteBudget>;

/** Opens a budget of `max` bytes. */
export const openByteBudget = (max: number) => {
  let held = 0;
  let refused = 0;
  /** The bodies that wait for clients, with the number of clients that wait for each. */
  const clients = new Map<Buffer | string, number>();
  let sending = 0;

  const fits = (isRoom: boolean): boolean => {
    if (!isRoom) refused++;
    return isRoom;
  };
  const take = (bytes: number): boolean => {
    if (!fits(held + bytes <= max)) return false;
    held += bytes;
    return true;
  };
  const maySend = (bytes: number): boolean => fits(sending === 0 || sending + bytes <= max / 2);

  return {
    /** Takes this number of bytes. If they do not fit, takes none and returns false. */
    take,
    release(bytes: number): void {
      held -= bytes;
    },
    /** True if the half for bodies that wait for clients has room for this number of bytes now. */
    maySend,
    /**
     * Takes the counted bytes of a body that waits for a client, once for all of its clients. Returns the function that
     * releases them, or `undefined` if they do not fit. Waiting bodies take at most half of the budget, but a single
     * body always has room.
     */
    send(body: Buffer | string): (() => void) | undefined {
      const others = clients.get(body) ?? 0;
      const bytes = countedBytes(body);
      if (others === 0) {
        if (!maySend(bytes) || !take(bytes)) return undefined;
        sending += bytes;
      }
      clients.set(body, others + 1);
      return () => {
        const left = (clients.get(body) ?? 0) - 1;
        clients.set(body, left);
        if (left > 0) return;
        clients.delete(body);
        sending -= bytes;
        held -= bytes;
      };
    },
    /** Bytes that are taken now. */
    get held(): number {
      return held;
    },
    /** The number of refusals because bytes did not fit. */
    get refused(): number {
      return refused;
    },
  };
};

/**
 * The bytes of a budget that one request holds while its answer goes from the fetch to the reader, then to the sender.
 * A holding that releases bytes and takes them again before anything else runs is not refused.
 */
export type Holding = ReturnType<typeof openHolding>;

/** Opens a holding of no bytes. `isForClient`: the answer is sent to a client. */
export const openHolding = (budget: ByteBudget, isForClient = false) => {
  let held = 0;
  let isClosed = false;
  const take = (bytes: number): boolean => {
    if (isClosed || !budget.take(bytes)) return false;
    held += bytes;
    return true;
  };
  const release = (bytes = held): void => {
    const released = Math.min(bytes, held);
    held -= released;
    budget.release(released);
  };
  return {
    /** Takes this number of bytes of the budget; false if they do not fit, or the holding is closed. */
    take,
    /**
     * The same for an answer that is being fetched. For a client it also fails while no more bytes may wait to be sent.
     */
    takeAnswer: (bytes: number): boolean => (!isForClient || budget.maySend(held + bytes)) && take(bytes),
    /** Releases this number of bytes, or all if it holds fewer. */
    release,
    /** Releases all bytes, and takes none from now on. */
    close(): void {
      isClosed = true;
      release();
    },
  };
};
