/** Why a request of the traffic is none to ask. */
export type SkipReason =
  | "not an endpoint"
  | "a write"
  | "a POST without its body"
  | "not understood"
  | "too long"
  /** Legacy's interface takes it, the new one does not, or would ask legacy for something else. */
  | "only for legacy"
  | "a key where none belongs";
