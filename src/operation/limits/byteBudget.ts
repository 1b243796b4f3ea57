/** The first bytes of each answer are not counted: small answers are given however many large ones there are. */
export const UNCOUNTED = 64 * 1024;

/** The bytes of an answer that are counted. */
export const countedBytes = ({ length }: { length: number }): number => Math.max(0, length - UNCOUNTED);

/** A bound on the bytes that several holders have at the same time. Each holder releases what it took. */
export type ByteBudget = ReturnType<typeof openByteBudget>;

/** Opens a budget of `max` bytes. */
export const openByteBudget = (max: number) => {
  let held = 0;
  let refused = 0;
  /** The bodies that wait, how many clients each has, and the bytes of all. */
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
    /** Takes so many bytes. If they do not fit, takes none and returns false. */
    take,
    release(bytes: number): void {
      held -= bytes;
    },
    /** Whether the half for bodies that wait for clients has room for so many bytes now. */
    maySend,
    /**
     * Takes the counted bytes of a body that waits for a client, once for all of its clients. Gives the function
     * that releases them, or `undefined` where they do not fit. Bodies that wait take half of the budget at
     * most, but one alone has room.
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
    /** How often bytes did not fit. */
    get refused(): number {
      return refused;
    },
  };
};

/**
 * The bytes of a budget that one request holds while its answer goes from the fetch to the reader, to the sender. One
 * that releases bytes and takes them again before anything else runs is not refused.
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
    /** Takes so many bytes of the budget; false where they do not fit, or the holding is closed. */
    take,
    /**
     * The same for an answer that is being fetched. One for a client is refused also while no more may wait to be sent.
     */
    takeAnswer: (bytes: number): boolean => (!isForClient || budget.maySend(held + bytes)) && take(bytes),
    /** Gives so many bytes back, all where it holds fewer. */
    release,
    /** Gives all bytes back, and takes none from now on. */
    close(): void {
      isClosed = true;
      release();
    },
  };
};
