import { truncate } from "../../operation/index.ts";

/** Bytes of a body in which its title is looked for, and the characters that are shown of it. */
const LOOKED_AT = 4096;
const MAX_SHOWN = 80;

/** What an answer without a body may be due to, by the first digit of its status. */
const emptyBodies: Readonly<Record<number, string>> = {
  3: "a redirect: is http or https right in its URL?",
  5: "no body; PHP's log may say why",
};

/** What an answer has that is not from legacy, in words: `a page that is not legacy's, “Welcome to nginx!”`. */
export const contentOf = (status: number, body: Buffer): string => {
  if (body.length === 0) return emptyBodies[Math.floor(status / 100)] ?? "no body";
  const [, title = ""] = /<title[^>]*>([^<]*)/i.exec(body.toString("utf8", 0, LOOKED_AT)) ?? [];
  const shown = truncate(title.replaceAll(/\s+/g, " ").trim(), MAX_SHOWN);
  return shown === "" ? "something that is not legacy's" : `a page that is not legacy's, “${shown}”`;
};
