import { setTimeout as sleep } from "node:timers/promises";
import type { GivenAnswer } from "../../compare/answers.ts";
import { lookUp } from "../../compare/explain.ts";
import { judgeAnswer, MAX_COMPARED_BYTES, type Origin, settleDifferences } from "../../compare/judge.ts";
import { pointerSteps } from "../../compare/pointer.ts";
import type { Ledger } from "../../compare/ledger.ts";
import type { CurlPair } from "../../compare/report.ts";
import type { Difference } from "../../compare/difference.ts";
import type { Endpoint } from "../../endpoint/endpoint.ts";
import type { Secrets } from "../../scrub/secrets.ts";
import type { Budget } from "./budget.ts";

/** One side of one question, or why it gave no answer; and the bytes it took. */
export type AskSide = (again: boolean) => Promise<(GivenAnswer & { bytes: number }) | { failed: string }>;

/** One question that a caller has had answered, and how to ask either side. */
export type Mirrored = {
  name: string;
  endpoint: Endpoint;
  /** The same for the same question, whoever asks. */
  id: string;
  question: string;
  key: string | undefined;
  legacy: AskSide;
  modern: AskSide;
  /** Why such an answer of modern's would not be served. */
  whyUnserved: (given: GivenAnswer) => string | undefined;
  /** The commands that ask both sides the same, without what `secrets` takes out. */
  curl: (secrets: Secrets) => CurlPair;
  /** What was served was kept, and is not what its side says now. */
  forget?: () => void;
};

export type Shadow = {
  /** Compares both sides, if the budget has room; a mismatch is asked again before it counts. Never rejects. */
  compare(mirrored: Mirrored): Promise<void>;
  shed(): number;
  /** Waits for what is on its way. */
  idle(): Promise<void>;
};

type ShadowSettings = {
  budget: Budget;
  ledger: () => Ledger;
  onCompared: (mirrored: Mirrored, differences: Difference[]) => void;
  onError: (error: unknown) => void;
  /** Milliseconds until a mismatch is asked again. */
  settle: number;
};

/** The rules that made the expected value: legacy's own is not at hand any more. */
const originIn =
  ({ output }: Endpoint): Origin =>
  (at) => ({ rules: lookUp(output, undefined, new Map(), pointerSteps(at)).rules });

export const openShadow = ({ budget, ledger, onCompared, onError, settle }: ShadowSettings): Shadow => {
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();

  /** What differs, `undefined` where one side had no answer to compare. */
  const once = async (
    { name, endpoint, legacy, modern, whyUnserved }: Mirrored,
    again: boolean,
  ): Promise<{ differences?: Difference[]; bytes: number }> => {
    const [expected, candidate] = await Promise.all([legacy(again), modern(again)]);
    const sizes = [expected, candidate].map((one) => ("bytes" in one ? one.bytes : 0));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    const isLarge = sizes.some((size) => size > MAX_COMPARED_BYTES);
    // Legacy that fails expects nothing; modern that fails is counted where it is asked.
    if ("failed" in expected || "failed" in candidate || expected.status >= 500 || isLarge) return { bytes };
    return {
      differences: judgeAnswer(
        { endpoint: name, output: endpoint.output, ledger: ledger(), origin: originIn(endpoint), whyUnserved },
        expected,
        candidate,
      ),
      bytes,
    };
  };

  const compare = async (mirrored: Mirrored): Promise<void> => {
    let taken = 0;
    try {
      const first = await once(mirrored, false);
      taken += first.bytes;
      if (first.differences === undefined) return;
      if (first.differences.every(({ kind }) => kind !== "unexplained")) return onCompared(mirrored, first.differences);
      await sleep(settle, undefined, { signal: stopping.signal, ref: false });
      const second = await once(mirrored, true);
      taken += second.bytes;
      if (second.differences === undefined) return;
      const differences = settleDifferences(first.differences, second.differences);
      if (differences.some(({ kind }) => kind === "drift")) mirrored.forget?.();
      onCompared(mirrored, differences);
    } catch (error) {
      if (!stopping.signal.aborted) onError(error);
    } finally {
      budget.leave(taken);
    }
  };

  return {
    async compare(mirrored) {
      if (stopping.signal.aborted || !budget.enter()) return;
      const one = compare(mirrored);
      running.add(one);
      await one;
      running.delete(one);
    },
    shed: () => budget.shed(),
    async idle() {
      stopping.abort();
      await Promise.all(running);
    },
  };
};
