import type { Ask } from "../corpus/ask.ts";
import { ask } from "../upstream/ask.ts";
import { UpstreamFailure } from "../upstream/failure.ts";
import { openUpstream, type UpstreamSettings } from "../upstream/upstream.ts";
import type { GivenAnswer } from "../compare/answers.ts";
import { readAnswer } from "../compare/readAnswer.ts";

/** What is held against the expected answers: another gateway, or the new implementation. */
export type CandidateSide = {
  /** `again`: past its caches. `isThere`: it could be reached, and gave no answer. */
  ask(
    question: Ask,
    key: string | undefined,
    again: boolean,
  ): Promise<GivenAnswer | { failed: string; isThere: boolean }>;
  close(): Promise<void>;
};

type CandidateSettings = Omit<UpstreamSettings, "origin"> & { totalTimeout: number; maxReply: number };

/** `url` is where the new interface's paths begin: `http://host:9000`, `http://host/v1`. */
export const openCandidateSide = (
  url: string,
  { totalTimeout, maxReply, ...settings }: CandidateSettings,
): CandidateSide => {
  const { origin, pathname, host } = new URL(url);
  const base = pathname.replace(/\/$/, "");
  const upstream = openUpstream({ ...settings, origin });
  return {
    async ask({ method, path, body }, key, again) {
      const headers: Record<string, string> = {
        host,
        accept: "application/json",
        "user-agent": "catalog-gateway-compare",
        ...(again ? { "cache-control": "no-cache" } : {}),
        ...(key === undefined ? {} : { "x-api-key": key }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      };
      const sent = { method, path: base + path, headers, maxBytes: maxReply, totalTimeout };
      try {
        const reply = await ask(upstream, { ...sent, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
        return readAnswer(reply.status, reply.contentType || undefined, reply.body.toString("utf8"));
      } catch (error) {
        if (!(error instanceof UpstreamFailure)) throw error;
        return { failed: `the candidate: ${error.message}`, isThere: error.kind !== "unreachable" };
      }
    },
    close: () => upstream.close(),
  };
};
