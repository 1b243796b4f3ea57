import type { Json } from "./rule.ts";

/** Replaces each value, innermost first. `source`: the text of a number, boolean, text or `null`. */
type Reviver = (name: string, value: Json, context: { source?: string }) => Json;

/** The value of a JSON text; `undefined` for any other text. Throws only what `revive` throws. */
export const parseJson = (text: string, revive?: Reviver): Json | undefined => {
  try {
    return JSON.parse(text, revive as Parameters<typeof JSON.parse>[1]) as Json;
  } catch {
    return undefined;
  }
};
