import type { Json } from "../rules/rule.ts";
import type { GivenAnswer } from "./answers.ts";

/** Characters kept of a body that is no JSON. */
const MAX_TEXT = 400;

/** An answer as it came: a body that is no JSON is shown by its beginning. */
export const parseAnswer = (status: number, contentType: string | undefined, text: string): GivenAnswer => {
  const about = { status, ...(contentType === undefined ? {} : { contentType }) };
  try {
    return { ...about, body: JSON.parse(text) as Json };
  } catch {
    return { ...about, body: undefined, text: text.slice(0, MAX_TEXT) };
  }
};
