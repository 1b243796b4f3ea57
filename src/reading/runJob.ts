import type { Knowledge } from "../endpoint/endpoint.ts";
import { readBodyInput, type InputReading } from "../endpoint/input.ts";
import { type Readable, readLegacyAnswer, type Read, type ReadTask, type Written, excerptOf } from "./readAnswer.ts";
import { parseJson } from "../rules/parseJson.ts";
import { type Misfit, misfitsOf } from "../compare/fits.ts";

/** What is read of a body, and what reading it gives: an answer of legacy, one of the new implementation, a client's JSON (`input`). */
export type Jobs = {
  legacy: { task: ReadTask; result: Read };
  modern: { task: OfEndpoint; result: Checked };
  input: { task: OfEndpoint; result: InputReading };
};

type OfEndpoint = { endpoint: string };

/** A 200 of the new implementation: where it departs from its schema, and its bytes; or why it is no document. */
type Checked = { misfits: Misfit[]; written: Written } | { failed: string };

/** What a thread is started with; it holds no secret. */
export type ThreadData = {
  /** The URL of the module that exports the `endpoints`, by name. */
  module: string;
  legacyStudies: readonly number[];
};

/** What a thread is sent. `deadline`: milliseconds since the epoch. */
export type ThreadMessage = {
  of: keyof Jobs;
  task: ReadTask | OfEndpoint;
  body: Uint8Array<ArrayBuffer>;
  deadline: number;
};

/** What a thread answers; `late`: the deadline had passed before it began. */
export type ThreadResult = Jobs[keyof Jobs]["result"] | { unread: "late" };

const readers: {
  [K in keyof Jobs]: (e: Readable, task: Jobs[K]["task"], body: Buffer, knowledge: Knowledge) => Jobs[K]["result"];
} = {
  legacy: readLegacyAnswer,
  modern: ({ output, excerpt }, _, body) => {
    const document = parseJson(body.toString("utf8"));
    if (document === undefined) return { failed: "its answer is no JSON" };
    const written = { answer: { status: 200, body }, excerpt: excerptOf(document, excerpt) };
    return { misfits: misfitsOf(output, document), written };
  },
  input: (endpoint, _, body) => readBodyInput(endpoint, body),
};

/** Reads one body. The same function runs in the main thread and in the others, so that the result is the same whatever its size. */
export const runJob = <K extends keyof Jobs>(
  endpoints: ReadonlyMap<string, Readable>,
  knowledge: Knowledge,
  of: K,
  task: Jobs[K]["task"],
  body: Buffer,
): Jobs[K]["result"] => {
  const endpoint = endpoints.get(task.endpoint);
  if (endpoint === undefined) throw new Error("a job names an endpoint that does not exist");
  return readers[of](endpoint, task, body, knowledge);
};
