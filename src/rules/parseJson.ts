import type { Json } from "./rule.ts";

/** The value of a JSON text; `undefined` for any other text. Never throws. */
export const parseJson = (text: string): Json | undefined => {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
};
