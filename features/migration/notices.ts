import { truncate } from "../../src/operation/index.ts";
import type { Notice } from "../../src/gateway/index.ts";
import type { Move } from "./stage.ts";
import type { NewDifference } from "./differences.ts";

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
  /** The differences that are being collected, by endpoint. */
  const collected = new Map<string, { count: number; differences: object[]; timer: NodeJS.Timeout }>();

  const report = (endpoint: string): void => {
    const { count, differences } = collected.get(endpoint) ?? {};
    collected.delete(endpoint);
    notify({ type: "differences.unexplained", at: new Date().toISOString(), endpoint, count, differences });
  };
  return {
    /** Reports a line of the audit log that was written here. */
    moved({ endpoint, at, by, why, from, to, despite }: Move): void {
      const type = by === "gate" && to.stage === "shadow" ? "stage.demoted" : "stage.moved";
      notify({ type, at, endpoint, by, why, from, to, ...(despite && { despite }) });
    },
    /** Reports an unexplained difference that was seen for the first time since the endpoint moved. */
    differs({ endpoint, path, form, cause }: Omit<NewDifference, "kind">): void {
      const of = collected.get(endpoint) ?? {
        count: 0,
        differences: [],
        timer: setTimeout(report, COLLECTED_MS, endpoint).unref(),
      };
      collected.set(endpoint, of);
      of.count++;
      if (of.differences.length < MAX_NAMED)
        of.differences.push({ path: truncate(path, MAX_TEXT), form, cause: truncate(cause, MAX_TEXT) });
    },
    close(): void {
      for (const { timer } of collected.values()) clearTimeout(timer);
    },
  };
};
