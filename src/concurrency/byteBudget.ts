/** The first bytes of each answer are not counted: small answers are given however many large ones there are. */
export const UNCOUNTED = 64 * 1024;

/** A bound on the bytes that several holders have at the same time. Each holder releases what it took. */
export type ByteBudget = {
  /** Takes so many bytes; where they do not fit it takes none, and gives false. */
  take(bytes: number): boolean;
  release(bytes: number): void;
  /** Bytes that are taken now. */
  readonly held: number;
  /** How often bytes did not fit. */
  readonly refused: number;
};

/** Opens a budget of `max` bytes. */
export const openByteBudget = (max: number): ByteBudget => {
  let held = 0;
  let refused = 0;
  return {
    take(bytes) {
      if (held + bytes > max) {
        refused++;
        return false;
      }
      held += bytes;
      return true;
    },
    release(bytes) {
      held -= bytes;
    },
    get held() {
      return held;
    },
    get refused() {
      return refused;
    },
  };
};
