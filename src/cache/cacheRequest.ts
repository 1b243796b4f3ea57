import { ownerKey } from "./cacheKey.ts";
import type { Directives } from "./directives.ts";
import type { Content } from "./representation.ts";
import type { LifetimesOf } from "./lifetimes.ts";

/** What is asked, as the cache sees it. */
export type CacheKey = {
  /** Of the question itself, whoever asks. */
  key: string;
  endpoint: string;
  lifetimesOf: LifetimesOf;
  /** A caller with a key may be shown more: nothing of nobody's is for it. */
  personal: boolean;
};

/** Asked by whom (nobody, or the owner of a key, hashed), and how it is to be answered. */
export type CacheRequest = { question: CacheKey; owner: string | undefined; wanted: Directives };

/** An answer fresh from legacy, and the groups it belongs to. */
export type Fetched = { answer: Content; groups: readonly string[] };

/** Asks legacy, as the owner or (`undefined`) as nobody. `background`: no client waits for it. */
export type Fetch = (owner: string | undefined, background: boolean) => Promise<Fetched>;

/** Where an answer that was fetched as this owner is kept. */
export const entryKey = ({ question }: CacheRequest, owner: string | undefined): string =>
  owner === undefined ? question.key : ownerKey(question.key, owner);

/** The places to look, in order: the owner's own, then what everybody may see. */
export const lookupKeys = (asking: CacheRequest): string[] => {
  const { owner, question } = asking;
  if (owner === undefined) return [question.key];
  const own = entryKey(asking, owner);
  return question.personal ? [own] : [own, question.key];
};
