import { randomBytes } from "node:crypto";
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { legacyErrors } from "../../transforms/legacyErrors.ts";
import { htmlEntities } from "./textQuirks.ts";
import { escapeXml, renderJson } from "./tree.ts";

/** A complete answer. */
export type SampleAnswer = { status: number; headers: OutgoingHttpHeaders; body: string };

/** Sends an answer. If its length is more than its body, it ends with the connection if it says `Connection: close`. */
export const send = (response: ServerResponse, { status, headers, body }: SampleAnswer): void =>
  void response.writeHead(status, headers).end(body);

/** An error by its code; `about`: legacy's `additional_information`, not yet encoded. */
export type SampleError = { error: number; about?: string };

const cors = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Allow-Headers": "Origin, X-Requested-With, Content-Type, Accept",
};

/**
 * The headers that PHP adds to all answers of a script. `known`: it also deletes a cookie, for a caller whose key it
 * knows.
 */
const scriptHeaders = (known = false): OutgoingHttpHeaders => ({
  "X-Powered-By": "PHP/7.4.33",
  "Set-Cookie": [
    `ci_session=${randomBytes(16).toString("hex")}; Max-Age=7200; path=/; HttpOnly`,
    ...(known ? ["ci_session=deleted; expires=Thu, 01-Jan-1970 00:00:01 GMT; Max-Age=0; path=/; HttpOnly"] : []),
  ],
  Expires: "Thu, 19 Nov 1981 08:52:00 GMT",
  "Cache-Control": "no-store, no-cache, must-revalidate",
  Pragma: "no-cache",
});

/** The writer of an answer decides its headers. */
type Writer = "front" | "apache" | "framework" | "script";

const htmlTypes: Record<Writer, string> = {
  front: "text/html",
  apache: "text/html; charset=iso-8859-1",
  framework: "text/html; charset=UTF-8",
  script: "text/html; charset=UTF-8",
};

/** An answer with this body and the type HTML. */
export const htmlAnswer = (from: Writer, status: number, body: string): SampleAnswer => ({
  status,
  headers: {
    ...(from === "script" ? { ...scriptHeaders(), Vary: "Accept-Encoding" } : {}),
    ...(from === "framework" || from === "script" ? cors : {}),
    "Content-Length": Buffer.byteLength(body),
    "Content-Type": htmlTypes[from],
  },
  body,
});

/** An HTML page. */
export const page = (from: Writer, status: number, title: string, text: string): SampleAnswer =>
  htmlAnswer(
    from,
    status,
    `<!DOCTYPE html>\n<html><head><title>${title}</title></head><body>\n<h1>${title}</h1>\n<p>${text}</p>\n</body></html>\n`,
  );

/**
 * The page for a path that reaches no function of the interface; `undefined` for other paths. `path` is still encoded.
 */
export const pageFor = (path: string): SampleAnswer | undefined => {
  if (/%(2f|00)/i.test(path)) return page("apache", 404, "Not Found", "There is nothing under this address.");
  if (/%25(?![0-9a-f]{2})/i.test(path))
    return page("apache", 400, "Bad Request", "Your browser sent a request that this server cannot read.");
  if (/%3f/i.test(path)) return page("apache", 403, "Forbidden", "You may not have this resource.");
  if (!/^[a-z0-9~%.:_\-(),/]*$/i.test(path))
    return page("framework", 400, "An Error Was Encountered", "The URI you submitted has disallowed characters.");
  if (path === "/")
    return page("script", 200, "Sample catalogue", "A sample of the legacy interface. Try /api/v1/json/data/61.");
  if (/^\/+api(_new)?\/+v1(\/|$)/.test(path)) return undefined;
  // The script means 404, but the status stays 200.
  return page("script", 200, "Page Not Found :(", "Sorry, but the page you were trying to view does not exist.");
};

/** A script's answer. `known`: a valid key was sent. */
export const scriptAnswer = (status: number, type: "json" | "xml", body: string, known?: boolean): SampleAnswer => ({
  status,
  headers: {
    ...scriptHeaders(known),
    ...(type === "xml" && status === 200 ? { Vary: "Accept-Encoding" } : {}),
    ...cors,
    "Content-Length": Buffer.byteLength(body),
    "Content-Type": `${type === "xml" ? "text/xml" : "application/json"}; charset=utf-8`,
  },
  body,
});

/** The empty answer of a script that died. */
export const deadAnswer = (known?: boolean): SampleAnswer => {
  const headers = { ...scriptAnswer(500, "xml", "", known).headers, "Content-Type": "text/html; charset=UTF-8" };
  return { status: 500, headers: { ...headers, Connection: "close" }, body: "" };
};

// Legacy's XML keeps the blank at the end of these messages.
const blankAtEnd = new Set([
  104, 105, 106, 107, 275, 473, 474, 510, 516, 540, 546, 547, 596, 597, 598, 599, 600, 601, 602, 603, 670, 671, 672,
  674, 676, 1064,
]);

/**
 * An error in the requested format. The additional text is encoded once for both formats, and a second time by the XML.
 * The status is 412, except for two codes: PHP sets 450 there, which Apache does not know and turns into 500, with the
 * same body.
 */
export const refusedAnswer = (
  { error: code, about }: SampleError,
  type: "json" | "xml",
  known?: boolean,
): SampleAnswer => {
  const status = code === 473 || code === 477 ? 500 : 412;
  const message = `${legacyErrors.get(code)?.message}${blankAtEnd.has(code) ? " " : ""}`;
  const additional_information = about && htmlEntities(about);
  if (type === "json")
    return scriptAnswer(status, type, renderJson({ error: { code, message, additional_information } }), known);
  const more = additional_information
    ? `\t<oml:additional_information>${escapeXml(additional_information)}</oml:additional_information>\n\t`
    : "";
  const xml = `<oml:error xmlns:oml="http://openml.org/openml">\n\t<oml:code>${code}</oml:code>\n\t<oml:message>${message}</oml:message>\n\t${more}</oml:error>\n`;
  return scriptAnswer(status, type, xml, known);
};
