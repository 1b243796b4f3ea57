import type { Json } from "../rules/rule.ts";
import { excerptOf } from "./excerpt.ts";
import type { Readable } from "./readAnswer.ts";

/** What a 200 of the new implementation is worth: it fits (with the `excerpt` of its document, and its bytes back), or why it does not. */
export type Checked = { excerpt: Json; body: Buffer; tag?: string } | { failed: string };

/** Parses and validates one document of the new implementation, in whichever thread. Never throws. */
export const checkModern = ({ output, excerpt }: Pick<Readable, "output" | "excerpt">, body: Buffer): Checked => {
  const document = parseJson(body.toString("utf8"));
  if (document === undefined) return { failed: "its answer is no JSON" };
  const [issue] = output.schema.safeParse(document).error?.issues ?? [];
  return issue === undefined
    ? { excerpt: excerptOf(document, excerpt), body }
    : { failed: `its answer does not fit at /${issue.path.join("/").slice(0, 200)}` };
};

const parseJson = (text: string): Json | undefined => {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
};
