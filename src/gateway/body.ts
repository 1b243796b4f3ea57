import { type Answer, plainAnswer } from "../outcome/answer.ts";

export type BodyLimits = { most: number; timeout: number };

/** Collects a JSON body; it is empty where the request has none. `refused`: why it cannot be collected. `declared`: its Content-Length. */
export const readBody = async (
  chunks: AsyncIterable<Uint8Array> | null,
  contentType: string | undefined,
  declared: string | undefined,
  { most, timeout }: BodyLimits,
): Promise<{ body: Buffer } | { refused: Answer }> => {
  if (Number(declared) > most) return { refused: tooLarge(most) };
  const collecting = collect(chunks ?? (async function* () {})(), most);
  // Whoever waits no longer must not leave an unhandled end behind.
  collecting.catch(() => undefined);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"late">((resolve) => (timer = setTimeout(resolve, timeout, "late")));
  const body = await Promise.race([collecting, late]).finally(() => clearTimeout(timer));
  if (body === "late") return { refused: plainAnswer(408, "The body took too long to come.", { Connection: "close" }) };
  if (body === "tooLarge") return { refused: tooLarge(most) };
  if (body.length > 0 && !isJson(contentType))
    return { refused: plainAnswer(415, "The body has to be JSON (application/json).") };
  return { body };
};

const tooLarge = (most: number): Answer =>
  plainAnswer(413, `The body is larger than ${most} bytes.`, { Connection: "close" });

const collect = async (chunks: AsyncIterable<Uint8Array>, most: number): Promise<Buffer | "tooLarge"> => {
  const collected: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > most) return "tooLarge";
    collected.push(chunk);
  }
  return Buffer.concat(collected);
};

/** A body without a type is taken for what it has to be. */
const isJson = (contentType: string | undefined): boolean =>
  contentType === undefined ||
  contentType === "" ||
  /^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(contentType.trim());
