import { ownKey } from "./cacheKey.ts";
import type { Directives } from "./directives.ts";
import type { Told } from "./representation.ts";
import type { WindowsOf } from "./windows.ts";

/** What is asked, as the cache sees it. */
export type Question = {
  /** Of the question itself, whoever asks. */
  key: string;
  endpoint: string;
  windowsOf: WindowsOf;
  /** A caller with a key may be shown more: nothing of nobody's is for it. */
  personal: boolean;
};

/** Asked by whom (nobody, or the owner of a key, hashed), and how it is to be answered. */
export type Asking = { question: Question; owner: string | undefined; wanted: Directives };

/** An answer fresh from legacy, and the groups it belongs to. */
export type Filled = { answer: Told; groups: readonly string[] };

/** Asks legacy, as the owner or (`undefined`) as nobody. `background`: no client waits for it. */
export type Fill = (owner: string | undefined, background: boolean) => Promise<Filled>;

/** Where an answer that was fetched as this owner is kept. */
export const keyFor = ({ question }: Asking, owner: string | undefined): string =>
  owner === undefined ? question.key : ownKey(question.key, owner);

/** The places to look, in order: the owner's own, then what everybody may see. */
export const placesFor = (asking: Asking): string[] => {
  const { owner, question } = asking;
  if (owner === undefined) return [question.key];
  const own = keyFor(asking, owner);
  return question.personal ? [own] : [own, question.key];
};
