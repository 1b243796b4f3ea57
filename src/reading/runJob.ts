import type { Knowledge } from "../endpoint/endpoint.ts";
import { readBodyInput, type InputReading } from "../endpoint/input.ts";
import { type Readable, readLegacyAnswer, type Read, type ReadTask, excerptOf } from "./readAnswer.ts";
import type { Result } from "../endpoint/result.ts";
import { parseJson } from "../rules/parseJson.ts";
import type { Json } from "../rules/rule.ts";
import { type Misfit, misfitsOf } from "../compare/fits.ts";

/** What a thread is started with; it holds no secret. */
export type ThreadData = {
  /** The URL of the module that exports the `endpoints`, by name. */
  module: string;
  legacyStudies: readonly number[];
};

/** A large body to read: an answer of legacy, an answer of the new implementation, or a client's JSON (`input`). */
export type ReadJob = { of: "legacy"; task: ReadTask } | { of: "modern" | "input"; endpoint: string };
/** What reading a body gave, by the kind of job. */
export type JobResult =
  | { of: "legacy"; read: Read }
  | { of: "modern"; checked: Checked }
  | { of: "input"; input: InputReading };

/** Why a job has no result, as a sentence for the log. */
export type JobFailure = { of: "failure"; why: string };

/** What a thread says first, when it can run jobs. */
export const READY = "ready";

/** What a thread is sent: a job and its body. */
export type JobMessage = { job: ReadJob; body: Uint8Array };

/** Reads one body. The same function runs in the main thread and in the others, so that the result is the same whatever its size. */
export const runJob = (
  endpoints: ReadonlyMap<string, Readable>,
  knowledge: Knowledge,
  job: ReadJob,
  body: Buffer,
): JobResult => {
  const endpoint = endpoints.get(job.of === "legacy" ? job.task.endpoint : job.endpoint);
  if (endpoint === undefined) throw new Error("a job names an endpoint that does not exist");
  if (job.of === "legacy") return { of: "legacy", read: readLegacyAnswer(endpoint, job.task, body, knowledge) };
  return job.of === "modern"
    ? { of: "modern", checked: checkModern(endpoint, body) }
    : { of: "input", input: readBodyInput(endpoint, body) };
};

/** A 200 of the new implementation: where it departs from its schema, its excerpt and its bytes; or why it is no document. */
export type Checked = Result<{ misfits: Misfit[]; excerpt: Json; body: Buffer; tag?: string }, { failed: string }>;

/** Parses and validates one document of the new implementation, in this or another thread. Never throws. */
const checkModern = ({ output, excerpt }: Pick<Readable, "output" | "excerpt">, body: Buffer): Checked => {
  const document = parseJson(body.toString("utf8"));
  if (document === undefined) return { ok: false, failed: "its answer is no JSON" };
  return { ok: true, misfits: misfitsOf(output, document), excerpt: excerptOf(document, excerpt), body };
};
