import type { IncomingMessage, ServerResponse } from "node:http";
import {
  acceptedCodings,
  bytesOf,
  type Coding,
  compress,
  contentHeaders,
  etagOf,
  matchesTag,
  MIN_BODY,
  sendWhole,
  tagOf,
} from "../../src/gateway/index.ts";
import { headerOf, once } from "../../src/operation/index.ts";

/** A document or a file of the viewer. `headers`: flat, without those that follow from the bytes. */
export type Resource = { body: string | Buffer; type: string; headers: readonly string[] };

/**
 * Answers requests for one resource; `cors` are more headers, flat.
 *
 * @throws If it cannot be made; the next request tries again.
 */
export type SendResource = (
  request: IncomingMessage,
  response: ServerResponse,
  cors: readonly string[],
) => Promise<void>;

/** Makes the resource with its first request, and each coding with the first request that takes it. */
export const openResource = (make: () => Promise<Resource> | Resource): SendResource => {
  const made = once(async () => {
    const resource = await make();
    const body = bytesOf(resource.body);
    return { ...resource, body, tag: tagOf(body) };
  });
  /** Makes the body in a coding; `undefined` if that is not shorter. */
  const madeIn = (coding: Coding) => once(async () => compress((await made()).body, coding));
  const coded = { br: madeIn("br"), gzip: madeIn("gzip") };
  return async (request, response, cors) => {
    const { type, headers, body: plain, tag } = await made();
    const [coding] = acceptedCodings(headerOf(request, "accept-encoding"));
    const encoded = coding === undefined || plain.length < MIN_BODY ? undefined : await coded[coding]();
    const list = [
      "ETag",
      etagOf({ tag }, encoded && coding),
      "Vary",
      "Accept-Encoding",
      "X-Content-Type-Options",
      "nosniff",
      ...headers,
      ...cors,
    ];
    const held = headerOf(request, "if-none-match");
    if (held !== undefined && matchesTag(held, tag)) {
      sendWhole(response, { status: 304, headers: list, body: undefined });
      return;
    }
    const body = encoded ?? plain;
    list.push(...contentHeaders(type, encoded && coding, body.length));
    sendWhole(response, { status: 200, headers: list, body: request.method === "HEAD" ? undefined : body });
  };
};

/** Headers of a page that people look at, flat. */
export const pageHeaders = (contentSecurityPolicy: string, link: string): string[] => [
  "Cache-Control",
  "no-cache",
  "Content-Security-Policy",
  contentSecurityPolicy,
  "Referrer-Policy",
  "no-referrer",
  "Cross-Origin-Opener-Policy",
  "same-origin",
  "Permissions-Policy",
  "camera=(), geolocation=(), microphone=()",
  "Link",
  link,
];
