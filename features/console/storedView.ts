import type { StoredAnswers } from "../../src/gateway/index.ts";
import { pathOf } from "../../src/catalogue/index.ts";
import { shownTarget } from "../../src/operation/index.ts";
import { type StoredAnswer, storedAnswer } from "./storedAnswer.ts";

/** Characters of an address. */
export const MAX_ADDRESS = 2000;

/** What is stored for an address, without its query; `answers` is absent where it is that of no read. */
export type StoredView = { url: string; answers?: StoredAnswer[] };

/** An address as it may be shown: its path, without what may be a key. */
export const shownAddress = (address: string): string =>
  shownTarget(
    pathOf(
      address
        .trim()
        .slice(0, MAX_ADDRESS)
        .replace(/^https?:\/\/[^/]*/i, ""),
    ),
  );

/** Looks up what is stored for everybody at this address: hostile input. */
export const findStored = async ({ stored }: { stored: StoredAnswers }, address: string): Promise<StoredView> => {
  const found = address.length > MAX_ADDRESS ? undefined : await stored.find(address);
  return { url: shownAddress(address), ...(found && { answers: found.map(storedAnswer) }) };
};
