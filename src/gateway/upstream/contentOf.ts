import { truncate } from "../../operation/index.ts";

/** Bytes of a body in which its title is looked for, and the characters that are shown of it. */
const LOOKED_AT = 4096;
const MAX_SHOWN = 80;

/** What an answer has that is not from legacy, in words: `a page that is not legacy's, “Welcome to nginx!”`. */
export const contentOf = (body: Buffer): string => {
  if (body.length === 0) return "no body; PHP's log may say why";
  const [, title = ""] = /<title[^>]*>([^<]*)/i.exec(body.toString("utf8", 0, LOOKED_AT)) ?? [];
  const shown = truncate(title.replaceAll(/\s+/g, " ").trim(), MAX_SHOWN);
  return shown === "" ? "something that is not legacy's" : `a page that is not legacy's, “${shown}”`;
};
