import { truncate } from "../../src/operation/index.ts";
import type { Notice } from "../../src/gateway/index.ts";
import type { Move } from "./stage.ts";
import type { DifferenceView } from "./views.ts";

/**
 * Milliseconds in which new differences of one endpoint are collected for one notice, and differences that it names.
 */
const COLLECTED_MS = 2000;
const MAX_NAMED = 20;
/**
 * Characters of a path or cause: they hold names that modern chose. A notice stays below 64 KiB, also if
 * JSON escapes each character.
 */
const MAX_TEXT = 200;

/** Reports moves, and unexplained differences when they are first seen. */
export const openNotices = (notify: (notice: Notice) => void) => {
  const seen = new Map<string, { count: number; differences: object[] }>();
  const timers = new Set<NodeJS.Timeout>();
  return {
    /** Reports a line of the audit log that was written here. */
    moved({ endpoint, at, by, why, from, to, despite }: Move): void {
      const type = by === "gate" && to.stage === "shadow" ? "stage.demoted" : "stage.moved";
      notify({ type, at, endpoint, by, why, from, to, ...(despite && { despite }) });
    },
    /** Reports an unexplained difference that was seen for the first time since the endpoint moved. */
    differs({ endpoint, path, form, cause }: Pick<DifferenceView, "endpoint" | "path" | "form" | "cause">): void {
      const known = seen.get(endpoint);
      const of = known ?? { count: 0, differences: [] };
      of.count++;
      if (of.differences.length < MAX_NAMED)
        of.differences.push({ path: truncate(path, MAX_TEXT), form, cause: truncate(cause, MAX_TEXT) });
      if (known !== undefined) return;
      seen.set(endpoint, of);
      const timer = setTimeout(() => {
        timers.delete(timer);
        seen.delete(endpoint);
        notify({ type: "differences.unexplained", at: new Date().toISOString(), endpoint, ...of });
      }, COLLECTED_MS);
      timers.add(timer.unref());
    },
    close(): void {
      for (const timer of timers) clearTimeout(timer);
    },
  };
};
