import { isAscii } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { isKey, pathOf, queryOf, withoutFormat } from "../../catalogue/index.ts";
import { withTimeout } from "../../operation/index.ts";
import type { WholeCore } from "../answer/core.ts";
import type { PathRead, ReadPath } from "./pathRead.ts";
import { type ReadSender, schemeOfOldRead, senderOf } from "./whoAsks.ts";

/** Bytes that a form may have, and milliseconds in which it has to come. */
const MAX_BYTES = 16 * 1024;
const TIMEOUT = 2000;

/** A read that was sent as a form. `posted`: the form, in ASCII. */
type FormRead = { path: PathRead; sender: ReadSender; posted: string };

/**
 * Reads a POST whose form has the values that a GET has in its path. The form stays in the request, which can still be
 * proxied. `undefined`: it has to be proxied.
 */
export type ReadForm = (req: IncomingMessage) => Promise<FormRead | undefined> | undefined;

/** Opens the reading of forms. */
export const openFormReads = (
  { catalogue, readTarget, trusted }: Pick<WholeCore, "catalogue" | "readTarget" | "trusted">,
  readPath: ReadPath,
): ReadForm => {
  const fieldsOf = (target: string): readonly string[] | undefined => {
    const legacy = readTarget(target);
    const path = legacy && `/${withoutFormat(legacy).join("/")}`;
    return path === undefined ? undefined : catalogue.formReads.get(path);
  };
  return (req) => {
    const { url = "/" } = req;
    const scheme = isSmallForm(req) && queryOf(url) === "" ? schemeOfOldRead(req, trusted) : undefined;
    const fields = scheme && fieldsOf(url);
    if (scheme === undefined || fields === undefined) return undefined;
    return wholeBody(req).then((body) => {
      const given = valuesIn(body, fields);
      const path = given && readPath(pathOf(url), given.values);
      return path && { path, sender: senderOf(scheme, req.headers, given.key), posted: body };
    });
  };
};

const isSmallForm = ({ method, headers }: IncomingMessage): boolean =>
  method === "POST" &&
  /^application\/x-www-form-urlencoded *(?:;|$)/i.test(headers["content-type"] ?? "") &&
  headers["content-encoding"] === undefined &&
  Number(headers["content-length"]) <= MAX_BYTES;

/** Reads the body and puts it back. The result is empty if the body is not ASCII, or has not come in time. */
const wholeBody = async (req: IncomingMessage): Promise<string> => {
  const whole = new Promise<void>((resolve) => {
    if (req.complete) resolve();
    else req.once("whole", resolve);
  });
  if ((await withTimeout(whole, TIMEOUT)) === "late") return "";
  const body = req.read() as Buffer | null;
  if (body === null) return "";
  req.unshift(body);
  return isAscii(body) ? body.toString("latin1") : "";
};

/**
 * The key, and the values of these fields. `undefined` if the form has any other field, or a field twice, or a value
 * that is not UTF-8: the gateway does not know how legacy reads such a form.
 */
const valuesIn = (body: string, fields: readonly string[]): { key: string; values: string[] } | undefined => {
  // URLSearchParams would drop a question mark at the beginning.
  const given = new URLSearchParams(`&${body}`);
  const key = given.get("api_key");
  const values = fields.flatMap((field) => given.get(field) ?? []);
  if (key === null || !isKey(key) || values.length < fields.length || given.size > fields.length + 1) return undefined;
  return values.some((value) => value.includes("\uFFFD")) ? undefined : { key, values };
};
