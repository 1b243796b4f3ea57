import { unescaped } from "../../endpoint/input.ts";

/** A key as legacy makes them, or the name one is given by. */
const keyLike = /(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])|api_?key/i;

/** Shorter ones are found in anything: `1` is in `/datasets/61`. */
const MIN_KEY = 6;

/** Whether a text that is kept may hold a key, whatever escapes it is written in: better a request too few. */
export const holdsKey = (text: string, known: readonly string[]): boolean => {
  const telling = known
    .flatMap((key) => key.toLowerCase().split(/[\s,]+/))
    .filter((key) => key.length >= MIN_KEY && key !== "bearer");
  const isFound = (form: string) => {
    const lower = form.toLowerCase();
    return keyLike.test(form) || telling.some((key) => lower.includes(key));
  };
  if (isFound(text)) return true;
  if (!text.includes("%")) return false;
  const once = unescaped(text);
  return isFound(once) || isFound(unescaped(once));
};
