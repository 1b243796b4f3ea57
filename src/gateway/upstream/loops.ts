import type { Dependencies, Observer } from "../../operation/index.ts";
import { isUnderWay } from "./upstreamRequest.ts";

/** Notes a request whose `Via` says that it has been through this process before; `endpoint`: its endpoint. */
export type NoteLoop = (via: string, endpoint?: string) => void;

/** Milliseconds for which the trouble is shown to operators after the last such request. */
const LASTS_MS = 300_000;

/**
 * Opens the report, for operators, of requests that come back. Any client can learn this process's name in Via, so only
 * a request that this process has under way proves that a URL leads here.
 */
export const openLoops = (dependencies: Pick<Dependencies, "add">, observer: Observer): NoteLoop => {
  const report = dependencies.add("upstream_urls", {
    trouble: "Requests have been coming back to this gateway",
    effect: "LEGACY_URL or MODERN_URL leads here, and is to be corrected",
  });
  let lasting: NodeJS.Timeout | undefined;
  return (via, endpoint) => {
    const members = endpoint === undefined ? {} : { endpoint };
    if (!isUnderWay(via)) return observer.debug("loop_unproven", members);
    observer.event("request_loop", members);
    report(false, "a request that this gateway had sent came back");
    clearTimeout(lasting);
    lasting = setTimeout(report, LASTS_MS, true).unref();
  };
};
