import { fateByCode, UNDONE } from "./gatewayErrors.ts";
import { type LegacyTarget, withoutFormat } from "./legacyTarget.ts";
import { type CodedError, NOTICE } from "./reading.ts";

/**
 * The state of legacy, as an answer shows it. `own`: legacy has answered, readable or not. `failed`: it fails for this
 * request. `refused`: a front refuses the gateway or its caller. `ill`: legacy has no database, or something else
 * answered.
 */
export type Judgement = "own" | "failed" | "refused" | "ill";

/** Bytes at each end of an answer that are searched for its beginning and its end. */
const BEGINNING = 512;
const END = 200;

const coded =
  /^\s*(?:\{\s*"error"\s*:\s*\{\s*"code"\s*:\s*"|(?:<\?xml[^>]{0,100}>\s*)?<oml:error[^>]{0,200}>\s*<oml:code>\s*)(\d{1,6})["\s<]/;

/** The code of an error by the beginning of its text; `undefined` if it has no code, or a code that is not a number. */
export const errorCodeIn = (beginning: string): string | undefined => coded.exec(beginning)?.[1];

/** The head of an answer, and the available part of its body: `BEGINNING` bytes are read. */
type JudgedAnswer = {
  method: string;
  /** The target of the request; `undefined`: it lies outside `LEGACY_PATH`. */
  target: Pick<LegacyTarget, "segments"> | undefined;
  status: number;
  type: string;
  /** Decoded. `undefined`: it is coded, and cannot be decoded or need not be (`needsDecoding`). */
  beginning: Buffer | undefined;
};

const silentMethods = new Set(["HEAD", "TRACE", "OPTIONS"]);
const pageStatuses = new Set([400, 403, 404]);
/** Only a front answers with these, whatever body comes with them. */
const frontStatuses = new Set([429, 502, 503, 504]);
/** The statuses of legacy's answers without a code. */
const ownStatuses = new Set([200, 206, 412, 450, 500]);
const ownTypes = /^(?:application\/json|text\/xml)\b/i;
const ownBeginning = /^(?:\{|(?:<\?xml[^>]*>\s*)?<oml:)/;
/** A text that may become such a beginning when the next bytes arrive. */
const shortBeginning = /^(?:<\?xml[^>]{0,60}(?:>\s*(?:<(?:o(?:ml?)?)?)?)?|<(?:\?x?m?|o(?:ml?)?)?)$/;

const textOf = (beginning: Buffer): string => beginning.toString("utf8", 0, BEGINNING).trimStart();

/** Apache and CodeIgniter refuse such a path with their own error page. */
const isOdd = ({ segments }: Pick<LegacyTarget, "segments">): boolean =>
  segments.some((segment) => /[^a-z0-9~.:_(),-]/i.test(segment));

/** True if a body begins as a page does: another format would give the same page. PHP's notices are not a page. */
export const isPage = (beginning: Buffer): boolean => /^<(?:!doctype|html)/i.test(textOf(beginning));

/** True if a coded body must be decoded before it is judged: decoding costs as much as passing the answer on. */
export const needsDecoding = (status: number, type: string): boolean => status !== 200 || !ownTypes.test(type);

/** True if the status says that an error with a legacy code comes from a front. Otherwise the code decides. */
export const isFrontsError = (status: number, code: string): boolean =>
  frontStatuses.has(status) && fateByCode(code) === undefined;

/**
 * Judges legacy by the head of an answer and the beginning of its body; `undefined` if these do not suffice.
 * The first rule that fits decides. A body that ends before its length is a failure of the request, not an answer. Not
 * recognized: code 107 after PHP's notices (display_errors on), which are some 15 KB long then.
 */
export const judgementOf = ({ method, target, status, type, beginning }: JudgedAnswer): Judgement | undefined => {
  if (status === 304 || silentMethods.has(method) || target === undefined) return undefined;
  if (withoutFormat(target)[0] === "xsd") return undefined;
  if (beginning === undefined) return needsDecoding(status, type) ? undefined : "own";
  const text = textOf(beginning);
  const isNotice = text.startsWith(NOTICE);
  const code = errorCodeIn(text);
  if (code === UNDONE) return "ill";
  if (code !== undefined && fateByCode(code) === undefined) return frontStatuses.has(status) ? "ill" : "own";
  if (status === 500 && (text === "" || isNotice)) return "failed";
  if (pageStatuses.has(status) && isPage(beginning) && isOdd(target)) return "failed";
  if ((status === 401 || status === 403) && !isOdd(target)) return "refused";
  return ownStatuses.has(status) && (isNotice || ownBeginning.test(text) || shortBeginning.test(text)) ? "own" : "ill";
};

const jsonError = /^\s*\{\s*"error"\s*:/;
/** JSON, legacy's XML, or a schema, before which comments may stand. */
const beginnings = /^\s*(?:<\?xml[^>]{0,100}>\s*)?(?:(\{)|<(oml:[\w.-]+)[\s>]|<(?:!--|xs:))/;

/** Reads an answer by its first and last bytes. A complete document ends as it began; an error's texts are not read. */
export const readEdges = (body: Buffer): { is: "document" } | CodedError | { is: "unreadable" } => {
  const beginning = body.toString("latin1", 0, BEGINNING);
  const code = errorCodeIn(beginning);
  if (code !== undefined) return { is: "error", code: Number(code), message: "" };
  const [start, brace, root = "xs:schema"] = beginnings.exec(beginning) ?? [];
  if (start === undefined || root === "oml:error" || jsonError.test(beginning)) return { is: "unreadable" };
  const end = body.toString("latin1", Math.max(0, body.length - END)).trimEnd();
  return { is: end.endsWith(brace === undefined ? `</${root}>` : "}") ? "document" : "unreadable" };
};

/** The head of an answer outside `LEGACY_PATH`, and the available part of its body. `length`: its Content-Length. */
type FileAnswer = Omit<JudgedAnswer, "target" | "status"> & { path: string; length: number | undefined };

/**
 * True if an answer in place of a data file says that legacy has no database. Its status is 200, so clients take the
 * text for their data. `files`: matches the paths of data files.
 */
export const isDatabaseErrorPage = ({ method, path, type, length, beginning }: FileAnswer, files: RegExp): boolean =>
  method === "GET" &&
  files.test(path) &&
  /^text\/html\b/i.test(type) &&
  beginning !== undefined &&
  (length ?? beginning.length) <= 1024 &&
  textOf(beginning).startsWith("Database connection error");
