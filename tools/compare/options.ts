/** The options of a comparison, from the command line. */
export type CompareOptions = {
  legacy?: string;
  candidate?: string;
  /** The candidate is the new implementation, not a gateway. */
  modern?: boolean;
  endpoint?: string[];
  ids?: Iterable<number>;
  corpus?: string;
  limit?: number;
  /** The environment variable that holds the key. */
  key?: string;
  expected?: string;
  rate?: number;
  concurrency?: number;
  out: string;
};
