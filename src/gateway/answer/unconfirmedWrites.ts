import { isKey, type Outcome } from "../../catalogue/index.ts";
import { ownCaller } from "../upstream/legacyClient.ts";
import type { Keys } from "./keys.ts";

/** Milliseconds for which a write whose answer is lost may still be going on. */
export const UNCONFIRMED_MS = 30_000;

/** Makes stale what a write may have touched. Resolves when all gateways know. */
type Invalidate = () => Promise<void> | undefined;

/** Writes that were sent, and whose answers are lost. */
export type UnconfirmedWrites = ReturnType<typeof openUnconfirmedWrites>;

type UnconfirmedWritesSettings = {
  keys: Pick<Keys, "ownerOf" | "isProven" | "verify">;
  /** Milliseconds for one verification of a key. */
  timeout: number;
  /** Milliseconds from one attempt to ask to the next, where legacy is not known to fail. */
  delays?: readonly number[];
  /** Resolves when legacy is back; `undefined` where it does not fail. */
  legacyBack?: () => Promise<void> | undefined;
  /** Gets what a verification in the background threw. */
  onError: (error: unknown) => void;
};

/** Milliseconds for one verification at most: one that hangs with a frozen legacy would outlast its return. */
const MAX_VERIFY = 5000;

/** Writes at most that wait for what legacy says of their key; more are left out. */
export const MAX_UNCONFIRMED = 100;

/** Opens the list of unconfirmed writes, of bounded length. */
export const openUnconfirmedWrites = ({
  keys,
  timeout,
  delays = [6000, 15_000],
  legacyBack = () => undefined,
  onError,
}: UnconfirmedWritesSettings) => {
  let waiting = 0;
  let isClosed = false;
  const sleeping = new Set<() => void>();

  const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms).unref());
  /** Until this has happened, or the list is closed. */
  const outlast = (event: Promise<void>): Promise<void> =>
    new Promise((resolve) => {
      sleeping.add(resolve);
      event.then(resolve, onError).finally(() => sleeping.delete(resolve));
    });
  const ask = (key: string): Promise<Outcome | undefined> =>
    keys.verify({ ...ownCaller(Math.min(timeout, MAX_VERIFY)), key }, false);
  const invalidateIfKnown = async (key: string, invalidate: Invalidate): Promise<void> => {
    const left = [...delays];
    for (;;) {
      if (isClosed) return;
      const refusal = await ask(key);
      if (refusal === undefined) await invalidate();
      if (refusal === undefined || refusal.kind === "unauthenticated") return;
      const back = legacyBack();
      if (back === undefined && left.length === 0) return;
      await outlast(back ?? pause(left.shift() as number));
    }
  };

  return {
    /**
     * Makes stale what such a write may have touched, where its key is one that legacy knows: otherwise anybody could
     * make everything stale. A key that legacy did not accept within the last minute is verified in the background, and
     * no request waits for that.
     */
    note(sentKey: string | undefined, invalidate: Invalidate): Promise<void> | undefined {
      const key = sentKey?.trim();
      if (key === undefined || !isKey(key)) return undefined;
      if (keys.isProven(keys.ownerOf(key))) return invalidate();
      if (waiting >= MAX_UNCONFIRMED) return undefined;
      waiting++;
      invalidateIfKnown(key, invalidate)
        .catch(onError)
        .finally(() => waiting--);
      return undefined;
    },
    /** How many wait for what legacy says of their key. */
    waiting: () => waiting,
    close(): void {
      isClosed = true;
      for (const wake of sleeping) wake();
    },
  };
};
