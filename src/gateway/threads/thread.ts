import { Tinypool, type Transferable } from "tinypool";
import { bytesOf, tagOf } from "../cache/entry.ts";
import type { Endpoint } from "../../catalogue/endpoint/endpoint.ts";
import { readableOf, runJob, type ThreadData, type ThreadMessage } from "../../catalogue/reading/readAnswer.ts";

// A thread that reads large bodies, one at a time. It gets bytes and returns bytes, with the groups of the answer.
const { module } = Tinypool.workerData as ThreadData;
const { endpoints } = (await import(module)) as { endpoints: Record<string, Endpoint> };
const readable = new Map(Object.entries(endpoints).map(([name, endpoint]) => [name, readableOf(name, endpoint)]));

/** Reads one body; without a message it does nothing. */
export const readLarge = (message?: ThreadMessage): unknown => {
  if (message === undefined) return undefined;
  const {
    of,
    task,
    body: { buffer, byteOffset, byteLength },
    deadline,
  } = message;
  if (performance.now() >= deadline) return { failure: "late" };
  const result = runJob(readable, of, task, Buffer.from(buffer, byteOffset, byteLength));
  if (!("written" in result)) return result;
  // The bytes are moved, with their hash, and not copied: they have a block of memory of their own.
  const { written } = result;
  const body = bytesOf(written.answer.body);
  return Tinypool.move({
    [Tinypool.transferableSymbol]: body.buffer,
    [Tinypool.valueSymbol]: {
      ...result,
      written: { ...written, answer: { ...written.answer, body, tag: tagOf(body) } },
    },
  } as unknown as Transferable);
};
