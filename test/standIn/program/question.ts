import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { readCredential } from "../../../src/http/credential.ts";
import { pathOf, queryOf } from "../../../src/http/requestTarget.ts";

/** The identity of a request and its key. The key cannot be recovered from it. */
export const questionOf = ({ method, url = "/", headers }: IncomingMessage, body: Buffer): string => {
  const { key } = readCredential(queryOf(url), (name) => {
    const header = headers[name];
    return Array.isArray(header) ? header.join(", ") : header;
  });
  return hash("sha256", JSON.stringify([method, pathOf(url), body.toString(), key])).slice(0, 24);
};
