import { parseJson } from "../rules/parseJson.ts";
import type { Json } from "../rules/rule.ts";
import { type Misfit, misfitsOf } from "../compare/fits.ts";
import { excerptOf } from "./excerpt.ts";
import type { Readable } from "./readAnswer.ts";

/** A 200 of the new implementation: where it departs from its schema, the `excerpt` of its document, its bytes back; or why it is no document. */
export type Checked = { misfits: Misfit[]; excerpt: Json; body: Buffer; tag?: string } | { failed: string };

/** Parses and validates one document of the new implementation, in whichever thread. Never throws. */
export const checkModern = ({ output, excerpt }: Pick<Readable, "output" | "excerpt">, body: Buffer): Checked => {
  const document = parseJson(body.toString("utf8"));
  if (document === undefined) return { failed: "its answer is no JSON" };
  return { misfits: misfitsOf(output, document), excerpt: excerptOf(document, excerpt), body };
};
