import { setTimeout as sleep } from "node:timers/promises";
import type { GivenAnswer } from "../../compare/answers.ts";
import { originIn } from "../../compare/explain.ts";
import { legacyBody } from "../../compare/explainAnswer.ts";
import { judgeAnswer, MAX_COMPARED_BYTES, type Origin, settleDifferences } from "../../compare/judge.ts";
import type { Ledger } from "../../compare/ledger.ts";
import type { CurlPair } from "../../compare/report.ts";
import { type Difference, isSame } from "../../compare/difference.ts";
import type { Endpoint } from "../../endpoint/endpoint.ts";
import type { LegacyReply } from "../../legacy/client.ts";
import { collectChanges } from "../../rules/notes.ts";
import type { Secrets } from "../../scrub/secrets.ts";
import type { Budget } from "./budget.ts";

/** One side's answer. `bytes`: its size. `source`: the reply of legacy's that it was made of, where legacy was asked for it. */
export type SideAnswer = GivenAnswer & { bytes: number; source?: LegacyReply };

/** Requests one side's answer, or gives the reason why it failed. `again`: the second time, bypassing the caches. */
export type AskSide = (again: boolean) => Promise<SideAnswer | { failed: string }>;

/** One request that the gateway has answered, and how to send it to either side. */
export type Mirrored = {
  name: string;
  endpoint: Endpoint;
  /** Identifies the request; the same for all callers. */
  id: string;
  question: string;
  key: string | undefined;
  legacy: AskSide;
  modern: AskSide;
  /** Why the gateway would not serve this answer of modern's; `undefined` if it would. */
  whyUnserved: (given: GivenAnswer) => string | undefined;
  /** The commands that send the request to both sides, with `secrets` taken out. */
  curl: (secrets: Secrets) => CurlPair;
  /** Invalidates the cached answer that was served, which its side no longer gives. */
  invalidate?: () => void;
};

/** Compares the sides in the background. */
type Shadow = {
  /** Compares both sides, if the budget has room. A mismatch is checked again before it counts. Never rejects. */
  compare(mirrored: Mirrored): Promise<void>;
  /** The number of comparisons that the budget had no room for. */
  shed(): number;
  /** Stops comparing, and resolves when the running comparisons have ended. */
  idle(): Promise<void>;
};

type ShadowSettings = {
  budget: Budget;
  ledger: () => Ledger;
  onCompared: (mirrored: Mirrored, differences: Difference[]) => void;
  onError: (error: unknown) => void;
  /** Milliseconds until a mismatch is checked again. */
  settle: number;
};

/** Legacy's values, and the rules that made the expected ones of them. Of an answer that is cached or merged only the rules are known. */
const originOf = ({ output }: Endpoint, { source, status, body }: SideAnswer): Origin => {
  const { note } = collectChanges();
  let ofDocument: Origin | undefined;
  return (at) => {
    if (at === "status") return { legacy: source?.status, rules: [] };
    const document = source?.reading.is === "document" ? source.reading.document : undefined;
    if (at === "" && source && document === undefined) return { legacy: legacyBody(source.reading), rules: [] };
    const isSource = () => document && status === 200 && isSame(output.read(document, note, document), body);
    ofDocument ??= originIn(output, isSource() ? document : undefined);
    return ofDocument(at);
  };
};

/** Opens the comparison. `onCompared` gets every result, with an empty list if the sides agree. */
export const openShadow = ({ budget, ledger, onCompared, onError, settle }: ShadowSettings): Shadow => {
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();

  /** Compares both sides once. `differences` is `undefined` if one side gave no answer that can be compared. */
  const once = async (
    { name, endpoint, legacy, modern, whyUnserved }: Mirrored,
    again: boolean,
  ): Promise<{ differences?: Difference[]; bytes: number }> => {
    const [expected, candidate] = await Promise.all([legacy(again), modern(again)]);
    const sizes = [expected, candidate].map((one) => ("bytes" in one ? one.bytes : 0));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    const isLarge = sizes.some((size) => size > MAX_COMPARED_BYTES);
    // If legacy fails, there is no expectation. Failures of modern are counted by its track.
    if ("failed" in expected || "failed" in candidate || expected.status >= 500 || isLarge) return { bytes };
    return {
      differences: judgeAnswer(
        {
          endpoint: name,
          output: endpoint.output,
          ledger: ledger(),
          origin: originOf(endpoint, expected),
          whyUnserved,
        },
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
      if (differences.some(({ kind }) => kind === "drift")) mirrored.invalidate?.();
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
