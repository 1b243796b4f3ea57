import { isKey, type Outcome } from "../../catalogue/index.ts";
import { idOfKey } from "../../operation/index.ts";
import { ownCaller } from "../upstream/legacyClient.ts";
import type { Keys } from "./keys.ts";

/** Milliseconds for which a write whose answer is lost may still be going on. */
export const UNCONFIRMED_MS = 30_000;

/** Makes the entries stale that a write may have changed. Resolves when all gateways have done so. */
type Invalidate = () => Promise<void> | undefined;

/** The writes that were sent, and whose answers were lost. */
export type UnconfirmedWrites = ReturnType<typeof openUnconfirmedWrites>;

type UnconfirmedWritesSettings = {
  keys: Pick<Keys, "isProven" | "verify">;
  /** Milliseconds that the verification of a key may take. */
  timeout: number;
  /** Milliseconds from one attempt to the next, if legacy is not known to fail. */
  delays?: readonly number[];
  /** Resolves when legacy is back; `undefined` if legacy does not fail. */
  legacyBack?: () => Promise<void> | undefined;
  /** Gets errors of verifications in the background. */
  onError: (error: unknown) => void;
};

/** Milliseconds that a verification may take: while legacy is frozen it hangs, and it must not outlast the outage. */
const MAX_VERIFY = 5000;

/** The maximum number of writes that wait for the verification of their key; more are not noted. */
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
  /** Resolves when the event has happened, or the list is closed. */
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
     * Makes the entries stale that such a write may have changed, if legacy knows the write's key: otherwise any client
     * could make all entries stale. A key that legacy did not accept within the last minute is verified in the
     * background, and no request waits for that.
     */
    note(sentKey: string | undefined, invalidate: Invalidate): Promise<void> | undefined {
      const key = sentKey?.trim();
      if (key === undefined || !isKey(key)) return undefined;
      if (keys.isProven(idOfKey(key))) return invalidate();
      if (waiting >= MAX_UNCONFIRMED) return undefined;
      waiting++;
      invalidateIfKnown(key, invalidate)
        .catch(onError)
        .finally(() => waiting--);
      return undefined;
    },
    /** The number of writes that wait for the verification of their key. */
    waiting: () => waiting,
    close(): void {
      isClosed = true;
      for (const wake of sleeping) wake();
    },
  };
};
