import type { StoredAnswers } from "../../src/gateway/index.ts";
import { pathOf } from "../../src/catalogue/index.ts";
import { shownTarget } from "../../src/operation/index.ts";
import { type StoredAnswer, storedAnswer } from "./storedAnswer.ts";

/** Characters of an address. */
export const MAX_ADDRESS = 2000;

/** The answers stored for an address, without its query; `answers` is absent if no read has this address. */
export type StoredView = { url: string; answers?: StoredAnswer[] };

/** An address that may be shown: its path, without anything that may be a key. */
export const shownAddress = (address: string): string =>
  shownTarget(
    pathOf(
      address
        .trim()
        .slice(0, MAX_ADDRESS)
        .replace(/^https?:\/\/[^/]*/i, ""),
    ),
  );

/** Looks up the public answers that are stored for this address, which is hostile input. */
export const findStored = async ({ stored }: { stored: StoredAnswers }, address: string): Promise<StoredView> => {
  const found = address.length > MAX_ADDRESS ? undefined : await stored.find(address);
  return { url: shownAddress(address), ...(found && { answers: found.map(storedAnswer) }) };
};
