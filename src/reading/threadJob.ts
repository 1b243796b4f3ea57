import type { Checked } from "./checkModern.ts";
import type { Read, ReadTask } from "./readAnswer.ts";

/** What a thread is started with. Nothing in it is secret. */
export type ThreadData = {
  /** The URL of the module that exports the `endpoints`, by name. */
  module: string;
  legacyStudies: readonly number[];
};

/** One large answer: of legacy, or of the new implementation. */
export type Job = { of: "legacy"; task: ReadTask } | { of: "modern"; endpoint: string };
export type JobResult = { read: Read } | { checked: Checked };

/** What crosses: a job and its body there, its result back. */
export type JobMessage = { job: Job; body: Uint8Array };
