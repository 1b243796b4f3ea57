import { parentPort, workerData } from "node:worker_threads";
import { bytesOf, tagOf } from "../cache/reply.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import { readableOf } from "./readAnswer.ts";
import { READY, runJob, type JobMessage, type JobResult, type ThreadData } from "./runJob.ts";

// A thread that reads large bodies, one at a time. Bytes come in, bytes go out; of a document only the excerpt crosses as an object.
const { module, legacyStudies } = workerData as ThreadData;
const { endpoints } = (await import(module)) as { endpoints: Record<string, Endpoint> };
const readable = new Map(Object.entries(endpoints).map(([name, endpoint]) => [name, readableOf(name, endpoint)]));
const knowledge = { legacyStudies: new Set(legacyStudies) };

/** The document as bytes of their own, with their hash: they cross without being copied. */
const inBytes = (result: JobResult): { result: JobResult; transfer: ArrayBuffer[] } => {
  if (result.of === "input") return { result, transfer: [] };
  if (result.of === "modern") {
    if (!result.checked.ok) return { result, transfer: [] };
    const { body } = result.checked;
    return {
      result: { ...result, checked: { ...result.checked, tag: tagOf(body) } },
      transfer: [body.buffer as ArrayBuffer],
    };
  }
  if (result.read.is !== "document" || !("written" in result.read)) return { result, transfer: [] };
  const { written } = result.read;
  const body = bytesOf(written.body);
  return {
    result: { ...result, read: { ...result.read, written: { ...written, body, tag: tagOf(body) } } },
    transfer: [body.buffer as ArrayBuffer],
  };
};

parentPort?.postMessage(READY, []);
parentPort?.on("message", ({ job, body }: JobMessage) => {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const { result, transfer } = inBytes(runJob(readable, knowledge, job, bytes));
  parentPort?.postMessage(result, transfer);
});
