import type { Knowledge } from "../endpoint/endpoint.ts";
import { readBodyInput } from "../endpoint/input.ts";
import { checkModern } from "./checkModern.ts";
import { type Readable, readAnswer } from "./readAnswer.ts";
import type { Job, JobResult } from "./threadJob.ts";

/** Reads one body. The same function runs in the main thread and in the others, so that the result is the same whatever its size. */
export const runJob = (
  endpoints: ReadonlyMap<string, Readable>,
  knowledge: Knowledge,
  job: Job,
  body: Buffer,
): JobResult => {
  const endpoint = endpoints.get(job.of === "legacy" ? job.task.endpoint : job.endpoint);
  if (endpoint === undefined) throw new Error("a job names an endpoint that does not exist");
  if (job.of === "legacy") return { read: readAnswer(endpoint, job.task, body, knowledge) };
  return job.of === "modern" ? { checked: checkModern(endpoint, body) } : { input: readBodyInput(endpoint, body) };
};
