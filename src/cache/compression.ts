import { openByteBudget } from "../concurrency/byteBudget.ts";
import { compress, type Coding } from "./codings.ts";
import type { Entry } from "./entry.ts";
import type { Store } from "./store.ts";

/** Compresses stored entries in the background, in the codings that requests ask for. */
export type Compression = {
  /** Lets replies ask for codings of this entry, which was just stored. */
  offer(key: string, entry: Entry): void;
  /** Resolves when the entry has this coding, or cannot have it now. Returns `undefined` where there is nothing to wait for. */
  request(key: string, entry: Entry, coding: Coding): Promise<void> | undefined;
};

/** What the compression is opened with. */
export type CompressionSettings = {
  store: Pick<Store, "holds" | "setCoding">;
  onError: (error: unknown) => void;
};

/** Bytes: a shorter body fits into one packet anyway. */
const MIN_BODY = 860;

/**
 * Bytes of bodies that are compressed at the same time; each takes up to three times its length in memory. A request beyond
 * it is not queued: the next hit asks again.
 */
const MAX_COMPRESSING = 32 * 1024 ** 2;

/** Opens the background compression of a store's entries. Results for entries that the store no longer holds are dropped. */
export const openCompression = ({ store, onError }: CompressionSettings): Compression => {
  const budget = openByteBudget(MAX_COMPRESSING);

  const compressInto = async (key: string, entry: Entry, coding: Coding): Promise<void> => {
    try {
      const bytes = await compress(entry.body, coding);
      if (bytes !== undefined) store.setCoding(key, entry, coding, bytes);
    } catch (error) {
      onError(error);
    } finally {
      budget.release(entry.body.length);
      const { [coding]: _, ...others } = entry.codingState ?? {};
      entry.codingState = entry.coded[coding] ? others : { ...others, [coding]: "useless" };
    }
  };

  const request: Compression["request"] = (key, entry, coding) => {
    const { body, coded, codingState } = entry;
    if (body.length < MIN_BODY || coded[coding] || codingState?.[coding] || !store.holds(key, entry)) return undefined;
    if (!budget.take(body.length)) return undefined;
    entry.codingState = { ...codingState, [coding]: "pending" };
    return compressInto(key, entry, coding);
  };

  return {
    offer(key, entry) {
      if (entry.body.length >= MIN_BODY) entry.onCodingWanted = (coding) => void request(key, entry, coding);
    },
    request,
  };
};
