/** One request as it is found in traffic. */
export type Traffic = {
  method: string;
  /** A URL, or a path with or without a query. */
  url: string;
  /** Where it is known; empty where there was none. */
  body?: string;
  /** The keys in its headers. */
  keys: readonly string[];
  status?: number;
  /** The length of the answer's body, where it is known for certain. */
  answered?: number;
};
