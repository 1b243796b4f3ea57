import { isUtf8 } from "node:buffer";
import { notJson } from "../endpoint/problem.ts";
import { type Answer, inputError, inputErrors, plainAnswer } from "./answer.ts";

/** The text of a JSON body, empty where there is none; or why it is none that can be read. */
export const readBody = async (
  chunks: AsyncIterable<Uint8Array> | null,
  contentType: string | undefined,
  most: number,
): Promise<{ text: string } | Answer> => {
  const collected: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks ?? []) {
    size += chunk.length;
    if (size > most) return plainAnswer(413, `The body is larger than ${most} bytes.`, { Connection: "close" });
    collected.push(chunk);
  }
  if (size > 0 && !isJson(contentType)) return plainAnswer(415, "The body has to be JSON (application/json).");
  const body = Buffer.concat(collected);
  return isUtf8(body) ? { text: body.toString("utf8") } : inputErrors([inputError(["body"], notJson)]);
};

/** A body without a type is taken for what it has to be. */
const isJson = (contentType: string | undefined): boolean =>
  contentType === undefined ||
  contentType === "" ||
  /^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(contentType.trim());
