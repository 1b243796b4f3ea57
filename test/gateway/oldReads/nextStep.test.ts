import { expect, test } from "vitest";
import { afterHeld, type Known, nextStep, type Step } from "../../../src/gateway/oldReads/nextStep.ts";

type Who = Known["who"];
type Legacy = Known["legacy"];
type Key = NonNullable<Known["key"]>;
type Found = NonNullable<Known["found"]>;

const booleans = [false, true];
const everyAsked = booleans.flatMap((isList) =>
  booleans.flatMap((mayShowMore) =>
    booleans.flatMap((isPassing) => booleans.map((isAlike) => ({ isList, mayShowMore, isPassing, isAlike }))),
  ),
);
const everyWho: Who[] = ["nobody", "key", "session", "browser"];
const everyLegacy: Legacy[] = ["answers", "inDoubt", "fails"];
const everyKey: Key[] = ["accepted", "refused", "unknown", "wasRefused", "late"];
const everyFound: Found[] = ["ok", "other", "doubted", "failure", "none"];

/** A. At arrival: by the caller, the kind of read, and the state of legacy. */
const atArrival: Record<"cached" | "passing" | "showsMore", Record<Legacy, Step>> = {
  cached: { answers: "checkKey", inDoubt: "checkKey", fails: "checkKey" },
  passing: { answers: "pass", inDoubt: "awaitProbe", fails: "checkKey" },
  showsMore: { answers: "passOrStored", inDoubt: "awaitProbe", fails: "checkKey" },
};
const kindOf = (who: Who, { mayShowMore, isPassing }: Known["asked"]): keyof typeof atArrival => {
  if (who === "browser" || (who !== "nobody" && mayShowMore)) return "showsMore";
  return isPassing ? "passing" : "cached";
};

/** B. By the verdict of legacy on the key. */
const afterKey: Record<Key, Step> = {
  accepted: "lookUp",
  unknown: "lookUp",
  wasRefused: "say103",
  refused: "pass",
  late: "passOrStored",
};

/** C. By the public answer: to callers without a key, or if legacy answers each key alike; to others; in an outage. */
const afterLookUp: Record<Found, Record<"public" | "others" | "othersFailsList" | "othersFailsRecord", Step>> = {
  ok: { public: "send", others: "send", othersFailsList: "send", othersFailsRecord: "send" },
  other: { public: "send", others: "passOrStored", othersFailsList: "send", othersFailsRecord: "say107" },
  doubted: { public: "send", others: "passOrStored", othersFailsList: "send", othersFailsRecord: "send" },
  failure: { public: "send", others: "send", othersFailsList: "send", othersFailsRecord: "send" },
  none: { public: "pass", others: "pass", othersFailsList: "pass", othersFailsRecord: "pass" },
};
const columnOf = ({ who, legacy, asked }: Known) => {
  if (who === "nobody" || asked.isAlike) return "public";
  if (legacy !== "fails") return "others";
  return asked.isList ? "othersFailsList" : "othersFailsRecord";
};

/** Combinations that cannot come, and why. */
const cannotCome = ({ who, asked, key, found }: Known): string | undefined => {
  // A browser may send a key beside its cookie.
  const mayHaveKey = who === "key" || who === "browser";
  if (asked.isAlike && !mayHaveKey) return "a POST is read with a key alone";
  if (key !== undefined && key !== "accepted" && !mayHaveKey) return "only a key is checked";
  if (found !== undefined && (key === undefined || afterKey[key] !== "lookUp")) return "nothing was looked up";
  return undefined;
};

test("each combination has the step of its table", () => {
  let cells = 0;
  const wrong: unknown[] = [];
  for (const who of everyWho)
    for (const legacy of everyLegacy)
      for (const asked of everyAsked)
        for (const key of [undefined, ...everyKey])
          for (const found of [undefined, ...everyFound]) {
            const known: Known = { who, legacy, asked, ...(key && { key }), ...(found && { found }) };
            if (cannotCome(known) !== undefined) continue;
            cells++;
            const expected =
              found !== undefined
                ? afterLookUp[found][columnOf(known)]
                : key !== undefined
                  ? afterKey[key]
                  : atArrival[kindOf(who, asked)][legacy];
            const step = nextStep(known);
            if (step !== expected) wrong.push({ known, step, expected });
          }
  expect(wrong).toEqual([]);
  expect(cells).toBe(1872);
});

test("D: a passed read's answer is replaced if it is a refusal or not by legacy", () => {
  expect(afterHeld).toEqual({
    document: "through",
    unjudged: "through",
    error: "storedIfDoubted",
    failure: "inPlace",
    refusal: "inPlace",
  });
});
