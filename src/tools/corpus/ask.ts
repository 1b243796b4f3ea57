import type { JsonObject } from "../../rules/rule.ts";

/** One request to the new interface, below its prefix; `keyed` where it was made with a key (the key itself is never kept). */
export type CorpusRequest = {
  endpoint: string;
  method: "GET" | "POST";
  /** `/datasets/61`, without query. */
  path: string;
  body?: JsonObject;
  keyed: boolean;
  /** What the traffic says was answered, where it says so. */
  status?: number;
  /** Names of the given fields and the kind of each value, in few words: what differs here is worth asking both. */
  shape: string;
};
