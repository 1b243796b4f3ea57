import { isUtf8 } from "node:buffer";
import { notJson } from "../endpoint/problem.ts";
import { type Answer, inputError, inputErrors, plainAnswer } from "../outcome/answer.ts";

export type BodyLimits = { most: number; timeout: number };

/** The text of a JSON body, empty where there is none; or why it is none that can be read. `declared` is its Content-Length. */
export const readBody = async (
  chunks: AsyncIterable<Uint8Array> | null,
  contentType: string | undefined,
  declared: string | undefined,
  { most, timeout }: BodyLimits,
): Promise<{ text: string } | Answer> => {
  if (Number(declared) > most) return tooLarge(most);
  const collecting = collect(chunks ?? (async function* () {})(), most);
  // Whoever waits no longer must not leave an unhandled end behind.
  collecting.catch(() => undefined);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"late">((resolve) => (timer = setTimeout(resolve, timeout, "late")));
  const body = await Promise.race([collecting, late]).finally(() => clearTimeout(timer));
  if (body === "late") return plainAnswer(408, "The body took too long to come.", { Connection: "close" });
  if (body === "tooLarge") return tooLarge(most);
  if (body.length > 0 && !isJson(contentType)) return plainAnswer(415, "The body has to be JSON (application/json).");
  return isUtf8(body) ? { text: body.toString("utf8") } : inputErrors([inputError(["body"], notJson)]);
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
