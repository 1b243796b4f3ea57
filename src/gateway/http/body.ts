import { type Holding, withTimeout } from "../../operation/index.ts";
import { type Answer, plainAnswer, type Result } from "../../catalogue/index.ts";
import { isJsonBody } from "./mediaType.ts";

/**
 * The bounds of a body. `most`: bytes. `timeout`: milliseconds until it has arrived. `holding` reserves the bytes that
 * are collected, and keeps them reserved.
 */
type BodyLimits = { most: number; timeout: number; holding: Holding };

/** The first bytes of each body are not counted, so that large bodies never crowd out small bodies. */
const FREE_BYTES = 4096;

/**
 * Collects a JSON body; it is empty if the request has no body. `answer`: the refusal of a body that is not accepted.
 *
 * @throws The error of `chunks`, if the client leaves before the end.
 */
export const readBody = async (
  chunks: AsyncIterable<Uint8Array> | null,
  header: (name: string) => string | undefined,
  { most, timeout, holding }: BodyLimits,
): Promise<Result<{ body: Buffer }, { answer: Answer }>> => {
  const length = Number(header("content-length")) || most;
  if (length > most) return refuse(tooLarge(most));
  if (!/^(identity)?$/i.test(header("content-encoding")?.trim() ?? "")) return refuse(coded);
  const collecting = collect(chunks ?? (async function* () {})(), { most, length, holding });
  const body = await withTimeout(collecting, timeout);
  if (body === "late") return refuse(plainAnswer(408, "The body took too long to come.", { Connection: "close" }));
  if (body === "crowded") return refuse(crowded);
  if (body === "tooLarge") return refuse(tooLarge(most));
  if (body.length > 0 && !isJsonBody(header("content-type")))
    return refuse(plainAnswer(415, "The body has to be JSON (application/json)."));
  return { ok: true, body };
};

const refuse = (answer: Answer) => ({ ok: false, answer }) as const;

const tooLarge = (most: number): Answer =>
  plainAnswer(413, `The body is larger than ${most} bytes.`, { Connection: "close" });

// The header says which codings are accepted (RFC 9110 15.5.16).
const coded = plainAnswer(415, "The body has to come as it is, without a Content-Encoding.", {
  "Accept-Encoding": "identity",
});

const crowded = plainAnswer(503, "Too many large bodies are being received.", {
  Connection: "close",
  "Retry-After": "5",
});

/**
 * Copies the chunks into one buffer, whose size doubles and is reserved by `holding`: a list of chunks would take 400
 * bytes for each chunk, even of a single byte. `length`: bytes that may come.
 */
const collect = async (
  chunks: AsyncIterable<Uint8Array>,
  { most, length, holding }: Pick<BodyLimits, "most" | "holding"> & { length: number },
): Promise<Buffer | "tooLarge" | "crowded"> => {
  let collected = Buffer.alloc(0);
  let size = 0;
  let taken = 0;
  for await (const chunk of chunks) {
    const end = size + chunk.length;
    if (end > most) return "tooLarge";
    if (end > collected.length) {
      const room = Math.max(end, Math.min(length, 2 * end));
      const more = Math.max(0, room - FREE_BYTES) - taken;
      if (!holding.take(more)) return "crowded";
      taken += more;
      const grown = Buffer.allocUnsafe(room);
      collected.copy(grown, 0, 0, size);
      collected = grown;
    }
    collected.set(chunk, size);
    size = end;
  }
  return collected.subarray(0, size);
};
