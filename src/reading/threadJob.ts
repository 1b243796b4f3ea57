import type { InputReading } from "../endpoint/input.ts";
import type { Checked } from "./checkModern.ts";
import type { Read, ReadTask } from "./readAnswer.ts";

/** What a thread is started with. Nothing in it is secret. */
export type ThreadData = {
  /** The URL of the module that exports the `endpoints`, by name. */
  module: string;
  legacyStudies: readonly number[];
};

/** A large body to read: an answer of legacy, an answer of the new implementation, or a client's JSON (`input`). */
export type Job = { of: "legacy"; task: ReadTask } | { of: "modern" | "input"; endpoint: string };
export type JobResult = { read: Read } | { checked: Checked } | { input: InputReading };

/** What crosses: a job and its body there, its result back. */
export type JobMessage = { job: Job; body: Uint8Array };
