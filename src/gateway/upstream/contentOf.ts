import { truncate } from "../../operation/index.ts";

/** Bytes of a body in which its title is looked for; `MAX_SHOWN`: characters of the title that are shown. */
const SCANNED_BYTES = 4096;
const MAX_SHOWN = 80;

/** The probable cause of an answer without a body, by the first digit of its status. */
const emptyBodies: Readonly<Record<number, string>> = {
  3: "a redirect: is http or https right in its URL?",
  5: "no body; PHP's log may say why",
};

/** Describes the body of an answer that is not from legacy: `a page that is not legacy's, “Welcome to nginx!”`. */
export const contentOf = (status: number, body: Buffer): string => {
  if (body.length === 0) return emptyBodies[Math.floor(status / 100)] ?? "no body";
  const [, title = ""] = /<title[^>]*>([^<]*)/i.exec(body.toString("utf8", 0, SCANNED_BYTES)) ?? [];
  const shown = truncate(title.replaceAll(/\s+/g, " ").trim(), MAX_SHOWN);
  return shown === "" ? "something that is not legacy's" : `a page that is not legacy's, “${shown}”`;
};
