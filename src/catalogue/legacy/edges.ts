import type { CodedError } from "./reading.ts";

/** Bytes in which the beginning of an answer is looked for, and its end. */
const BEGINNING = 1024;
const END = 200;

const coded =
  /^\s*(?:\{\s*"error"\s*:\s*\{\s*"code"\s*:\s*"|(?:<\?xml[^>]{0,100}>\s*)?<oml:error[^>]{0,200}>\s*<oml:code>\s*)(\d{1,6})["\s<]/;

/** The code of an error by the beginning of its text; `undefined` where it has none, or no number. */
export const errorCodeIn = (beginning: string): string | undefined => coded.exec(beginning)?.[1];

const error = /^\s*\{\s*"error"\s*:/;
/** JSON, legacy's XML, or a schema, before which comments may stand. */
const beginnings = /^\s*(?:<\?xml[^>]{0,100}>\s*)?(?:(\{)|<(oml:[\w.-]+)[\s>]|<(?:!--|xs:))/;

/**
 * What an answer of legacy's is by its first and last bytes. A whole document ends as it began; an
 * error's texts are not read.
 */
export const readEdges = (body: Buffer): { is: "document" } | CodedError | { is: "unreadable" } => {
  const beginning = body.toString("latin1", 0, BEGINNING);
  const code = errorCodeIn(beginning);
  if (code !== undefined) return { is: "error", code: Number(code), message: "" };
  const [start, brace, root = "xs:schema"] = beginnings.exec(beginning) ?? [];
  if (start === undefined || root === "oml:error" || error.test(beginning)) return { is: "unreadable" };
  const end = body.toString("latin1", Math.max(0, body.length - END)).trimEnd();
  return { is: end.endsWith(brace === undefined ? `</${root}>` : "}") ? "document" : "unreadable" };
};
