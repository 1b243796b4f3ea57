import { hash } from "node:crypto";

/** Names, parted so that no two lists of parts make one key, at a fixed length. */
const digest = (parts: readonly unknown[]): string => hash("sha256", JSON.stringify(parts), "base64url");

/** The key of a request, whoever sends it: an endpoint, the backend that answers, and the input as the endpoint reads it. */
export const cacheKeyOf = (endpoint: string, backend: string, input: Readonly<Record<string, unknown>>): string =>
  digest([endpoint, backend, ...Object.values(input)]);

/** The same question, answered with private rows as they are at this version of what is known of them. */
export const mergedCacheKey = (question: string, version: number): string =>
  digest([question, "private rows", version]);

/** The same question, asked by one owner. */
export const ownerKey = (question: string, owner: string): string => digest([question, owner]);
