import { errorCodeIn } from "../../src/catalogue/index.ts";
import type { OnWrite } from "../../src/gateway/index.ts";

/** Makes the scan read the datasets that a write names next. Tags matter only if the dataset is known to be private. */
export const readWritten =
  (isKnown: (id: number) => boolean, readNext: (id: number) => void): OnWrite =>
  ({ groups, hold, proxied }) => {
    const named = [...groups, ...(proxied?.named ?? [])].flatMap((group) => numberIn(/^dataset\/(\d+)$/, group));
    const text = proxied?.answerText();
    if (text !== undefined && isRefusal(text)) return;
    const ids = new Set([...named, ...(text === undefined ? [] : numberIn(uploaded, text))]);
    const isAboutTags = proxied === undefined || /\/data\/(?:un)?tag\/?$/.test(proxied.path);
    const written = [...ids].filter((id) => !isAboutTags || isKnown(id));
    for (const id of written) readNext(id);
    // The write may still be running.
    if (hold !== undefined) setTimeout(() => written.map(readNext), hold).unref();
  };

/** The beginning of an answer that says which dataset was uploaded. */
const uploaded = /(?:"upload_data_set":\s*\{\s*"id":\s*"?|<oml:upload_data_set[^>]*>\s*<oml:id>)(\d{1,10})/;

/**
 * True if legacy's answer to a write is an error after which nothing has changed. After 105 only
 * the search index failed.
 */
const isRefusal = (text: string): boolean => {
  const code = errorCodeIn(text);
  return code !== undefined && code !== "105";
};

const numberIn = (pattern: RegExp, text: string): number[] => {
  const digits = pattern.exec(text)?.[1];
  return digits === undefined ? [] : [Number(digits)];
};
