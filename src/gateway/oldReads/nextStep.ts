import type { ReadSender } from "./whoAsks.ts";

/** The knowledge of a read of an old client; `key` and `found` are missing until legacy and the cache were asked. */
export type Known = {
  who: ReadSender["who"];
  legacy: "answers" | "inDoubt" | "fails";
  asked: {
    isList: boolean;
    /** Legacy may show a caller with a key or a session more than it shows without. */
    mayShowMore: boolean;
    /** Its answer is not for the cache. */
    isPassing: boolean;
    /** Legacy answers alike to each key: it came by POST. */
    isAlike: boolean;
  };
  /** The verdict of legacy on the key. `wasRefused`: none now, but a refusal within the hour. `late`: none yet. */
  key?: "accepted" | "refused" | "unknown" | "wasRefused" | "late";
  /**
   * The public answer. `other`: legacy's, with another status than 200. `doubted`: the same, and it is not believed.
   * `failure`: legacy has given none. `none`: it is not for the cache.
   */
  found?: "ok" | "other" | "doubted" | "failure" | "none";
};

/** `passOrStored`: it passes, and the stored public answer stands in place of a failure of legacy. */
export type Step = "awaitProbe" | "checkKey" | "lookUp" | "pass" | "passOrStored" | "send" | "say103" | "say107";

/**
 * The next step for a read of an old client: asked again after each step that has brought something new to know. The
 * test has it as four tables: A at arrival, B by the key, C by the public answer, D by legacy's answer (`afterHeld`).
 */
export const nextStep = ({ who, legacy, asked, key, found }: Known): Step => {
  if (key === undefined) return atArrival(who, legacy, asked);
  if (found === undefined) return afterKey[key];
  if (found === "none") return "pass";
  // A failure does not show whether the public finds the resource.
  if (who === "nobody" || asked.isAlike || found === "ok" || found === "failure") return "send";
  // A resource that the public does not find may be a private one of the caller.
  if (legacy !== "fails") return "passOrStored";
  // "No results" of a list says as much as its rows do.
  return asked.isList || found === "doubted" ? "send" : "say107";
};

const atArrival = (who: Known["who"], legacy: Known["legacy"], { mayShowMore, isPassing }: Known["asked"]): Step => {
  const isShownMore = who === "browser" || (who !== "nobody" && mayShowMore);
  // While legacy fails, the public answer is better than none.
  if (legacy === "fails" || !(isShownMore || isPassing)) return "checkKey";
  if (legacy === "inDoubt") return "awaitProbe";
  return isShownMore ? "passOrStored" : "pass";
};

const afterKey = {
  accepted: "lookUp",
  unknown: "lookUp",
  wasRefused: "say103",
  refused: "pass",
  late: "passOrStored",
} as const;

/**
 * The answer of legacy to a read that passed, while its head is held. `error`: legacy's, with another status than 200.
 * `failure`: not legacy's, or none. `refusal`: 401, 403, or an empty 500. `unjudged`: legacy cannot be judged by it.
 */
export type Held = "document" | "error" | "failure" | "refusal" | "unjudged";

/**
 * Its next step. `storedIfDoubted`: stored rows stand in place of an empty list that is not believed. `inPlace`: a key
 * that legacy refused within the hour gets that refusal, another caller the stored public answer.
 */
export const afterHeld: Record<Held, "through" | "storedIfDoubted" | "inPlace"> = {
  document: "through",
  unjudged: "through",
  error: "storedIfDoubted",
  failure: "inPlace",
  refusal: "inPlace",
};
